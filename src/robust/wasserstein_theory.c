/* Confidence width and radius of WDRBO's theorems. */
#include "robust/wasserstein_theory.h"

#include <math.h>

double rg_wasserstein_norm(const RgWassersteinTheory *theory, double log_det)
{
  const double width = sqrt(log_det + 2 * log(1 / theory->delta));

  return theory->R / sqrt(theory->lambda) * width + theory->B;
}

double rg_wasserstein_covering(const RgWassersteinTheory *theory, int t, double norm)
{
  const double dim = theory->dim_x + theory->dim_c;

  return theory->kappa * (pow(1 + log(t * norm), 1 + dim) + pow(1 + log(t), 1 + 2 * dim));
}

double rg_wasserstein_radius(const RgWassersteinTheory *theory, int t, double norm)
{
  const double level = log(1 / theory->delta) + theory->dim_x * log1p(2 * t * theory->width_x) +
                       rg_wasserstein_covering(theory, t, norm);

  return theory->width_c * sqrt(2 * level / t);
}
