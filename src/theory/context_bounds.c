#include "theory/context_bounds.h"

#include <math.h>

#include "gp/kernel/family.h"
#include "theory/bounds.h"

/* ---- kernels --------------------------------------------------------------------------------- */

/* A direction meets every factor at most with its smallest length scale. */
double rg_kernel_slope(const RgKernel *kernel)
{
  double square = 0;

  if (rg_kernel_without_slope(kernel)) return NAN;
  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    double most = 0;
    for (int k = 0; k < term->n_factors; k++) {
      const RgKernelFactor *factor = &term->factors[k];
      for (int j = 0; j < factor->n_scales; j++)
        most = fmax(most, rg_kernel_classes[factor->family]->slope(factor->shape) /
                            factor->length_scale[j]);
    }
    square += term->variance * most * most;
  }
  return sqrt(square);
}

double rg_kde_steepness(const RgKernel *kernel)
{
  return sqrt(2 / rg_kernel_diagonal(kernel)) * rg_kernel_slope(kernel);
}

/* ---- density estimates ----------------------------------------------------------------------- */

double rg_kde_error_constant(int dim_c, double s)
{
  const double kappa = pow(4.0 / (dim_c + 2), 1.0 / (4 + dim_c));
  const double bracket = pow(kappa, -dim_c) + pow(kappa, 4) * dim_c * (dim_c + 2) / 16;

  return sqrt(pow(2 * sqrt(M_PI) * s, -dim_c) * bracket);
}

double rg_kde_beta(const RgKdeTheory *theory, int t)
{
  const double t2 = (double)t * t, abr = theory->f.a * theory->f.b * theory->f.r;
  const double levels = t2 * theory->dim_x * abr * sqrt(M_PI) / 2;

  return fmax(2 * log(t2 / sqrt(2 * M_PI)) + 2 * theory->dim_x * log(levels), 0);
}

double rg_kde_radius(int dim_c, int n)
{
  return pow(n, -2.0 / (4 + dim_c));
}

void rg_kde_constants(const RgKdeTheory *theory, double constant[5])
{
  const RgRobustDerivatives *f = &theory->f;
  const double dim = theory->dim_x + theory->dim_c, dim_c = theory->dim_c;

  constant[0] = 4 * rg_bound_c1(theory->noise);
  constant[4] = f->a * f->b * dim * f->r * sqrt(M_PI) / 2 + sqrt(2 / M_PI);
  constant[1] = constant[4] * theory->error * pow(f->r, dim_c / 2) * (4 + dim_c) / (2 + dim_c);
  constant[2] =
    constant[0] * fmax(1, theory->error * theory->error * pow(f->r, dim_c) * (4 + dim_c) / dim_c);
  constant[3] = constant[0] / constant[2];
}

/* Both theorems; sums over the radii are 0 in the first. */
static double kde_bound(const RgKdeTheory *theory, int T, double gamma, double sum, double squares)
{
  const double dim_c = theory->dim_c;
  double C[5];

  rg_kde_constants(theory, C);
  const double spread = sqrt(pow(T, dim_c / (4 + dim_c))) + sqrt(T) + sqrt(C[3] * squares);
  return M_PI * M_PI / 3 + sqrt(rg_kde_beta(theory, T) * gamma * C[2]) * spread +
         2 * C[1] * pow(T, (2 + dim_c) / (4 + dim_c)) + C[4] * sum;
}

double rg_bound_sbo_kde(const RgKdeTheory *theory, int T, double gamma)
{
  return kde_bound(theory, T, gamma, 0, 0);
}

double rg_bound_drbo_kde(const RgKdeTheory *theory, int T, double gamma)
{
  double sum = 0, squares = 0;

  for (int t = 1; t <= T; t++) {
    const double radius = rg_kde_radius(theory->dim_c, t);
    sum += radius;
    squares += radius * radius;
  }
  return kde_bound(theory, T, gamma, sum, squares);
}

/* ---- Wasserstein balls ----------------------------------------------------------------------- */

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

double rg_wasserstein_remainder(const RgWassersteinTheory *theory, int t, double norm)
{
  return (1 + 2 * theory->slope * norm) / t;
}

double rg_wasserstein_penalty(const RgWassersteinTheory *theory, double radius, double norm)
{
  return 4 * radius * norm * theory->slope;
}

double rg_bound_wdrbo(const RgWassersteinTheory *theory, int T, double gamma, double norm,
                      double penalties)
{
  const double beta = sqrt(theory->lambda) * norm;

  return 4 * beta * sqrt(T * (gamma + 4 * log(6 / theory->delta))) + penalties;
}
