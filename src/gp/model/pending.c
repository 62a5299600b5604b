/* Pending points in the model: the rules of the study's `pending` block, and the values that stand
   in for outputs that are not known yet. */
#include "gp/model/pending.h"

#include <math.h>

#include "gp/model/model_internal.h"

static const char *const rules[] = {"ignore",    "believer", "random_believer", "liar_min",
                                    "liar_mean", "liar_max", "penalise",        NULL};
static const char *const incumbents[] = {"lies", "told", NULL};
static const char *const penalisers[] = {"none", "soft", "hard", NULL};
static const char *const ranges[] = {"global", "local", NULL};
static const char *const clips[] = {"each", "product", NULL};

const RgParam rg_pending_params[] = {
  RG_CHOICE(
    "rule", RgPendingOptions, rule, "ignore", rules, "",
    "what stands in for the value of a point in flight: nothing, the posterior mean, a draw "
    "of the observation from the posterior, anew at every query (randomised kriging "
    "believer: Sugiura, Takeuchi, Takeno 2026, arXiv:2603.01470), the least, mean or "
    "largest observation, or a penalty on the acquisition function"),
  RG_CHOICE("incumbent", RgPendingOptions, incumbent, "lies", incumbents, "tau",
            "lies: improvement counts from observations and stand-in values; told: from "
            "observations alone"),
  RG_CHOICE("penalise", RgPendingOptions, penaliser, "none", penalisers, "",
            "soft: probability of no contact with the ball of a point in flight; hard: a cone with "
            "a smooth edge"),
  RG_CHOICE("lipschitz", RgPendingOptions, lipschitz, "global", ranges, "L",
            "penaliser: largest slope of the posterior mean in the domain, or near each point in "
            "flight"),
  RG_CHOICE("clip", RgPendingOptions, clip, "each", clips, "",
            "hard penaliser: clip the cone of each point at 1, or their product, as a released "
            "program does"),
  RG_REAL("box", RgPendingOptions, box, "0.5", RG_POSITIVE, 1e6, "",
          "local constant: half the width of the box around a point, in length scales"),
  {0},
};

PetscErrorCode rg_pending_check(RgPendingOptions *options, RgPlace place,
                                RgDiagnostics *diagnostics)
{
  const bool penalises = options->penaliser != RG_PENALISER_NONE;

  if (options->rule == RG_PENDING_IGNORE && penalises) options->rule = RG_PENDING_PENALISE;
  if (options->rule == RG_PENDING_PENALISE && !penalises) options->penaliser = RG_PENALISER_HARD;
  if (options->rule != RG_PENDING_PENALISE && penalises)
    rg_diagnostics_add(diagnostics, place,
                       "pending: 'penalise' goes with rule: penalise, and rule "
                       "is '%s'",
                       rules[options->rule]);
  if (options->rule != RG_PENDING_PENALISE &&
      (options->lipschitz != RG_LIPSCHITZ_GLOBAL || options->clip != RG_CLIP_EACH ||
       options->box != 0.5))
    rg_diagnostics_add(diagnostics, place,
                       "pending: 'lipschitz', 'clip' and 'box' go with 'penalise'");
  return 0;
}

bool rg_pending_lies(const RgPendingOptions *options)
{
  return options && options->rule != RG_PENDING_IGNORE && options->rule != RG_PENDING_PENALISE;
}

/* ---- the points ---------------------------------------------------------------------------- */

/* The inputs of the points in flight. */
static PetscErrorCode read_points(RgModel *model, const RgHistory *history)
{
  const RgPending *pending = &history->pending;
  const size_t dim = (size_t)history->dim, context_dim = (size_t)history->context_dim;
  struct RgModelState *s = model->state;

  PetscCheck(!s->use_context || pending->c, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL,
             "points in flight without their contexts, and the model has a context");
  if (pending->n > s->pending_room) {
    const size_t room = (size_t)pending->n;
    PetscCall(PetscFree3(s->pending_X, s->pending_y, s->pending_index));
    PetscCall(
      PetscMalloc3(room * s->dim, &s->pending_X, room, &s->pending_y, room, &s->pending_index));
    s->pending_room = pending->n;
  }
  for (int i = 0; i < pending->n; i++) {
    double *z = s->pending_X + (size_t)i * s->dim;
    PetscCall(PetscArraycpy(z, pending->x + (size_t)i * dim, dim));
    s->pending_index[i] = pending->index ? pending->index[i] : -1;
    if (!s->use_context) continue;
    PetscCall(PetscArraycpy(z + dim, pending->c + (size_t)i * context_dim, context_dim));
    if (pending->context_index)
      s->pending_index[i] =
        s->pending_index[i] * model->domain->context.size + pending->context_index[i];
  }
  return 0;
}

/* The points in flight one after the other, each with a draw of its observation given the data and
   the points before: the law that the true observations have under the model. */
static PetscErrorCode believe_at_random(RgModel *model, const RgHistory *history,
                                        RgFailure *failure)
{
  RgPosterior *posterior = &model->posterior;
  struct RgModelState *s = model->state;
  RgRandom random = rg_model_pending_random(model, history, "believer");

  for (int i = 0; i < history->pending.n && !failure->failed; i++) {
    const double *x = s->pending_X + (size_t)i * s->dim, *means = rg_posterior_means(posterior);
    const int *index = s->pending_index + i;
    double mean = means ? means[*index] : 0, variance = 0;
    if (means) variance = rg_posterior_variances(posterior)[*index];
    else PetscCall(rg_posterior_predict(posterior, 1, x, &mean, &variance, &s->prediction));
    s->pending_y[i] = mean + sqrt(variance + model->noise_variance) * rg_random_normal(&random);
    s->n_pending = i + 1;
    PetscCall(rg_posterior_append_pending(
      posterior, &(RgObservations){1, x, index, s->pending_y + i}, failure));
  }
  return 0;
}

/* The least, mean or largest output in model units; without data the prior mean. */
static double constant_lie(const RgModel *model, RgPendingRule rule)
{
  const struct RgModelState *s = model->state;
  double least = INFINITY, most = -INFINITY, sum = 0;

  if (s->n == 0) return model->mean;
  for (int i = 0; i < s->n; i++) {
    least = fmin(least, s->y_model[i]);
    most = fmax(most, s->y_model[i]);
    sum += s->y_model[i];
  }
  if (rule == RG_PENDING_LIAR_MEAN) return sum / s->n;
  return rule == RG_PENDING_LIAR_MIN ? least : most;
}

PetscErrorCode rg_model_append_pending(RgModel *model, const RgHistory *history, RgPendingRule rule,
                                       RgFailure *failure)
{
  struct RgModelState *s = model->state;
  const int n = history->pending.n;

  PetscCall(rg_model_remove_pending(model));
  if (n == 0) return 0;
  PetscCall(read_points(model, history));
  if (rule == RG_PENDING_RANDOM_BELIEVER) return believe_at_random(model, history, failure);
  const double *means = rg_posterior_means(&model->posterior);
  if (rule == RG_PENDING_BELIEVER && means) {
    for (int i = 0; i < n; i++) s->pending_y[i] = means[s->pending_index[i]];
  } else if (rule == RG_PENDING_BELIEVER) {
    PetscCall(
      rg_posterior_predict(&model->posterior, n, s->pending_X, s->pending_y, NULL, &s->prediction));
  } else {
    const double lie = constant_lie(model, rule);
    for (int i = 0; i < n; i++) s->pending_y[i] = lie;
  }
  s->n_pending = n;
  const RgObservations points = rg_model_pending(model);
  return rg_posterior_append_pending(&model->posterior, &points, failure);
}

PetscErrorCode rg_model_remove_pending(RgModel *model)
{
  model->state->n_pending = 0;
  return rg_posterior_remove_pending(&model->posterior);
}

RgRandom rg_model_pending_random(const RgModel *model, const RgHistory *history, const char *name)
{
  const RgStream stream = rg_stream_sub(&model->state->stream, name);

  return rg_stream_at(&stream, (uint64_t)history->n + (uint64_t)history->pending.n);
}

const RgPendingOptions *rg_model_pending_options(const RgModel *model)
{
  return model->state->pending;
}

RgObservations rg_model_pending(const RgModel *model)
{
  const struct RgModelState *s = model->state;

  return (RgObservations){s->n_pending, s->pending_X, s->pending_index, s->pending_y};
}
