/* Steps shared by the methods that maximise a robustness measure over a finite design. */
#include "algorithm/robust.h"

#include <math.h>
#include <string.h>

#include "acquisition/confidence.h"
#include "base/grow.h"

#define TIE 1e-12

const char *const rg_robust_ties[] = {"lowest", "random", NULL};

const RgRecordColumn rg_robust_columns[] = {RG_ROBUST_COLUMNS, {0}};

/* ---- life --------------------------------------------------------------------------- */

const char *rg_robust_measure_text(const char *measure, const RgDomain *domain)
{
  if (measure) return measure;
  return domain->measure ? domain->measure : "expectation";
}

bool rg_robust_is_measured(const char *measure, const RgDomain *domain)
{
  return !strcmp(rg_robust_measure_text(measure, domain), rg_robust_measure_text(NULL, domain));
}

static const char *measure_text(const void *options, const RgDomain *domain)
{
  return rg_robust_measure_text(((const RgRobustOptions *)options)->measure, domain);
}

PetscErrorCode rg_robust_check(const void *options, const RgDomain *domain, RgPlace place,
                               RgDiagnostics *diagnostics)
{
  return rg_measure_check(measure_text(options, domain), domain->context.size, place, diagnostics);
}

PetscErrorCode rg_robust_check_kind(const void *options, const RgDomain *domain, const char *name,
                                    RgMeasureKind kind, bool may_differ, RgPlace place,
                                    RgDiagnostics *diagnostics)
{
  const char *text = measure_text(options, domain);
  RgMeasure measure;
  RgText mistake = {0};

  PetscCall(rg_robust_check(options, domain, place, diagnostics));
  if (may_differ && ((const RgRobustKindOptions *)options)->any_measure) return 0;
  PetscCall(rg_measure_parse(text, &measure, &mistake));
  if (!mistake.data && measure.kind != kind)
    rg_diagnostics_add(diagnostics, place, "'%s' is made for the measure '%s', not for '%s'; %s",
                       name, rg_measure_info(kind)->usage, text,
                       may_differ ? "'any_measure: true' uses it all the same"
                                  : "accepted are a problem or a 'measure' of that kind");
  PetscCall(rg_measure_destroy(&measure));
  return rg_text_clear(&mistake);
}

PetscErrorCode rg_robust_create(RgAlgorithm *algorithm)
{
  const RgDomain *domain = algorithm->setup.domain;
  RgRobust *state = algorithm->state;

  PetscCall(rg_measure_create(measure_text(algorithm->options, domain), &state->measure));
  PetscCall(PetscCalloc1(domain->n_scores, &state->scores));
  for (int s = 0; s < domain->n_scores; s++)
    PetscCall(rg_measure_create(domain->scores[s], &state->scores[s]));
  state->n_designs = domain->design.size;
  state->n_contexts = domain->context.size;
  state->p = domain->context_prob;
  state->recommended_n = -1;
  PetscCall(PetscMalloc3(state->n_designs, &state->lower, state->n_designs, &state->upper,
                         state->n_designs, &state->value));
  return rg_surrogate_create_model(algorithm, RG_INPUTS_BOTH, &state->model);
}

PetscErrorCode rg_robust_destroy(RgAlgorithm *algorithm)
{
  RgRobust *state = algorithm->state;

  PetscCall(rg_measure_destroy(&state->measure));
  for (int s = 0; s < algorithm->setup.domain->n_scores; s++)
    PetscCall(rg_measure_destroy(&state->scores[s]));
  PetscCall(RG_FREE(&state->scores, &state->native));
  PetscCall(PetscFree3(state->lower, state->upper, state->value));
  return rg_model_destroy(&state->model);
}

/* ---- native units ------------------------------------------------------------------------ */

/* scale * f + shift; f itself if that is the same. half: the part of the scratch memory to use. */
static PetscErrorCode to_native(RgRobust *state, int half, double scale, double shift,
                                const double **f)
{
  const size_t size = (size_t)state->n_designs * state->n_contexts;

  if (state->model.shift == 0 && state->model.scale == 1) return 0;
  if (!state->native) PetscCall(PetscMalloc1(2 * size, &state->native));
  double *native = state->native + half * size;
  for (size_t k = 0; k < size; k++) native[k] = scale * (*f)[k] + shift;
  *f = native;
  return 0;
}

PetscErrorCode rg_robust_measure(RgRobust *state, const RgMeasure *measure, const double *f,
                                 double *value)
{
  PetscCall(to_native(state, 0, state->model.scale, state->model.shift, &f));
  return rg_measure_value(measure, state->n_designs, state->n_contexts, f, state->p, value);
}

/* ---- choices ------------------------------------------------------------------------ */

static bool is_tied(double value, double floor)
{
  return isfinite(value) && value >= floor;
}

int rg_robust_argmax(const RgAlgorithm *algorithm, int t, const char *purpose, int n,
                     const double *value)
{
  const RgRobustOptions *common = algorithm->options;
  int first = rg_argmax(n, value, NULL), tied = 0, rank;
  double floor = -INFINITY;
  RgRandom random;

  if (common->ties == RG_TIES_LOWEST || first < 0) return first;
  for (int i = first; i < n; i++)
    if (isfinite(value[i])) floor = fmax(floor, value[i]);
  floor -= TIE * fmax(1.0, fabs(floor));
  for (int i = first; i < n; i++) tied += is_tied(value[i], floor);
  random = rg_algorithm_stream_at(algorithm, purpose, t);
  rank = (int)rg_random_below(&random, (uint64_t)tied);
  while (!is_tied(value[first], floor) || rank-- > 0) first++;
  return first;
}

void rg_robust_set_design(const RgAlgorithm *algorithm, int index, RgQuery *query)
{
  const RgSpace *design = &algorithm->setup.domain->design;

  query->index = index;
  memcpy(query->x, design->points + (size_t)index * design->dim, design->dim * sizeof(double));
}

int rg_robust_set_top(const RgAlgorithm *algorithm, int t, RgQuery *query)
{
  const RgRobust *state = algorithm->state;
  const int top =
    PetscMax(rg_robust_argmax(algorithm, t, "design_ties", state->n_designs, state->upper), 0);

  rg_robust_set_design(algorithm, top, query);
  query->extra[RG_ROBUST_ACQUISITION] = state->upper[top];
  return top;
}

void rg_robust_set_context(const RgAlgorithm *algorithm, int index, RgQuery *query)
{
  const RgSpace *context = &algorithm->setup.domain->context;

  if (algorithm->setup.domain->control != RG_CONTEXT_SIMULATOR) return;
  query->context_index = index;
  memcpy(query->c, context->points + (size_t)index * context->dim, context->dim * sizeof(double));
}

void rg_robust_most_uncertain_context(const RgAlgorithm *algorithm, int t, RgQuery *query)
{
  const RgRobust *state = algorithm->state;
  const double *variance =
    rg_posterior_variances(&state->model.posterior) + (size_t)query->index * state->n_contexts;

  rg_robust_set_context(
    algorithm, rg_robust_argmax(algorithm, t, "context_ties", state->n_contexts, variance), query);
}

PetscErrorCode rg_robust_best(RgAlgorithm *algorithm, int t, const RgHistory *history, int *index)
{
  RgRobust *state = algorithm->state;

  if (state->recommended_n != history->n) {
    PetscCall(rg_robust_measure(state, &state->measure, rg_posterior_means(&state->model.posterior),
                                state->value));
    state->recommended =
      rg_robust_argmax(algorithm, t, "recommendation_ties", state->n_designs, state->value);
    state->recommended_n = history->n;
  }
  *index = state->recommended;
  return 0;
}

/* Recommend by score number `score` of the domain, or by the measure of the options (-1). */
static PetscErrorCode recommend_by(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   int score, RgQuery *recommendation, RgFailure *failure)
{
  RgRobust *state = algorithm->state;
  int index;

  PetscCall(rg_model_update(&state->model, history, failure));
  if (failure->failed) return 0;
  if (score < 0) {
    PetscCall(rg_robust_best(algorithm, t + 1, history, &index));
  } else {
    PetscCall(rg_robust_measure(state, &state->scores[score],
                                rg_posterior_means(&state->model.posterior), state->value));
    index =
      rg_robust_argmax(algorithm, t + 1, "recommendation_ties", state->n_designs, state->value);
  }
  if (index >= 0) rg_robust_set_design(algorithm, index, recommendation);
  else
    rg_failure_set(failure, "%s of the posterior mean is not finite at any design",
                   score < 0 ? "the measure" : "a score");
  return 0;
}

PetscErrorCode rg_robust_recommend(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   RgQuery *recommendation, RgFailure *failure)
{
  return recommend_by(algorithm, t, history, -1, recommendation, failure);
}

static bool aims(const void *options)
{
  return !((const RgRobustOptions *)options)->measure;
}

const RgScoring rg_robust_scores = {.recommend = recommend_by};
const RgScoring rg_robust_aimed_scores = {.recommend = recommend_by, .aims = aims};

enum { BAYESIAN, FIXED };

static const char *const ucb_rules[] = {"bayesian", "fixed", NULL};

const RgParam rg_robust_ucb_params[] = {
  RG_ROBUST_PARAMS,
  RG_CHOICE("confidence", RgRobustUcbOptions, confidence, "bayesian", ucb_rules, "beta_t",
            "bayesian: 2 log(|X x Omega| pi^2 t^2 / (6 delta)); fixed: value"),
  RG_REAL("delta", RgRobustUcbOptions, delta, "0.05", RG_POSITIVE, 1, "delta",
          "probability that the bounds of the bayesian rule may fail"),
  RG_ROBUST_FIXED_WIDTH(RgRobustUcbOptions),
  {0},
};

void rg_robust_ucb_confidence(const void *options, const RgDomain *domain, int t,
                              RgConfidenceLaw *law)
{
  const RgRobustUcbOptions *o = options;
  const double n = (double)domain->design.size * domain->context.size;
  const double beta = o->confidence == FIXED ? o->value : rg_gp_ucb_beta_srinivas(n, t, o->delta);

  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT, .a = beta, .delta = NAN};
}

PetscErrorCode rg_robust_ucb_step(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                  double beta, bool compare, RgQuery *query)
{
  RgRobust *state = algorithm->state;
  const RgModel *model = &state->model;
  const double *mean = rg_posterior_means(&model->posterior);
  const double *variance = rg_posterior_variances(&model->posterior);

  /* 1. Bounds of rho for all designs. */
  PetscCall(to_native(state, 0, model->scale, model->shift, &mean));
  PetscCall(to_native(state, 1, model->scale * model->scale, 0, &variance));
  PetscCall(rg_measure_credible_bounds(
    &state->measure, &(RgCredible){state->n_designs, state->n_contexts, mean, variance, sqrt(beta)},
    state->p, state->lower, state->upper));
  return rg_robust_bounds_step(algorithm, t, history, beta, compare, query);
}

/* Return the largest deviation over the contexts at a design, in native units. */
static double largest_sd(const RgRobust *state, int design)
{
  const double *variance =
    rg_posterior_variances(&state->model.posterior) + (size_t)design * state->n_contexts;
  double largest = 0;

  for (int j = 0; j < state->n_contexts; j++) largest = fmax(largest, variance[j]);
  return sqrt(largest) * state->model.scale;
}

PetscErrorCode rg_robust_bounds_step(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                     double beta, bool compare, RgQuery *query)
{
  RgRobust *state = algorithm->state;
  /* 2. x-tilde; (.)_+ of Definition 3.1 never changes the maximiser. */
  const int upper = rg_robust_set_top(algorithm, t, query);
  const double width = state->upper[upper] - state->lower[upper];
  int top = upper, best;

  /* 3. x-tilde or x-hat. */
  if (compare) {
    PetscCall(rg_robust_best(algorithm, t, history, &best));
    if (best >= 0 && state->upper[best] - state->lower[best] > width + TIE) top = best;
  }
  rg_robust_set_design(algorithm, top, query);
  /* 4. w_t. */
  rg_robust_most_uncertain_context(algorithm, t, query);
  query->extra[RG_ROBUST_CONFIDENCE] = beta;
  query->extra[RG_ROBUST_ACQUISITION] = state->upper[top];
  query->extra[RG_ROBUST_WIDTH] = state->upper[top] - state->lower[top];
  query->extra[RG_ROBUST_TOP] = upper;
  query->extra[RG_ROBUST_LARGEST_SD] = largest_sd(state, top);
  return 0;
}
