/* The surrogate of a GP-based algorithm: its lifetime, how it takes in data, and when it refits.
 */
#include "base/clock.h"
#include "base/grow.h"
#include "gp/model/model_internal.h"
#include "gp/model/pending.h"

#include <math.h>
#include <string.h>

/* fit_warm: auto. Every fit starts from the configured values up to COLD_DATA data. With more than
   RG_LONG_DATA a fit stops after LONG_EVALUATIONS. While there are other starts, every second fit
   is for one of them. Its climb goes on there unless it gained less than LITTLE. */
enum { COLD_DATA = 100, LONG_EVALUATIONS = 8 };
#define LITTLE 0.1

/* ---- noise and units ----------------------------------------------------------------------- */

/* Noise variance in model units at the current scale, where it is not learned. */
static double model_known_noise(const RgModel *model)
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

  if (kind == RG_TRANSFORM_NONE) return 0;
  PetscCall(rg_transform_fit(&model->transform, kind, s->n, s->y));
  if (s->n == 0) return 0;
  s->bend = 0;
  for (int i = 0; i < s->n; i++) {
    s->y_model[i] = rg_transform_slope(&model->transform, s->y[i]);
    s->bend += log(s->y_model[i]) / s->n;
  }
  s->steepness = rg_root_mean_square(s->n, s->y_model, 0, s->n);
  return 0;
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

/* Outputs first .. n-1 from native to model units. */
static void model_convert_outputs(RgModel *model, int first)
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

/* Add new data to the posterior; hyperparameters stay. */
static PetscErrorCode model_append(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const RgObservations data = observations(s, s->n_posterior);

  PetscCall(rg_posterior_extend(&model->posterior, &data, failure));
  if (!failure->failed) s->n_posterior = s->n;
  return 0;
}

static PetscErrorCode rebuild(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const RgObservations data = observations(s, 0);

  PetscCall(rg_posterior_reset(&model->posterior, &model->kernel, model->noise_variance,
                               model->mean, &data, failure));
  s->n_posterior = s->n;
  return 0;
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
static bool is_doubtful(const RgModel *model, double warm)
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

  *X = s->X;
  *y = s->y_model;
  s->fit_n = s->n;
  if (!s->iterative || s->n <= most) return 0;
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
  return 0;
}

/* Fit from the present hyperparameters and `starts` others, with at most `most` evaluations per
   start (0: no limit). */
static PetscErrorCode run_fit(RgModel *model, int starts, int most, double *value, double *warm)
{
  struct RgModelState *s = model->state;
  RgFitOptions fit = s->fit;
  RgRandom random = rg_stream_at(&s->stream, (uint64_t)s->n);
  const double *X, *y;
  RgFitReport report;

  PetscCall(choose_fit_data(model, &X, &y));
  fit.starts = starts;
  fit.max_evaluations = most;
  PetscCall(rg_fit_with(&s->fit_work, &model->kernel, &model->noise_variance, &model->mean,
                        &(RgData){s->fit_n, X, y}, &fit, &random, &report));
  *value = report.value;
  *warm = report.value_warm;
  model->report.fit_evaluations += report.evaluations;
  return 0;
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
  PetscCall(rg_kernel_destroy(&model->kernel));
  PetscCall(rg_kernel_copy(&model->state->configured, &model->kernel));
  if (model->state->learn_noise) model->noise_variance = model->state->configured_noise;
  return 0;
}

static PetscErrorCode keep(const RgModel *model, RgModelStart *kept)
{
  if (kept->kernel.terms) PetscCall(rg_kernel_destroy(&kept->kernel));
  PetscCall(rg_kernel_copy(&model->kernel, &kept->kernel));
  kept->noise_variance = model->noise_variance;
  kept->mean = model->mean;
  return 0;
}

static PetscErrorCode restore(const RgModelStart *kept, RgModel *model)
{
  PetscCall(rg_kernel_destroy(&model->kernel));
  PetscCall(rg_kernel_copy(&kept->kernel, &model->kernel));
  model->noise_variance = kept->noise_variance;
  model->mean = kept->mean;
  return 0;
}

/* A part of the climb from one other start: the configured values, then log-uniform draws. The
   better of its end and the present optimum, which has *value, is the optimum. */
static PetscErrorCode climb_start(RgModel *model, double *value)
{
  struct RgModelState *s = model->state;
  RgRandom random = rg_stream_at(&s->stream, (uint64_t)s->n);
  RgModelStart optimum = {0};
  double end, begin;

  PetscCall(keep(model, &optimum));
  if (s->climbs) PetscCall(restore(&s->climber, model));
  else if (s->starts_left-- > model->options->fit_starts) PetscCall(start_cold(model));
  else
    PetscCall(rg_fit_draw(&s->fit_work, &s->fit, &random, &model->kernel, &model->noise_variance));
  PetscCall(run_fit(model, 0, LONG_EVALUATIONS - 1, &end, &begin));
  const bool better = end > *value;
  s->climbs = !better && end - begin > LITTLE;
  if (s->climbs) PetscCall(keep(model, &s->climber));
  if (better) *value = end;
  else PetscCall(restore(&optimum, model));
  return rg_kernel_destroy(&optimum.kernel);
}

/* A fit to many data: a climb from the last optimum, or a part of the climb from another start. */
static PetscErrorCode fit_in_parts(RgModel *model, double *value)
{
  struct RgModelState *s = model->state;
  const bool due = multistart_is_due(model) || cold_start_is_due(model);
  const bool other = s->others_turn && (s->climbs || s->starts_left > 0);
  double warm;

  PetscCall(run_fit(model, 0, other ? 1 : LONG_EVALUATIONS, value, &warm));
  if (due || is_doubtful(model, warm)) {
    s->starts_left = 1 + model->options->fit_starts;
    s->multistart_n = s->cold_n = s->n;
  }
  s->others_turn = !other;
  if (other) PetscCall(climb_start(model, value));
  return 0;
}

static PetscErrorCode fit_at_once(RgModel *model, double *value)
{
  struct RgModelState *s = model->state;
  const int other_starts = model->options->fit_starts;
  const bool all = multistart_is_due(model);
  double warm, second;

  if (cold_start_is_due(model)) {
    s->cold_n = s->n;
    PetscCall(start_cold(model));
  }
  PetscCall(run_fit(model, all ? other_starts : 0, 0, value, &warm));
  bool joined = all;
  if (!joined && other_starts > 0 && is_doubtful(model, warm)) {
    PetscCall(run_fit(model, other_starts, 0, &second, &warm));
    *value = fmax(*value, second);
    joined = true;
  }
  if (joined) s->multistart_n = s->n;
  return 0;
}

/* Fit the hyperparameters; keep the present ones when no start has a finite value. */
static PetscErrorCode fit_hyperparameters(RgModel *model)
{
  struct RgModelState *s = model->state;
  RgModelStart last = {0};
  double value;

  PetscCall(keep(model, &last));
  /* With many data a fit takes its starts one after the other, in parts, except the first fit. */
  const bool in_parts =
    model->options->fit_warm == RG_WARM_AUTO && s->n > RG_LONG_DATA && s->optimum_n > 0;
  PetscCall((in_parts ? fit_in_parts : fit_at_once)(model, &value));
  model->report.refitted = isfinite(value);
  if (model->report.refitted) {
    s->optimum = value;
    s->optimum_n = s->fit_n;
    model->report.fit_data = s->fit_n;
    s->optimum_unit = log_unit(model);
    model->report.log_likelihood =
      value - rg_fit_log_prior(&model->kernel, model->noise_variance, &s->fit);
  } else {
    PetscCall(restore(&last, model));
  }
  return rg_kernel_destroy(&last.kernel);
}

/* Update the constant mean, if the model has one, with fixed hyperparameters. */
static PetscErrorCode estimate_mean(RgModel *model)
{
  struct RgModelState *s = model->state;
  const double *X, *y;
  double value, mean = 0.0;

  if (!s->fit.learn_mean) return 0;
  PetscCall(choose_fit_data(model, &X, &y));
  PetscCall(rg_fit_objective_with(&s->fit_work, &model->kernel, model->noise_variance, &mean,
                                  &(RgData){s->fit_n, X, y}, &s->fit, &value, NULL));
  if (isfinite(value)) model->mean = mean;
  return 0;
}

/* Standardise, fit, and bring the posterior up to date (see rg_model_update). */
static PetscErrorCode rg_model_refit(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const double shift = model->shift, scale = model->scale, noise = model->noise_variance;
  const double mean = model->mean;

  PetscCall(fit_transform(model));
  standardise(model);
  model_convert_outputs(model, 0);
  if (!s->learn_noise) model->noise_variance = model_known_noise(model);
  if (model->options->fit != RG_FIT_FIXED && outputs_differ(s))
    PetscCall(fit_hyperparameters(model));
  else if (s->n > 0) PetscCall(estimate_mean(model));
  const bool same_outputs = model->shift == shift && model->scale == scale && model->mean == mean &&
                            model->transform.kind == RG_TRANSFORM_NONE;
  if (model->report.refitted || model->noise_variance != noise) {
    PetscCall(rebuild(model, failure));
  } else if (same_outputs) {
    PetscCall(model_append(model, failure));
  } else if (!rg_posterior_takes_outputs(&model->posterior)) {
    PetscCall(rebuild(model, failure));
  } else {
    PetscCall(model_append(model, failure));
    if (!failure->failed)
      PetscCall(rg_posterior_set_outputs(&model->posterior, model->mean, s->y_model));
  }
  return 0;
}

/* ---- create, destroy ----------------------------------------------------------------------- */

static PetscErrorCode reserve(struct RgModelState *s, int capacity)
{
  if (capacity <= s->capacity) return 0;
  s->capacity = PetscMax(capacity, 2 * s->capacity);
  const size_t rows = (size_t)s->capacity;
  PetscCall(PetscRealloc(rows * (size_t)s->dim * sizeof *s->X, &s->X));
  PetscCall(PetscRealloc(rows * sizeof *s->y, &s->y));
  PetscCall(PetscRealloc(rows * sizeof *s->y_model, &s->y_model));
  return PetscRealloc(rows * sizeof *s->index, &s->index);
}

/* Whether the noise is known, whether it is learned, and where learning starts. */
static void decide_noise(RgModel *model, double noise_variance)
{
  const RgSurrogateOptions *o = model->options;
  struct RgModelState *s = model->state;
  s->given_noise = isnan(o->noise_variance) ? noise_variance : o->noise_variance;
  /* a linear function leaves a rest that only noise explains */
  const bool rest = isnan(o->noise_variance) && rg_surrogate_is_linear(o);
  s->learn_noise = o->fit != RG_FIT_FIXED && (o->fit_noise || rest || isnan(s->given_noise));
  s->fit = rg_surrogate_fit_options(o, s->dim, s->learn_noise);
  s->configured_noise =
    s->learn_noise ? rg_prior_mode(&s->fit.noise, 0.01) : model_known_noise(model);
}

PetscErrorCode rg_model_create(const RgDomain *domain, const RgSurrogateOptions *options,
                               bool use_context, double noise_variance, int capacity,
                               const RgStream *stream, RgClock *clock, RgModel *model)
{
  return rg_model_create_on((RgModelHost){.clock = clock}, domain, options, use_context,
                            noise_variance, capacity, stream, model);
}

/* An empty posterior of the kind that the solver and the domain call for. */
static PetscErrorCode create_posterior(RgModel *model, RgTeam *team)
{
  struct RgModelState *s = model->state;
  const bool finite = s->finite;
  const double noise = model->noise_variance;

  s->iterative = finite
                   ? model->options->solver == RG_SOLVER_ITERATIVE
                   : rg_surrogate_is_iterative(model->options, s->capacity, rg_team_size(team));
  if (s->iterative) {
    const RgSolverOptions solver = rg_surrogate_solver(model->options);
    PetscCall(rg_posterior_create_iterative(team, finite ? &s->inputs.design : NULL, &solver,
                                            &model->kernel, noise, 0.0, s->capacity,
                                            &model->posterior));
  } else if (finite) {
    PetscCall(rg_posterior_create_on_set(&s->inputs, &model->kernel, noise, 0.0, s->capacity,
                                         &model->posterior));
  } else {
    int here = s->capacity; /* data that this rank may hold before the team does */
    while (here > 1 && rg_team_takes(team, here)) here = (here + 1) / 2;
    PetscCall(rg_posterior_create(&model->kernel, noise, 0.0, here, &model->posterior));
    PetscCall(rg_posterior_use_team(&model->posterior, team, s->capacity));
  }
  return 0;
}

PetscErrorCode rg_model_create_on(RgModelHost host, const RgDomain *domain,
                                  const RgSurrogateOptions *options, bool use_context,
                                  double noise_variance, int capacity, const RgStream *stream,
                                  RgModel *model)
{
  RgTeam *team = options->mean == RG_MEAN_QUADRATIC ? NULL : host.team; /* no team has trends */
  struct RgModelState *s;

  *model = (RgModel){.domain = domain, .options = options, .scale = 1.0};
  model->report.log_likelihood = NAN;
  PetscCall(PetscNew(&s));
  model->state = s;
  s->use_context = use_context && domain->context.dim > 0;
  s->finite = !host.on_box && rg_space_is_finite(&domain->design) &&
              (!s->use_context || rg_space_is_finite(&domain->context));
  s->dim = domain->design.dim + (s->use_context ? domain->context.dim : 0);
  s->stream = *stream;
  s->clock = host.clock;
  s->pending = host.pending;
  s->last_period = -1;
  s->steepness = 1;
  s->inputs = *domain;
  if (!s->use_context) s->inputs.context = (RgSpace){0};
  PetscCall(reserve(s, capacity > 0 ? capacity : 1));
  PetscCall(rg_surrogate_kernel(options, s->dim, &model->kernel));
  if (domain->design.inputs) { /* choices among words have no order */
    int *words;
    PetscCall(PetscCalloc1(s->dim, &words));
    for (int j = 0; j < domain->design.dim; j++) words[j] = domain->design.inputs[j].n_words;
    PetscCall(rg_kernel_set_words(&model->kernel, words));
    PetscCall(PetscFree(words));
  }
  if (options->input_warping) PetscCall(rg_kernel_set_warp(&model->kernel));
  if (options->mean == RG_MEAN_QUADRATIC) PetscCall(rg_kernel_set_trend(&model->kernel));
  PetscCall(rg_kernel_copy(&model->kernel, &s->configured));
  s->fit_work.team = team;
  decide_noise(model, noise_variance);
  model->noise_variance = s->configured_noise;
  return create_posterior(model, team);
}

PetscErrorCode rg_model_destroy(RgModel *model)
{
  struct RgModelState *s = model->state;

  if (!s) return 0;
  PetscCall(rg_transform_destroy(&model->transform));
  PetscCall(rg_posterior_destroy(&model->posterior));
  PetscCall(rg_kernel_destroy(&model->kernel));
  PetscCall(rg_kernel_destroy(&s->configured));
  PetscCall(rg_fit_work_destroy(&s->fit_work));
  PetscCall(rg_prediction_destroy(&s->prediction));
  PetscCall(RG_FREE(&s->X, &s->y, &s->y_model, &s->index));
  PetscCall(PetscFree2(s->fit_X, s->fit_y));
  if (s->climber.kernel.terms) PetscCall(rg_kernel_destroy(&s->climber.kernel));
  PetscCall(PetscFree3(s->pending_X, s->pending_y, s->pending_index));
  PetscCall(PetscFree(model->state));
  *model = (RgModel){0};
  return 0;
}

/* ---- update -------------------------------------------------------------------------------- */

bool rg_model_uses_context(const RgModel *model)
{
  return model->state->use_context;
}

/* The input of evaluation i: kernel.dim unit coordinates z. */
static void input_of(const RgModel *model, const RgHistory *history, int i, double *z)
{
  const size_t dim = (size_t)history->dim, context_dim = (size_t)history->context_dim;

  memcpy(z, history->x + (size_t)i * dim, dim * sizeof *z);
  if (model->state->use_context)
    memcpy(z + dim, history->c + (size_t)i * context_dim, context_dim * sizeof *z);
}

/* Flat index of the input where the inputs are finite. */
static int index_of(const RgModel *model, const RgHistory *history, int i)
{
  if (!model->state->use_context) return history->index[i];
  return history->index[i] * model->domain->context.size + history->context_index[i];
}

static PetscErrorCode read_history(RgModel *model, const RgHistory *history, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const size_t dim = s->dim;

  PetscCheck(history->n >= s->n, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "the history has %d evaluations, the model has seen %d", history->n, s->n);
  PetscCall(reserve(s, history->n));
  for (int i = s->n; i < history->n; i++) {
    input_of(model, history, i, s->X + i * dim);
    s->y[i] = history->y[i];
    s->index[i] = index_of(model, history, i);
    PetscCheck(!s->finite || s->index[i] >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "evaluation %d is not at a point of the finite domain", i);
    if (!isfinite(s->y[i]))
      rg_failure_set(failure, "the output of evaluation %d is not finite", i + 1);
  }
  const int first = s->n;
  s->n = history->n;
  model_convert_outputs(model, first);
  return 0;
}

enum { REFIT_ALL = 100 };

/* refit_every: auto. With more than REFIT_ALL data, refit when they have grown by a twentieth;
   or by a hundredth, if the sum of squared errors of the posterior's predictions, made without the
   data that are new, is three standard deviations of chi^2 too large. */
static PetscErrorCode drifted(RgModel *model, const RgHistory *history, bool *due)
{
  struct RgModelState *s = model->state;
  const int m = s->n - s->n_posterior;
  double *mean, *sd;

  *due = s->refit_n == 0 || s->n <= REFIT_ALL || 20 * (int64_t)s->n >= 21 * (int64_t)s->refit_n;
  if (!*due) {
    PetscCall(PetscMalloc2(m, &mean, m, &sd));
    PetscCall(rg_model_predict_history(model, history, s->n_posterior, m, mean, sd));
    for (int i = 0; i < m; i++) {
      const double error = s->y_model[s->n_posterior + i] - mean[i];
      s->surprise += error * error / (sd[i] * sd[i] + model->noise_variance) - 1.0;
    }
    PetscCall(PetscFree2(mean, sd));
    s->predicted += m;
    *due = 100 * (int64_t)s->n >= 101 * (int64_t)s->refit_n &&
           s->surprise > 3.0 * sqrt(2.0 * s->predicted);
  }
  if (!*due) return 0;
  s->refit_n = s->n;
  s->predicted = 0;
  s->surprise = 0.0;
  return 0;
}

/* Whether a refit is due before the next query, t = n - n_initial + 1. Marks it as done. */
static PetscErrorCode refit_is_due(RgModel *model, const RgHistory *history, bool *due)
{
  const int queries = history->n - history->n_initial, every = model->options->refit_every;

  *due = false;
  if (queries < 0) return 0;
  const int period = queries / PetscMax(every, 1);
  if (period <= model->state->last_period) return 0;
  model->state->last_period = period;
  *due = true;
  if (every < 0) PetscCall(drifted(model, history, due));
  return 0;
}

PetscErrorCode rg_model_update(RgModel *model, const RgHistory *history, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  bool due = false;

  const bool nothing_new = s->n > 0 && history->n == s->n;
  if (s->clock) PetscCall(rg_clock_begin(s->clock, RG_STAGE_FIT));
  PetscCall(rg_model_remove_pending(model));
  PetscCall(read_history(model, history, failure));
  if (!failure->failed) PetscCall(refit_is_due(model, history, &due));
  /* A second update for the same query, after a recommendation, keeps the report of the first. */
  if (!nothing_new || due) model->report = (RgModelReport){.log_likelihood = NAN};
  if (!failure->failed) {
    if (due) PetscCall(rg_model_refit(model, failure));
    else PetscCall(model_append(model, failure));
  }
  model->report.jitter = model->posterior.jitter;
  model->report.iterations = rg_posterior_iterations(&model->posterior, &model->report.residual);
  if (!failure->failed && rg_pending_lies(s->pending))
    PetscCall(rg_model_append_pending(model, history, (RgPendingRule)s->pending->rule, failure));
  if (s->clock) PetscCall(rg_clock_end(s->clock, RG_STAGE_FIT));
  return 0;
}

double rg_model_native_sd(const RgModel *model, double mean, double sd)
{
  const double middle = model->shift + model->scale * mean, half = model->scale * sd;

  if (model->transform.kind == RG_TRANSFORM_NONE) return half;
  return 0.5 * (rg_transform_inverse(&model->transform, middle + half) -
                rg_transform_inverse(&model->transform, middle - half));
}

PetscErrorCode rg_model_predict(RgModel *model, int m, const double *Z, double *mean, double *sd)
{
  PetscCall(rg_posterior_predict(&model->posterior, m, Z, mean, sd, &model->state->prediction));
  for (int j = 0; j < m; j++) sd[j] = sqrt(sd[j]);
  return 0;
}

PetscErrorCode rg_model_predict_history(RgModel *model, const RgHistory *history, int first, int m,
                                        double *mean, double *sd)
{
  const double *means = rg_posterior_means(&model->posterior);
  const double *variances = rg_posterior_variances(&model->posterior);
  double *Z;

  if (means) {
    for (int i = 0; i < m; i++) {
      const int index = index_of(model, history, first + i);
      mean[i] = means[index];
      sd[i] = sqrt(variances[index]);
    }
    return 0;
  }
  const int dim = model->state->dim;
  PetscCall(PetscMalloc1((size_t)m * dim, &Z));
  for (int i = 0; i < m; i++) input_of(model, history, first + i, Z + (size_t)i * dim);
  PetscCall(rg_model_predict(model, m, Z, mean, sd));
  return PetscFree(Z);
}
