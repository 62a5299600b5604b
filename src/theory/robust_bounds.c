/* Bounds of RRGP-UCB. Source: arXiv:2504.03172; rrgp_ucb 7. */
#include "theory/robust_bounds.h"

#include <math.h>
#include <string.h>

#include "maths/law.h"
#include "maths/normal.h"
#include "regatta/measure.h"
#include "gp/kernel/family.h"
#include "theory/context_bounds.h"
#include "theory/family.h"

double rg_robust_c1(double noise, double largest_variance, double least_probability)
{
  return 2 * largest_variance / log1p(largest_variance / noise) / least_probability;
}

/* By parts: with L = log kappa, 2^s e^L Gamma(1 + s, L). */
double rg_robust_mean_power(double kappa, double s)
{
  const double level = log(kappa);

  return pow(2, s) * exp(level) * rg_gamma_upper(1 + s, level);
}

/* 2^nu (t C_{2,nu})^(1 - nu'/2) (C1 gamma)^(nu'/2), nu' = min(nu, 1). */
static double power_sum(double nu, double t, double kappa, double c1, double gamma)
{
  const double least = fmin(nu, 1), mean = rg_robust_mean_power(kappa, nu / (2 - least));

  return pow(2, nu) * pow(t * mean, 1 - least / 2) * pow(c1 * gamma, least / 2);
}

double rg_robust_bound(int n_terms, const RgRobustTerm *terms, double t, double kappa, double c1,
                       double gamma)
{
  double sum = 0;

  for (int i = 0; i < n_terms; i++) {
    double inner = 0;
    for (int j = 0; j < terms[i].n; j++)
      inner += terms[i].lambda[j] * power_sum(terms[i].nu[j], t, kappa, c1, gamma);
    sum += terms[i].weight * pow(inner / t, terms[i].concave);
  }
  return 2 * t * sum;
}

/* sqrt(C1 (2 log kappa + 2) gamma t) */
static double root(int t, double kappa, double c1, double gamma)
{
  return sqrt(c1 * (2 * log(kappa) + 2) * gamma * t);
}

double rg_robust_bound_linear(double slope, int t, double kappa, double c1, double gamma)
{
  return 4 * slope * root(t, kappa, c1, gamma);
}

double rg_robust_bound_continuous(double slope, bool continuous_context, int t, double kappa,
                                  double c1, double gamma)
{
  return slope * ((continuous_context ? 2 : 1) * M_PI * M_PI / 6 + 4 * root(t, kappa, c1, gamma));
}

double rg_robust_bound_last_continuous(int t, double kappa, double c1, double gamma)
{
  return 2.0 / t / t + M_PI * M_PI / (3 * t) + 4 * root(t, kappa, c1, gamma) / t;
}

int rg_robust_cells(int dim, int t)
{
  return (int)ceil(pow(t, 0.5 / dim) - 1e-9);
}

double rg_robust_variation(int dim, double slope, int t)
{
  double sum = 0;

  for (int i = 1; i <= t; i++) sum += 2 * sqrt(2) * slope * sqrt(dim) / rg_robust_cells(dim, i);
  return sum;
}

/* The least probability of one of n equal cells of [0, 1]. */
static double least_of(const RgDistribution *law, int n)
{
  double least = 1, below = 0;

  for (int i = 1; i <= n; i++) {
    const double above = i < n ? rg_distribution_cdf(law, (double)i / n) : 1;
    least = fmin(least, above - below);
    below = above;
  }
  return least;
}

double rg_robust_least_cell(int dim, const RgDistribution *laws, int t)
{
  double least = 1;

  for (int n = 1; n <= rg_robust_cells(dim, t); n++) {
    double cell = 1;
    for (int j = 0; j < dim; j++) cell *= least_of(&laws[j], n);
    least = fmin(least, cell);
  }
  return least;
}

/* ---- the family ------------------------------------------------------------------------------ */

/* C1, or C1' where nature draws the context. */
static double constant(const RgBoundCase *s)
{
  const RgDomain *domain = s->domain;
  double least = 1;

  for (int j = 0; j < domain->context.size && domain->control == RG_CONTEXT_NATURE; j++)
    least = fmin(least, domain->context_prob[j]);
  return rg_robust_c1(s->noise, s->largest, least);
}

/* Only for the expectation is the last recommendation the best one. */
static bool is_expectation(const RgBoundCase *s)
{
  const char *measure = s->domain->measure;

  return measure && !strcmp(measure, rg_measure_info(RG_MEASURE_EXPECTATION)->name);
}

static double corollary_4_1(const RgBoundCase *s, int t)
{
  const double kappa = (double)s->domain->design.size * s->domain->context.size;

  return rg_robust_bound_linear(s->measure_slope, t, kappa, constant(s), s->gamma[t - 1]);
}

static double theorem_4_2(const RgBoundCase *s, int t)
{
  return corollary_4_1(s, t) / t;
}

/* By Markov's inequality. */
static double theorem_4_4(const RgBoundCase *s, int t)
{
  return corollary_4_1(s, t) / s->delta;
}

/* Whether nature draws from a box of contexts: Theorems B.5 to B.8. */
static bool has_partition(const RgBoundCase *s)
{
  return !s->domain->context.size && s->domain->control == RG_CONTEXT_NATURE;
}

static bool has_none(const RgBoundCase *s)
{
  return !has_partition(s);
}

static bool has_partition_and_expectation(const RgBoundCase *s)
{
  return has_partition(s) && is_expectation(s);
}

static bool has_none_and_expectation(const RgBoundCase *s)
{
  return has_none(s) && is_expectation(s);
}

/* C1 gamma_t, or what stands in its place. */
static double gain(const RgBoundCase *s, int t)
{
  const int dim = s->domain->context.dim;
  const double c1_gamma = constant(s) * s->gamma[t - 1];

  if (!has_partition(s)) return c1_gamma;
  return sqrt(s->largest) * rg_robust_variation(dim, rg_kernel_slope(s->kernel, 0), t) +
         c1_gamma / rg_robust_least_cell(dim, s->contexts, t);
}

static double corollary_a(const RgBoundCase *s, int t)
{
  const double kappa = exp(s->law[t - 1].a / 2);

  return rg_robust_bound_continuous(s->measure_slope, !s->domain->context.size, t, kappa, 1,
                                    gain(s, t));
}

static double theorem_a_best(const RgBoundCase *s, int t)
{
  return corollary_a(s, t) / t;
}

static double theorem_a_last(const RgBoundCase *s, int t)
{
  const double kappa = exp(s->law[t - 1].a / 2);

  if (s->domain->context.size) return theorem_a_best(s, t);
  return rg_robust_bound_last_continuous(t, kappa, 1, gain(s, t));
}

/* Theorems 4.1 to 4.6; appendix A, where the `a` of the law is 2 log kappa_t. */
static const char *const rules[] = {"rrgp", "rrgp_continuous", NULL};

#define FINITE RG_RULE(0)
#define CONTINUOUS RG_RULE(1)

/* Where nature draws w, Theorems 4.5 and 4.6 are Corollary 4.1 and Theorem 4.2 with C1'. */
static const RgBoundCurve curves[] = {
  {"rrgp_corollary_4_1", FINITE, "expected cumulative regret", NULL, corollary_4_1},
  {"rrgp_theorem_4_2", FINITE, "expected regret at the best index", NULL, theorem_4_2},
  {"rrgp_theorem_4_3", FINITE, "expected regret of the last recommendation, expectation alone",
   is_expectation, theorem_4_2},
  {"rrgp_theorem_4_4", FINITE, "cumulative regret, with probability 1 - delta", NULL, theorem_4_4},
  {"rrgp_corollary_a", CONTINUOUS,
   "expected cumulative regret: Corollaries A.1 to A.3, Theorem B.3", has_none, corollary_a},
  {"rrgp_theorem_a_best", CONTINUOUS, "expected regret at the best index", has_none,
   theorem_a_best},
  {"rrgp_theorem_a_last", CONTINUOUS,
   "expected regret of the last recommendation, expectation alone: Theorems A.2, A.5, A.8, B.4",
   has_none_and_expectation, theorem_a_last},
  {"rrgp_theorem_b", CONTINUOUS,
   "expected cumulative regret where nature draws from a box: Theorems B.5 to B.8", has_partition,
   corollary_a},
  {"rrgp_theorem_b_best", CONTINUOUS, "expected regret at the best index, Theorems B.5 to B.8",
   has_partition, theorem_a_best},
  {"rrgp_theorem_b_last", CONTINUOUS,
   "expected regret of the last recommendation, expectation alone, Theorems B.5 to B.8",
   has_partition_and_expectation, theorem_a_last},
  {0},
};

static const char *obstacle(const RgBoundCase *s)
{
  if (s->rule != CONTINUOUS || !has_partition(s)) return NULL;
  if (!s->domain->n_laws) return "the law of the contexts is not known";
  return rg_law_drifts(s->domain->n_laws, s->domain->laws)
           ? "the law of the contexts changes in time"
           : NULL;
}

static PetscErrorCode refuse(const RgBoundCase *s, RgText *why)
{
  if (isnan(s->measure_slope))
    PetscCall(rg_text_add(why, "the theorems say nothing about this measure"));
  if (why->data || s->rule != CONTINUOUS || !has_partition(s)) return 0;
  PetscCall(rg_context_refuse(s, why));
  if (!why->data && !(rg_robust_least_cell(s->domain->context.dim, s->contexts, s->n) > 0))
    PetscCall(rg_text_add(why, "the law of the contexts leaves out a part of their box"));
  return 0;
}

const RgBoundFamily rg_bounds_rrgp_ucb = {
  .name = "rrgp_ucb",
  .title = "robust regret of RRGP-UCB",
  .reference = "arXiv:2504.03172, section 4 and appendices A, B",
  .assumptions = "f is a path of the model's Gaussian process over (x, w), Gaussian noise of known "
                 "variance, hyperparameters not fitted, a measure whose bounds have a slope",
  .curves = curves,
  .rules = rules,
  .joint = CONTINUOUS,
  .obstacle = obstacle,
  .refuse = refuse,
};
