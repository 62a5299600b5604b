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
#include <stdio.h>

#include "algorithm/surrogate.h"
#include "base/grow.h"
#include "maths/arithmetic.h"

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

enum { BLOCK = 256 };
#define SD_FLAT 1e-9 /* deviation below which the derivative of sd counts as 0 (irgp_ucb 2.3) */
#define STEP 1e-6    /* of the difference of a formula, unit cube */

typedef struct {
  RgModel model, costs;
  RgSurrogateOptions options; /* of the process of the costs; borrows the study's texts */
  RgHistory timed;            /* evaluations with a duration, its logarithm as y */
  int taken;                  /* rows of the history that were looked at */
  RgArithmetic formula;
  RgPrediction work;
  const RgDomain *domain;
  RgEi ei;
  double weight;
  double *scratch; /* 5 x BLOCK, and BLOCK x dim; owned */
} State;

/* ---- life ------------------------------------------------------------------------------------ */

/* Parse the formula of the cost; *formula is empty without one. */
static PetscErrorCode read_formula(const char *text, const RgSpace *design, RgArithmetic *formula,
                                   RgText *mistake)
{
  RgExpression parser = {.text = text, .at = text, .mistake = mistake};
  const char **names;
  char(*numbered)[16];

  PetscFunctionBeginUser;
  *formula = (RgArithmetic){0};
  if (!text) PetscFunctionReturn(0);
  PetscCall(PetscMalloc2(design->dim, &names, design->dim, &numbered));
  for (int j = 0; j < design->dim; j++) {
    snprintf(numbered[j], sizeof(numbered[j]), "x%d", j + 1);
    names[j] = design->inputs ? design->inputs[j].name : numbered[j];
  }
  PetscCall(rg_arithmetic_parse(&parser, design->dim, names, formula));
  if (!rg_expression_failed(&parser) && rg_expression_next(&parser))
    PetscCall(rg_expression_mistake(&parser, parser.at, "nothing expected after the formula"));
  PetscCall(PetscFree2(names, numbered));
  PetscFunctionReturn(0);
}

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;
  RgArithmetic formula;
  RgText mistake = {0};

  PetscFunctionBeginUser;
  PetscCall(read_formula(o->cost, &domain->design, &formula, &mistake));
  if (mistake.length)
    rg_diagnostics_add(diagnostics, place, "'cost' is \"%.100s\": %s", o->cost, mistake.data);
  PetscCall(rg_text_clear(&mistake));
  PetscCall(rg_arithmetic_clear(&formula));
  PetscFunctionReturn(0);
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

  PetscFunctionBeginUser;
  state->domain = setup->domain;
  PetscCall(rg_surrogate_create_model(algorithm, false, &state->model));
  state->options = *setup->surrogate;
  if (state->options.fit != RG_FIT_FIXED) state->options.noise_variance = NAN;
  PetscCall(rg_model_create_on(host, setup->domain, &state->options, false, NAN, capacity, &stream,
                               &state->costs));
  PetscCall(rg_history_create(setup->domain, capacity, &state->timed));
  PetscCall(read_formula(o->cost, &setup->domain->design, &state->formula, &mistake));
  PetscCheck(!mistake.length, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s", mistake.data);
  PetscCall(PetscMalloc1(BLOCK * (5 + (size_t)setup->domain->design.dim), &state->scratch));
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscFunctionBeginUser;
  PetscCall(rg_model_destroy(&state->model));
  PetscCall(rg_model_destroy(&state->costs));
  PetscCall(rg_history_destroy(&state->timed));
  PetscCall(rg_arithmetic_clear(&state->formula));
  PetscCall(rg_prediction_destroy(&state->work));
  PetscCall(PetscFree(state->scratch));
  PetscFunctionReturn(0);
}

static RgModel *model_of(RgAlgorithm *algorithm)
{
  return &((State *)algorithm->state)->model;
}

/* ---- the cost -------------------------------------------------------------------------------- */

/* Learn the durations of new evaluations. */
static PetscErrorCode take_in(State *state, const RgHistory *history, RgFailure *failure)
{
  PetscFunctionBeginUser;
  for (; state->taken < history->n; state->taken++) {
    const int row = state->taken;
    const double time = history->moments[row].finished - history->moments[row].dispatched;
    if (!(time > 0)) continue;
    PetscCall(rg_history_append(
      &state->timed, history->x + (size_t)row * history->dim, history->index[row],
      history->c + (size_t)row * history->context_dim, history->context_index[row], log(time)));
    state->timed.n_initial = state->timed.n;
  }
  if (!state->formula.n && state->timed.n)
    PetscCall(rg_model_update(&state->costs, &state->timed, failure));
  PetscFunctionReturn(0);
}

static bool has_cost(const State *state)
{
  return state->formula.n || state->timed.n;
}

/* log c at a design of the unit cube, by the formula. */
static double by_formula(const State *state, const double *x, double *seen)
{
  const RgSpace *design = &state->domain->design;

  rg_space_to_native(design, x, seen);
  rg_space_seen(design, seen, seen);
  return log(rg_arithmetic_value(&state->formula, seen));
}

/* The derivative of log c by coordinate j; x is changed meanwhile. */
static double formula_slope(const State *state, double *x, int j, double *seen)
{
  const double at = x[j], low = fmax(at - STEP, 0), high = fmin(at + STEP, 1);

  x[j] = high;
  const double above = by_formula(state, x, seen);
  x[j] = low;
  const double below = by_formula(state, x, seen);
  x[j] = at;
  return (above - below) / (high - low);
}

/* Subtract weight log c at m <= BLOCK points, and its gradient. */
static PetscErrorCode subtract_formula(State *state, int m, const double *X, double *value,
                                       double *gradient)
{
  const int dim = state->domain->design.dim;
  double *x, *seen;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(dim, &x, dim, &seen));
  for (int i = 0; i < m; i++) {
    PetscCall(PetscArraycpy(x, X + (size_t)i * dim, dim));
    value[i] -= state->weight * by_formula(state, x, seen);
    for (int j = 0; gradient && j < dim; j++)
      gradient[(size_t)i * dim + j] -= state->weight * formula_slope(state, x, j, seen);
  }
  PetscCall(PetscFree2(x, seen));
  PetscFunctionReturn(0);
}

static PetscErrorCode subtract_learned(State *state, int m, const double *X, double *value,
                                       double *gradient)
{
  RgModel *costs = &state->costs;
  double *mean = state->scratch, *weights = mean + BLOCK, *slope = mean + 5 * (size_t)BLOCK;

  PetscFunctionBeginUser;
  PetscCall(rg_posterior_predict(&costs->posterior, m, X, mean, NULL, &state->work));
  for (int i = 0; i < m; i++) value[i] -= state->weight * (costs->shift + costs->scale * mean[i]);
  if (!gradient) PetscFunctionReturn(0);
  for (int i = 0; i < m; i++) weights[i] = -state->weight * costs->scale;
  PetscCall(rg_posterior_gradient(&costs->posterior, m, X, weights, NULL, &state->work, slope));
  for (int i = 0; i < m * state->domain->design.dim; i++) gradient[i] += slope[i];
  PetscFunctionReturn(0);
}

/* log c at the query. */
static PetscErrorCode cost_at(State *state, const RgQuery *query, double *logarithm)
{
  const double weight = state->weight;
  double value = 0;

  PetscFunctionBeginUser;
  state->weight = -1;
  if (state->formula.n) PetscCall(subtract_formula(state, 1, query->x, &value, NULL));
  else if (query->index >= 0)
    value = state->costs.shift +
            state->costs.scale * rg_posterior_means(&state->costs.posterior)[query->index];
  else PetscCall(subtract_learned(state, 1, query->x, &value, NULL));
  state->weight = weight;
  *logarithm = value;
  PetscFunctionReturn(0);
}

/* ---- acquisition ----------------------------------------------------------------------------- */

/* log EI at m <= BLOCK points of a box. */
static PetscErrorCode improvement(State *state, int m, const double *X, double *value,
                                  double *gradient)
{
  RgPosterior *posterior = &state->model.posterior;
  double *mean = state->scratch, *sd = mean + BLOCK, *d_mean = sd + BLOCK, *d_sd = d_mean + BLOCK;

  PetscFunctionBeginUser;
  PetscCall(rg_posterior_predict(posterior, m, X, mean, sd, &state->work));
  for (int j = 0; j < m; j++) sd[j] = sqrt(sd[j]);
  rg_acquisition_log_ei(&state->ei, m, mean, sd, value, gradient ? d_mean : NULL,
                        gradient ? d_sd : NULL);
  if (!gradient) PetscFunctionReturn(0);
  for (int j = 0; j < m; j++) d_sd[j] = sd[j] < SD_FLAT ? 0.0 : 0.5 * d_sd[j] / sd[j];
  PetscCall(rg_posterior_gradient(posterior, m, X, d_mean, d_sd, &state->work, gradient));
  PetscFunctionReturn(0);
}

static PetscErrorCode on_box(void *closure, int m, const double *X, double *value, double *gradient)
{
  State *state = closure;
  const size_t dim = (size_t)state->domain->design.dim;

  PetscFunctionBeginUser;
  for (int begin = 0; begin < m; begin += BLOCK) {
    const int n = PetscMin(BLOCK, m - begin);
    const double *at = X + (size_t)begin * dim;
    double *slope = gradient ? gradient + (size_t)begin * dim : NULL;
    PetscCall(improvement(state, n, at, value + begin, slope));
    if (state->formula.n) PetscCall(subtract_formula(state, n, at, value + begin, slope));
    else PetscCall(subtract_learned(state, n, at, value + begin, slope));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode ask_set(State *state, const RgHistory *history, RgQuery *query,
                              RgFailure *failure)
{
  const RgSpace *space = &state->domain->design;
  const RgPosterior *posterior = &state->model.posterior;
  const double *mean = rg_posterior_means(posterior), *variance = rg_posterior_variances(posterior);
  double *value, sd;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(space->size, &value));
  for (int i = 0; i < space->size; i++) {
    sd = sqrt(variance[i]);
    rg_acquisition_log_ei(&state->ei, 1, &mean[i], &sd, &value[i], NULL, NULL);
    RgQuery point = {.index = i, .x = space->points + (size_t)i * space->dim};
    double logarithm;
    PetscCall(cost_at(state, &point, &logarithm));
    value[i] -= state->weight * logarithm;
  }
  PetscCall(
    rg_acquire_of_set(state->domain, history, value, query, &query->extra[ACQUISITION], failure));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(0);
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

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *o = algorithm->options;
  State *state = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "maximiser", t);
  const RgSearch *search = RG_SEARCH(algorithm, history, &random);
  const RgAcquisition alone = {rg_acquisition_log_ei, &state->ei};
  double logarithm, *value = &query->extra[ACQUISITION];

  PetscFunctionBeginUser;
  /* 1. Incumbent, cost and its weight. */
  PetscCall(rg_surrogate_incumbent(o->incumbent, &state->model, history, &state->ei.incumbent));
  query->extra[INCUMBENT] = state->ei.incumbent;
  PetscCall(take_in(state, history, failure));
  if (failure->failed) PetscFunctionReturn(0);
  query->extra[WEIGHT] = state->weight = weight_at(algorithm, t, history);
  /* 2. x_t = argmax log EI - alpha_t log c. */
  if (!has_cost(state)) {
    PetscCall(rg_acquire(&state->model, &alone, search, query, value, failure));
    PetscFunctionReturn(0);
  }
  if (rg_space_is_finite(&state->domain->design))
    PetscCall(ask_set(state, history, query, failure));
  else PetscCall(rg_acquire_with(state->domain, on_box, state, search, query, value, failure));
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(cost_at(state, query, &logarithm));
  query->extra[COST] = exp(logarithm);
  PetscFunctionReturn(0);
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
  .model = model_of,
};
