/* Declarations shared by the files of the surrogate. Internal to gp/. */
#ifndef RG_GP_MODEL_MODEL_INTERNAL_H
#define RG_GP_MODEL_MODEL_INTERNAL_H

#include "gp/model/fit.h"
#include "gp/model/model.h"
#include "gp/model/surrogate.h"

/* Hyperparameters that a fit may start from or return to. */
typedef struct {
  RgKernel kernel; /* owned; no terms: none */
  double noise_variance, mean;
} RgModelStart;

struct RgModelState {
  int dim; /* dimension of the model's inputs */
  bool use_context;
  bool finite; /* the posterior is on the finite set of the inputs */
  bool learn_noise;
  bool iterative;     /* the posterior has no matrix */
  double given_noise; /* known or configured noise variance; NaN: none */
  RgStream stream;
  RgClock *clock;     /* borrowed, may be NULL */
  RgDomain inputs;    /* the domain, without its context if unused; borrows */
  int n, n_posterior; /* numbers of data taken in, and in the posterior */
  int capacity;
  double *X;           /* capacity x dim */
  double *y, *y_model; /* capacity: native, model units */
  int *index;          /* capacity: flat index where the inputs are finite */
  int last_period;     /* last query in the refit schedule; -1: none yet */
  RgKernel configured;
  double configured_noise;
  RgFitOptions fit;
  RgFitWork fit_work;
  int fit_n;             /* data of the current fit */
  double *fit_X, *fit_y; /* indices of these data where they are a subset */
  int multistart_n;      /* n at the last fit with additional starts; 0: never */
  int refit_n;           /* n at the last refit, data predicted since, sum of (error/sd)^2 - 1 */
  int predicted;
  double surprise;
  int cold_n;           /* n at the last fit that started from the configured values */
  bool others_turn;     /* whether the next fit to many data is for another start */
  int starts_left;      /* other starts that wait, with many data */
  bool climbs;          /* whether one of them has begun: */
  RgModelStart climber; /* where it is */
  int optimum_n;        /* n, objective and log of the native unit of the last optimum; 0: none */
  double optimum, optimum_unit;
  double bend;      /* mean of log d T / d y over the data */
  double steepness; /* root of the mean of (d T / d y)^2; 1 without a transformation */
  RgPrediction prediction;
  const RgPendingOptions *pending; /* borrowed, may be NULL */
  int n_pending, pending_room;     /* points in flight; room */
  double *pending_X, *pending_y;   /* room x dim, room: model units */
  int *pending_index;              /* room: flat index where the inputs are finite */
};

#endif
