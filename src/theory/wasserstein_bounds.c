/* Bounds of WDRBO. Source: arXiv:2503.20341; wdrbo 2.7 and 7. */
#include "theory/wasserstein_bounds.h"

#include <math.h>

#include "gp/kernel/family.h"
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

double rg_bound_wdrbo_query(const RgWassersteinTheory *theory, double deviation, double norm,
                            double price)
{
  return 2 * sqrt(theory->lambda) * norm * deviation + price;
}

/* ---- the family ------------------------------------------------------------------------------ */

/* B, R (NaN: lambda^(1/2)), kappa: constant[] of the law of a method that knows them. */
enum { NORM, NOISE, COVERING };

/* The constants of the method, or nominal values: B = kappa = 1, R of the data. lambda = 1, and
   the kernel is scaled to k(z,z) = 1. */
static RgWassersteinTheory constants_of(const RgBoundCase *s)
{
  const RgConfidenceLaw *law = s->law;
  const double noise = law->own ? law->constant[NOISE] : sqrt(s->data_noise);

  return (RgWassersteinTheory){
    .lambda = 1,
    .R = isnan(noise) ? 1 : noise,
    .B = law->own ? law->constant[NORM] : 1,
    .delta = law->own ? law->delta : s->delta,
    .slope = rg_kernel_slope(s->kernel, 0) / sqrt(rg_kernel_diagonal(s->kernel)),
    .dim_x = s->domain->design.dim,
    .dim_c = s->domain->context.dim,
    .width_x = sqrt(s->domain->design.dim),
    .width_c = sqrt(s->domain->context.dim),
    .kappa = law->own ? law->constant[COVERING] : 1,
  };
}

/* gamma of the first n points; more than the queries: as many times as n is. */
static double gain_of(const RgBoundCase *s, int n)
{
  return n > s->n ? s->gamma[s->n - 1] * n / s->n : n > 0 ? s->gamma[n - 1] : 0;
}

/* A method that knows the constants counts the initial design too, and gamma of all is at most the
   sum of both. */
static double norm_at(const RgWassersteinTheory *ball, const RgBoundCase *s, int t)
{
  const double initial = s->law->own ? gain_of(s, s->initial) : 0;

  return rg_wasserstein_norm(ball, 2 * (initial + gain_of(s, t - 1)));
}

/* law.b is the constant radius around a given centre, or NaN for observed contexts: then a method
   that knows the constants takes at most the diameter of the box. */
static double radius_at(const RgWassersteinTheory *ball, const RgBoundCase *s, int t)
{
  const double given = s->law[t - 1].b, norm = norm_at(ball, s, t);

  if (!isnan(given)) return given;
  if (!s->law->own) return rg_wasserstein_radius(ball, t, norm);
  return fmin(rg_wasserstein_radius(ball, s->initial + t - 1, norm), ball->width_c);
}

/* The part of query t that is not about the posterior: 2 eps_t L, and 2 rho_t if contexts are
   observed. */
static double price_at(const RgWassersteinTheory *ball, const RgBoundCase *s, int t)
{
  const double norm = norm_at(ball, s, t);
  const double remainder = isnan(s->law[t - 1].b) ? 2 * rg_wasserstein_remainder(ball, t, norm) : 0;

  return rg_wasserstein_penalty(ball, radius_at(ball, s, t), norm) + remainder;
}

/* Theorems 5 and 9. O(T). */
static double theorem(const RgBoundCase *s, int T)
{
  const RgWassersteinTheory ball = constants_of(s);
  double prices = 0;

  for (int t = 1; t <= T; t++) prices += price_at(&ball, s, t);
  return rg_bound_wdrbo(&ball, T, 2 * s->gamma[T - 1], norm_at(&ball, s, T), prices);
}

/* Theorems 4 and 8 before any data are known: the deviation of every context is 1, the largest. */
static double query(const RgBoundCase *s, int t)
{
  const RgWassersteinTheory ball = constants_of(s);

  return rg_bound_wdrbo_query(&ball, 1, norm_at(&ball, s, t), price_at(&ball, s, t));
}

static double beta(const RgBoundCase *s, int t)
{
  const RgWassersteinTheory ball = constants_of(s);

  return sqrt(ball.lambda) * norm_at(&ball, s, t);
}

static double radius(const RgBoundCase *s, int t)
{
  const RgWassersteinTheory ball = constants_of(s);

  return radius_at(&ball, s, t);
}

static bool has_centre(const RgBoundCase *s)
{
  return !isnan(s->law[0].b);
}

static bool has_observed_contexts(const RgBoundCase *s)
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
  {"wdrbo_theorem_4", WDRBO, "regret of a query, with probability 1 - delta, whatever the data",
   has_centre, query},
  {"wdrbo_theorem_8", WDRBO, "regret of a query, with probability 1 - 2 delta, whatever the data",
   has_observed_contexts, query},
  {"wasserstein_beta", WDRBO, "confidence parameter of the theorems", NULL, beta},
  {"wasserstein_radius", WDRBO, "radius of the theorems", NULL, radius},
  {0},
};

/* lambda = 1, unless the method has its own: then `refuse` compares. */
static double noise_of(const RgBoundCase *s)
{
  return s->law->own ? s->noise : s->largest;
}

static PetscErrorCode refuse(const RgBoundCase *s, RgText *why)
{
  PetscCall(rg_context_refuse(s, why));
  if (!why->data && s->law->own && s->noise != 1)
    PetscCall(rg_text_add(why, "the theorems ask for lambda = 1, the noise variance of the model"));
  return 0;
}

static const char *remark(const RgBoundCase *s)
{
  if (s->law->own && s->fitted) return "constants of the method, hyperparameters as a fit starts";
  if (s->law->own && has_observed_contexts(s)) return "B, R, kappa of the method";
  if (s->law->own) return "B, R of the method; holds if the given balls contain the law";
  return s->fitted ? "B = kappa = lambda = 1, unit outputs, hyperparameters as a fit starts"
                   : "B = kappa = lambda = 1";
}

/* Theorem 5 admits laws that drift, as long as the given balls contain them. */
static const char *obstacle(const RgBoundCase *s)
{
  return isnan(s->law[0].b) ? rg_context_obstacle(s) : rg_context_beyond(s);
}

const RgBoundFamily rg_bounds_wasserstein = {
  .name = "wasserstein",
  .title = "distributionally robust regret in Wasserstein balls",
  .reference = "arXiv:2503.20341, Theorems 4, 5, 8 and 9",
  .assumptions = "|f|_k <= B, R-sub-Gaussian noise, hyperparameters not fitted, contexts drawn by "
                 "nature from a box, by a law within the given balls (Theorems 4, 5)",
  .curves = curves,
  .rules = rules,
  .joint = WDRBO,
  .nominal = true,
  .obstacle = obstacle,
  .refuse = refuse,
  .noise_of = noise_of,
  .remark = remark,
};
