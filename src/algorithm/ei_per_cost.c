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

#include "algorithm/surrogate.h"
#include "base/inputs.h"
#include "maths/expression.h"

typedef struct {
  int incumbent;
  double alpha;
  bool cooled;
  char *cost;
} Options;

static const RgParam params[] = {
  RG_INCUMBENT_PARAM(Options),
  RG_REAL("alpha", Options, alpha, "1", 0, 100, "alpha", "weight of the logarithm of the cost"),
  RG_BOOL("cooled", Options, cooled, "false",
          "let the weight fall to 0 with the time that is left, or the queries without 'time'"),
  RG_TEXT("cost", Options, cost, "auto", "c",
          "the cost, a positive formula of the inputs; auto: it is learned from the durations"),
  {0},
};

enum { INCUMBENT, ACQUISITION, COST, WEIGHT };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT,
  [ACQUISITION] = {"acquisition", "log EI less the weighted logarithm of the cost"},
  [COST] = {"expected_cost", "cost of the query that the method expected; units of time"},
  [WEIGHT] = {"cost_weight", "weight of the logarithm of the cost"},
  {0}};

#define STEP 1e-6 /* step of finite differences of a formula, unit cube */

typedef struct {
  RgModel model, costs;       /* first: model */
  RgSurrogateOptions options; /* options of the process of the costs; borrows the study's texts */
  RgHistory timed;            /* evaluations with a duration, its logarithm as y */
  int taken;                  /* rows of the history that were looked at */
  RgArithmetic formula;
} State;

/* ---- life ------------------------------------------------------------------------------------ */

/* Parse the formula of the cost; *formula is empty without one. */
static PetscErrorCode read_formula(const char *text, const RgSpace *design, RgArithmetic *formula,
                                   RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};

  *formula = (RgArithmetic){0};
  if (!text) return 0;
  PetscCall(rg_arithmetic_parse_inputs(&parser, design, formula));
  PetscCall(rg_expression_expect_end(&parser, "formula"));
  return 0;
}

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;
  RgArithmetic formula;
  RgText mistake = {0};

  PetscCall(read_formula(o->cost, &domain->design, &formula, &mistake));
  if (mistake.length)
    rg_diagnostics_add(diagnostics, place, "'cost' is \"%.100s\": %s", o->cost, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_arithmetic_clear(&formula));
  return 0;
}

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;
  const RgSetup *setup = &algorithm->setup;
  const Options *o = algorithm->options;
  const int capacity = setup->n_initial + setup->n_iterations;
  const RgModelHost host = {.team = setup->team, .clock = setup->clock};
  RgStream stream = rg_stream_sub(&setup->stream, "fit_cost");
  RgText mistake = {0};

  PetscCall(rg_surrogate_create_model(algorithm, RG_INPUTS_DESIGN, &state->model));
  state->options = *setup->surrogate;
  if (state->options.fit != RG_FIT_FIXED) state->options.noise_variance = NAN;
  PetscCall(rg_model_create_on(host, setup->domain, &state->options, false, NAN, capacity, &stream,
                               &state->costs));
  PetscCall(rg_history_create(setup->domain, capacity, &state->timed));
  PetscCall(read_formula(o->cost, &setup->domain->design, &state->formula, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", mistake.data);
  return 0;
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscCall(rg_model_destroy(&state->model));
  PetscCall(rg_model_destroy(&state->costs));
  PetscCall(rg_history_destroy(&state->timed));
  PetscCall(rg_arithmetic_clear(&state->formula));
  return 0;
}

/* ---- the cost -------------------------------------------------------------------------------- */

/* Append the durations of new evaluations. */
static PetscErrorCode append_durations(State *state, const RgHistory *history, RgFailure *failure)
{
  for (; state->taken < history->n; state->taken++) {
    const int row = state->taken;
    const double time = history->timings[row].finished - history->timings[row].dispatched;
    if (!(time > 0)) continue;
    PetscCall(rg_history_append(
      &state->timed, history->x + (size_t)row * history->dim, history->index[row],
      history->c + (size_t)row * history->context_dim, history->context_index[row], log(time)));
    state->timed.n_initial = state->timed.n;
  }
  if (!state->formula.n && state->timed.n)
    PetscCall(rg_model_update(&state->costs, &state->timed, failure));
  return 0;
}

/* A multiple of log c, as a summand of an acquisition function. */
typedef struct {
  const State *state;
  const RgSpace *design;
  double factor;
  RgText *refused; /* the first design at which the formula is not positive, and its value there */
} Cost;

/* c at a design x of the unit cube, by the formula. seen (dim): x as the problem sees it. */
static double by_formula(const Cost *cost, const double *x, double *seen)
{
  rg_space_to_native(cost->design, x, seen);
  rg_space_seen(cost->design, seen, seen);
  return rg_arithmetic_value(&cost->state->formula, seen);
}

/* The derivative of log c by coordinate j; x is changed meanwhile. */
static double formula_slope(const Cost *cost, double *x, int j, double *seen)
{
  const double at = x[j], low = fmax(at - STEP, 0), high = fmin(at + STEP, 1);

  x[j] = high;
  const double above = log(by_formula(cost, x, seen));
  x[j] = low;
  const double below = log(by_formula(cost, x, seen));
  x[j] = at;
  return (above - below) / (high - low);
}

/* An RgBatchFunction. */
static PetscErrorCode formula_cost(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  const Cost *cost = closure;
  const int dim = cost->design->dim;
  double *x, *seen;

  PetscCall(PetscMalloc2(dim, &x, dim, &seen));
  for (int i = 0; i < m; i++) {
    PetscCall(PetscArraycpy(x, X + (size_t)i * dim, dim));
    const double c = by_formula(cost, x, seen);
    if (!(c > 0 && isfinite(c)) && !cost->refused->length) {
      PetscCall(rg_text_add(cost->refused, "%g at", c));
      PetscCall(rg_space_print_seen(cost->design, seen, cost->refused));
    }
    value[i] = cost->factor * log(c);
    for (int j = 0; gradient && j < dim; j++)
      gradient[(size_t)i * dim + j] = cost->factor * formula_slope(cost, x, j, seen);
  }
  PetscCall(PetscFree2(x, seen));
  return 0;
}

/* An RgMarginalFunction of the second process. */
static void learned_cost(const void *closure, int m, const double *mean, const double *sd,
                         double *value, double *d_mean, double *d_sd)
{
  const Cost *cost = closure;
  const RgModel *costs = &cost->state->costs;

  for (int i = 0; i < m; i++) value[i] = cost->factor * (costs->shift + costs->scale * mean[i]);
  for (int i = 0; d_mean && i < m; i++) d_mean[i] = cost->factor * costs->scale;
}

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

/* x_t = argmax log EI - alpha_t log c, and c there. */
static PetscErrorCode ask_with_cost(State *state, const RgDomain *domain, const RgEi *ei,
                                    const RgSearch *search, RgQuery *query, RgFailure *failure)
{
  RgText refused = {0};
  Cost cost = {state, &domain->design, -query->extra[WEIGHT], &refused};
  const RgSummand summands[] = {
    {.model = &state->model, .acquisition = {rg_acquisition_log_ei, ei}},
    state->formula.n ? (RgSummand){.function = formula_cost, .closure = &cost}
                     : (RgSummand){.model = &state->costs,
                                   .acquisition = {learned_cost, &cost},
                                   .mean_only = true}};
  double logarithm;

  PetscCall(
    rg_acquire_sum(domain, 2, summands, search, query, &query->extra[ACQUISITION], failure));
  if (refused.length)
    rg_failure_set(failure, "the formula of the cost is %s; a cost is positive and finite",
                   refused.data);
  PetscCall(rg_text_clear(&refused));
  if (failure->failed) return 0;
  cost.factor = 1;
  PetscCall(rg_acquisition_sum_at(domain, 1, &summands[1], query, &logarithm));
  query->extra[COST] = exp(logarithm);
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *o = algorithm->options;
  State *state = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "maximiser", t);
  const RgSearch *search = RG_SEARCH(algorithm, history, &random);
  RgEi ei;
  const RgAcquisition alone = {rg_acquisition_log_ei, &ei};

  /* 1. Incumbent, cost and its weight. */
  PetscCall(rg_surrogate_incumbent(o->incumbent, &state->model, history, &ei.incumbent));
  query->extra[INCUMBENT] = ei.incumbent;
  PetscCall(append_durations(state, history, failure));
  if (failure->failed) return 0;
  query->extra[WEIGHT] = weight_at(algorithm, t, history);
  /* 2. x_t = argmax log EI - alpha_t log c; without a cost, of log EI. */
  if (state->formula.n || state->timed.n)
    PetscCall(ask_with_cost(state, algorithm->setup.domain, &ei, search, query, failure));
  else
    PetscCall(
      rg_acquire(&state->model, &alone, search, query, &query->extra[ACQUISITION], failure));
  return 0;
}

const RgAlgorithmClass rg_algorithm_ei_per_cost = {
  RG_ABOUT(
    "ei_per_cost", "EI per cost", 1,
    "x_t = argmax EI(x)/c(x)^alpha, c the duration by a formula or a second Gaussian process",
    "Snoek, Larochelle, Adams (2012), Practical Bayesian optimization of machine learning "
    "algorithms, NeurIPS; cooled: Lee, Perrone, Archambeau, Seeger (2020)"),
  .stream = "ei",
  .needs = RG_NEEDS_NO_CONTEXT | RG_NEEDS_CLOCK,
  .reads = RG_READS_SURROGATE | RG_READS_MAXIMISER,
  .check = check,
  RG_OPTIONS(Options, params),
  RG_STATE(State, create, destroy),
  RG_ASK(ask, columns),
  .model = rg_surrogate_model,
};
