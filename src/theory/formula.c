/* The formulas that figures draw beside measured values. */
#include "theory/formula.h"

#include <math.h>
#include <string.h>

#include "acquisition/confidence.h"
#include "regatta/theory.h"
#include "regret/fill_distance.h"
#include "theory/bounds.h"
#include "theory/regression_bounds.h"
#include "theory/robust_bounds.h"

/* ---- fill distance --------------------------------------------------------------------------- */

typedef struct {
  int dim;
} CoveringOptions;

static const RgParam covering_params[] = {
  RG_INT("dim", CoveringOptions, dim, NULL, 1, 1e6, "d", "coordinates"),
  {0},
};

static PetscErrorCode covering(const void *options, int n, const double *const *in,
                               double *const *out)
{
  const CoveringOptions *o = options;

  for (int i = 0; i < n; i++) {
    out[0][i] = rg_fill_covering_bound(in[0][i], o->dim);
    out[1][i] = pow(in[0][i], -1.0 / o->dim);
  }
  return 0;
}

/* ---- widths of RRGP-UCB and of the methods beside it ----------------------------------------- */

typedef struct {
  double points, delta, level;
} WidthOptions;

static const RgParam width_params[] = {
  RG_REAL("points", WidthOptions, points, NULL, 1, 1e300, "|X x Omega|", "designs times contexts"),
  RG_REAL("delta", WidthOptions, delta, "0.05", RG_POSITIVE, 1, "delta",
          "probability that the bounds of the others may fail"),
  RG_REAL("level", WidthOptions, level, "0.95", RG_POSITIVE, 1, "",
          "probability of the interval of RRGP-UCB's width"),
  {0},
};

/* Source: arXiv:2504.03172, Figure 1. rkhs: gamma_t = log t, B = R = 1. */
static PetscErrorCode widths(const void *options, int n, const double *const *in,
                             double *const *out)
{
  const WidthOptions *o = options;
  const double base = 2 * log(o->points), tail = (1 - o->level) / 2;
  const RgConfidenceLaw law = {.kind = RG_LAW_EXPONENTIAL, .a = base, .b = 0.5};

  for (int i = 0; i < n; i++) {
    const double t = in[0][i], failing = o->points * M_PI * M_PI * t * t / (6 * o->delta);
    out[0][i] = rg_irgp_mean_width(base);
    out[1][i] = sqrt(rg_confidence_quantile(&law, tail));
    out[2][i] = sqrt(rg_confidence_quantile(&law, 1 - tail));
    out[3][i] = 1 + sqrt(2 * (log(t) + 1 + log(1 / o->delta)));
    out[4][i] = sqrt(2 * log(failing));
    out[5][i] = pow(failing, 0.1);
    out[6][i] = sqrt(base);
  }
  return 0;
}

typedef struct {
  double slope;
} RealisedOptions;

static const RgParam realised_params[] = {
  RG_REAL("slope", RealisedOptions, slope, NULL, 0, INFINITY, "K", "of the measure's bounds"),
  {0},
};

/* sum + term. A missing term counts as 0, and the result shows that it was missing. */
static double running(double *sum, double term)
{
  *sum += isnan(term) ? 0 : term;
  return isnan(term) ? NAN : *sum;
}

/* The expected regret in the proofs of Theorems 4.1 and A.1, before it is bounded by gamma_t: 2
   sum (ucb - lcb)(x_k) and 4 K sum beta_k^(1/2) max_w sigma(x_k, w), over a run (rows of equal
   `run`). */
static PetscErrorCode realised(const void *options, int n, const double *const *in,
                               double *const *out)
{
  const RealisedOptions *o = options;
  double width = 0, deviation = 0;

  for (int i = 0; i < n; i++) {
    if (i && in[0][i] != in[0][i - 1]) width = deviation = 0;
    out[0][i] = 2 * running(&width, in[1][i]);
    out[1][i] = 4 * o->slope * running(&deviation, sqrt(in[2][i]) * in[3][i]);
  }
  return 0;
}

typedef struct {
  double points, noise, probability, weight, concave, lambda, nu;
} RegretOptions;

static const RgParam regret_params[] = {
  RG_REAL("points", RegretOptions, points, NULL, 1, 1e300, "|X x Omega|", "designs times contexts"),
  RG_REAL("noise", RegretOptions, noise, NULL, RG_POSITIVE, 1e300, "sigma^2",
          "noise variance; the signal has 1"),
  RG_REAL("probability", RegretOptions, probability, "1", RG_POSITIVE, 1, "",
          "least of a context, where nature draws them; 1: the learner chooses"),
  RG_REAL("weight", RegretOptions, weight, "1", 0, 1e300, "", "of the measure's summand"),
  RG_REAL("concave", RegretOptions, concave, "1", RG_POSITIVE, 1, "", "power of lambda a^nu"),
  RG_REAL("lambda", RegretOptions, lambda, "1", 0, 1e300, "lambda", "factor of a^nu"),
  RG_REAL("nu", RegretOptions, nu, "1", RG_POSITIVE, 1e300, "nu", "power of a"),
  {0},
};

/* Theorems 4.1, 4.5, 4.6 for a measure whose bounds are at most q(2 beta^(1/2) sigma) apart,
   q(a) = weight (lambda a^nu)^concave. For a sum of such terms the bounds add up. */
static PetscErrorCode robust_regret(const void *options, int n, const double *const *in,
                                    double *const *out)
{
  const RegretOptions *o = options;
  const RgRobustTerm term = {o->weight, o->concave, 1, &o->lambda, &o->nu};
  const double c1 = rg_robust_c1(o->noise, 1, o->probability);

  for (int i = 0; i < n; i++) {
    out[0][i] = rg_robust_bound(1, &term, in[0][i], o->points, c1, in[1][i]);
    out[1][i] = out[0][i] / in[0][i];
  }
  return 0;
}

/* ---- kernel regression ----------------------------------------------------------------------- */

typedef struct {
  double varsigma, delta;
} BetaOptions;

static const RgParam beta_params[] = {
  RG_REAL("varsigma", BetaOptions, varsigma, "0.1", RG_POSITIVE, 1e300, "varsigma",
          "sub-Gaussian parameter of the noise"),
  RG_REAL("delta", BetaOptions, delta, "0.1", RG_POSITIVE, 1, "delta",
          "probability that the bound may fail"),
  {0},
};

static PetscErrorCode regression_beta(const void *options, int n, const double *const *in,
                                      double *const *out)
{
  const BetaOptions *o = options;

  for (int i = 0; i < n; i++)
    out[0][i] = rg_ikr_ucb_beta_general(in[0][i], o->varsigma, 1, o->delta);
  return 0;
}

/* Theorem 4.1: half-width of the interval at a point of a given weight, without omega_f(h). */
static PetscErrorCode regression_radius(const void *options, int n, const double *const *in,
                                        double *const *out)
{
  const BetaOptions *o = options;

  for (int i = 0; i < n; i++) out[0][i] = rg_regression_radius(in[0][i], o->varsigma, o->delta);
  return 0;
}

/* Theorem 4.13 from the sums over a run, with the constants of its statement and with one root. */
static PetscErrorCode regression_general(const void *options, int n, const double *const *in,
                                         double *const *out)
{
  const BetaOptions *o = options;
  const double *t = in[0], *eta = in[1], *omega = in[2];

  for (int i = 0; i < n; i++) {
    const double beta = rg_ikr_ucb_beta_general(t[i], o->varsigma, 1, o->delta);
    out[0][i] = rg_regression_bound_general(t[i], eta[i], omega[i], o->varsigma, o->delta);
    out[1][i] = rg_regression_bound_root(t[i], beta, eta[i], omega[i]);
  }
  return 0;
}

typedef struct {
  RgReals gaps;
  double varsigma, delta;
} FiniteOptions;

static const RgParam finite_params[] = {
  RG_REALS("gaps", FiniteOptions, gaps, NULL, 0, INFINITY, "",
           "f(x*) - f(x) of every point of the design"),
  RG_REAL("varsigma", FiniteOptions, varsigma, "0.1", RG_POSITIVE, 1e300, "varsigma",
          "sub-Gaussian parameter of the noise"),
  RG_REAL("delta", FiniteOptions, delta, "0.1", RG_POSITIVE, 1, "delta",
          "probability that the bound `probable` may fail"),
  {0},
};

static PetscErrorCode regression_finite(const void *options, int n, const double *const *in,
                                        double *const *out)
{
  const FiniteOptions *o = options;
  double largest = 0;

  for (int i = 0; i < o->gaps.n; i++) largest = fmax(largest, o->gaps.values[i]);
  for (int i = 0; i < n; i++) {
    out[0][i] = rg_regression_bound_finite_expected(o->gaps.n, in[0][i], o->varsigma, largest);
    out[1][i] = rg_regression_bound_gaps(o->gaps.n, o->gaps.values, in[0][i], o->varsigma);
    out[2][i] = rg_regression_bound_finite(o->gaps.n, in[0][i], o->varsigma, o->delta, largest);
  }
  return 0;
}

typedef struct {
  RgReals values;
  double largest;
  bool gaussian;
} IntervalOptions;

static const RgParam interval_params[] = {
  RG_REALS("values", IntervalOptions, values, NULL, -INFINITY, INFINITY, "f",
           "on a grid of the unit interval, ends included"),
  RG_REAL("largest", IntervalOptions, largest, "auto", 0, INFINITY, "",
          "largest regret there is: no query costs more; auto: no limit"),
  RG_BOOL("gaussian", IntervalOptions, gaussian, "false",
          "Gaussian smoothing kernel: its support ends where it has fallen to 1e-3; else a ball"),
  {0},
};

/* Theorem 4.13 query by query: the running sum over a run (rows of equal `run`) of
   2 sqrt(beta_t/W_t) + 2 omega_f(R h_t). */
static PetscErrorCode regression_interval(const void *options, int n, const double *const *in,
                                          double *const *out)
{
  const IntervalOptions *o = options;
  const double *run = in[0], *log_weight = in[1], *beta = in[2], *bandwidth = in[3];
  const double radius = o->gaussian ? rg_gaussian_support(1e-3) : 1;
  const double spacing = 1.0 / (o->values.n - 1);

  for (int i = 0; i < n; i++) {
    const bool first = i == 0 || run[i] != run[i - 1];
    double omega;
    PetscCall(rg_modulus_of_continuity(o->values.n, o->values.values, spacing,
                                       radius * bandwidth[i], &omega));
    const double term = 2 * sqrt(beta[i]) * exp(-0.5 * log_weight[i]) + 2 * omega;
    out[0][i] = (first ? 0 : out[0][i - 1]) + (isnan(o->largest) ? term : fmin(term, o->largest));
  }
  return 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A row's options and the function that fills its columns. */
#define ROWS(options, params, function) params, sizeof(options), function
const RgTheoryFormula rg_theory_formulas[] = {
  {"covering",
   "least fill distance of n points of the unit cube",
   "volumes of balls",
   {"n"},
   {"covering", "rate"},
   ROWS(CoveringOptions, covering_params, covering)},
  {"robust_widths",
   "beta_t^(1/2) of RRGP-UCB and of the methods it is compared with",
   "arXiv:2504.03172, Figure 1",
   {"t"},
   {"mean", "low", "high", "rkhs", "bayesian", "bpt_ucb", "least"},
   ROWS(WidthOptions, width_params, widths)},
  {"robust_realised",
   "cumulative robust regret by the widths and deviations of a run",
   "arXiv:2504.03172, proofs of Theorems 4.1 and A.1",
   {"run", "bound_width", "confidence", "largest_sd"},
   {"bound_width", "deviation"},
   ROWS(RealisedOptions, realised_params, realised)},
  {"robust_regret",
   "expected cumulative robust regret by the information gain gamma of t points, and at the best "
   "index",
   "arXiv:2504.03172, Theorems 4.1, 4.2, 4.5, 4.6",
   {"t", "gamma"},
   {"cumulative", "best"},
   ROWS(RegretOptions, regret_params, robust_regret)},
  {"regression_beta",
   "confidence parameter of IKR-UCB, rule general",
   "arXiv:2502.06178, Theorem 4.13",
   {"t"},
   {"beta"},
   ROWS(BetaOptions, beta_params, regression_beta)},
  {"regression_radius",
   "half-width of the interval of kernel regression at a point of some weight",
   "arXiv:2502.06178, Theorem 4.1",
   {"weight"},
   {"radius"},
   ROWS(BetaOptions, beta_params, regression_radius)},
  {"regression_general",
   "cumulative regret of kernel regression, rule general, from sums over a run",
   "arXiv:2502.06178, Theorem 4.13",
   {"t", "eta", "omega"},
   {"bound", "root"},
   ROWS(BetaOptions, beta_params, regression_general)},
  {"regression_finite",
   "cumulative regret of kernel regression on a finite design: expected, and with probability",
   "arXiv:2502.06178, Theorem 4.10",
   {"t"},
   {"root", "gaps", "probable"},
   ROWS(FiniteOptions, finite_params, regression_finite)},
  {"regression_interval",
   "cumulative regret of kernel regression on an interval, as it ran",
   "arXiv:2502.06178, Theorem 4.13",
   {"run", "log_weight", "confidence", "bandwidth"},
   {"bound"},
   ROWS(IntervalOptions, interval_params, regression_interval)},
  {0}};

const RgTheoryFormula *rg_theory_formula_find(const char *name)
{
  for (const RgTheoryFormula *formula = rg_theory_formulas; formula->name; formula++)
    if (!strcmp(formula->name, name)) return formula;
  return NULL;
}
