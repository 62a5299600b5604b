/* gittins: the Gittins index of Pandora's box, for evaluations that cost.

   x_t = argmax_x g_t(x), where E_t max(f(x) - g_t(x), 0) = lambda c(x): the value at which paying
   lambda c(x) for a look at f(x) is worth nothing. With m, s the posterior mean and deviation,
   g = m - s u and phi(u) + u Phi(u) = lambda c/s. The rule of the second paper is to stop before
   the query t at which max g_t is at most the best observation, that is where no expected
   improvement pays its cost; the column `stop` has it. The trial goes on, unless the study has
   `stop_rule`. With `decay`, lambda is divided by it whenever the rule says so once the last query
   is known, and the trial goes on in any case.
   Source: Xie, Astudillo, Frazier, Scully, Terenin (2024), arXiv:2406.20062, Cost-aware Bayesian
   optimization via the Pandora's box Gittins index; stopping: Xie, Cai, Terenin, Frazier, Scully
   (2025), arXiv:2507.12453, Cost-aware stopping for Bayesian optimization.
   Deviations: the rules come from the abstracts and from the authors' program PandoraBayesOpt; the
   papers' full texts were not at hand. Newton's method for u takes the place of bisection. lambda
   is in units of f, and not of standardised values. A learned cost is the exponential of a
   posterior mean of the logarithm, as in ei_per_cost.
   Cost per iteration: that of EI, and twice that of the model of the costs.
   No context. Revision 1. */
#include <math.h>

#include "algorithm/costs.h"

typedef struct {
  RgCostOptions common; /* first */
  double lambda, decay;
} Options;

static const RgParam params[] = {
  RG_INCUMBENT_PARAM(RgCostOptions),
  RG_REAL("lambda", Options, lambda, "1e-4", RG_POSITIVE, 1e300, "lambda",
          "price of a unit of cost, native units of f"),
  RG_REAL(
    "decay", Options, decay, "auto", 1, 1e6, "beta",
    "lambda is divided by it whenever no improvement pays its cost; auto: lambda is constant"),
  RG_COST_PARAM(", and is 1 until one is known"),
  {0},
};

enum { INCUMBENT, ACQUISITION, COST, LAMBDA, STOP };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT,
  [ACQUISITION] = {"acquisition", "the largest index, model units"},
  [COST] = {"expected_cost", "cost of the query that the method expected"},
  [LAMBDA] = {"lambda", "price of a unit of cost, native units of f"},
  [STOP] = {"stop",
            "1: no improvement pays its cost, so that the rule is to stop before this query"},
  {0}};

typedef struct {
  RgCostState common; /* first */
  double lambda;      /* native units */
  double last;        /* the largest index of the last query, native units; NaN before it */
  double log_cost[RG_COST_BLOCK]; /* of the points of a block */
  double slope[RG_COST_BLOCK];    /* derivatives of their indices by them */
} State;

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;
  const Options *o = algorithm->options;

  state->lambda = o->lambda;
  state->last = NAN;
  return rg_costs_create(algorithm);
}

/* ---- the index ------------------------------------------------------------------------------- */

#define CERTAIN 1e-12 /* below this deviation f(x) counts as known */
#define LOG_SQRT_2PI 0.91893853320467274178

/* The root u of log(phi(u) + u Phi(u)) = target, by Newton's method from below it: the function is
   concave and grows. ratio: Phi(u) over phi(u) + u Phi(u). */
static double root_of(double target, double *ratio)
{
  double u =
    target < -LOG_SQRT_2PI ? -sqrt(-2 * (target + LOG_SQRT_2PI)) : exp(target) - exp(-LOG_SQRT_2PI);

  for (int k = 0; k < 60; k++) {
    double pdf_ratio;
    const double step = (target - rg_acquisition_log_h(u, ratio, &pdf_ratio)) / *ratio;
    u += step;
    if (!(fabs(step) > 1e-15 * fmax(fabs(u), 1))) break;
  }
  return u;
}

/* An RgMarginalFunction: the index at points whose log_cost is set. It sets their slope. */
static void gittins(const void *closure, int m, const double *mean, const double *sd, double *value,
                    double *d_mean, double *d_sd)
{
  State *state = (State *)(uintptr_t)closure; /* the state is ours, and not const */
  const double log_price = log(state->lambda / state->common.model.scale);

  for (int j = 0; j < m; j++) {
    const double log_paid = log_price + state->log_cost[j], s = sd[j];
    double u = 0, ratio = 1;
    if (s < CERTAIN) {
      value[j] = mean[j] - exp(log_paid);
      state->slope[j] = -exp(log_paid);
    } else {
      u = root_of(log_paid - log(s), &ratio);
      value[j] = mean[j] - s * u;
      state->slope[j] = -s / ratio; /* -lambda c/Phi(u) */
    }
    if (!d_mean) continue;
    d_mean[j] = 1;
    d_sd[j] = s < CERTAIN ? 0 : 1 / ratio - u; /* phi(u)/Phi(u) */
  }
}

/* x_t = argmax g_t, and c there. The costs are summands twice: they set log_cost before the index,
   and bring in its slope after it. */
static PetscErrorCode acquire(State *state, const RgDomain *domain, const RgSearch *search,
                              RgQuery *query, RgFailure *failure)
{
  const bool known = rg_costs_are_known(&state->common.costs);
  RgText refused = {0};
  RgCostTerm before = {&state->common.costs, &domain->design, 1, &refused, state->log_cost, NULL};
  RgCostTerm after = {&state->common.costs, &domain->design, 1, &refused, NULL, state->slope};
  RgCostTerm alone = {&state->common.costs, &domain->design, 1, &refused, NULL, NULL};
  const RgSummand index = {.model = &state->common.model, .acquisition = {gittins, state}};
  const RgSummand summands[] = {rg_cost_summand(&before), index, rg_cost_summand(&after)};
  const RgSummand cost = rg_cost_summand(&alone);
  double logarithm = 0;

  PetscCall(
    known ? rg_acquire_sum(domain, 3, summands, search, query, &query->extra[ACQUISITION], failure)
          : rg_acquire_sum(domain, 1, &index, search, query, &query->extra[ACQUISITION], failure));
  PetscCall(rg_cost_refuse(&refused, failure));
  if (failure->failed) return 0;
  if (known) PetscCall(rg_acquisition_sum_at(domain, 1, &cost, query, &logarithm));
  query->extra[COST] = exp(logarithm);
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *o = algorithm->options;
  State *state = algorithm->state;
  const RgModel *model = &state->common.model;
  double best;

  /* 1. The best observation, the costs, and the price, which falls where none was worth it. */
  PetscCall(rg_surrogate_incumbent(o->common.incumbent, &state->common.model, history, &best));
  PetscCall(rg_costs_update(&state->common.costs, history, failure));
  if (failure->failed) return 0;
  if (!isnan(o->decay) && state->last <= model->shift + model->scale * best)
    state->lambda /= o->decay;
  query->extra[INCUMBENT] = best;
  query->extra[LAMBDA] = state->lambda;
  /* 2. x_t = argmax g_t. */
  PetscCall(
    acquire(state, algorithm->setup.domain, RG_SEARCH_AT(algorithm, t, history), query, failure));
  if (failure->failed) return 0;
  state->last = model->shift + model->scale * query->extra[ACQUISITION];
  query->extra[STOP] = query->extra[ACQUISITION] <= best;
  algorithm->stops = query->extra[STOP] && isnan(o->decay); /* else the price falls instead */
  return 0;
}

const RgAlgorithmClass rg_algorithm_gittins = {
  RG_ABOUT("gittins", "Gittins index", 1,
           "x_t = argmax g(x), E max(f(x) - g(x), 0) = lambda c(x), c the cost of an evaluation;\n"
           "stop where max g is at most the best observation",
           "Xie, Astudillo, Frazier, Scully, Terenin (2024), arXiv:2406.20062; the rule to stop is "
           "that of arXiv:2507.12453"),
  .stream = "ei",
  .traits = RG_STOPS,
  .needs = RG_NEEDS_NO_CONTEXT,
  .check = rg_costs_check,
  RG_OPTIONS(Options, params),
  RG_STATE(State, create, rg_costs_destroy),
  RG_ASK(ask, columns),
  RG_MODEL_AND_SEARCH,
};
