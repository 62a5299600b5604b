/* Hyperparameters by maximum marginal likelihood or maximum a posteriori, analytic gradients. */
#ifndef RG_GP_MODEL_FIT_H
#define RG_GP_MODEL_FIT_H

#include "maths/lbfgsb.h"
#include "regatta/stream.h"
#include "gp/model/prior.h"
#include "gp/team/team.h"

/* Every length scale (variance) of the kernel has the same prior and bounds. */
typedef struct {
  RgPrior length_scale, variance, noise;
  double length_scale_lower, length_scale_upper;
  double variance_lower, variance_upper;
  bool learn_noise;
  double noise_lower, noise_upper;
  bool fix_variance; /* keep the signal variance */
  bool learn_mean;   /* constant mean by generalised least squares */
  int starts;        /* starts beside the warm one, log-uniform in the box */
  int max_iterations;
  double tolerance; /* a start ends when an iteration gains less than this (log density) */
} RgFitOptions;

/* Value and gradient of the objective (log likelihood plus log priors) at the kernel's current
   hyperparameters. gradient: rg_kernel_theta_size entries, plus one for log noise when learned;
   NULL: not wanted. `mean` is taken as given also with learn_mean (at the generalised
   least-squares mean the gradient is that of the profile). Not finite (value = -INFINITY) where the
   factorisation fails. About 1.5 n^3 flops. Source: irgp_ucb 2.4. */
PetscErrorCode rg_fit_objective(const RgKernel *kernel, double noise_variance, double mean,
                                const RgData *data, const RgFitOptions *options, double *value,
                                double *gradient);

/* Sum of the log priors of the hyperparameters: the objective minus the log likelihood. */
double rg_fit_log_prior(const RgKernel *kernel, double noise_variance, const RgFitOptions *options);

/* Maximise over the hyperparameters, starting from those given (warm start, moved into the box) and
   options->starts others. On return kernel, noise_variance and mean hold the best; unchanged when
   nothing finite was found (*value = -INFINITY; *evaluations is still counted). With learn_mean the
   mean is the generalised least-squares one at every evaluation. Deterministic given `random`
   (drawn from only when there are other starts; NULL is fine without). n >= 1. Cost: with one datum
   more than at the last optimum usually 2 to 4 evaluations per fit. */
PetscErrorCode rg_fit(RgKernel *kernel, double *noise_variance, double *mean, const RgData *data,
                      const RgFitOptions *options, RgRandom *random, double *value,
                      int *evaluations);

/* Scratch of the expert calls, kept between fits so that nothing is allocated in a loop.
   Zero-initialise. */
typedef struct {
  int n, theta_size; /* room for so many data and hyperparameters */
  double *K;         /* n x n: covariance, then its factor L */
  double *inverse;   /* n x n: L^-1 */
  double *A;         /* n x n, lower triangle: alpha alpha' - (L L')^-1 */
  double *alpha;     /* 2 x n: K^-1 (y - mean), K^-1 1 */
  double *theta;     /* 8 x theta_size */
  int *free;         /* theta_size: indices of the hyperparameters that are fitted */
  RgTeam *team;      /* borrowed, may be NULL: takes the matrices when they are large enough */
} RgFitWork;

/* Free what is owned; zeroed is fine. */
PetscErrorCode rg_fit_work_destroy(RgFitWork *work);

/* As rg_fit_objective and rg_fit with scratch of the caller. With learn_mean, *mean is an output of
   rg_fit_objective_with. */
PetscErrorCode rg_fit_objective_with(RgFitWork *work, const RgKernel *kernel, double noise_variance,
                                     double *mean, const RgData *data, const RgFitOptions *options,
                                     double *value, double *gradient);
/* What a fit found; value_warm: the objective at the warm start. */
typedef struct {
  double value, value_warm;
  int evaluations;
} RgFitReport;
PetscErrorCode rg_fit_with(RgFitWork *work, RgKernel *kernel, double *noise_variance, double *mean,
                           const RgData *data, const RgFitOptions *options, RgRandom *random,
                           RgFitReport *report);

#endif
