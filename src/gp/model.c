/* The surrogate of a GP-based algorithm. Data are kept in native units next to their model units;
   the posterior is appended to, re-targeted or rebuilt, whichever is the least that is needed. */
#include "gp/model.h"

#include <math.h>
#include <string.h>

struct RgModelState {
  int         dim;         /* of the model's inputs */
  bool        use_context;
  bool        learn_noise;
  double      given_noise; /* known or configured noise variance; NaN: none */
  RgStream    stream;
  RgClock    *clock;       /* borrowed, may be NULL */
  RgDomain    inputs;      /* of the set posterior: the domain, without context if unused; borrows */
  int         n, held;     /* data taken in; of these in the posterior */
  int         capacity;
  double     *X;           /* capacity x dim */
  double     *y, *y_model; /* capacity: native, model units */
  int        *index;       /* capacity: flat index where the inputs are finite */
  int         last_period; /* of the refit schedule; -1: none yet */
  RgKernel    configured;
  double      configured_noise;
  RgFitWork   fit_work;
  int         multistart_n; /* n when other starts joined last; 0: never */
  int         optimum_n;    /* n, objective and scale of the last optimum; 0: none yet */
  double      optimum, optimum_scale;
  RgPrediction prediction;
};

/* ---- noise and units ----------------------------------------------------------------------- */

/* Noise variance in model units at the current scale, where it is not learned. */
static double known_noise(const RgModel *model)
{
  const RgSurrogateOptions *o = model->options;
  double noise = model->state->given_noise;
  if (isnan(noise)) return 1e-6 * rg_kernel_diagonal(&model->kernel);
  if (o->noise_units == RG_UNITS_NATIVE) noise /= model->scale * model->scale;
  return noise > o->noise_floor ? noise : o->noise_floor;
}

/* Shift and scale from all outputs. */
static void standardise(RgModel *model)
{
  const struct RgModelState *s = model->state;
  double sum = 0.0, squares = 0.0;
  model->shift = 0.0;
  model->scale = 1.0;
  if (!model->options->standardise || s->n == 0) return;
  for (int i = 0; i < s->n; i++) sum += s->y[i];
  model->shift = sum / s->n;
  if (s->n < 2) return;
  for (int i = 0; i < s->n; i++) squares += (s->y[i] - model->shift) * (s->y[i] - model->shift);
  const int divisor = model->options->deviation == RG_DEVIATION_SAMPLE ? s->n - 1 : s->n;
  const double deviation = sqrt(squares / divisor);
  if (deviation >= 1e-12) model->scale = deviation;
}

static void convert_outputs(RgModel *model, int first)
{
  struct RgModelState *s = model->state;
  for (int i = first; i < s->n; i++) s->y_model[i] = (s->y[i] - model->shift) / model->scale;
}

/* ---- create, destroy ----------------------------------------------------------------------- */

static bool inputs_are_finite(const RgDomain *domain, bool use_context)
{
  return rg_space_is_finite(&domain->design) &&
         (!use_context || rg_space_is_finite(&domain->context));
}

static PetscErrorCode reserve(struct RgModelState *s, int capacity)
{
  double *X, *y, *y_model;
  int *index;

  PetscFunctionBeginUser;
  if (capacity <= s->capacity) PetscFunctionReturn(0);
  if (capacity < 2 * s->capacity) capacity = 2 * s->capacity;
  const size_t rows = capacity, filled = s->n, dim = s->dim;
  PetscCall(PetscMalloc4(rows * dim, &X, rows, &y, rows, &y_model, rows, &index));
  if (filled) {
    memcpy(X, s->X, filled * dim * sizeof *X);
    memcpy(y, s->y, filled * sizeof *y);
    memcpy(y_model, s->y_model, filled * sizeof *y_model);
    memcpy(index, s->index, filled * sizeof *index);
  }
  PetscCall(PetscFree4(s->X, s->y, s->y_model, s->index));
  s->X = X;
  s->y = y;
  s->y_model = y_model;
  s->index = index;
  s->capacity = capacity;
  PetscFunctionReturn(0);
}

/* What is known of the noise, whether it is learned, and where learning starts. */
static void decide_noise(RgModel *model, double noise_variance)
{
  const RgSurrogateOptions *o = model->options;
  struct RgModelState *s = model->state;
  s->given_noise = isnan(o->noise_variance) ? noise_variance : o->noise_variance;
  s->learn_noise = o->fit != RG_FIT_FIXED && (o->fit_noise || isnan(s->given_noise));
  if (!s->learn_noise) {
    s->configured_noise = known_noise(model);
  } else if (isnan(o->noise_start)) {
    const RgFitOptions fit = rg_surrogate_fit_options(o, s->dim, true);
    s->configured_noise = rg_prior_mode(&fit.noise, 0.01);
  } else {
    s->configured_noise = o->noise_start;
  }
}

PetscErrorCode rg_model_create(const RgDomain *domain, const RgSurrogateOptions *options,
                               bool use_context, double noise_variance, int capacity,
                               const RgStream *stream, RgClock *clock, RgModel *model)
{
  struct RgModelState *s;

  PetscFunctionBeginUser;
  *model = (RgModel){.domain = domain, .options = options, .scale = 1.0};
  model->report.log_likelihood = NAN;
  PetscCall(PetscNew(&s));
  model->state = s;
  s->use_context = use_context && domain->context.dim > 0;
  s->dim = domain->design.dim + (s->use_context ? domain->context.dim : 0);
  s->stream = *stream;
  s->clock = clock;
  s->last_period = -1;
  s->inputs = *domain;
  if (!s->use_context) s->inputs.context = (RgSpace){0};
  PetscCall(reserve(s, capacity > 0 ? capacity : 1));
  PetscCall(rg_surrogate_kernel(options, s->dim, &model->kernel));
  PetscCall(rg_kernel_copy(&model->kernel, &s->configured));
  decide_noise(model, noise_variance);
  model->noise_variance = s->configured_noise;
  if (inputs_are_finite(domain, s->use_context)) {
    PetscCall(rg_set_posterior_create(&s->inputs, &model->kernel, model->noise_variance, 0.0,
                                      s->capacity, &model->set));
  } else {
    PetscCall(rg_posterior_create(&model->kernel, model->noise_variance, 0.0, s->capacity,
                                  &model->posterior));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_model_destroy(RgModel *model)
{
  struct RgModelState *s = model->state;

  PetscFunctionBeginUser;
  if (!s) PetscFunctionReturn(0);
  if (model->set) {
    PetscCall(rg_set_posterior_destroy(&model->set));
  } else {
    PetscCall(rg_posterior_destroy(&model->posterior));
  }
  PetscCall(rg_kernel_destroy(&model->kernel));
  PetscCall(rg_kernel_destroy(&s->configured));
  PetscCall(rg_fit_work_destroy(&s->fit_work));
  PetscCall(rg_prediction_destroy(&s->prediction));
  PetscCall(PetscFree4(s->X, s->y, s->y_model, s->index));
  PetscCall(PetscFree(model->state));
  *model = (RgModel){0};
  PetscFunctionReturn(0);
}

/* ---- the posterior ------------------------------------------------------------------------- */

static PetscErrorCode append_new(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;

  PetscFunctionBeginUser;
  for (; s->held < s->n && !failure->failed; s->held++) {
    const int i = s->held;
    if (model->set) {
      PetscCall(rg_set_posterior_append(model->set, s->index[i], s->y_model[i], failure));
    } else {
      PetscCall(rg_posterior_append(&model->posterior, s->X + (size_t)i * s->dim, s->y_model[i],
                                    failure));
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode rebuild(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;

  PetscFunctionBeginUser;
  if (model->set) {
    PetscCall(rg_set_posterior_reset(model->set, &model->kernel, model->noise_variance,
                                     model->mean));
    s->held = 0;
    PetscCall(append_new(model, failure));
  } else {
    PetscCall(rg_posterior_set(&model->posterior, &model->kernel, model->noise_variance,
                               model->mean, s->n, s->X, s->y_model, failure));
    s->held = s->n;
  }
  PetscFunctionReturn(0);
}

/* ---- refit --------------------------------------------------------------------------------- */

/* Do other starts have to join, judged before the fit by the growth of n alone? */
static bool multistart_is_due(const RgModel *model)
{
  const struct RgModelState *s = model->state;
  if (model->options->fit_multistart == RG_MULTISTART_ALWAYS || s->multistart_n == 0) return true;
  return 2 * s->n >= 3 * s->multistart_n;
}

/* Are the new data so unlikely under the last optimum that another one may have taken over? Compares
   log densities in native units. */
static bool looks_bad(const RgModel *model, double warm)
{
  const struct RgModelState *s = model->state;
  if (!isfinite(warm)) return true;
  if (s->optimum_n == 0) return false;
  double before = s->optimum - s->optimum_n * log(s->optimum_scale);
  double now = warm - s->n * log(model->scale), new_data = s->n - s->optimum_n;
  return now - before < -new_data * (6.0 + log(model->scale));
}

static PetscErrorCode run_fit(RgModel *model, int starts, double *value, double *warm)
{
  struct RgModelState *s = model->state;
  RgFitOptions fit = rg_surrogate_fit_options(model->options, s->dim, s->learn_noise);
  RgRandom random = rg_stream_at(&s->stream, (uint64_t)s->n);
  int evaluations;

  PetscFunctionBeginUser;
  fit.starts = starts;
  PetscCall(rg_fit_with(&s->fit_work, &model->kernel, &model->noise_variance, &model->mean, s->n,
                        s->X, s->y_model, &fit, &random, value, warm, &evaluations));
  model->report.fit_evaluations += evaluations;
  PetscFunctionReturn(0);
}

/* Put the configured hyperparameters back, the start of a fit that is not warm. */
static PetscErrorCode start_cold(RgModel *model)
{
  PetscFunctionBeginUser;
  PetscCall(rg_kernel_destroy(&model->kernel));
  PetscCall(rg_kernel_copy(&model->state->configured, &model->kernel));
  if (model->state->learn_noise) model->noise_variance = model->state->configured_noise;
  PetscFunctionReturn(0);
}

/* Fit the hyperparameters; what was there stays when nothing finite is found. */
static PetscErrorCode fit_hyperparameters(RgModel *model)
{
  struct RgModelState *s = model->state;
  const int other_starts = model->options->fit_starts;
  const bool all = multistart_is_due(model);
  double value, warm, second;
  RgKernel kept = {0};
  const double kept_noise = model->noise_variance;

  PetscFunctionBeginUser;
  if (!model->options->fit_warm) {
    PetscCall(rg_kernel_copy(&model->kernel, &kept));
    PetscCall(start_cold(model));
  }
  PetscCall(run_fit(model, all ? other_starts : 0, &value, &warm));
  bool joined = all;
  if (!joined && other_starts > 0 && looks_bad(model, warm)) {
    PetscCall(run_fit(model, other_starts, &second, &warm));
    value = fmax(value, second);
    joined = true;
  }
  if (joined) s->multistart_n = s->n;
  model->report.refitted = isfinite(value);
  if (model->report.refitted) {
    const RgFitOptions fit = rg_surrogate_fit_options(model->options, s->dim, s->learn_noise);
    s->optimum = value;
    s->optimum_n = s->n;
    s->optimum_scale = model->scale;
    model->report.log_likelihood =
      value - rg_fit_log_prior(&model->kernel, model->noise_variance, &fit);
  } else if (!model->options->fit_warm) {
    PetscCall(rg_kernel_destroy(&model->kernel));
    PetscCall(rg_kernel_copy(&kept, &model->kernel));
    model->noise_variance = kept_noise;
  }
  if (kept.terms) PetscCall(rg_kernel_destroy(&kept));
  PetscFunctionReturn(0);
}

/* Constant mean at fixed hyperparameters. */
static PetscErrorCode estimate_mean(RgModel *model)
{
  struct RgModelState *s = model->state;
  const RgFitOptions fit = {.learn_mean = true};
  double value, mean = 0.0;

  PetscFunctionBeginUser;
  PetscCall(rg_fit_objective_with(&s->fit_work, &model->kernel, model->noise_variance, &mean, s->n,
                                  s->X, s->y_model, &fit, &value, NULL));
  if (isfinite(value)) model->mean = mean;
  PetscFunctionReturn(0);
}

static bool outputs_differ(const struct RgModelState *s)
{
  for (int i = 1; i < s->n; i++)
    if (s->y[i] != s->y[0]) return true;
  return false;
}

static PetscErrorCode refit(RgModel *model, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const double shift = model->shift, scale = model->scale, noise = model->noise_variance;
  const double mean = model->mean;

  PetscFunctionBeginUser;
  standardise(model);
  convert_outputs(model, 0);
  if (!s->learn_noise) model->noise_variance = known_noise(model);
  if (model->options->fit != RG_FIT_FIXED && outputs_differ(s)) {
    PetscCall(fit_hyperparameters(model));
  } else if (model->options->mean == RG_MEAN_CONSTANT && s->n > 0) {
    PetscCall(estimate_mean(model));
  }
  const bool same_outputs = model->shift == shift && model->scale == scale && model->mean == mean;
  if (model->report.refitted || model->noise_variance != noise) {
    PetscCall(rebuild(model, failure));
  } else if (same_outputs) {
    PetscCall(append_new(model, failure));
  } else if (model->set) {
    PetscCall(rebuild(model, failure));
  } else {
    PetscCall(append_new(model, failure));
    if (!failure->failed)
      PetscCall(rg_posterior_set_outputs(&model->posterior, model->mean, s->y_model));
  }
  PetscFunctionReturn(0);
}

/* ---- update -------------------------------------------------------------------------------- */

static PetscErrorCode take_in(RgModel *model, const RgHistory *history, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const size_t design_dim = history->dim, dim = s->dim;
  const int n_contexts = s->use_context ? model->domain->context.size : 1;

  PetscFunctionBeginUser;
  PetscCheck(history->n >= s->n, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "the history has %d evaluations, the model has seen %d", history->n, s->n);
  PetscCall(reserve(s, history->n));
  for (int i = s->n; i < history->n; i++) {
    double *row = s->X + i * dim;
    memcpy(row, history->x + i * design_dim, design_dim * sizeof *row);
    if (s->use_context)
      memcpy(row + design_dim, history->c + (size_t)i * history->context_dim,
             (dim - design_dim) * sizeof *row);
    s->y[i] = history->y[i];
    s->index[i] = history->index[i] * n_contexts + (s->use_context ? history->context_index[i] : 0);
    PetscCheck(!model->set || s->index[i] >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "evaluation %d is not at a point of the finite domain", i);
    if (!isfinite(s->y[i]))
      rg_failure_set(failure, "the output of evaluation %d is not finite", i + 1);
  }
  const int first = s->n;
  s->n = history->n;
  convert_outputs(model, first);
  PetscFunctionReturn(0);
}

/* Is a refit due before the next query, t = n - n_initial + 1? Marks it as done. */
static bool refit_is_due(RgModel *model, const RgHistory *history)
{
  const int queries = history->n - history->n_initial;
  if (queries < 0) return false;
  const int period = queries / model->options->refit_every;
  if (period <= model->state->last_period) return false;
  model->state->last_period = period;
  return true;
}

PetscErrorCode rg_model_update(RgModel *model, const RgHistory *history, RgFailure *failure)
{
  struct RgModelState *s = model->state;

  PetscFunctionBeginUser;
  if (s->clock) PetscCall(rg_clock_begin(s->clock, RG_STAGE_FIT));
  model->report = (RgModelReport){.log_likelihood = NAN};
  PetscCall(take_in(model, history, failure));
  if (!failure->failed) {
    if (refit_is_due(model, history)) {
      PetscCall(refit(model, failure));
    } else {
      PetscCall(append_new(model, failure));
    }
  }
  if (!model->set) model->report.jitter = model->posterior.jitter;
  if (s->clock) PetscCall(rg_clock_end(s->clock, RG_STAGE_FIT));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_model_predict(RgModel *model, int m, const double *Z, double *mean, double *sd)
{
  PetscFunctionBeginUser;
  PetscCheck(!model->set, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "a model on a finite set is read by index, not at points");
  PetscCall(rg_posterior_predict(&model->posterior, m, Z, mean, sd, &model->state->prediction));
  for (int j = 0; j < m; j++) sd[j] = sqrt(sd[j]);
  PetscFunctionReturn(0);
}
