/* Hyperparameters by maximum marginal likelihood or maximum a posteriori, analytic gradients. */
#ifndef RG_GP_MODEL_FIT_H
#define RG_GP_MODEL_FIT_H

#include "gp/kernel/kernel.h"
#include "gp/team/team.h"
#include "maths/lbfgsb.h"
#include "regatta/stream.h"

/* Prior on one positive hyperparameter (density of the value itself, no Jacobian). */
typedef enum { RG_PRIOR_NONE, RG_PRIOR_GAMMA, RG_PRIOR_LOGNORMAL } RgPriorFamily;
typedef struct {
  RgPriorFamily family;
  double a, b; /* gamma: shape, rate; lognormal: mean and deviation of the logarithm */
} RgPrior;

/* Log density at x > 0; 0 without prior. */
double rg_prior_log_density(const RgPrior *prior, double x);
/* d rg_prior_log_density / d log x. */
double rg_prior_log_gradient(const RgPrior *prior, double x);
/* The mode of the density; `otherwise` without a prior (or where the mode is 0). */
double rg_prior_mode(const RgPrior *prior, double otherwise);

/* All length scales (and all variances) of the kernel share one prior and one pair of bounds. */
typedef struct {
  RgPrior length_scale, variance, noise;
  RgPrior warp, trend; /* of both parameters of a warp, both variances of a trend */
  double length_scale_lower, length_scale_upper;
  double variance_lower, variance_upper;
  double warp_lower, warp_upper;
  double trend_lower, trend_upper;
  bool learn_noise;
  double noise_lower, noise_upper;
  bool fix_variance; /* keep the signal variance */
  bool learn_mean;   /* constant mean by generalised least squares */
  int starts;        /* log-uniform starts in the box, in addition to the warm one */
  int max_iterations;
  int max_evaluations; /* per start; 0: no limit */
  double first_step;   /* most that the first step changes a logarithm; 0: no limit */
  double tolerance;    /* a start ends when an iteration gains less than this (log density) */
} RgFitOptions;

/* Sum of the log priors of the hyperparameters: the objective minus the log likelihood. */
double rg_fit_log_prior(const RgKernel *kernel, double noise_variance, const RgFitOptions *options);

/* Scratch of a fit. Keep it between fits, so that loops allocate nothing. Initialise
   with zeros. */
typedef struct {
  int n, theta_size; /* capacity in data and hyperparameters */
  double *K;         /* n x n: covariance, then its factor L */
  double *inverse;   /* n x n: L^-1 */
  double *A;         /* n x n, lower triangle: alpha alpha' - (L L')^-1 */
  double *alpha;     /* 2 x n: K^-1 (y - mean), K^-1 1 */
  double *theta;     /* 8 x theta_size */
  int *free;         /* theta_size: indices of the fitted hyperparameters */
  double **at;       /* theta_size: where the hyperparameters are */
  RgTeam *team;      /* borrowed, may be NULL: computes matrices that are large enough */
} RgFitWork;

/* Free all owned memory. A zeroed object is fine. */
PetscErrorCode rg_fit_work_destroy(RgFitWork *work);

/* Value and gradient of the objective (log likelihood plus log priors) at the kernel's current
   hyperparameters. gradient: rg_kernel_theta_size entries, plus one for log noise when learned;
   NULL: not wanted. learn_mean: *mean becomes the generalised least-squares mean first, where this
   is also the gradient of the profile. *value = -INFINITY where the factorisation fails. About
   1.5 n^3 flops. Source: irgp_ucb 2.4. */
PetscErrorCode rg_fit_objective_with(RgFitWork *work, const RgKernel *kernel, double noise_variance,
                                     double *mean, const RgData *data, const RgFitOptions *options,
                                     double *value, double *gradient);
/* Outcome of a fit; value_warm: the objective at the warm start. */
typedef struct {
  double value, value_warm;
  int evaluations;
} RgFitReport;
/* Maximise over the hyperparameters, from the given ones (warm start, moved into the box) and
   from options->starts other starts. On return kernel, noise_variance and mean hold the best.
   They stay unchanged when no start has a finite value (the report's is -INFINITY then). With
   learn_mean every evaluation uses the generalised least-squares mean.
   Deterministic given `random`, which only other starts use (NULL is fine without them). n >= 1.
   Cost: with one datum more than at the last optimum, usually 2 to 4 evaluations per fit. */
PetscErrorCode rg_fit_with(RgFitWork *work, RgKernel *kernel, double *noise_variance, double *mean,
                           const RgData *data, const RgFitOptions *options, RgRandom *random,
                           RgFitReport *report);
/* A log-uniform start in the box: new hyperparameters for those that are fitted. */
PetscErrorCode rg_fit_draw(RgFitWork *work, const RgFitOptions *options, RgRandom *random,
                           RgKernel *kernel, double *noise_variance);

#endif
