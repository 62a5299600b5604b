/* Bounds of GP-UCB, RGP-UCB and IRGP-UCB. Source: arXiv:2409.00979; irgp_ucb 7.1. */
#include "theory/bounds.h"

#include <math.h>

#include "acquisition/confidence.h"
#include "theory/family.h"
#include "maths/normal.h"

double rg_bound_c1(double noise)
{
  return 2 / log1p(1 / noise);
}

double rg_bound_c2(double n_points)
{
  return 2 + rg_irgp_shift_finite(n_points);
}

double rg_chi_square_tail(double D, double q)
{
  return D + 2 * sqrt(D * q) + 2 * q;
}

/* C1 gamma times the bound of sum_t zeta_t = sum_t s_t + chi-square(2T), exceeded with probability
   exp(-q). */
static double squared_sum(double shift, double noise, int T, double gamma, double q, bool tight)
{
  return rg_bound_c1(noise) * gamma *
         ((tight ? 1 : 2) * T * shift + rg_chi_square_tail(2.0 * T, q));
}

double rg_bound_theorem_4_1(double n_points, double noise, int T, double gamma)
{
  return sqrt(rg_bound_c1(noise) * rg_bound_c2(n_points) * T * gamma);
}

double rg_bound_theorem_4_2(double shift, double noise, int T, double gamma)
{
  return rg_bound_theorem_4_2_sum(T * (2 + shift), noise, gamma);
}

double rg_bound_theorem_4_2_sum(double mean_sum, double noise, double gamma)
{
  return M_PI * M_PI / 6 + sqrt(rg_bound_c1(noise) * gamma * mean_sum);
}

/* 6 = sqrt(2 * 18): the martingale part is 18 T-subgaussian. */
double rg_bound_theorem_4_3(double shift, double noise, int T, double gamma, double delta,
                            bool tight)
{
  const double q = log(2 / delta);

  return 6 * sqrt(T * q) + sqrt(squared_sum(shift, noise, T, gamma, q, tight));
}

double rg_bound_theorem_4_4(double shift, double noise, int T, double gamma, double delta,
                            bool tight)
{
  return M_PI * M_PI / 6 + rg_bound_theorem_4_3(shift, noise, T, gamma, delta, tight);
}

double rg_bound_proposition_4_1(double n_points, double noise, int T, double gamma, double delta)
{
  return rg_bound_theorem_4_1(n_points, noise, T, gamma) / delta;
}

double rg_bound_theorem_4_5(double n_points, double noise, int T, double gamma, double delta,
                            bool tight)
{
  const double shift = rg_irgp_shift_highprob(n_points, T, delta);
  const double q = log((T + 1.0) * (T + 1.0) * M_PI * M_PI / (6 * delta));

  return 2 * sqrt(squared_sum(shift, noise, T, gamma, q, tight));
}

/* scale sum 1/t^2 + sqrt(C1 gamma means). */
static double expected_regret(double scale, int T, double noise, double gamma, double means)
{
  double excess = 0;

  for (int t = T; t >= 1; t--) excess += 1 / ((double)t * t);
  return scale * excess + sqrt(rg_bound_c1(noise) * gamma * means);
}

double rg_bound_gp_ucb(double n_points, double noise, int T, double gamma)
{
  double means = 0;

  for (int t = 1; t <= T; t++) means += rg_gp_ucb_beta_bcr(n_points, t);
  return expected_regret(1, T, noise, gamma, means);
}

double rg_bound_rgp_ucb(double n_points, double theta, double noise, int T, double gamma)
{
  double means = 0;

  for (int t = 1; t <= T; t++) means += theta * rg_rgp_shape_finite(n_points, t, theta);
  return expected_regret(1 / sqrt(2 * M_PI), T, noise, gamma, means);
}

double rg_irgp_mean_width(double shift)
{
  /* exp(s/2) erfc(sqrt(s/2)) from logarithms, because the factors overflow and underflow */
  const double tail = exp(shift / 2 + rg_log_erfc(sqrt(shift / 2)));

  return sqrt(shift) + sqrt(M_PI / 2) * tail;
}

/* ---- the family ------------------------------------------------------------------------------ */

static const char *obstacle(const RgBoundCase *s)
{
  return s->domain->context.dim ? "the problem has contexts" : NULL;
}

static double theorem_4_1(const RgBoundCase *s, int T)
{
  return rg_bound_theorem_4_1(s->domain->design.size, s->noise, T, s->gamma[T - 1]);
}

static double theorem_4_2(const RgBoundCase *s, int T)
{
  return rg_bound_theorem_4_2(s->law[T - 1].a, s->noise, T, s->gamma[T - 1]);
}

static double theorem_4_3(const RgBoundCase *s, int T)
{
  return rg_bound_theorem_4_3(s->law[T - 1].a, s->noise, T, s->gamma[T - 1], s->delta, s->tight);
}

static double theorem_4_4(const RgBoundCase *s, int T)
{
  return rg_bound_theorem_4_4(s->law[T - 1].a, s->noise, T, s->gamma[T - 1], s->delta, s->tight);
}

static double proposition_4_1(const RgBoundCase *s, int T)
{
  return rg_bound_proposition_4_1(s->domain->design.size, s->noise, T, s->gamma[T - 1], s->delta);
}

static double theorem_4_5(const RgBoundCase *s, int T)
{
  return rg_bound_theorem_4_5(s->domain->design.size, s->noise, T, s->gamma[T - 1],
                              s->law[T - 1].delta, s->tight);
}

static double gp_ucb(const RgBoundCase *s, int T)
{
  return rg_bound_gp_ucb(s->domain->design.size, s->noise, T, s->gamma[T - 1]);
}

static double rgp_ucb(const RgBoundCase *s, int T)
{
  return rg_bound_rgp_ucb(s->domain->design.size, s->law[T - 1].b, s->noise, T, s->gamma[T - 1]);
}

enum { FINITE, CONTINUOUS, HIGHPROB, GP_UCB, RGP_UCB };

static const char *const rules[] = {
  [FINITE] = "irgp_finite",         /* Theorems 4.1, 4.3, Proposition 4.1 */
  [CONTINUOUS] = "irgp_continuous", /* Theorems 4.2, 4.4 */
  [HIGHPROB] = "irgp_highprob",     /* Theorem 4.5 */
  [GP_UCB] = "gp_ucb_bcr",          [RGP_UCB] = "rgp_ucb", NULL};

static const RgBoundCurve curves[] = {
  {"theorem_4_1", RG_RULE(FINITE), "expected regret", NULL, theorem_4_1},
  {"theorem_4_2", RG_RULE(CONTINUOUS), "expected regret", NULL, theorem_4_2},
  {"theorem_4_3", RG_RULE(FINITE),
   "regret given the confidence parameters, with probability 1 - delta", NULL, theorem_4_3},
  {"theorem_4_4", RG_RULE(CONTINUOUS),
   "regret given the confidence parameters, with probability 1 - delta", NULL, theorem_4_4},
  {"proposition_4_1", RG_RULE(FINITE), "regret, with probability 1 - delta", NULL, proposition_4_1},
  {"theorem_4_5", RG_RULE(HIGHPROB), "regret, with the rule's probability", NULL, theorem_4_5},
  {"gp_ucb_expected", RG_RULE(GP_UCB), "expected regret of GP-UCB", NULL, gp_ucb},
  {"rgp_ucb_expected", RG_RULE(RGP_UCB), "expected regret of RGP-UCB", NULL, rgp_ucb},
  {0},
};

const RgBoundFamily rg_bounds_irgp_ucb = {
  .name = "irgp_ucb",
  .title = "cumulative regret of GP-UCB, RGP-UCB and IRGP-UCB",
  .reference = "Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979, section 4",
  .assumptions =
    "f is a path of the model's Gaussian process, k(x,x) <= 1, Gaussian noise of known "
    "variance, hyperparameters not fitted, no contexts",
  .curves = curves,
  .rules = rules,
  .continuous = RG_RULE(CONTINUOUS),
  .unit_variance = true,
  .obstacle = obstacle,
};
