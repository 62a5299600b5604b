/* Bounds of TS, PIMS and EIMS on a finite design.

   g is the path of query t, g* its maximum, f* the maximum of f; v = k(x,x); m evaluations are
   known at query t, D is what is known then. Given D, g* has the law of f*, and x_t is independent
   of f. So the mean regret of query t is that of g* - mu(x_t) = sd(x_t) z(x_t), with
   z = (g* - mu)/sd.

   1. Let zeta_t = max(min_x z(x), 0)^2. At the maximiser of g, z is the deviation of one of |X|
      standard normal variables, so P(zeta_t > u) <= |X|/2 exp(-u/2), and the mean of zeta_t is at
      most C2 = 2 + 2 log(|X|/2). PIMS asks where z is least, TS at the maximiser of g. For both the
      mean of max(z(x_t), 0)^2 is at most C2.
   2. EIMS maximises sd tau(-z), tau(-s) = phi(s) - s Phi(-s). The derivative of -log tau(-s) is
      Phi(-s)/tau(-s) > 0, and at least s for s >= 0, because Phi(-s) >= s phi(s)/(1 + s^2). With x'
      where z is least, log tau(-z(x_t)) >= log tau(-z(x')) - log(sd(x_t)/sd(x')), therefore
      max(z(x_t), 0)^2 <= zeta_t + log(sd(x_t)^2/sd(x')^2).
   3. sd(x_t)^2 <= v, and 1/sd(x')^2 <= 1/v + m/noise: m evaluations at x' itself would tell at
      least as much. So the logarithm in 2 is at most log(1 + m v/noise).
   4. The variances at the queries sum to at most C1 gamma_T, and Cauchy and Schwarz give
      BCR_T <= sqrt(C1 gamma_T sum_t E max(z(x_t), 0)^2).

   Takeno et al. (2024), ICML, prove 1 and 4 for TS and PIMS. The constants for EIMS in
   arXiv:2507.09828 were not at hand: 2 and 3 are a proof of our own. */
#include <math.h>

#include "theory/bounds.h"

static const char *obstacle(const RgBoundCase *s)
{
  if (s->domain->context.dim) return "the problem has contexts";
  if (!rg_space_is_finite(&s->domain->design)) return "the proof is for finite designs";
  return s->law->own ? NULL : "the paths are not drawn from the exact posterior";
}

static double improvement(const RgBoundCase *s, int T)
{
  double means = T * rg_bound_c2(s->domain->design.size);

  for (int t = 1; t <= T; t++) means += log1p((s->initial + t - 1) * s->largest / s->noise);
  return sqrt(rg_bound_c1(s->noise) * s->gamma[T - 1] * means);
}

/* ts and pims; eims. */
static const char *const rules[] = {"sampled_width", "sampled_improvement", NULL};

static const RgBoundCurve curves[] = {
  {"sampled_width_expected", RG_RULE(0), "expected regret of TS and PIMS", NULL, rg_bound_width},
  {"sampled_improvement_expected", RG_RULE(1), "expected regret of EIMS", NULL, improvement},
  {0},
};

const RgBoundFamily rg_bounds_sampling = {
  .name = "sampling",
  .title = "cumulative regret of TS, PIMS and EIMS",
  .reference = "TS and PIMS: Takeno et al. (2024), ICML; EIMS: a proof in theory/sampling_bounds.c",
  .assumptions =
    "f is a path of the model's Gaussian process, k(x,x) <= 1, Gaussian noise of known "
    "variance, hyperparameters not fitted, no contexts, a finite design, exact paths",
  .curves = curves,
  .rules = rules,
  .unit_variance = true,
  .obstacle = obstacle,
};
