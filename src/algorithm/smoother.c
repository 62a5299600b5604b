/* Steps shared by the methods of kernel regression: bandwidth, units, width, search. */
#include "algorithm/smoother.h"

#include "base/clock.h"

#include <math.h>

const char *const rg_bandwidth_scale_names[] = {"cube", "std", NULL};
const char *const rg_output_names[] = {"standardised", "native", "fixed", NULL};

PetscErrorCode rg_smoother_create(RgAlgorithm *algorithm)
{
  const RgSmootherOptions *options = algorithm->options;
  const RgSetup *setup = &algorithm->setup;

  return rg_regression_create((RgSmoothing)options->smoothing, setup->domain->design.dim,
                              setup->n_initial + setup->n_iterations,
                              &((RgSmoother *)algorithm->state)->regression);
}

PetscErrorCode rg_smoother_destroy(RgAlgorithm *algorithm)
{
  return rg_regression_destroy(&((RgSmoother *)algorithm->state)->regression);
}

static PetscErrorCode bandwidth(const RgSmootherOptions *options, const RgHistory *history,
                                double *h)
{
  double scale = NAN, constant = options->bandwidth_constant, *deviation, sum = 0.0;

  if (options->bandwidth_scale == RG_BANDWIDTH_OF_POINTS) {
    PetscCall(PetscMalloc1(history->dim, &deviation));
    rg_sample_deviations(history->n, history->dim, history->x, deviation);
    for (int j = 0; j < history->dim; j++) sum += deviation[j] * deviation[j];
    if (sum > 0.0) scale = sqrt(sum / history->dim);
    PetscCall(PetscFree(deviation));
  }
  if (isnan(constant)) constant = isnan(scale) ? 0.1 * pow(history->dim, 0.75) : 1.0;
  if (!isnan(scale)) constant *= scale;
  *h = rg_bandwidth((RgBandwidthRule)options->bandwidth, constant, history->n, history->dim);
  if (options->bandwidth == RG_BANDWIDTH_CV)
    PetscCall(rg_bandwidth_cross_validated((RgSmoothing)options->smoothing, history->n,
                                           history->dim, history->x, history->y, *h, h));
  return 0;
}

PetscErrorCode rg_smoother_update(RgAlgorithm *algorithm, const RgHistory *history,
                                  RgFailure *failure)
{
  const RgSmootherOptions *options = algorithm->options;
  RgSmoother *smoother = algorithm->state;
  RgClock *clock = algorithm->setup.clock;

  if (history->n == 0) {
    rg_failure_set(failure, "kernel regression needs an initial design");
    return 0;
  }
  if (clock) PetscCall(rg_clock_begin(clock, RG_STAGE_FIT));
  for (int i = smoother->regression.n; i < history->n; i++)
    if (!isfinite(history->y[i])) rg_failure_set(failure, "observation %d is not finite", i + 1);
  if (!failure->failed) {
    PetscCall(rg_regression_update(&smoother->regression, history));
    PetscCall(bandwidth(options, history, &smoother->h));
    smoother->shift = 0.0;
    smoother->deviation = 1.0;
    if (options->outputs == RG_OUTPUTS_STANDARDISED) {
      smoother->shift = smoother->regression.mean;
      smoother->deviation = rg_regression_deviation(&smoother->regression);
    } else if (options->outputs == RG_OUTPUTS_FIXED) {
      smoother->shift = options->output_mean;
      smoother->deviation = options->output_deviation;
    }
  }
  if (clock) PetscCall(rg_clock_end(clock, RG_STAGE_FIT));
  return 0;
}

PetscErrorCode rg_smoother_record(RgSmoother *smoother, double evaluations, RgQuery *query)
{
  query->extra[RG_SMOOTHER_BANDWIDTH] = smoother->h;
  PetscCall(rg_regression_predict(&smoother->regression, smoother->h, 1, query->x, NULL,
                                  &query->extra[RG_SMOOTHER_LOG_WEIGHT], NULL, NULL));
  query->extra[RG_SMOOTHER_VALUES] = evaluations;
  return 0;
}

PetscErrorCode rg_smoother_acquire(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   RgRegressionGoal goal, double width, RgQuery *query,
                                   double *value, RgFailure *failure)
{
  RgSmoother *smoother = algorithm->state;
  RgRegressionSearch search = {.regression = &smoother->regression,
                               .goal = goal,
                               .h = smoother->h,
                               .shift = smoother->shift,
                               .deviation = smoother->deviation,
                               .width = width};

  PetscCall(rg_regression_acquire(algorithm->setup.domain, &search,
                                  RG_SEARCH_AT(algorithm, t, history), query, value, failure));
  if (failure->failed) return 0;
  return rg_smoother_record(smoother, (double)search.evaluations, query);
}
