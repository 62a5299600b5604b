/* constrained_ei: expected improvement times the probability of feasibility.

   x_t = argmax_x EI_t(x) prod_k Pr(c_k(x) <= 0), one Gaussian process for f and one for each
   outcome constraint, all independent; improvement counts from the best feasible observation. Until
   there is one: x_t = argmax_x prod_k Pr(c_k(x) <= 0).
   Source: Gardner, Kusner, Xu, Weinberger, Cunningham (2014), Bayesian optimization with inequality
   constraints, ICML, equations 5 and 6; the rule without a feasible observation: Gelbart, Snoek,
   Adams (2014), section 3.
   Deviations: the logarithm is maximised, which has the same maximiser. The models of constraints
   have the kernel and the fit of the study's `surrogate` block, and no noise. Once an evaluation
   has failed there is a further constraint: a Gaussian process of +1 where one failed and -1 where
   not. Without constraints and failures this is `ei`, with its random numbers and its queries.
   Cost per iteration: that of EI times the number of models.
   Needs no context. Revision 1. */
#include <math.h>
#include <stdio.h>

#include "algorithm/surrogate.h"
#include "gp/model/pending.h"
#include "base/grow.h"

enum { INCUMBENT, ACQUISITION, FEASIBILITY };

#define BLOCK 256    /* points of a box at a time */
#define SD_FLAT 1e-9 /* deviation below which the derivative of sd counts as 0 (irgp_ucb 2.3) */

/* A model and the history that it has learned. */
typedef struct {
  RgModel model;
  RgHistory seen;
  RgPrediction work;
} Learner;

/* A summand of the acquisition function. */
typedef struct {
  Learner *learner;
  RgMarginalFunction function;
  RgEi ei;
  RgThreshold below;
  const void *closure;
} Part;

typedef struct {
  int n;             /* number of constraints */
  Learner *learners; /* n + 2: f, the constraints, failure; owned */
  Part *parts;       /* n + 2: the learners in use; owned */
  int n_parts;
  int taken; /* number of rows of the history that the learners have seen */
  bool has_failed;
  double best;     /* the best feasible observation; NaN: no observation yet */
  double *scratch; /* 5 x BLOCK, and a gradient of BLOCK; owned */
} State;

/* ---- life ------------------------------------------------------------------------------------ */

/* A point in flight gets the constraints that their models expect, for any stand-in value of f. */
static const RgPendingOptions believer = {.rule = RG_PENDING_BELIEVER};

static PetscErrorCode create_learner(RgAlgorithm *algorithm, int k, Learner *learner)
{
  const RgSetup *setup = &algorithm->setup;
  const int capacity = setup->n_initial + setup->n_iterations;

  PetscFunctionBeginUser;
  PetscCall(rg_history_create(setup->domain, capacity, &learner->seen));
  if (!k) {
    PetscCall(rg_surrogate_create_model(algorithm, false, &learner->model));
  } else {
    char name[32];
    snprintf(name, sizeof(name), "fit_constraint_%d", k);
    RgStream stream = rg_stream_sub(&setup->stream, name);
    const RgModelHost host = {setup->team, setup->clock,
                              rg_pending_lies(setup->pending) ? &believer : NULL, false};
    PetscCall(rg_model_create_on(host, setup->domain, setup->surrogate, false, 0, capacity, &stream,
                                 &learner->model));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode constrained_ei_create(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;
  const RgDomain *domain = algorithm->setup.domain;

  PetscFunctionBeginUser;
  state->n = domain->n_constraints;
  state->best = NAN;
  PetscCall(PetscCalloc1(state->n + 2, &state->learners));
  PetscCall(PetscCalloc1(state->n + 2, &state->parts));
  PetscCall(PetscMalloc1(BLOCK * (5 + (size_t)domain->design.dim), &state->scratch));
  for (int k = 0; k < state->n + 2; k++)
    PetscCall(create_learner(algorithm, k, &state->learners[k]));
  PetscFunctionReturn(0);
}

static PetscErrorCode constrained_ei_destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscFunctionBeginUser;
  for (int k = 0; state->learners && k < state->n + 2; k++) {
    PetscCall(rg_model_destroy(&state->learners[k].model));
    PetscCall(rg_history_destroy(&state->learners[k].seen));
    PetscCall(rg_prediction_destroy(&state->learners[k].work));
  }
  PetscCall(RG_FREE(&state->learners, &state->parts, &state->scratch));
  PetscFunctionReturn(0);
}

/* ---- learning -------------------------------------------------------------------------------- */

static PetscErrorCode learn(Learner *learner, const RgHistory *history, int row, double y)
{
  RgHistory *seen = &learner->seen;

  PetscFunctionBeginUser;
  PetscCall(rg_history_append(seen, history->x + (size_t)row * history->dim, history->index[row],
                              history->c + (size_t)row * history->context_dim,
                              history->context_index[row], y));
  seen->n_initial += row < history->n_initial;
  PetscFunctionReturn(0);
}

/* One evaluation: f and constraints unless it failed, and whether it did. */
static PetscErrorCode take_row(State *state, const RgHistory *history, int row)
{
  const double y = history->observed[row];

  PetscFunctionBeginUser;
  PetscCall(learn(&state->learners[state->n + 1], history, row, isnan(y) ? 1 : -1));
  if (isnan(y)) state->has_failed = true;
  if (isnan(y)) PetscFunctionReturn(0);
  PetscCall(learn(&state->learners[0], history, row, y));
  for (int k = 0; k < state->n; k++)
    PetscCall(learn(&state->learners[k + 1], history, row,
                    history->constraints[(size_t)row * state->n + k]));
  if (history->feasible[row]) state->best = fmax(state->best, y);
  PetscFunctionReturn(0);
}

/* A summand in use; its model must be up to date. */
static PetscErrorCode add_part(State *state, Learner *learner, bool objective, RgFailure *failure)
{
  Part *part = &state->parts[state->n_parts++];
  const RgModel *model = &learner->model;

  PetscFunctionBeginUser;
  *part = (Part){.learner = learner};
  PetscCall(rg_model_update(&learner->model, &learner->seen, failure));
  /* without data improvement counts from the prior mean */
  part->ei.incumbent = isnan(state->best) ? 0 : rg_model_units(model, state->best);
  part->below.threshold = rg_model_units(model, 0);
  part->function = objective ? rg_acquisition_log_ei : rg_acquisition_log_below;
  part->closure = objective ? (const void *)&part->ei : &part->below;
  PetscFunctionReturn(0);
}

static PetscErrorCode take_in(State *state, const RgHistory *history, RgFailure *failure)
{
  PetscFunctionBeginUser;
  for (; state->taken < history->n; state->taken++)
    PetscCall(take_row(state, history, state->taken));
  for (int k = 0; k < state->n + 2; k++) state->learners[k].seen.pending = history->pending;
  state->n_parts = 0;
  for (int k = 0; k < state->n; k++)
    PetscCall(add_part(state, &state->learners[k + 1], false, failure));
  if (state->has_failed) PetscCall(add_part(state, &state->learners[state->n + 1], false, failure));
  if (!isnan(state->best) || !state->n_parts) {
    PetscCall(add_part(state, &state->learners[0], true, failure));
  } else {
    PetscCall(rg_model_update(&state->learners[0].model, &state->learners[0].seen, failure));
  }
  PetscFunctionReturn(0);
}

/* ---- acquisition ----------------------------------------------------------------------------- */

/* Add a summand at m <= BLOCK points of a box. */
static PetscErrorCode add_block(State *state, const Part *part, int m, const double *X,
                                double *value, double *gradient)
{
  RgPosterior *posterior = &part->learner->model.posterior;
  double *mean = state->scratch, *sd = mean + BLOCK, *own = sd + BLOCK;
  double *d_mean = own + BLOCK, *d_sd = d_mean + BLOCK, *slope = d_sd + BLOCK;
  const int dim = part->learner->seen.dim;

  PetscFunctionBeginUser;
  PetscCall(rg_posterior_predict(posterior, m, X, mean, sd, &part->learner->work));
  for (int j = 0; j < m; j++) sd[j] = sqrt(sd[j]);
  part->function(part->closure, m, mean, sd, own, gradient ? d_mean : NULL, gradient ? d_sd : NULL);
  for (int j = 0; j < m; j++) value[j] += own[j];
  if (!gradient) PetscFunctionReturn(0);
  for (int j = 0; j < m; j++) d_sd[j] = sd[j] < SD_FLAT ? 0.0 : 0.5 * d_sd[j] / sd[j];
  PetscCall(rg_posterior_gradient(posterior, m, X, d_mean, d_sd, &part->learner->work, slope));
  for (int i = 0; i < m * dim; i++) gradient[i] += slope[i];
  PetscFunctionReturn(0);
}

static PetscErrorCode on_box(void *closure, int m, const double *X, double *value, double *gradient)
{
  State *state = closure;
  const size_t dim = (size_t)state->learners[0].seen.dim;

  PetscFunctionBeginUser;
  for (int j = 0; j < m; j++) value[j] = 0;
  for (size_t i = 0; gradient && i < m * dim; i++) gradient[i] = 0;
  for (int p = 0; p < state->n_parts; p++)
    for (int begin = 0; begin < m; begin += BLOCK)
      PetscCall(add_block(state, &state->parts[p], PetscMin(BLOCK, m - begin), X + begin * dim,
                          value + begin, gradient ? gradient + begin * dim : NULL));
  PetscFunctionReturn(0);
}

/* The summand at points [first, first + m) of a finite design; m <= BLOCK. */
static void add_points(State *state, const Part *part, int first, int m, double *value)
{
  const RgPosterior *posterior = &part->learner->model.posterior;
  const double *variance = rg_posterior_variances(posterior) + first;
  double *sd = state->scratch, *own = sd + BLOCK;

  for (int j = 0; j < m; j++) sd[j] = sqrt(variance[j]);
  part->function(part->closure, m, rg_posterior_means(posterior) + first, sd, own, NULL, NULL);
  for (int j = 0; j < m; j++) value[j] += own[j];
}

static PetscErrorCode ask_set(State *state, const RgDomain *domain, const RgHistory *history,
                              RgQuery *query, RgFailure *failure)
{
  const RgSpace *space = &domain->design;
  unsigned char *excluded;
  double *value;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(space->size, &value));
  PetscCall(rg_excluded_points(domain, history, &excluded));
  for (int p = 0; p < state->n_parts; p++)
    for (int begin = 0; begin < space->size; begin += BLOCK)
      add_points(state, &state->parts[p], begin, PetscMin(BLOCK, space->size - begin),
                 value + begin);
  query->index = rg_argmax(space->size, value, excluded);
  if (query->index < 0) /* the value is -infinity everywhere */
    for (query->index = 0; excluded && query->index < space->size - 1 && excluded[query->index];)
      query->index++;
  if (excluded && excluded[query->index])
    rg_failure_set(failure, "all %d points of the domain have been queried", space->size);
  query->extra[ACQUISITION] = value[query->index];
  PetscCall(PetscArraycpy(query->x, space->points + (size_t)query->index * space->dim, space->dim));
  PetscCall(PetscFree(excluded));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(0);
}

/* prod_k Pr(c_k <= 0) at the query. */
static PetscErrorCode probability_at(State *state, const RgQuery *query, double *probability)
{
  double value = 0;

  PetscFunctionBeginUser;
  for (int p = 0; p < state->n_parts; p++) {
    const Part *part = &state->parts[p];
    if (part->function != rg_acquisition_log_below) continue;
    if (query->index >= 0) add_points(state, part, query->index, 1, &value);
    else PetscCall(add_block(state, part, 1, query->x, &value, NULL));
  }
  *probability = exp(value);
  PetscFunctionReturn(0);
}

static PetscErrorCode constrained_ei_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                         RgQuery *query, RgFailure *failure)
{
  State *state = algorithm->state;
  const RgDomain *domain = algorithm->setup.domain;
  RgRandom random = rg_algorithm_stream_at(algorithm, "maximiser", t);
  const RgSearch search = *RG_SEARCH(algorithm, history, &random);

  PetscFunctionBeginUser;
  /* 1. The models of f and of the constraints, and the best feasible observation. */
  PetscCall(take_in(state, history, failure));
  if (failure->failed) PetscFunctionReturn(0);
  /* 2. x_t = argmax log EI + sum_k log Pr(c_k <= 0); without a feasible observation, only the
     sum. */
  if (rg_space_is_finite(&domain->design))
    PetscCall(ask_set(state, domain, history, query, failure));
  else
    PetscCall(
      rg_acquire_with(domain, on_box, state, &search, query, &query->extra[ACQUISITION], failure));
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(probability_at(state, query, &query->extra[FEASIBILITY]));
  const Part *last = &state->parts[state->n_parts - 1];
  if (last->function == rg_acquisition_log_ei) query->extra[INCUMBENT] = last->ei.incumbent;
  PetscFunctionReturn(0);
}

static RgModel *constrained_ei_model(RgAlgorithm *algorithm)
{
  return &((State *)algorithm->state)->learners[0].model;
}

static const RgParam params[] = {{0}};

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT,
  [ACQUISITION] = RG_COLUMN_ACQUISITION,
  [FEASIBILITY] = {"probability_feasible", "probability that the query satisfies all constraints"},
  {0}};

const RgAlgorithmClass rg_algorithm_constrained_ei = {
  RG_ABOUT(
    "constrained_ei", "Constrained EI", 1,
    "x_t = argmax EI(x) prod_k Pr(c_k(x) <= 0), counted from the best feasible observation;\n"
    "until there is one the product alone",
    "Gardner, Kusner, Xu, Weinberger, Cunningham (2014), Bayesian optimization with "
    "inequality constraints, ICML"),
  .stream = "ei",
  .needs = RG_NEEDS_NO_CONTEXT,
  .reads = RG_READS_SURROGATE | RG_READS_MAXIMISER,
  .params = params,
  RG_STATE(State, constrained_ei_create, constrained_ei_destroy),
  RG_ASK(constrained_ei_ask, columns),
  .model = constrained_ei_model,
  .traits = RG_OWN_HISTORY | RG_CONSTRAINED,
};
