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

/* A model and the history that it has learned. */
typedef struct {
  RgModel model;
  RgHistory seen;
} Learner;

typedef struct {
  int n;               /* number of constraints */
  Learner *learners;   /* n + 2: f, the constraints, failure; owned */
  RgSummand *summands; /* n + 2: constraints in use, then log EI where it counts; owned */
  RgThreshold *below;  /* n + 2: their thresholds; owned */
  int n_below, n_summands;
  RgEi ei;
  int taken; /* number of rows of the history that the learners have seen */
  bool has_failed;
  double best; /* the best feasible observation; NaN: no observation yet */
} State;

/* ---- life ------------------------------------------------------------------------------------ */

/* A point in flight gets the constraints that their models expect, for any stand-in value of f. */
static const RgPendingOptions believer = {.rule = RG_PENDING_BELIEVER};

static PetscErrorCode constrained_ei_create(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;
  const RgDomain *domain = algorithm->setup.domain;

  state->n = domain->n_constraints;
  state->best = NAN;
  PetscCall(PetscCalloc1(state->n + 2, &state->learners));
  PetscCall(PetscMalloc1(state->n + 2, &state->summands));
  PetscCall(PetscMalloc1(state->n + 2, &state->below));
  for (int k = 0; k < state->n + 2; k++) {
    const RgSetup *setup = &algorithm->setup;
    const int capacity = setup->n_initial + setup->n_iterations;
    PetscCall(rg_history_create(setup->domain, capacity, &state->learners[k].seen));
    if (!k) {
      PetscCall(rg_surrogate_create_model(algorithm, RG_INPUTS_DESIGN, &state->learners[k].model));
    } else {
      char name[32];
      snprintf(name, sizeof(name), "fit_constraint_%d", k);
      RgStream stream = rg_stream_sub(&setup->stream, name);
      const RgModelHost host = {setup->team, setup->clock,
                                rg_pending_lies(setup->pending) ? &believer : NULL, false};
      PetscCall(rg_model_create_on(host, setup->domain, setup->surrogate, false, 0, capacity,
                                   &stream, &state->learners[k].model));
    }
  }
  return 0;
}

static PetscErrorCode constrained_ei_destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  for (int k = 0; state->learners && k < state->n + 2; k++) {
    PetscCall(rg_model_destroy(&state->learners[k].model));
    PetscCall(rg_history_destroy(&state->learners[k].seen));
  }
  return RG_FREE(&state->learners, &state->summands, &state->below);
}

/* ---- learning -------------------------------------------------------------------------------- */

static PetscErrorCode learn(Learner *learner, const RgHistory *history, int row, double y)
{
  RgHistory *seen = &learner->seen;

  PetscCall(rg_history_append(seen, history->x + (size_t)row * history->dim, history->index[row],
                              history->c + (size_t)row * history->context_dim,
                              history->context_index[row], y));
  seen->n_initial += row < history->n_initial;
  return 0;
}

/* Append an evaluation: its value and constraints unless it failed, and whether it failed. */
static PetscErrorCode append_row(State *state, const RgHistory *history, int row)
{
  const double y = history->observed[row];

  PetscCall(learn(&state->learners[state->n + 1], history, row, isnan(y) ? 1 : -1));
  if (isnan(y)) state->has_failed = true;
  if (isnan(y)) return 0;
  PetscCall(learn(&state->learners[0], history, row, y));
  for (int k = 0; k < state->n; k++)
    PetscCall(learn(&state->learners[k + 1], history, row,
                    history->constraints[(size_t)row * state->n + k]));
  if (history->feasible[row]) state->best = fmax(state->best, y);
  return 0;
}

/* Add log Pr(c <= 0) of a learner, which takes in its history. */
static PetscErrorCode add_constraint(State *state, Learner *learner, RgFailure *failure)
{
  RgThreshold *below = &state->below[state->n_below++];

  PetscCall(rg_model_update(&learner->model, &learner->seen, failure));
  below->threshold = rg_model_units(&learner->model, 0);
  state->summands[state->n_summands++] =
    (RgSummand){.model = &learner->model, .acquisition = {rg_acquisition_log_below, below}};
  return 0;
}

static PetscErrorCode update(State *state, const RgHistory *history, RgFailure *failure)
{
  RgModel *model = &state->learners[0].model;

  for (; state->taken < history->n; state->taken++)
    PetscCall(append_row(state, history, state->taken));
  for (int k = 0; k < state->n + 2; k++) state->learners[k].seen.pending = history->pending;
  state->n_below = state->n_summands = 0;
  for (int k = 0; k < state->n; k++)
    PetscCall(add_constraint(state, &state->learners[k + 1], failure));
  if (state->has_failed) PetscCall(add_constraint(state, &state->learners[state->n + 1], failure));
  PetscCall(rg_model_update(model, &state->learners[0].seen, failure));
  if (isnan(state->best) && state->n_summands) return 0;
  /* without data improvement counts from the prior mean */
  state->ei.incumbent = isnan(state->best) ? 0 : rg_model_units(model, state->best);
  state->summands[state->n_summands++] =
    (RgSummand){.model = model, .acquisition = {rg_acquisition_log_ei, &state->ei}};
  return 0;
}

static PetscErrorCode constrained_ei_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                         RgQuery *query, RgFailure *failure)
{
  State *state = algorithm->state;
  const RgDomain *domain = algorithm->setup.domain;
  double logarithm;

  /* 1. The models of f and of the constraints, and the best feasible observation. */
  PetscCall(update(state, history, failure));
  if (failure->failed) return 0;
  /* 2. x_t = argmax log EI + sum_k log Pr(c_k <= 0); without a feasible observation, only the
     sum. */
  PetscCall(rg_acquire_sum(domain, state->n_summands, state->summands,
                           RG_SEARCH_AT(algorithm, t, history), query, &query->extra[ACQUISITION],
                           failure));
  if (failure->failed) return 0;
  PetscCall(rg_acquisition_sum_at(domain, state->n_below, state->summands, query, &logarithm));
  query->extra[FEASIBILITY] = exp(logarithm);
  if (state->n_summands > state->n_below) query->extra[INCUMBENT] = state->ei.incumbent;
  return 0;
}

static RgModel *constrained_ei_model(RgAlgorithm *algorithm)
{
  return &((State *)algorithm->state)->learners[0].model;
}

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
  .params = RG_NO_PARAMS,
  RG_STATE(State, constrained_ei_create, constrained_ei_destroy),
  RG_ASK(constrained_ei_ask, columns),
  .model = constrained_ei_model,
  .traits = RG_OWN_HISTORY | RG_CONSTRAINED,
};
