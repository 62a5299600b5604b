/* Confidence widths of the UCB family: shifts, betas and shapes. */
#include "acquisition/confidence.h"
#include "maths/normal.h"
#include "regatta/theory.h"

#include <math.h>

double rg_confidence_draw(const RgConfidenceLaw *law, RgRandom *random)
{
  switch (law->kind) {
  case RG_LAW_EXPONENTIAL: return law->a + rg_random_exponential(random) / law->b;
  case RG_LAW_GAMMA: return rg_random_gamma(random, law->a, law->b);
  default: return law->a;
  }
}

double rg_confidence_mean(const RgConfidenceLaw *law)
{
  switch (law->kind) {
  case RG_LAW_EXPONENTIAL: return law->a + 1 / law->b;
  case RG_LAW_GAMMA: return law->a * law->b;
  default: return law->a;
  }
}

double rg_confidence_quantile(const RgConfidenceLaw *law, double p)
{
  switch (law->kind) {
  case RG_LAW_EXPONENTIAL: return rg_irgp_quantile(law->a, law->b, p);
  case RG_LAW_GAMMA: return law->b * rg_gamma_quantile(law->a, p);
  default: return law->a;
  }
}

double rg_confidence_grid_levels(int dim, double t, double a, double b, double r)
{
  return b * dim * r * t * t * (sqrt(log(a * dim)) + 0.5 * sqrt(M_PI));
}

double rg_irgp_shift_finite(double n_points)
{
  return fmax(2.0 * log(0.5 * n_points), 0.0);
}

double rg_irgp_shift_continuous(int dim, double t, double a, double b, double r)
{
  return fmax(2.0 * dim * log(rg_confidence_grid_levels(dim, t, a, b, r)) - 2.0 * log(2.0), 0.0);
}

double rg_irgp_shift_heuristic(int dim)
{
  return 0.5 * dim;
}

double rg_irgp_shift_highprob(double n_points, double t, double delta)
{
  return fmax(2.0 * log(n_points * t * t * M_PI * M_PI / (12.0 * delta)), 0.0);
}

double rg_irgp_quantile(double shift, double rate, double p)
{
  return shift - log1p(-p) / rate;
}

double rg_gp_ucb_beta_bcr(double n_points, double t)
{
  return fmax(2.0 * log(n_points * t * t / sqrt(2.0 * M_PI)), 0.0);
}

double rg_gp_ucb_beta_srinivas(double n_points, double t, double delta)
{
  return fmax(2.0 * log(n_points * t * t * M_PI * M_PI / (6.0 * delta)), 0.0);
}

double rg_gp_ucb_beta_kandasamy(int dim, double t)
{
  return 5.0 * dim * log(2.0 * dim * t + 1.0);
}

double rg_gp_ucb_beta_heuristic(int dim, double t)
{
  return 0.2 * dim * log(2.0 * t);
}

double rg_gp_ucb_beta_bcr_cont(int dim, double t, double a, double b, double r)
{
  return fmax(2.0 * dim * log(rg_confidence_grid_levels(dim, t, a, b, r)) +
                2.0 * log(t * t / sqrt(2.0 * M_PI)),
              0.0);
}

double rg_rgp_shape_finite(double n_points, double t, double theta)
{
  return log(n_points * t * t) / log1p(0.5 * theta);
}

double rg_rgp_shape_heuristic(int dim, double t)
{
  return 0.2 * dim * log(2.0 * t);
}

double rg_ikr_ucb_beta_general(double t, double varsigma, double bound, double delta)
{
  return fmax(2 * varsigma * varsigma * bound * log(2 * M_PI * M_PI * t * t / (3 * delta)), 0);
}

double rg_ikr_ucb_beta_finite(double t, double varsigma, double bound)
{
  return 4 * varsigma * varsigma * bound * log(t);
}
