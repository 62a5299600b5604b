/* Bounds of WDRBO. Source: arXiv:2503.20341; wdrbo 2.7 and 7. */
#include "theory/wasserstein_bounds.h"

#include <math.h>

#include "theory/context_bounds.h"

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

/* ---- the family ------------------------------------------------------------------------------ */

/* Nominal values: B = kappa = lambda = 1, and the kernel scaled to k(z,z) = 1. */
static RgWassersteinTheory constants_of(const RgBoundSetting *s)
{
  return (RgWassersteinTheory){
    .lambda = 1,
    .R = sqrt(s->data_noise),
    .B = 1,
    .delta = s->delta,
    .slope = rg_kernel_slope(s->kernel) / sqrt(rg_kernel_diagonal(s->kernel)),
    .dim_x = s->domain->design.dim,
    .dim_c = s->domain->context.dim,
    .width_x = sqrt(s->domain->design.dim),
    .width_c = sqrt(s->domain->context.dim),
    .kappa = 1,
  };
}

static double norm_at(const RgWassersteinTheory *ball, const RgBoundSetting *s, int t)
{
  return rg_wasserstein_norm(ball, t > 1 ? 2 * s->gamma[t - 2] : 0);
}

/* law.b is the constant radius around a given centre, or NaN for observed contexts. */
static double radius_at(const RgWassersteinTheory *ball, const RgBoundSetting *s, int t)
{
  const double given = s->law[t - 1].b;

  return isnan(given) ? rg_wasserstein_radius(ball, t, norm_at(ball, s, t)) : given;
}

/* Both theorems. O(T). */
static double theorem(const RgBoundSetting *s, int T)
{
  const RgWassersteinTheory ball = constants_of(s);
  double penalties = 0;

  for (int t = 1; t <= T; t++) {
    const double norm = norm_at(&ball, s, t);
    penalties += rg_wasserstein_penalty(&ball, radius_at(&ball, s, t), norm);
    if (isnan(s->law[t - 1].b)) penalties += 2 * rg_wasserstein_remainder(&ball, t, norm);
  }
  return rg_bound_wdrbo(&ball, T, 2 * s->gamma[T - 1], norm_at(&ball, s, T), penalties);
}

static double beta(const RgBoundSetting *s, int t)
{
  const RgWassersteinTheory ball = constants_of(s);

  return sqrt(ball.lambda) * norm_at(&ball, s, t);
}

static double radius(const RgBoundSetting *s, int t)
{
  const RgWassersteinTheory ball = constants_of(s);

  return radius_at(&ball, s, t);
}

static bool has_centre(const RgBoundSetting *s)
{
  return !isnan(s->law[0].b);
}

static bool has_observed_contexts(const RgBoundSetting *s)
{
  return isnan(s->law[0].b);
}

/* Theorems 5 and 9. The law's b is the radius around a given centre, NaN for observed contexts. */
static const char *const rules[] = {"wdrbo", NULL};

#define WDRBO RG_RULE(0)

static const RgBoundCurve curves[] = {
  {"wdrbo_theorem_5", WDRBO, "cumulative regret, with probability 1 - 2 delta", has_centre,
   theorem},
  {"wdrbo_theorem_9", WDRBO, "cumulative regret, with probability 1 - 3 delta",
   has_observed_contexts, theorem},
  {"wasserstein_beta", WDRBO, "confidence parameter of the theorems", NULL, beta},
  {"wasserstein_radius", WDRBO, "radius of the theorems", NULL, radius},
  {0},
};

/* lambda = 1. */
static double noise_of(const RgBoundSetting *s)
{
  return s->largest;
}

static const char *remark(const RgBoundSetting *s)
{
  return s->fitted ? "B = kappa = lambda = 1, unit outputs, hyperparameters as a fit starts"
                   : "B = kappa = lambda = 1";
}

/* Theorem 5 admits laws that drift, as long as the given balls contain them. */
static const char *obstacle(const RgBoundSetting *s)
{
  return isnan(s->law[0].b) ? rg_context_obstacle(s) : rg_context_large(s);
}

const RgBoundFamily rg_bounds_wasserstein = {
  .name = "wasserstein",
  .title = "distributionally robust regret in Wasserstein balls",
  .reference = "arXiv:2503.20341, Theorems 5 and 9",
  .assumptions = "|f|_k <= B, R-sub-Gaussian noise, hyperparameters not fitted, contexts drawn by "
                 "nature from a box",
  .curves = curves,
  .rules = rules,
  .joint = WDRBO,
  .nominal = true,
  .obstacle = obstacle,
  .refuse = rg_context_refuse,
  .noise_of = noise_of,
  .remark = remark,
};
