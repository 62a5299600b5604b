/* ei_per_cost: expected improvement per expected cost, where the cost is the duration.

   x_t = argmax_x log EI_t(x) - alpha_t log c_t(x): c_t is a formula of the inputs, or exp of the
   posterior mean of a second Gaussian process of the logarithms of the durations so far.
   alpha_t = alpha, or alpha (T - t)/T where it is cooled: t is the time so far and T the limit
   `time` of the study; without one, queries so far and all queries.
   Source: J. Snoek, H. Larochelle, R. P. Adams, Practical Bayesian optimization of machine learning
   algorithms, NeurIPS 2012 (EI per second, alpha = 1); cooled: E. H. Lee, V. Perrone,
   C. Archambeau, M. Seeger, Cost-aware Bayesian optimization, 2020.
   Deviations: the logarithm is maximised, which has the same maximiser. Both processes have the
   kernel and the fit of the study's `surrogate` block; the noise of the second one is its own, if
   it is fitted. An evaluation that took no time, or whose time is not known, says nothing of the
   cost. As long as no duration is known this is `ei`, with its random numbers and its queries.
   Cost per iteration: twice that of EI.
   Needs a clock; no context. Revision 1. */
#include <math.h>

#include "algorithm/costs.h"

typedef struct {
  RgCostOptions common; /* first */
  double alpha;
  bool cooled;
} Options;

static const RgParam params[] = {
  RG_INCUMBENT_PARAM(RgCostOptions),
  RG_REAL("alpha", Options, alpha, "1", 0, 100, "alpha", "weight of the logarithm of the cost"),
  RG_BOOL("cooled", Options, cooled, "false",
          "let the weight fall to 0 with the time that is left, or the queries without 'time'"),
  RG_COST_PARAM(""),
  {0},
};

enum { INCUMBENT, ACQUISITION, COST, WEIGHT };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT,
  [ACQUISITION] = {"acquisition", "log EI less the weighted logarithm of the cost"},
  [COST] = {"expected_cost", "cost of the query that the method expected; units of time"},
  [WEIGHT] = {"cost_weight", "weight of the logarithm of the cost"},
  {0}};

/* alpha_t. */
static double weight_at(const RgAlgorithm *algorithm, int t, const RgHistory *history)
{
  const Options *o = algorithm->options;
  const RgSetup *setup = &algorithm->setup;
  const bool timed = setup->time > 0;
  const double all = timed ? setup->time : setup->n_iterations;
  const double left = timed ? all - history->pending.now : all - (t - 1);

  return o->cooled ? o->alpha * fmin(fmax(left / all, 0), 1) : o->alpha;
}

/* Choose x_t = argmax log EI - alpha_t log c, and record c there. */
static PetscErrorCode ask_with_cost(RgCostState *state, const RgDomain *domain, const RgEi *ei,
                                    const RgSearch *search, RgQuery *query, RgFailure *failure)
{
  RgText refused = {0};
  RgCostTerm term = {&state->costs, &domain->design, -query->extra[WEIGHT], &refused, NULL, NULL};
  const RgSummand summands[] = {
    {.model = &state->model, .acquisition = {rg_acquisition_log_ei, ei}}, rg_cost_summand(&term)};
  double logarithm;

  PetscCall(
    rg_acquire_sum(domain, 2, summands, search, query, &query->extra[ACQUISITION], failure));
  PetscCall(rg_cost_refuse(&refused, failure));
  if (failure->failed) return 0;
  term.factor = 1;
  PetscCall(rg_acquisition_sum_at(domain, 1, &summands[1], query, &logarithm));
  query->extra[COST] = exp(logarithm);
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *o = algorithm->options;
  RgCostState *state = algorithm->state;
  const RgSearch *search = RG_SEARCH_AT(algorithm, t, history);
  RgEi ei;
  const RgAcquisition alone = {rg_acquisition_log_ei, &ei};

  /* 1. Incumbent, cost and its weight. */
  PetscCall(rg_surrogate_incumbent(o->common.incumbent, &state->model, history, &ei.incumbent));
  query->extra[INCUMBENT] = ei.incumbent;
  PetscCall(rg_costs_update(&state->costs, history, failure));
  if (failure->failed) return 0;
  query->extra[WEIGHT] = weight_at(algorithm, t, history);
  /* 2. x_t = argmax log EI - alpha_t log c; without a cost, of log EI. */
  if (rg_costs_are_known(&state->costs))
    return ask_with_cost(state, algorithm->setup.domain, &ei, search, query, failure);
  return rg_acquire(&state->model, &alone, search, query, &query->extra[ACQUISITION], failure);
}

const RgAlgorithmClass rg_algorithm_ei_per_cost = {
  RG_ABOUT(
    "ei_per_cost", "EI per cost", 1,
    "x_t = argmax EI(x)/c(x)^alpha, c the duration by a formula or a second Gaussian process",
    "Snoek, Larochelle, Adams (2012), Practical Bayesian optimization of machine learning "
    "algorithms, NeurIPS; cooled: Lee, Perrone, Archambeau, Seeger (2020)"),
  .stream = "ei",
  .needs = RG_NEEDS_NO_CONTEXT | RG_NEEDS_CLOCK,
  .check = rg_costs_check,
  RG_OPTIONS(Options, params),
  RG_STATE(RgCostState, rg_costs_create, rg_costs_destroy),
  RG_ASK(ask, columns),
  RG_MODEL_AND_SEARCH,
};
