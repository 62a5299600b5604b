/* Bounds of the cumulative regret of the randomised and deterministic GP-UCB family.

   Setting: f is a path of a zero-mean Gaussian process with k(x,x) <= 1, known to the learner;
   observations carry Gaussian noise of known variance; hyperparameters are not fitted. R_T is the
   regret summed over T queries, BCR_T its mean over f, noise and the method's own randomness.
   gamma is the maximum information gain of T points or an upper bound of it
   (gp/model/information_gain.h; a lower one gives no bound of the regret), and s_T the shift of the
   rule (acquisition/confidence.h), `a` of its law.
   Source: Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979; irgp_ucb 7.1. O(1) unless stated. */
#include "theory/bounds.h"

#include <math.h>

#include "acquisition/confidence.h"
#include "maths/normal.h"

double rg_bound_c1(double noise)
{
  return 2 / log1p(1 / noise);
}

double rg_bound_c2(double n_points)
{
  return 2 + rg_irgp_shift_finite(n_points);
}

double rg_irgp_mean_width(double shift)
{
  /* exp(s/2) erfc(sqrt(s/2)) from logarithms, because the factors overflow and underflow */
  const double tail = exp(shift / 2 + rg_log_erfc(sqrt(shift / 2)));

  return sqrt(shift) + sqrt(M_PI / 2) * tail;
}

/* Upper tail of the chi-square law with D degrees of freedom: exceeded with probability at most
   exp(-q) (Laurent and Massart 2000). */
static double chi_square_tail(double D, double q)
{
  return D + 2 * sqrt(D * q) + 2 * q;
}

/* C1 gamma times the bound of sum_t zeta_t = sum_t s_t + chi-square(2T), exceeded with probability
   exp(-q). tight: T s_T where Theorems 4.3 to 4.5 print 2 T s_T; their proofs need no more. */
static double squared_sum(const RgBoundCase *s, int T, double shift, double q)
{
  return rg_bound_c1(s->noise) * s->gamma[T - 1] *
         ((s->tight ? 1 : 2) * T * shift + chi_square_tail(2.0 * T, q));
}

/* ---- the theorems ---------------------------------------------------------------------------- */

double rg_bound_width(const RgBoundCase *s, int T)
{
  return sqrt(rg_bound_c1(s->noise) * rg_bound_c2(s->domain->design.size) * T * s->gamma[T - 1]);
}

/* Theorem 4.2: BCR_T <= pi^2/6 + sqrt(C1 T gamma (2 + s_T)), continuous rule. */
static double theorem_4_2(const RgBoundCase *s, int T)
{
  const double means = T * (2 + s->law[T - 1].a);

  return M_PI * M_PI / 6 + sqrt(rg_bound_c1(s->noise) * s->gamma[T - 1] * means);
}

/* Theorem 4.3: bound of E[R_T | zeta_1, zeta_2, ...] that holds with probability 1 - delta over the
   confidence parameters, finite rule. 6 = sqrt(2 * 18): the martingale part is 18 T-subgaussian. */
static double theorem_4_3(const RgBoundCase *s, int T)
{
  const double q = log(2 / s->delta);

  return 6 * sqrt(T * q) + sqrt(squared_sum(s, T, s->law[T - 1].a, q));
}

/* Theorem 4.4: the same for the continuous rule. */
static double theorem_4_4(const RgBoundCase *s, int T)
{
  return M_PI * M_PI / 6 + theorem_4_3(s, T);
}

/* Proposition 4.1: R_T <= (bound of Theorem 4.1)/delta with probability 1 - delta (Markov). */
static double proposition_4_1(const RgBoundCase *s, int T)
{
  return rg_bound_width(s, T) / s->delta;
}

/* Theorem 4.5: bound of R_T that holds with probability 1 - delta over everything, highprob rule.
   The value is as printed. Its two events add up to 1.392 delta, so a careful reader passes
   delta/1.392. */
static double theorem_4_5(const RgBoundCase *s, int T)
{
  const double delta = s->law[T - 1].delta;
  const double shift = rg_irgp_shift_highprob(s->domain->design.size, T, delta);
  const double q = log((T + 1.0) * (T + 1.0) * M_PI * M_PI / (6 * delta));

  return 2 * sqrt(squared_sum(s, T, shift, q));
}

/* scale sum 1/t^2 + sqrt(C1 gamma means). */
static double expected_regret(const RgBoundCase *s, int T, double scale, double means)
{
  double excess = 0;

  for (int t = T; t >= 1; t--) excess += 1 / ((double)t * t);
  return scale * excess + sqrt(rg_bound_c1(s->noise) * s->gamma[T - 1] * means);
}

/* GP-UCB with the bcr rule: BCR_T <= sum_{t<=T} 1/t^2 + sqrt(C1 gamma sum_{t<=T} beta_t). O(T). */
static double gp_ucb(const RgBoundCase *s, int T)
{
  double means = 0;

  for (int t = 1; t <= T; t++) means += rg_gp_ucb_beta_bcr(s->domain->design.size, t);
  return expected_regret(s, T, 1, means);
}

/* RGP-UCB with the finite rule and theta, `b` of its law: BCR_T <= sum_{t<=T} 1/(sqrt(2 pi) t^2) +
   sqrt(C1 gamma sum_{t<=T} theta kappa_t). O(T). */
static double rgp_ucb(const RgBoundCase *s, int T)
{
  const double theta = s->law[T - 1].b;
  double means = 0;

  for (int t = 1; t <= T; t++)
    means += theta * rg_rgp_shape_finite(s->domain->design.size, t, theta);
  return expected_regret(s, T, 1 / sqrt(2 * M_PI), means);
}

/* ---- the family ------------------------------------------------------------------------------ */

static const char *obstacle(const RgBoundCase *s)
{
  return s->domain->context.dim ? "the problem has contexts" : NULL;
}

enum { FINITE, CONTINUOUS, HIGHPROB, GP_UCB, RGP_UCB };

static const char *const rules[] = {
  [FINITE] = "irgp_finite",         /* Theorems 4.1, 4.3, Proposition 4.1 */
  [CONTINUOUS] = "irgp_continuous", /* Theorems 4.2, 4.4 */
  [HIGHPROB] = "irgp_highprob",     /* Theorem 4.5 */
  [GP_UCB] = "gp_ucb_bcr",          [RGP_UCB] = "rgp_ucb", NULL};

static const RgBoundCurve curves[] = {
  {"theorem_4_1", RG_RULE(FINITE), "expected regret", NULL, rg_bound_width},
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
