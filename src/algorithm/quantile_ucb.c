/* Upper confidence bounds of quantiles, and lacing values: the contexts whose observation narrows
   the bounds of a quantile. */
#include "algorithm/quantile_ucb.h"

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

PetscErrorCode rg_quantile_ucb_step(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                    bool below, RgQuery *query)
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
  if (below) PetscCall(widest_level(&bounds, level, &level));
  PetscCall(lacing_value(&bounds, level, &context));
  rg_robust_set_context(algorithm, context, query);
  PetscCall(PetscFree2(bounds.lower, bounds.upper));
  return 0;
}
