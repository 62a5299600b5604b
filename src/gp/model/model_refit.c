/* A refit of the surrogate. The model keeps data in native and in model units. It appends to the
   posterior, gives it new outputs, or rebuilds it, whichever is the least work. */
#include "gp/model/model_internal.h"

#include <math.h>

/* fit_warm: auto. Every fit starts from the configured values up to COLD_DATA data. With more than
   RG_LONG_DATA a fit stops after LONG_EVALUATIONS. While there are other starts, every second fit
   is for one of them. Its climb goes on there unless it gained less than LITTLE. */
enum { COLD_DATA = 100, LONG_EVALUATIONS = 8 };
#define LITTLE 0.1

/* ---- noise and units ----------------------------------------------------------------------- */

/* Noise variance in model units at the current scale, where it is not learned. */
double rg_model_known_noise(const RgModel *model)
{
  const RgSurrogateOptions *o = model->options;
  double noise = model->state->given_noise;
  if (isnan(noise)) return 1e-6 * rg_kernel_diagonal(&model->kernel);
  if (o->noise_units == RG_UNITS_NATIVE) {
    int exponent; /* its square might be no number */
    const double unit = frexp(model->scale / model->state->steepness, &exponent);
    noise = ldexp(noise, -2 * exponent) / (unit * unit);
  }
  return noise > o->noise_floor ? noise : o->noise_floor;
}

/* A deviation of at most this share of the largest output is zero up to rounding. */
#define ROUNDING 1e-14

static bool outputs_differ(const struct RgModelState *s)
{
  for (int i = 1; i < s->n; i++)
    if (s->y[i] != s->y[0]) return true;
  return false;
}

/* The transformation, refitted to all outputs. */
static PetscErrorCode fit_transform(RgModel *model)
{
  struct RgModelState *s = model->state;
  const RgTransformKind kind = (RgTransformKind)model->options->transform;

  PetscFunctionBeginUser;
  if (kind == RG_TRANSFORM_NONE) PetscFunctionReturn(0);
  PetscCall(rg_transform_fit(&model->transform, kind, s->n, s->y));
  if (s->n == 0) PetscFunctionReturn(0);
  s->bend = 0;
  for (int i = 0; i < s->n; i++) {
    s->y_model[i] = rg_transform_slope(&model->transform, s->y[i]);
    s->bend += log(s->y_model[i]) / s->n;
  }
  s->steepness = rg_root_mean_square(s->n, s->y_model, 0, s->n);
  PetscFunctionReturn(0);
}

/* Shift and scale from all outputs. */
static void standardise(RgModel *model)
{
  const struct RgModelState *s = model->state;
  double largest = 0.0;
  model->shift = 0.0;
  model->scale = 1.0;
  if (!model->options->standardise || s->n == 0) return;
  for (int i = 0; i < s->n; i++) {
    s->y_model[i] = rg_transform_value(&model->transform, s->y[i]);
    largest = fmax(largest, fabs(s->y_model[i]));
  }
  model->shift = rg_mean(s->n, s->y_model);
  if (!outputs_differ(s)) return;
  const int divisor = model->options->deviation == RG_DEVIATION_SAMPLE ? s->n - 1 : s->n;
  const double deviation = rg_root_mean_square(s->n, s->y_model, model->shift, divisor);
  if (deviation > ROUNDING * largest) model->scale = deviation;
}

void rg_model_convert_outputs(RgModel *model, int first)
{
  struct RgModelState *s = model->state;
  for (int i = first; i < s->n; i++) s->y_model[i] = rg_model_units(model, s->y[i]);
}

/* ---- the posterior ------------------------------------------------------------------------- */

/* Evaluations first .. n-1 in model units. */
static RgObservations observations(const struct RgModelState *s, int first)
{
  return (RgObservations){s->n - first, s->X + (size_t)first * s->dim, s->index + first,
                          s->y_model + first};
}

PetscErrorCode rg_model_append(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const RgObservations data = observations(s, s->held);

  PetscFunctionBeginUser;
  PetscCall(rg_posterior_extend(&model->posterior, &data, failure));
  if (!failure->failed) s->held = s->n;
  PetscFunctionReturn(0);
}

static PetscErrorCode rebuild(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const RgObservations data = observations(s, 0);

  PetscFunctionBeginUser;
  PetscCall(rg_posterior_reset(&model->posterior, &model->kernel, model->noise_variance,
                               model->mean, &data, failure));
  s->held = s->n;
  PetscFunctionReturn(0);
}

/* ---- refit --------------------------------------------------------------------------------- */

/* Whether additional starts must join the fit, judged before it from the growth of n alone. */
static bool multistart_is_due(const RgModel *model)
{
  const struct RgModelState *s = model->state;
  if (model->options->fit_multistart == RG_MULTISTART_ALWAYS || s->multistart_n == 0) return true;
  return 2 * s->n >= 3 * s->multistart_n;
}

/* The logarithm of the native unit that is 1 in model units, where T is as steep as on average. */
static double log_unit(const RgModel *model)
{
  return log(model->scale) - (model->transform.kind ? model->state->bend : 0);
}

/* Whether the new data are so unlikely under the last optimum that another optimum may be better
   now. Compares log densities in native units. */
static bool looks_bad(const RgModel *model, double warm)
{
  const struct RgModelState *s = model->state;
  if (!isfinite(warm)) return true;
  if (s->optimum_n == 0) return false;
  const double before = s->optimum - s->optimum_n * s->optimum_unit, unit = log_unit(model);
  const double now = warm - s->fit_n * unit, new_data = s->fit_n - s->optimum_n;
  return now - before < -new_data * (6.0 + unit);
}

/* The data of a fit. All of them; without a matrix at most `fit_data`, those with the smallest
   hash numbers, so that the subset hardly changes as data arrive. */
static PetscErrorCode choose_fit_data(RgModel *model, const double **X, const double **y)
{
  struct RgModelState *s = model->state;
  const int most = rg_surrogate_fit_data(model->options);
  const size_t dim = (size_t)s->dim;
  const RgStream stream = rg_stream_sub(&s->stream, "subset");
  PetscInt *chosen;
  double *draw;

  PetscFunctionBeginUser;
  *X = s->X;
  *y = s->y_model;
  s->fit_n = s->n;
  if (!s->iterative || s->n <= most) PetscFunctionReturn(0);
  if (!s->fit_X) PetscCall(PetscMalloc2((size_t)most * dim, &s->fit_X, most, &s->fit_y));
  PetscCall(PetscMalloc2(s->n, &chosen, s->n, &draw));
  for (int i = 0; i < s->n; i++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)i);
    draw[i] = rg_random_uniform(&random);
    chosen[i] = i;
  }
  PetscCall(PetscSortRealWithPermutation(s->n, draw, chosen));
  PetscCall(PetscSortInt(most, chosen));
  for (int i = 0; i < most; i++) {
    PetscCall(PetscArraycpy(s->fit_X + (size_t)i * dim, s->X + (size_t)chosen[i] * dim, dim));
    s->fit_y[i] = s->y_model[chosen[i]];
  }
  PetscCall(PetscFree2(chosen, draw));
  *X = s->fit_X;
  *y = s->fit_y;
  s->fit_n = most;
  PetscFunctionReturn(0);
}

/* Whether a fit takes its starts one after the other, in parts. The first fit never does. */
static bool is_long(const RgModel *model)
{
  const struct RgModelState *s = model->state;
  return model->options->fit_warm == RG_WARM_AUTO && s->n > RG_LONG_DATA && s->optimum_n > 0;
}

/* Fit from the present hyperparameters and `starts` others, with at most `most` evaluations per
   start (0: no limit). */
static PetscErrorCode run_fit(RgModel *model, int starts, int most, double *value, double *warm)
{
  struct RgModelState *s = model->state;
  RgFitOptions fit = rg_surrogate_fit_options(model->options, s->dim, s->learn_noise);
  RgRandom random = rg_stream_at(&s->stream, (uint64_t)s->n);
  const double *X, *y;
  RgFitReport report;

  PetscFunctionBeginUser;
  PetscCall(choose_fit_data(model, &X, &y));
  fit.starts = starts;
  fit.max_evaluations = most;
  PetscCall(rg_fit_with(&s->fit_work, &model->kernel, &model->noise_variance, &model->mean,
                        &(RgData){s->fit_n, X, y}, &fit, &random, &report));
  *value = report.value;
  *warm = report.value_warm;
  model->report.fit_evaluations += report.evaluations;
  PetscFunctionReturn(0);
}

/* Whether a fit starts from the configured hyperparameters. With more than COLD_DATA data such a
   fit finds the same optimum as a warm one at several times the cost, so it happens only when n
   has grown by a tenth. */
static bool cold_start_is_due(const RgModel *model)
{
  const struct RgModelState *s = model->state;
  if (model->options->fit_warm != RG_WARM_AUTO) return model->options->fit_warm == RG_WARM_NEVER;
  return s->n <= COLD_DATA || 10 * s->n >= 11 * s->cold_n;
}

/* Restore the configured hyperparameters, the start of a cold fit. */
static PetscErrorCode start_cold(RgModel *model)
{
  PetscFunctionBeginUser;
  PetscCall(rg_kernel_destroy(&model->kernel));
  PetscCall(rg_kernel_copy(&model->state->configured, &model->kernel));
  if (model->state->learn_noise) model->noise_variance = model->state->configured_noise;
  PetscFunctionReturn(0);
}

static PetscErrorCode keep(const RgModel *model, RgModelStart *kept)
{
  PetscFunctionBeginUser;
  if (kept->kernel.terms) PetscCall(rg_kernel_destroy(&kept->kernel));
  PetscCall(rg_kernel_copy(&model->kernel, &kept->kernel));
  kept->noise_variance = model->noise_variance;
  kept->mean = model->mean;
  PetscFunctionReturn(0);
}

static PetscErrorCode restore(const RgModelStart *kept, RgModel *model)
{
  PetscFunctionBeginUser;
  PetscCall(rg_kernel_destroy(&model->kernel));
  PetscCall(rg_kernel_copy(&kept->kernel, &model->kernel));
  model->noise_variance = kept->noise_variance;
  model->mean = kept->mean;
  PetscFunctionReturn(0);
}

/* Take the next start: the configured values, then log-uniform draws. */
static PetscErrorCode take_start(RgModel *model)
{
  struct RgModelState *s = model->state;
  const RgFitOptions fit = rg_surrogate_fit_options(model->options, s->dim, s->learn_noise);
  RgRandom random = rg_stream_at(&s->stream, (uint64_t)s->n);

  PetscFunctionBeginUser;
  if (s->starts_left > model->options->fit_starts) PetscCall(start_cold(model));
  else PetscCall(rg_fit_draw(&s->fit_work, &fit, &random, &model->kernel, &model->noise_variance));
  s->starts_left--;
  PetscFunctionReturn(0);
}

/* A part of the climb from one other start. The better of its end and the present optimum, which
   has *value, is the optimum. */
static PetscErrorCode climb_start(RgModel *model, double *value)
{
  struct RgModelState *s = model->state;
  RgModelStart optimum = {0};
  double end, begin;

  PetscFunctionBeginUser;
  PetscCall(keep(model, &optimum));
  if (s->climbs) PetscCall(restore(&s->climber, model));
  else PetscCall(take_start(model));
  PetscCall(run_fit(model, 0, LONG_EVALUATIONS - 1, &end, &begin));
  const bool better = end > *value;
  s->climbs = !better && end - begin > LITTLE;
  if (s->climbs) PetscCall(keep(model, &s->climber));
  if (better) *value = end;
  else PetscCall(restore(&optimum, model));
  PetscCall(rg_kernel_destroy(&optimum.kernel));
  PetscFunctionReturn(0);
}

/* A fit to many data: a climb from the last optimum, or a part of the climb from another start. */
static PetscErrorCode fit_in_parts(RgModel *model, double *value)
{
  struct RgModelState *s = model->state;
  const bool due = multistart_is_due(model) || cold_start_is_due(model);
  const bool other = s->others_turn && (s->climbs || s->starts_left > 0);
  double warm;

  PetscFunctionBeginUser;
  PetscCall(run_fit(model, 0, other ? 1 : LONG_EVALUATIONS, value, &warm));
  if (due || looks_bad(model, warm)) {
    s->starts_left = 1 + model->options->fit_starts;
    s->multistart_n = s->cold_n = s->n;
  }
  s->others_turn = !other;
  if (other) PetscCall(climb_start(model, value));
  PetscFunctionReturn(0);
}

/* All starts in one fit. */
static PetscErrorCode fit_at_once(RgModel *model, double *value)
{
  struct RgModelState *s = model->state;
  const int other_starts = model->options->fit_starts;
  const bool all = multistart_is_due(model);
  double warm, second;

  PetscFunctionBeginUser;
  if (cold_start_is_due(model)) {
    s->cold_n = s->n;
    PetscCall(start_cold(model));
  }
  PetscCall(run_fit(model, all ? other_starts : 0, 0, value, &warm));
  bool joined = all;
  if (!joined && other_starts > 0 && looks_bad(model, warm)) {
    PetscCall(run_fit(model, other_starts, 0, &second, &warm));
    *value = fmax(*value, second);
    joined = true;
  }
  if (joined) s->multistart_n = s->n;
  PetscFunctionReturn(0);
}

/* Fit the hyperparameters; keep the present ones when no start has a finite value. */
static PetscErrorCode fit_hyperparameters(RgModel *model)
{
  struct RgModelState *s = model->state;
  const RgFitOptions fit = rg_surrogate_fit_options(model->options, s->dim, s->learn_noise);
  RgModelStart last = {0};
  double value;

  PetscFunctionBeginUser;
  PetscCall(keep(model, &last));
  PetscCall((is_long(model) ? fit_in_parts : fit_at_once)(model, &value));
  model->report.refitted = isfinite(value);
  if (model->report.refitted) {
    s->optimum = value;
    s->optimum_n = s->fit_n;
    model->report.fit_data = s->fit_n;
    s->optimum_unit = log_unit(model);
    model->report.log_likelihood =
      value - rg_fit_log_prior(&model->kernel, model->noise_variance, &fit);
  } else {
    PetscCall(restore(&last, model));
  }
  PetscCall(rg_kernel_destroy(&last.kernel));
  PetscFunctionReturn(0);
}

/* Update the constant mean, if the model has one, with fixed hyperparameters. */
static PetscErrorCode estimate_mean(RgModel *model)
{
  struct RgModelState *s = model->state;
  const RgFitOptions fit = rg_surrogate_fit_options(model->options, s->dim, s->learn_noise);
  const double *X, *y;
  double value, mean = 0.0;

  PetscFunctionBeginUser;
  if (!fit.learn_mean) PetscFunctionReturn(0);
  PetscCall(choose_fit_data(model, &X, &y));
  PetscCall(rg_fit_objective_with(&s->fit_work, &model->kernel, model->noise_variance, &mean,
                                  &(RgData){s->fit_n, X, y}, &fit, &value, NULL));
  if (isfinite(value)) model->mean = mean;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_model_refit(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const double shift = model->shift, scale = model->scale, noise = model->noise_variance;
  const double mean = model->mean;

  PetscFunctionBeginUser;
  PetscCall(fit_transform(model));
  standardise(model);
  rg_model_convert_outputs(model, 0);
  if (!s->learn_noise) model->noise_variance = rg_model_known_noise(model);
  if (model->options->fit != RG_FIT_FIXED && outputs_differ(s)) {
    PetscCall(fit_hyperparameters(model));
  } else if (s->n > 0) {
    PetscCall(estimate_mean(model));
  }
  const bool same_outputs = model->shift == shift && model->scale == scale && model->mean == mean &&
                            model->transform.kind == RG_TRANSFORM_NONE;
  if (model->report.refitted || model->noise_variance != noise) {
    PetscCall(rebuild(model, failure));
  } else if (same_outputs) {
    PetscCall(rg_model_append(model, failure));
  } else if (!rg_posterior_takes_outputs(&model->posterior)) {
    PetscCall(rebuild(model, failure));
  } else {
    PetscCall(rg_model_append(model, failure));
    if (!failure->failed)
      PetscCall(rg_posterior_set_outputs(&model->posterior, model->mean, s->y_model));
  }
  PetscFunctionReturn(0);
}
