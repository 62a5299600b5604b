/* v_ucb, cv_ucb: Bayesian optimisation of the value at risk, and of the conditional value at risk.

   u, l = mu +/- sqrt(beta_t) sd, beta_t = 2 log(|X x Omega| pi^2 t^2 / (6 delta)); x_t = argmax of
   the measure of u(x, .). w_t is a lacing value at x_t of the a-quantile: l(x_t, w_t) is at most
   the a-quantile of l(x_t, .), and u(x_t, w_t) at least that of u(x_t, .). v_ucb takes a = alpha,
   cv_ucb the level a in (0, alpha] at which the quantiles of u(x_t, .) and l(x_t, .) differ most.
   Or nature draws w_t. Among several lacing values, w_t has the largest probability, then the
   widest bounds.
   The recommendation is argmax rho(mu), as for every method of the comparison in arXiv:2504.03172.
   Source: Nguyen, Dai, Low, Jaillet (2021), arXiv:2105.06126 (v_ucb); the same (2021), Optimizing
   conditional value-at-risk of black-box functions (cv_ucb).
   Cost per iteration: the model's update plus a pass over |X x Omega| points, and |Omega|^2.
   Need a finite design and finite contexts with known probabilities; made for var, and for cvar.
   Revision 1. */
#include "algorithm/robust.h"

#include <math.h>

/* The bounds of f at one design, over the contexts. Model units, as quantiles keep their order. */
typedef struct {
  int n;
  const double *p;
  double *lower, *upper; /* n each */
} Bounds;

static PetscErrorCode quantile(const Bounds *bounds, const double *f, double level, double *value)
{
  const RgMeasure measure = {.kind = RG_MEASURE_VAR, .parameter = level};

  return rg_measure_value(&measure, 1, bounds->n, f, bounds->p, value);
}

/* P(f <= f[j]). */
static double share_up_to(const Bounds *bounds, const double *f, int j)
{
  double sum = 0.0;

  for (int i = 0; i < bounds->n; i++)
    if (f[i] <= f[j]) sum += bounds->p[i];
  return sum;
}

/* Replace `level` by `other` if the quantiles of the bounds differ more there. */
static PetscErrorCode widen(const Bounds *bounds, double other, double *level, double *widest)
{
  double low, high;

  PetscCall(quantile(bounds, bounds->lower, other, &low));
  PetscCall(quantile(bounds, bounds->upper, other, &high));
  if (high - low <= *widest) return 0;
  *widest = high - low;
  *level = other;
  return 0;
}

/* The level in (0, alpha] with the widest bounds. The quantiles only change at the levels that the
   bounds reach. */
static PetscErrorCode widest_level(const Bounds *bounds, double alpha, double *level)
{
  double widest = -INFINITY;

  *level = alpha;
  PetscCall(widen(bounds, alpha, level, &widest));
  for (int j = 0; j < bounds->n; j++) {
    const double reached[] = {share_up_to(bounds, bounds->lower, j),
                              share_up_to(bounds, bounds->upper, j)};
    for (int k = 0; k < 2; k++)
      if (reached[k] > 0.0 && reached[k] < alpha)
        PetscCall(widen(bounds, reached[k], level, &widest));
  }
  return 0;
}

/* The lacing value with the largest probability, then with the widest bounds, then the lowest
   index. */
static PetscErrorCode lacing_value(const Bounds *bounds, double level, int *found)
{
  double low, high, probability = -INFINITY, width = -INFINITY;

  *found = -1;
  PetscCall(quantile(bounds, bounds->lower, level, &low));
  PetscCall(quantile(bounds, bounds->upper, level, &high));
  for (int j = 0; j < bounds->n; j++) {
    const double wide = bounds->upper[j] - bounds->lower[j];
    if (bounds->lower[j] > low || bounds->upper[j] < high) continue;
    if (bounds->p[j] < probability || (bounds->p[j] == probability && wide <= width)) continue;
    *found = j;
    probability = bounds->p[j];
    width = wide;
  }
  PetscCheck(*found >= 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "no context laces the quantile");
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const RgRobust *state = algorithm->state;
  const double beta = rg_algorithm_width(algorithm, t);
  const int n = state->n_contexts;
  Bounds bounds = {n, state->p, NULL, NULL};
  double level = state->measure.parameter;
  int context;

  PetscCall(rg_robust_ucb_step(algorithm, t, history, beta, false, query));
  if (algorithm->setup.domain->control != RG_CONTEXT_SIMULATOR) return 0;
  const size_t first = (size_t)query->index * n;
  const double *mean = rg_posterior_means(&state->model.posterior) + first;
  const double *variance = rg_posterior_variances(&state->model.posterior) + first;
  PetscCall(PetscMalloc2(n, &bounds.lower, n, &bounds.upper));
  for (int j = 0; j < n; j++) {
    const double half = sqrt(beta * fmax(variance[j], 0.0));
    bounds.lower[j] = mean[j] - half;
    bounds.upper[j] = mean[j] + half;
  }
  if (state->measure.kind == RG_MEASURE_CVAR) PetscCall(widest_level(&bounds, level, &level));
  PetscCall(lacing_value(&bounds, level, &context));
  rg_robust_set_context(algorithm, context, query);
  return PetscFree2(bounds.lower, bounds.upper);
}

static PetscErrorCode check_var(const void *options, const RgDomain *domain, RgPlace place,
                                RgDiagnostics *diagnostics)
{
  return rg_robust_check_kind(options, domain, "v_ucb", RG_MEASURE_VAR, false, place, diagnostics);
}

static PetscErrorCode check_cvar(const void *options, const RgDomain *domain, RgPlace place,
                                 RgDiagnostics *diagnostics)
{
  return rg_robust_check_kind(options, domain, "cv_ucb", RG_MEASURE_CVAR, false, place,
                              diagnostics);
}

#define QUANTILE_METHODS                                                                           \
  RG_OPTIONS(RgRobustUcbOptions, rg_robust_ucb_params),                                            \
    .ask = ask, .scores = &rg_robust_aimed_scores, .confidence = rg_robust_ucb_confidence,         \
    RG_ROBUST_METHODS

const RgAlgorithmClass rg_algorithm_v_ucb = {
  RG_ABOUT("v_ucb", "V-UCB", 1,
           "x_t = argmax of the upper bound of the value at risk;\n"
           "w_t is a lacing value of the quantile, or nature draws it",
           "Nguyen, Dai, Low, Jaillet (2021), arXiv:2105.06126"),
  .check = check_var,
  QUANTILE_METHODS,
};

const RgAlgorithmClass rg_algorithm_cv_ucb = {
  RG_ABOUT("cv_ucb", "CV-UCB", 1,
           "x_t = argmax of the upper bound of the conditional value at risk;\n"
           "w_t is a lacing value of the quantile, or nature draws it",
           "Nguyen, Dai, Low, Jaillet (2021), Optimizing conditional value-at-risk of black-box "
           "functions"),
  .check = check_cvar,
  QUANTILE_METHODS,
};
