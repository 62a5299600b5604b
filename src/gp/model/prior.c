/* Priors on positive hyperparameters. */
#include "gp/model/prior.h"

#include <math.h>

static const double log_sqrt_2pi = 0.918938533204672741780329736406;

double rg_prior_log_density(const RgPrior *prior, double x)
{
  const double a = prior->a, b = prior->b;
  switch (prior->family) {
  case RG_PRIOR_GAMMA: return a * log(b) - lgamma(a) + (a - 1.0) * log(x) - b * x;
  case RG_PRIOR_LOGNORMAL: {
    double z = (log(x) - a) / b;
    return -log(x) - log(b) - log_sqrt_2pi - 0.5 * z * z;
  }
  case RG_PRIOR_NONE: break;
  }
  return 0.0;
}

double rg_prior_log_gradient(const RgPrior *prior, double x)
{
  const double a = prior->a, b = prior->b;
  switch (prior->family) {
  case RG_PRIOR_GAMMA: return a - 1.0 - b * x;
  case RG_PRIOR_LOGNORMAL: return -1.0 - (log(x) - a) / (b * b);
  case RG_PRIOR_NONE: break;
  }
  return 0.0;
}

double rg_prior_mode(const RgPrior *prior, double otherwise)
{
  const double a = prior->a, b = prior->b;
  switch (prior->family) {
  case RG_PRIOR_GAMMA: return a > 1.0 ? (a - 1.0) / b : otherwise;
  case RG_PRIOR_LOGNORMAL: return exp(a - b * b);
  case RG_PRIOR_NONE: break;
  }
  return otherwise;
}
