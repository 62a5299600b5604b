/* Hyperparameters by maximum marginal likelihood or maximum a posteriori, analytic gradients. */
#ifndef RG_GP_FIT_H
#define RG_GP_FIT_H

#include "base/stream.h"
#include "gp/kernel.h"

/* Prior on one positive hyperparameter (density of the value itself, no Jacobian). */
typedef enum { RG_PRIOR_NONE, RG_PRIOR_GAMMA, RG_PRIOR_LOGNORMAL } RgPriorFamily;
typedef struct {
  RgPriorFamily family;
  double a, b; /* gamma: shape, rate; lognormal: mean and deviation of the logarithm */
} RgPrior;

typedef struct {
  RgPrior length_scale, variance, noise;
  double  length_scale_lower, length_scale_upper;
  double  variance_lower, variance_upper;
  bool    learn_noise;
  double  noise_lower, noise_upper;
  bool    fix_variance; /* keep the signal variance */
  bool    learn_mean;   /* constant mean by generalised least squares */
  int     starts;       /* starts beside the warm one, log-uniform in the box */
  int     max_iterations;
} RgFitOptions;

/* Value and gradient of the objective (log likelihood plus log priors) at the kernel's current
   hyperparameters. gradient: rg_kernel_theta_size entries, plus one for log noise when learned.
   Not finite (value = -INFINITY) where the factorisation fails. About 1.5 n^3 flops. */
PetscErrorCode rg_fit_objective(const RgKernel *kernel, double noise_variance, double mean, int n,
                                const double *X, const double *y, const RgFitOptions *options,
                                double *value, double *gradient);

/* Maximise over the hyperparameters, starting from those given (warm start) and options->starts
   others. On return kernel, noise_variance and mean hold the best; unchanged when nothing finite was
   found (*evaluations is still counted). Deterministic given `random`. */
PetscErrorCode rg_fit(RgKernel *kernel, double *noise_variance, double *mean, int n, const double *X,
                      const double *y, const RgFitOptions *options, RgRandom *random,
                      double *value, int *evaluations);

#endif
