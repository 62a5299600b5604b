/* boke, boke_plus: Bayesian optimisation by kernel regression and density-based exploration.

   x_{t+1} = argmax_x m_t(x) + sqrt(beta_t) W_t(x)^(-1/2) (IKR-UCB), m_t the kernel regression and
   W_t the sum of kernel weights of the t points evaluated so far. boke_plus draws q ~ Bernoulli(p)
   for each query: q = 1 maximises this bound, q = 0 the kernel regression m_t alone. It shares all
   random numbers but q with boke: p = 1 is the same method, bit for bit.
   Source: Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, Algorithms 2 and 3; beta_t:
   theorems 4.10 and 4.13. Constants the paper leaves open: boke 9.
   Deviations: where W^(-1/2) may overflow bounds are compared by their logarithms; with a compact
   kernel points of weight 0 come first, the farthest from the data before the others. Values of
   m_t within 1e-12 max(1,|m_t|) count as equal, the first one found wins: m_t is flat around a
   point that dominates. The search climbs from at least 100 starts per input (fewer above 25
   inputs), most of them on faces of the box (rg_regression_acquire).
   Cost per iteration: O(t d) per acquisition value, and no model to fit.
   Needs no context, and an initial design. Revision 2. */
#include "acquisition/confidence.h"
#include "algorithm/surrogate.h"
#include "algorithm/smoother.h"

#include <math.h>

/* beta_t of theorems 4.10 and 4.13. */
enum { GENERAL, FINITE, FIXED };

typedef struct {
  RgSmootherOptions smoother;
  int beta;
  double value;           /* value of the fixed rule; NaN: not given */
  double noise_deviation; /* varsigma, in units of the outputs */
  bool noise_of_study;    /* varsigma is the known noise deviation */
  double kernel_bound, delta;
  double p; /* 0: boke, whose table has none */
} Options;

static const char *const betas[] = {"general", "finite", "fixed", NULL};

#define PARAMS                                                                                     \
  RG_SMOOTHER_PARAMS(Options), RG_OUTPUT_PARAMS(Options),                                          \
    RG_CHOICE(                                                                                     \
      "beta", Options, beta, "general", betas, "beta_t",                                           \
      "rule of the squared width for t points: 2 varsigma^2 M log(2 pi^2 t^2/(3 delta)), 4 "       \
      "varsigma^2 M log t, or value"),                                                             \
    RG_REAL("value", Options, value, "auto", 0.0, 1e6, "beta",                                     \
            "beta of the fixed rule; auto: not used"),                                             \
    RG_REAL("noise_deviation", Options, noise_deviation, "0.1", 0.0, 1e300, "varsigma",            \
            "sub-Gaussian parameter of the noise in units of the outputs, also where there is no " \
            "noise"),                                                                              \
    RG_BOOL("noise_of_study", Options, noise_of_study, "false",                                    \
            "varsigma is the noise deviation of the study instead, where it is known"),            \
    RG_REAL("kernel_bound", Options, kernel_bound, "1", RG_POSITIVE, 1e6, "M_Psi",                 \
            "largest value of the smoothing kernel"),                                              \
    RG_REAL("delta", Options, delta, "0.1", RG_POSITIVE, 0.999999, "delta",                        \
            "probability that the bound may fail (general)")

static const RgParam params[] = {PARAMS, {0}};

static const RgParam plus_params[] = {
  RG_REAL("p", Options, p, "0.5", RG_POSITIVE, 1.0, "p",
          "probability that a query maximises the bound; else it maximises the regression"),
  PARAMS,
  {0},
};

static const RgRecordColumn columns[] = {
  RG_SMOOTHER_COLUMNS,
  [RG_SMOOTHER_CONFIDENCE] = RG_COLUMN_CONFIDENCE,
  [RG_SMOOTHER_ACQUISITION] = RG_COLUMN_ACQUISITION,
  [RG_SMOOTHER_CHOICE] = {"exploration",
                          "1: the bound was maximised; 0: the regression alone (BOKE+)"},
  {0}};

static PetscErrorCode check(const void *closure, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *options = closure;
  const RgParam *param = params;

  while (param->choices != betas) param++;
  rg_rule_check_value(param, options->beta, FIXED, options->value, place, diagnostics);
  return 0;
}

/* beta_t for t = n points. */
static double beta_t(const RgAlgorithm *algorithm, int n)
{
  const Options *options = algorithm->options;
  const RgSmoother *smoother = algorithm->state;
  double noise = options->noise_deviation, known = algorithm->setup.noise_variance;

  if (options->noise_of_study && !isnan(known)) noise = sqrt(known) / smoother->deviation;
  switch (options->beta) {
  case GENERAL: return rg_ikr_ucb_beta_general(n, noise, options->kernel_bound, options->delta);
  case FINITE: return rg_ikr_ucb_beta_finite(n, noise, options->kernel_bound);
  default: return options->value;
  }
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgRandom choice = rg_algorithm_stream_at(algorithm, "choice", t);

  /* 1. The bandwidth h_t, the units of the outputs, and beta_t. */
  PetscCall(rg_smoother_update(algorithm, history, failure));
  if (failure->failed) return 0;
  const double beta = beta_t(algorithm, history->n);
  /* 2. q ~ Bernoulli(p): explore or exploit. */
  bool explore = options->p == 0 || rg_random_uniform(&choice) < options->p;
  /* 3. x_{t+1} = argmax of the bound, or of m_t. */
  PetscCall(rg_smoother_acquire(algorithm, t, history,
                                explore ? RG_REGRESSION_UCB : RG_REGRESSION_MEAN, sqrt(beta), query,
                                &query->extra[RG_SMOOTHER_ACQUISITION], failure));
  query->extra[RG_SMOOTHER_CONFIDENCE] = beta;
  query->extra[RG_SMOOTHER_CHOICE] = explore;
  return 0;
}

#define BOKE_METHODS                                                                               \
  .needs = RG_NEEDS_NO_CONTEXT | RG_NEEDS_INITIAL, .reads = RG_READS_MAXIMISER, .check = check,    \
  RG_STATE(RgSmoother, rg_smoother_create, rg_smoother_destroy), RG_ASK(ask, columns)

const RgAlgorithmClass rg_algorithm_boke = {
  RG_ABOUT("boke", "BOKE", 2,
           "x_t = argmax m(x) + sqrt(beta_t) W(x)^(-1/2), kernel regression m with sum of weights "
           "W",
           "Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, Algorithm 2"),
  RG_OPTIONS(Options, params),
  BOKE_METHODS,
};

const RgAlgorithmClass rg_algorithm_boke_plus = {
  RG_ABOUT("boke_plus", "BOKE+", 2, "boke with probability p, else x_t = argmax m(x)",
           "Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, Algorithm 3"),
  .stream = "boke",
  RG_OPTIONS(Options, plus_params),
  BOKE_METHODS,
};
