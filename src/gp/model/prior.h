/* Priors on positive hyperparameters. */
#ifndef RG_GP_MODEL_PRIOR_H
#define RG_GP_MODEL_PRIOR_H

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

#endif
