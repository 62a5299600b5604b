/* rrgp_ucb: upper confidence bounds of a robustness measure with a random width.

   beta_t = 2 log |X x Omega| + xi_t, xi_t ~ chi^2_2; lower and upper bounds of F(x) = rho(f(x, .))
   from the credible intervals mu -/+ sqrt(beta_t) sd (regatta/measure.h); x_t is the maximiser of
   the upper bound or the recommendation argmax rho(mu), whichever has the wider bounds; w_t
   maximises the variance at x_t, or nature draws it. confidence: fixed puts beta_t = value instead.
   bounds: sampled takes the least and the largest rho of posterior sample paths, for want of
   better ones: beta_t has no part in it. With index_paths, the query at which the recommendation so
   far was best is estimated by the mean rho of such paths (t-hat).
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities. Revision 2. */
#include "algorithm/robust.h"
#include "gp/path/set_path.h"

#include <math.h>

enum { RANDOM, FIXED };
enum { EXACT, SAMPLED };

typedef struct {
  RgRobustOptions common;
  int confidence;
  double value;
  int bounds, paths, index_paths;
} Options;

typedef struct {
  RgRobust robust;
  RgSetSamples samples, index_samples; /* count 0: not in use */
  double *expected; /* n_designs: mean rho of the paths, NaN where not wanted; owned */
  int *recommended; /* n_iterations: x-hat_1, x-hat_2, ...; owned */
} State;

enum { BEST_INDEX = RG_ROBUST_LARGEST_SD + 1 };
static const RgRecordColumn columns[] = {
  RG_ROBUST_COLUMNS, [BEST_INDEX] = RG_COLUMN_BEST_INDEX, {0}};

static const char *const rules[] = {"random", "fixed", NULL};
static const char *const kinds[] = {"exact", "sampled", NULL};

static const RgParam params[] = {
  RG_ROBUST_PARAMS,
  RG_CHOICE("confidence", Options, confidence, "random", rules, "beta_t",
            "random: 2 log |X x Omega| + chi^2_2; fixed: value"),
  RG_ROBUST_FIXED_WIDTH(Options),
  RG_CHOICE("bounds", Options, bounds, "exact", kinds, "",
            "bounds of rho: of all functions in the credible intervals, or least and largest of "
            "sample paths"),
  RG_INT("paths", Options, paths, "100", 2, 1e5, "S", "sample paths of the sampled bounds"),
  RG_INDEX_PATHS_PARAM(Options),
  {0},
};

/* The theorems are about exact bounds of the problem's measure. */
static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;
  const bool exact =
    options->bounds == EXACT && rg_robust_is_measured(options->common.measure, domain);

  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT, .a = options->value, .delta = NAN};
  if (options->confidence == FIXED) return;
  *law = (RgConfidenceLaw){.kind = RG_LAW_EXPONENTIAL,
                           .a = 2.0 * log((double)domain->design.size * domain->context.size),
                           .b = 0.5,
                           .rule = exact ? "rrgp" : NULL,
                           .delta = NAN};
}

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const RgStream bounds = rg_stream_sub(&algorithm->setup.stream, "bound_paths");
  const RgStream index = rg_stream_sub(&algorithm->setup.stream, "index_paths");
  RgSetPosterior *set;

  PetscCall(rg_robust_create(algorithm));
  PetscCall(PetscMalloc2(state->robust.n_designs, &state->expected, algorithm->setup.n_iterations,
                         &state->recommended));
  PetscCall(rg_posterior_get_set(&state->robust.model.posterior, &set));
  if (options->bounds == SAMPLED)
    PetscCall(rg_set_samples_create(set, options->paths, &bounds, &state->samples));
  if (options->index_paths && state->robust.measure.kind != RG_MEASURE_EXPECTATION)
    PetscCall(rg_set_samples_create(set, options->index_paths, &index, &state->index_samples));
  return 0;
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscCall(PetscFree2(state->expected, state->recommended));
  PetscCall(rg_set_samples_destroy(&state->samples));
  PetscCall(rg_set_samples_destroy(&state->index_samples));
  return rg_robust_destroy(algorithm);
}

/* Compute rho of path s at every design. */
static PetscErrorCode measure_path(State *state, const RgSetSamples *samples, int s, double *value)
{
  return rg_robust_measure(&state->robust, &state->robust.measure,
                           samples->path + (size_t)s * samples->size, value);
}

/* t-hat = argmax over i <= t of the mean rho at x-hat_i; the largest index of ties. For the
   expectation it is t. */
static PetscErrorCode best_index(RgAlgorithm *algorithm, int t, const RgHistory *history, int *best,
                                 RgFailure *failure)
{
  State *state = algorithm->state;
  const int n = state->robust.n_designs;

  PetscCall(rg_robust_best(algorithm, t, history, &state->recommended[t - 1]));
  *best = t;
  if (state->recommended[t - 1] < 0)
    rg_failure_set(failure, "the measure of the posterior mean is not finite at any design");
  if (failure->failed || !state->index_samples.count) return 0;
  PetscCall(PetscArrayzero(state->expected, n));
  for (int s = 0; s < state->index_samples.count; s++) {
    PetscCall(measure_path(state, &state->index_samples, s, state->robust.value));
    for (int i = 0; i < n; i++) state->expected[i] += state->robust.value[i];
  }
  for (int i = t - 1; i >= 1; i--)
    if (state->expected[state->recommended[i - 1]] > state->expected[state->recommended[*best - 1]])
      *best = i;
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const double beta = rg_algorithm_width(algorithm, t);
  int best = t;

  if (state->samples.failure.failed) *failure = state->samples.failure;
  if (!failure->failed && state->index_samples.failure.failed)
    *failure = state->index_samples.failure;
  if (failure->failed) return 0;
  if (options->bounds == SAMPLED) {
    /* least and largest rho over the paths */
    RgRobust *robust = &state->robust;
    for (int i = 0; i < robust->n_designs; i++) {
      robust->lower[i] = INFINITY;
      robust->upper[i] = -INFINITY;
    }
    for (int s = 0; s < state->samples.count; s++) {
      PetscCall(measure_path(state, &state->samples, s, state->robust.value));
      for (int i = 0; i < robust->n_designs; i++) {
        robust->lower[i] = fmin(robust->lower[i], state->robust.value[i]);
        robust->upper[i] = fmax(robust->upper[i], state->robust.value[i]);
      }
    }
    PetscCall(rg_robust_bounds_step(algorithm, t, history, NAN, true, query));
  } else {
    PetscCall(rg_robust_ucb_step(algorithm, t, history, beta, true, query));
  }
  if (options->index_paths && t <= algorithm->setup.n_iterations) {
    PetscCall(best_index(algorithm, t, history, &best, failure));
    query->extra[BEST_INDEX] = best;
  }
  return 0;
}

const RgAlgorithmClass rg_algorithm_rrgp_ucb = {
  RG_ABOUT("rrgp_ucb", "RRGP-UCB", 2,
           "x_t = argmax of the upper bound of rho or argmax rho(mu), whichever has the wider "
           "bounds;\nbeta_t = 2 log |X x Omega| + chi^2_2; w_t = argmax sd(x_t, w)",
           "Inatsu 2025, arXiv:2504.03172, Algorithms 1 and 2"),
  RG_OPTIONS(Options, params),
  RG_STATE(State, create, destroy),
  .check = rg_robust_check,
  RG_ASK(ask, columns),
  .scores = &rg_robust_aimed_scores,
  .confidence = confidence,
  RG_ROBUST_STEPS,
};
