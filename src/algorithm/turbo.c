/* turbo: trust-region Bayesian optimisation with one region (TuRBO-1), one query at a time.

   A Gaussian process of the evaluations since the last restart, a hyperrectangle around the best
   of them with sides L l_j / (prod l)^(1/d), l the length scales of the fit: candidates are Sobol
   points in it that differ from the centre in some coordinates (each with probability min(1,
   20/d)); the query is the candidate where a path drawn from the posterior is largest. tau_succ
   successes in a row double L, tau_fail failures halve it; below L_min everything starts again
   with a fresh design.
   Source: Eriksson, Pearce, Gardner, Turner, Poloczek (2019), Scalable global optimization via
   local Bayesian optimization, NeurIPS; constants as there: L from 0.8, at most 1.6, at least
   2^-7, tau_succ = 3, tau_fail = max(4, d), min(100 d, 5000) candidates, a success gains 1e-3
   |best|.
   Deviations: q = 1; paths are pathwise (gp/path/feature_path.h), not exact draws at the
   candidates. The first design is the study's, later ones are scrambled Sobol points, 2 d of them.
   The region has all words of a choice and both neighbours of an integer. Without noise, designs
   that were evaluated are no candidates; if there is no other one in the region, candidates are
   from the whole box. Points of a later design that were evaluated keep their values.
   Cost per iteration: the model, and a path at the candidates, O(100 d (M + n) d) for M features.
   Needs a box without context. Revision 2. */
#include "regatta/acquire.h"
#include "acquisition/levels.h"
#include "algorithm/surrogate.h"
#include "gp/path/feature_path.h"
#include "maths/design.h"

#include <math.h>
#include <string.h>

typedef struct {
  double length, length_min, length_max;
  int successes, failures, candidates, initial, features;
} Options;

static const RgParam params[] = {
  RG_REAL("length", Options, length, "0.8", RG_POSITIVE, 2, "L_init",
          "first side of the trust region, unit cube"),
  RG_REAL("length_min", Options, length_min, "0.0078125", RG_POSITIVE, 1, "L_min",
          "side below which the method starts again"),
  RG_REAL("length_max", Options, length_max, "1.6", RG_POSITIVE, 10, "L_max", "largest side"),
  RG_INT("successes", Options, successes, "3", 1, 1000, "tau_succ",
         "successes in a row that double the side"),
  RG_INT("failures", Options, failures, "auto", 1, 100000, "tau_fail",
         "failures in a row that halve it; auto: the larger of 4 and d"),
  RG_INT("candidates", Options, candidates, "auto", 1, 1000000, "",
         "points the query is chosen from; auto: 100 d, at most 5000"),
  RG_INT("restart_points", Options, initial, "auto", 2, 100000, "n_init",
         "size of the design after a restart; auto: 2 d"),
  RG_INT("features", Options, features, "1000", 1, 1e6, "M",
         "random Fourier features of a path, redrawn at every query"),
  {0},
};

enum { LENGTH, RESTARTS };

static const RgRecordColumn columns[] = {
  [LENGTH] = {"trust_length", "side L of the trust region, unit cube; NaN in a design"},
  [RESTARTS] = {"restarts", "trust regions given up so far"},
  {0}};

typedef struct {
  RgModel model;           /* first */
  RgHistory local;         /* evaluations since the last restart */
  int taken;               /* evaluations of the whole history that were looked at */
  int restarts, designed;  /* designed: how many points of the present design were asked for */
  double length, best;     /* best: largest y in `local` */
  int successes, failures; /* numbers in a row */
  int n_design, m;         /* numbers of points in a later design, and of candidates */
  double *design;          /* n_design x dim */
  double *candidate;       /* m x dim */
  double *value;           /* m */
  double *noise;           /* a draw at the data */
  double *lower, *upper;   /* dim: box of the trust region */
  RgFeatureBundle features;
} State;

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  const Options *options = algorithm->options;
  const RgSetup *setup = &algorithm->setup;
  const int d = setup->domain->design.dim, all = setup->n_initial + setup->n_iterations;
  const int m = options->candidates > 0 ? options->candidates : PetscMin(100 * d, 5000);
  const size_t dim = (size_t)d;
  State *state = algorithm->state;

  state->m = m;
  state->n_design = options->initial > 0 ? options->initial : 2 * d;
  PetscCall(rg_surrogate_create_model(algorithm, RG_INPUTS_DESIGN, &state->model));
  PetscCall(rg_history_create(setup->domain, all, &state->local));
  PetscCall(PetscMalloc6(state->n_design * dim, &state->design, m * dim, &state->candidate, m,
                         &state->value, all, &state->noise, dim, &state->lower, dim,
                         &state->upper));
  PetscCall(rg_feature_bundle_create(d, options->features, &state->features));
  state->length = options->length;
  state->best = -INFINITY;
  state->designed = state->n_design; /* the first design is the study's */
  return 0;
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscCall(rg_feature_bundle_destroy(&state->features));
  PetscCall(PetscFree6(state->design, state->candidate, state->value, state->noise, state->lower,
                       state->upper));
  PetscCall(rg_history_destroy(&state->local));
  return rg_model_destroy(&state->model);
}

/* ---- the trust region ----------------------------------------------------------------------- */

/* Successes widen the region, failures narrow it. */
static void update_length(const RgAlgorithm *algorithm, double y)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const int dim = algorithm->setup.domain->design.dim;
  const int patience = options->failures > 0 ? options->failures : PetscMax(4, dim);
  const bool success = y > state->best + 1e-3 * fabs(state->best);

  state->successes = success ? state->successes + 1 : 0;
  state->failures = success ? 0 : state->failures + 1;
  if (state->successes == options->successes) {
    state->length = fmin(2 * state->length, options->length_max);
    state->successes = 0;
  } else if (state->failures == patience) {
    state->length /= 2;
    state->failures = 0;
  }
}

/* Append the evaluations since the last query. The points of a design do not count as
   successes or failures. */
static PetscErrorCode append_new(RgAlgorithm *algorithm, const RgHistory *history)
{
  State *state = algorithm->state;
  RgHistory *local = &state->local;

  for (; state->taken < history->n; state->taken++) {
    const int i = state->taken;
    const double y = history->y[i];
    if (local->n >= local->n_initial && i >= history->n_initial) update_length(algorithm, y);
    state->best = fmax(state->best, y);
    PetscCall(rg_history_append(local, history->x + (size_t)i * history->dim, -1,
                                history->c + (size_t)i * history->context_dim, -1, y));
  }
  return 0;
}

static PetscErrorCode restart(RgAlgorithm *algorithm, int t)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "design", t);

  PetscCall(rg_model_destroy(&state->model));
  PetscCall(rg_surrogate_create_model(algorithm, RG_INPUTS_DESIGN, &state->model));
  state->local.n = 0;
  state->local.n_initial = state->n_design;
  state->length = options->length;
  state->best = -INFINITY;
  state->successes = state->failures = state->designed = 0;
  return rg_design_sobol(&random, state->n_design, state->local.dim, state->design);
}

/* The smallest length scale that the kernel has for input j. */
static double length_scale(const RgKernel *kernel, int j)
{
  double least, most;

  rg_kernel_scale_range(kernel, j, &least, &most);
  return isfinite(least) ? least : 1;
}

static void place_region(const RgSpace *space, State *state, const double *centre)
{
  const RgKernel *kernel = &state->model.kernel;
  const int dim = state->local.dim;
  double mean = 0;

  for (int j = 0; j < dim; j++) mean += log(length_scale(kernel, j)) / dim;
  for (int j = 0; j < dim; j++) {
    const double half = 0.5 * state->length * length_scale(kernel, j) / exp(mean);
    state->lower[j] = fmax(0, centre[j] - half);
    state->upper[j] = fmin(1, centre[j] + half);
    /* the region is wider along an integer or a choice */
    const double levels = rg_space_levels(space, j);
    const bool integer = levels > 0 && space->inputs[j].kind == RG_INPUT_INTEGER;
    if (levels > 0 && !integer) {
      state->lower[j] = 0;
      state->upper[j] = 1;
    } else if (integer) {
      const double here = rg_space_level_at(space, j, centre[j]);
      const double lower = rg_space_unit_of_level(space, j, fmax(here - 1, 0));
      const double upper = rg_space_unit_of_level(space, j, fmin(here + 1, levels - 1));
      state->lower[j] = fmin(state->lower[j], lower);
      state->upper[j] = fmax(state->upper[j], upper);
    }
  }
}

/* Whether evaluations are never repeated because designs are known to be the same. */
static bool asks_once(const RgAlgorithm *algorithm)
{
  return rg_algorithm_asks_once(algorithm) && rg_space_has_levels(&algorithm->setup.domain->design);
}

/* The candidates of the whole box: all designs where there are at most m, else Sobol points.
   Returns their number. */
static PetscErrorCode draw_everywhere(RgAlgorithm *algorithm, int t, int *m)
{
  const RgSpace *space = &algorithm->setup.domain->design;
  State *state = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "everywhere", t);

  if (rg_levels_designs(space) <= *m) {
    *m = (int)rg_levels_designs(space);
    rg_levels_enumerate(space, *m, state->candidate);
    return 0;
  }
  PetscCall(rg_design_sobol(&random, *m, space->dim, state->candidate));
  for (int i = 0; i < *m; i++)
    rg_space_snap(space, state->candidate + (size_t)i * space->dim, NULL);
  return 0;
}

static PetscErrorCode has_new(const RgAlgorithm *algorithm, const RgHistory *history, int m,
                              bool *found)
{
  const State *state = algorithm->state;
  RgSeen seen;

  *found = false;
  PetscCall(rg_seen_create(&algorithm->setup.domain->design, history, &seen));
  for (int i = 0; i < m && !*found; i++)
    *found = !rg_seen_has(&seen, state->candidate + (size_t)i * history->dim);
  return rg_seen_destroy(&seen);
}

/* Sobol points of the region. With many inputs, most coordinates go back to the centre. */
static PetscErrorCode draw_candidates(RgAlgorithm *algorithm, int t, const double *centre, int m)
{
  const RgSpace *space = &algorithm->setup.domain->design;
  State *state = algorithm->state;
  const int dim = state->local.dim;
  const double chance = fmin(1, 20.0 / dim);
  RgRandom random = rg_algorithm_stream_at(algorithm, "candidates", t);

  place_region(space, state, centre);
  PetscCall(rg_design_sobol(&random, m, dim, state->candidate));
  for (int i = 0; i < m; i++) {
    double *x = state->candidate + (size_t)i * dim;
    const int always = chance < 1 ? (int)rg_random_below(&random, (uint64_t)dim) : 0;
    for (int j = 0; j < dim; j++) {
      const bool moved = chance >= 1 || j == always || rg_random_uniform(&random) < chance;
      x[j] = moved ? state->lower[j] + (state->upper[j] - state->lower[j]) * x[j] : centre[j];
    }
    rg_space_snap(space, x, NULL);
  }
  return 0;
}

/* Thompson sampling: the candidate where one path from the posterior is largest; without noise only
   new ones count. */
static PetscErrorCode choose(RgAlgorithm *algorithm, int t, int m, const RgHistory *history,
                             double *x, RgFailure *failure)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  RgPosterior *posterior = &state->model.posterior;
  RgRandom random = rg_algorithm_stream_at(algorithm, "paths", t);
  const double deviation = sqrt(posterior->noise_variance + posterior->jitter);
  unsigned char *excluded;

  if (options->features < posterior->kernel.n_terms) {
    rg_failure_set(failure, "paths of %d features for a kernel of %d terms", options->features,
                   posterior->kernel.n_terms);
    return 0;
  }
  rg_random_normals(&random, (size_t)posterior->n, state->noise);
  for (int i = 0; i < posterior->n; i++) state->noise[i] *= deviation;
  PetscCall(rg_feature_bundle_draw(&state->features, posterior, 1, state->noise, &random));
  PetscCall(
    rg_feature_path_evaluate(&state->features.path, m, state->candidate, state->value, NULL));
  PetscCall(rg_excluded_designs(&algorithm->setup.domain->design, rg_algorithm_asks_once(algorithm),
                                history, m, state->candidate, &excluded));
  const int best = rg_argmax(m, state->value, excluded);
  PetscCall(PetscFree(excluded));
  if (best < 0) rg_failure_set(failure, "a path is finite at none of %d candidates", m);
  else
    PetscCall(
      PetscArraycpy(x, state->candidate + (size_t)best * state->local.dim, state->local.dim));
  return 0;
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  cost->paths = 1;
  cost->features = ((const Options *)options)->features;
}

/* ---- the method ----------------------------------------------------------------------------- */

/* Return the first row of a history with this design, or -1. */
static int row_of(const RgHistory *history, const double *x)
{
  for (int i = 0; i < history->n; i++)
    if (!memcmp(history->x + (size_t)i * history->dim, x, (size_t)history->dim * sizeof *x))
      return i;
  return -1;
}

/* Take the values of the next points of the design that were evaluated. */
static PetscErrorCode skip_known(RgAlgorithm *algorithm, const RgHistory *history)
{
  State *state = algorithm->state;
  RgHistory *local = &state->local;

  for (; state->designed < state->n_design; state->designed++) {
    double *x = state->design + (size_t)state->designed * history->dim;
    rg_space_snap(&algorithm->setup.domain->design, x, NULL);
    const int i = row_of(history, x);
    if (i < 0) break;
    if (row_of(local, x) < 0) PetscCall(rg_history_append(local, x, -1, NULL, -1, history->y[i]));
    else local->n_initial--;
    state->best = fmax(state->best, history->y[i]);
  }
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const size_t dim = (size_t)algorithm->setup.domain->design.dim;
  int m = state->m;
  bool found = true;

  /* 1. The last query may change the side of the region, or end the region. */
  if (t == 1) state->local.n_initial = history->n_initial;
  PetscCall(append_new(algorithm, history));
  if (state->length < options->length_min) state->restarts++;
  if (state->length < options->length_min || !history->n) PetscCall(restart(algorithm, t));
  query->extra[RESTARTS] = state->restarts;
  /* 2. An unfinished design comes first. */
  if (asks_once(algorithm)) PetscCall(skip_known(algorithm, history));
  if (state->designed < state->n_design) {
    PetscCall(PetscArraycpy(query->x, state->design + (size_t)state->designed * dim, dim));
    state->designed++;
    return 0;
  }
  /* 3. The posterior given the evaluations since the last restart. */
  PetscCall(rg_model_update(&state->model, &state->local, failure));
  if (failure->failed) return 0;
  /* 4. x_t = argmax of a path over candidates in the region. */
  const double *centre = state->local.x + (size_t)rg_history_best(&state->local) * dim;
  PetscCall(draw_candidates(algorithm, t, centre, m));
  if (asks_once(algorithm)) PetscCall(has_new(algorithm, history, m, &found));
  if (!found) PetscCall(draw_everywhere(algorithm, t, &m));
  PetscCall(choose(algorithm, t, m, history, query->x, failure));
  query->extra[LENGTH] = state->length;
  return 0;
}

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;

  if (o->length < o->length_min)
    rg_diagnostics_add(diagnostics, place,
                       "a first side 'length' (%g) below 'length_min' (%g): the method would only "
                       "start again",
                       o->length, o->length_min);
  return 0;
}

const RgAlgorithmClass rg_algorithm_turbo = {
  RG_ABOUT("turbo", "TuRBO-1", 2,
           "x_t = argmax g(x) over candidates in a trust region around the best point, g a sample\n"
           "path from a local posterior; the region widens, narrows, starts again",
           "Eriksson, Pearce, Gardner, Turner, Poloczek (2019), Scalable global optimization "
           "via local Bayesian optimization, NeurIPS"),
  .needs = RG_NEEDS_BOX | RG_NEEDS_NO_CONTEXT | RG_NEEDS_ALTERNATION,
  .reads = RG_READS_SURROGATE,
  .params = params,
  .cost = cost_of,
  .options_size = sizeof(Options),
  RG_STATE(State, create, destroy),
  .model = rg_surrogate_model,
  .traits = RG_OWN_HISTORY,
  .check = check,
  RG_ASK(ask, columns),
};
