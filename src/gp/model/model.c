/* The surrogate of a GP-based algorithm: its lifetime, how it takes in data, and when it refits.
   model_refit.c has the refit itself. */
#include "gp/model/model_internal.h"
#include "gp/model/pending.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

enum { REFIT_ALL = 100 }; /* refit_every: auto */

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

/* Whether the noise is known, whether it is learned, and where learning starts. */
static void decide_noise(RgModel *model, double noise_variance)
{
  const RgSurrogateOptions *o = model->options;
  struct RgModelState *s = model->state;
  s->given_noise = isnan(o->noise_variance) ? noise_variance : o->noise_variance;
  s->learn_noise = o->fit != RG_FIT_FIXED && (o->fit_noise || isnan(s->given_noise));
  if (!s->learn_noise) {
    s->configured_noise = rg_model_known_noise(model);
  } else {
    const RgFitOptions fit = rg_surrogate_fit_options(o, s->dim, true);
    s->configured_noise = rg_prior_mode(&fit.noise, 0.01);
  }
}

PetscErrorCode rg_model_create(const RgDomain *domain, const RgSurrogateOptions *options,
                               bool use_context, double noise_variance, int capacity,
                               const RgStream *stream, RgClock *clock, RgModel *model)
{
  PetscFunctionBeginUser;
  PetscCall(rg_model_create_on((RgModelHost){.clock = clock}, domain, options, use_context,
                               noise_variance, capacity, stream, model));
  PetscFunctionReturn(0);
}

/* Room for the matrix of this many data on this rank, excluding data that the team will hold. */
static int local_capacity(const RgTeam *team, int capacity)
{
  while (capacity > 1 && rg_team_takes(team, capacity)) capacity = (capacity + 1) / 2;
  return capacity;
}

/* An empty posterior of the kind that the solver and the domain call for. */
static PetscErrorCode create_posterior(RgModel *model, RgTeam *team)
{
  struct RgModelState *s = model->state;
  const bool finite = s->finite;
  const double noise = model->noise_variance;

  PetscFunctionBeginUser;
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
    PetscCall(rg_posterior_create(&model->kernel, noise, 0.0, local_capacity(team, s->capacity),
                                  &model->posterior));
    PetscCall(rg_posterior_use_team(&model->posterior, team, s->capacity));
  }
  PetscFunctionReturn(0);
}

/* Choices among the words of the design's inputs have no order. */
static PetscErrorCode set_words(const RgSpace *design, RgKernel *kernel)
{
  int *words;

  PetscFunctionBeginUser;
  if (!design->inputs) PetscFunctionReturn(0);
  PetscCall(PetscCalloc1(kernel->dim, &words));
  for (int j = 0; j < design->dim; j++) words[j] = design->inputs[j].n_words;
  PetscCall(rg_kernel_set_words(kernel, words));
  PetscCall(PetscFree(words));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_model_create_on(RgModelHost host, const RgDomain *domain,
                                  const RgSurrogateOptions *options, bool use_context,
                                  double noise_variance, int capacity, const RgStream *stream,
                                  RgModel *model)
{
  RgTeam *team = options->mean == RG_MEAN_QUADRATIC ? NULL : host.team; /* no team has trends */
  struct RgModelState *s;

  PetscFunctionBeginUser;
  *model = (RgModel){.domain = domain, .options = options, .scale = 1.0};
  model->report.log_likelihood = NAN;
  PetscCall(PetscNew(&s));
  model->state = s;
  s->use_context = use_context && domain->context.dim > 0;
  s->finite = !host.on_box && inputs_are_finite(domain, s->use_context);
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
  PetscCall(set_words(&domain->design, &model->kernel));
  if (options->input_warping) PetscCall(rg_kernel_set_warp(&model->kernel));
  if (options->mean == RG_MEAN_QUADRATIC) PetscCall(rg_kernel_set_trend(&model->kernel));
  PetscCall(rg_kernel_copy(&model->kernel, &s->configured));
  s->fit_work.team = team;
  decide_noise(model, noise_variance);
  model->noise_variance = s->configured_noise;
  PetscCall(create_posterior(model, team));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_model_destroy(RgModel *model)
{
  struct RgModelState *s = model->state;

  PetscFunctionBeginUser;
  if (!s) PetscFunctionReturn(0);
  PetscCall(rg_transform_destroy(&model->transform));
  PetscCall(rg_posterior_destroy(&model->posterior));
  PetscCall(rg_kernel_destroy(&model->kernel));
  PetscCall(rg_kernel_destroy(&s->configured));
  PetscCall(rg_fit_work_destroy(&s->fit_work));
  PetscCall(rg_prediction_destroy(&s->prediction));
  PetscCall(PetscFree4(s->X, s->y, s->y_model, s->index));
  PetscCall(PetscFree2(s->fit_X, s->fit_y));
  if (s->climber.kernel.terms) PetscCall(rg_kernel_destroy(&s->climber.kernel));
  PetscCall(PetscFree3(s->pending_X, s->pending_y, s->pending_index));
  PetscCall(PetscFree(model->state));
  *model = (RgModel){0};
  PetscFunctionReturn(0);
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

static PetscErrorCode take_in(RgModel *model, const RgHistory *history, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const size_t dim = s->dim;

  PetscFunctionBeginUser;
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
  rg_model_convert_outputs(model, first);
  PetscFunctionReturn(0);
}

/* Add up how far the new data are from the prediction of the posterior without them. */
static PetscErrorCode add_surprise(RgModel *model, const RgHistory *history)
{
  struct RgModelState *s = model->state;
  const int m = s->n - s->held;
  double *mean, *sd;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(m, &mean, m, &sd));
  PetscCall(rg_model_predict_history(model, history, s->held, m, mean, sd));
  for (int i = 0; i < m; i++) {
    const double error = s->y_model[s->held + i] - mean[i];
    s->surprise += error * error / (sd[i] * sd[i] + model->noise_variance) - 1.0;
  }
  s->predicted += m;
  PetscCall(PetscFree2(mean, sd));
  PetscFunctionReturn(0);
}

/* refit_every: auto. With more than REFIT_ALL data, refit when they have grown by a twentieth;
   or by a hundredth, if the sum of squared prediction errors is three standard deviations of
   chi^2 too large. */
static PetscErrorCode drifted(RgModel *model, const RgHistory *history, bool *due)
{
  struct RgModelState *s = model->state;

  PetscFunctionBeginUser;
  *due = s->refit_n == 0 || s->n <= REFIT_ALL || 20 * (int64_t)s->n >= 21 * (int64_t)s->refit_n;
  if (!*due) {
    PetscCall(add_surprise(model, history));
    *due = 100 * (int64_t)s->n >= 101 * (int64_t)s->refit_n &&
           s->surprise > 3.0 * sqrt(2.0 * s->predicted);
  }
  if (!*due) PetscFunctionReturn(0);
  s->refit_n = s->n;
  s->predicted = 0;
  s->surprise = 0.0;
  PetscFunctionReturn(0);
}

/* Whether a refit is due before the next query, t = n - n_initial + 1. Marks it as done. */
static PetscErrorCode refit_is_due(RgModel *model, const RgHistory *history, bool *due)
{
  const int queries = history->n - history->n_initial, every = model->options->refit_every;

  PetscFunctionBeginUser;
  *due = false;
  if (queries < 0) PetscFunctionReturn(0);
  const int period = queries / PetscMax(every, 1);
  if (period <= model->state->last_period) PetscFunctionReturn(0);
  model->state->last_period = period;
  *due = true;
  if (every < 0) PetscCall(drifted(model, history, due));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_model_update(RgModel *model, const RgHistory *history, RgFailure *failure)
{
  struct RgModelState *s = model->state;
  bool due = false;

  PetscFunctionBeginUser;
  const bool nothing_new = s->n > 0 && history->n == s->n;
  if (s->clock) PetscCall(rg_clock_begin(s->clock, RG_STAGE_FIT));
  PetscCall(rg_model_remove_pending(model));
  PetscCall(take_in(model, history, failure));
  if (!failure->failed) PetscCall(refit_is_due(model, history, &due));
  /* A second update for the same query, after a recommendation, keeps the report of the first. */
  if (!nothing_new || due) model->report = (RgModelReport){.log_likelihood = NAN};
  if (!failure->failed) {
    if (due) {
      PetscCall(rg_model_refit(model, failure));
    } else {
      PetscCall(rg_model_append(model, failure));
    }
  }
  model->report.jitter = model->posterior.jitter;
  model->report.iterations = rg_posterior_iterations(&model->posterior, &model->report.residual);
  if (!failure->failed && rg_pending_lies(s->pending))
    PetscCall(rg_model_append_pending(model, history, (RgPendingRule)s->pending->rule, failure));
  if (s->clock) PetscCall(rg_clock_end(s->clock, RG_STAGE_FIT));
  PetscFunctionReturn(0);
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
  PetscFunctionBeginUser;
  PetscCall(rg_posterior_predict(&model->posterior, m, Z, mean, sd, &model->state->prediction));
  for (int j = 0; j < m; j++) sd[j] = sqrt(sd[j]);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_model_predict_history(RgModel *model, const RgHistory *history, int first, int m,
                                        double *mean, double *sd)
{
  const double *means = rg_posterior_means(&model->posterior);
  const double *variances = rg_posterior_variances(&model->posterior);
  double *Z;

  PetscFunctionBeginUser;
  if (means) {
    for (int i = 0; i < m; i++) {
      const int index = index_of(model, history, first + i);
      mean[i] = means[index];
      sd[i] = sqrt(variances[index]);
    }
    PetscFunctionReturn(0);
  }
  const int dim = model->state->dim;
  PetscCall(PetscMalloc1((size_t)m * dim, &Z));
  for (int i = 0; i < m; i++) input_of(model, history, first + i, Z + (size_t)i * dim);
  PetscCall(rg_model_predict(model, m, Z, mean, sd));
  PetscCall(PetscFree(Z));
  PetscFunctionReturn(0);
}
