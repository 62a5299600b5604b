/* The surrogate of a GP-based algorithm: kernel, standardisation, hyperparameter policy, and the
   posterior that fits the domain (growing Cholesky on a box, rank-one updates on a finite set). */
#ifndef RG_GP_MODEL_H
#define RG_GP_MODEL_H

#include "base/clock.h"
#include "base/history.h"
#include "base/params.h"
#include "gp/fit.h"
#include "gp/posterior.h"
#include "gp/set_posterior.h"

typedef enum { RG_FIT_FIXED, RG_FIT_ML, RG_FIT_MAP } RgFitPolicy;

/* The `surrogate:` block of a study file; described by rg_surrogate_params. */
typedef struct {
  int     kernel;        /* RgKernelFamily */
  bool    ard;
  int     structure;     /* whole | product | additive over `groups` */
  RgReals groups;        /* group of each input; empty: one group per input */
  RgReals length_scale;  /* fixed value, or start of the fit; auto: 0.3; unit-cube units */
  double  variance;      /* signal variance: fixed value, or start of the fit */
  double  noise_variance; /* native units of y; auto: the study's noise variance where known, else
                             learned (fixed policy: 1e-6 of the signal variance) */
  bool    standardise;   /* outputs to zero mean, unit variance at every refit */
  int     mean;          /* zero | constant (learned) */
  int     fit;           /* RgFitPolicy */
  int     refit_every;   /* evaluations between refits */
  int     fit_starts, fit_iterations;
  bool    fit_variance;  /* false keeps `variance` */
  double  length_scale_lower, length_scale_upper, variance_lower, variance_upper;
  int     prior;         /* named sets of priors */
} RgSurrogateOptions;

extern const RgParam rg_surrogate_params[];

/* What a model did in its last update, for the record. */
typedef struct {
  bool   refitted;
  int    fit_evaluations;
  double log_likelihood; /* NaN unless refitted */
  double jitter;         /* 0 unless it was needed */
} RgModelReport;

typedef struct {
  const RgDomain           *domain;  /* borrowed */
  const RgSurrogateOptions *options; /* borrowed */
  RgKernel        kernel;            /* current hyperparameters, over (x, c) */
  double          noise_variance;    /* in model units */
  double          shift, scale;      /* y_model = (y - shift) / scale */
  RgPosterior     posterior;         /* box domains */
  RgSetPosterior *set;               /* finite domains; NULL on a box */
  RgModelReport   report;
  struct RgModelState *state;        /* private */
} RgModel;

/* `noise_variance`: known observation noise in native units, NaN when unknown. `use_context`: the
   model's inputs are (x, c), else x. `stream`: for fit starts. Model borrows domain, options, clock. */
PetscErrorCode rg_model_create(const RgDomain *domain, const RgSurrogateOptions *options,
                               bool use_context, double noise_variance, int capacity,
                               const RgStream *stream, RgClock *clock, RgModel *model);
/* Take in the whole history (only what is new costs anything) and refit when due. Accounts its time
   to RG_STAGE_FIT. Call at the start of every ask. */
PetscErrorCode rg_model_update(RgModel *model, const RgHistory *history, RgFailure *failure);
/* Posterior mean and deviation of f in model units at m points (unit coordinates, x and c joined). */
PetscErrorCode rg_model_predict(RgModel *model, int m, const double *Z, double *mean, double *sd);
PetscErrorCode rg_model_destroy(RgModel *model);

#endif
