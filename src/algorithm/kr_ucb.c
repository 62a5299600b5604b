/* kr_ucb: upper confidence bounds of kernel regression at points already visited, with progressive
   widening.

   score_i = m_t(x_i) + C sqrt(log(sum_j W_t(x_j)) / W_t(x_i)) over the t points, repetitions
   counted. The best of them is evaluated again while t^alpha is below the number of distinct
   points; else the new point is argmin W_t(x) over {x: k(x, x_best; h) > tau}, a ball around it.
   Without widening (finite form) no new point is ever made.
   Source: Yee, Lisy, Bowling (2016), Monte Carlo tree search in continuous action spaces with
   execution uncertainty; Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, Algorithm 5.
   Deviations: on a finite design new points are those of the design in the ball. With the Laplacian
   kernel, whose set is no ball, the largest ball in it.
   Cost per iteration: O(t^2 d) for the scores, O(t d) per value of the search for a new point.
   Needs no context, and an initial design. Revision 1. */
#include "acquisition/ball.h"
#include "algorithm/smoother.h"
#include "base/clock.h"
#include "maths/blas.h"

#include <math.h>
#include <string.h>

#define RAW_POINTS 500 /* boke 2.11 */
#define STARTS 10
#define INSIDE (1.0 - 1e-9) /* the ball is open */

typedef struct {
  RgSmootherOptions smoother;
  bool widening;
  double alpha, exploration, tau;
} Options;

static const RgParam params[] = {
  RG_BOOL("widening", Options, widening, "true",
          "make new points (progressive widening); false: visited points only"),
  RG_REAL("alpha", Options, alpha, "0.9", RG_POSITIVE, 1.0, "alpha",
          "a new point is made when t^alpha has reached the number of distinct points"),
  RG_REAL("exploration", Options, exploration, "auto", 0.0, 1e6, "C",
          "factor of the width; auto: 0.1 sqrt(2)"),
  RG_REAL("tau", Options, tau, "0.1", RG_POSITIVE, 0.999999, "tau",
          "new points have a kernel value above it with the best visited point"),
  RG_SMOOTHER_PARAMS(Options),
  RG_OUTPUT_PARAMS(Options),
  {0},
};

static const RgRecordColumn columns[] = {
  RG_SMOOTHER_COLUMNS,
  [RG_SMOOTHER_CONFIDENCE] = RG_COLUMN_CONFIDENCE,
  [RG_SMOOTHER_ACQUISITION] = {"acquisition", "score of the best visited point, model units"},
  [RG_SMOOTHER_CHOICE] = {"repeated", "1: a visited point was evaluated again; 0: a new point"},
  {0}};

typedef struct {
  RgSmoother smoother; /* first */
  int n;               /* number of points that are counted */
  int distinct;        /* number of distinct points among them */
} State;

/* Count the points that differ from all earlier ones in some bit. */
static void count_distinct(State *state, const RgHistory *history)
{
  const size_t bytes = (size_t)history->dim * sizeof(double);

  for (; state->n < history->n; state->n++) {
    bool seen = false;
    const double *x = history->x + (size_t)state->n * history->dim;
    for (int i = 0; i < state->n && !seen; i++)
      seen = !memcmp(x, history->x + (size_t)i * history->dim, bytes);
    state->distinct += !seen;
  }
}

/* The visited point of the highest score, lowest index first; beta: C^2 log sum_j W_j. */
static PetscErrorCode best_visited(const Options *options, State *state, const RgHistory *history,
                                   int *best, double *beta, double *score)
{
  RgSmoother *smoother = &state->smoother;
  double *mean, *log_weight, sum = 0.0;
  double c = isnan(options->exploration) ? 0.1 * sqrt(2.0) : options->exploration;

  PetscCall(PetscMalloc2(history->n, &mean, history->n, &log_weight));
  PetscCall(rg_regression_predict(&smoother->regression, smoother->h, history->n, history->x, mean,
                                  log_weight, NULL, NULL));
  for (int i = 0; i < history->n; i++) sum += exp(log_weight[i]);
  *beta = c * c * fmax(log(sum), 0.0);
  *best = 0;
  *score = -INFINITY;
  for (int i = 0; i < history->n; i++) {
    double value =
      (mean[i] - smoother->shift) / smoother->deviation + sqrt(*beta) * exp(-0.5 * log_weight[i]);
    if (value > *score) *score = value, *best = i;
  }
  return PetscFree2(mean, log_weight);
}

/* The point in the ball where W is least; of a finite design, the centre if there is no other. */
static PetscErrorCode new_point(RgAlgorithm *algorithm, int t, const RgHistory *history, int best,
                                RgQuery *query, RgFailure *failure)
{
  const Options *options = algorithm->options;
  const RgSpace *space = &algorithm->setup.domain->design;
  State *state = algorithm->state;
  const double *centre = history->x + (size_t)best * history->dim;
  RgRandom random = rg_algorithm_stream_at(algorithm, "maximiser", t);
  double value, radius = INSIDE * state->smoother.h *
                         rg_smoothing_level_radius((RgSmoothing)options->smoother.smoothing,
                                                   space->dim, options->tau);
  const RgMaximiserOptions few = {.raw_samples = RAW_POINTS, .restarts = STARTS};
  const RgBall ball = {space->dim, centre, radius};
  RgRegressionSearch search = {.regression = &state->smoother.regression,
                               .goal = RG_REGRESSION_SPACE,
                               .h = state->smoother.h,
                               .deviation = 1.0};

  if (rg_space_is_finite(space)) {
    double *values;
    PetscCall(PetscMalloc1(space->size, &values));
    PetscCall(rg_regression_value(&search, space->size, space->points, values, NULL));
    for (int i = 0; i < space->size; i++)
      if (rg_squared_distance(space->dim, space->points + (size_t)i * space->dim, centre) >
          radius * radius)
        values[i] = -INFINITY;
    PetscCall(rg_acquire_of_set(algorithm->setup.domain, history, values, query, &value, failure));
    PetscCall(PetscFree(values));
  } else {
    PetscCall(rg_maximise_ball(&(RgSearch){.options = &few, .random = &random}, &ball,
                               rg_regression_value, &search, query->x, &value, failure));
  }
  query->extra[RG_SMOOTHER_VALUES] = (double)search.evaluations;
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  RgClock *clock = algorithm->setup.clock;
  int best = 0;

  /* 1. The bandwidth h_t and the units of the outputs. */
  PetscCall(rg_smoother_update(algorithm, history, failure));
  if (failure->failed) return 0;
  /* 2. The visited point of the highest score. */
  if (clock) PetscCall(rg_clock_begin(clock, RG_STAGE_FIT));
  count_distinct(state, history);
  PetscCall(best_visited(options, state, history, &best, &query->extra[RG_SMOOTHER_CONFIDENCE],
                         &query->extra[RG_SMOOTHER_ACQUISITION]));
  if (clock) PetscCall(rg_clock_end(clock, RG_STAGE_FIT));
  /* 3. t^alpha < distinct points: that point again; else a new one. */
  bool again = !options->widening || pow(history->n, options->alpha) < state->distinct;
  query->extra[RG_SMOOTHER_VALUES] = 0.0;
  if (again) {
    query->index = history->index[best];
    memcpy(query->x, history->x + (size_t)best * history->dim,
           (size_t)history->dim * sizeof(double));
  } else {
    PetscCall(new_point(algorithm, t, history, best, query, failure));
    if (failure->failed) return 0;
  }
  query->extra[RG_SMOOTHER_CHOICE] = again;
  return rg_smoother_record(&state->smoother, query->extra[RG_SMOOTHER_VALUES], query);
}

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  if (domain->without_replacement)
    rg_diagnostics_add(diagnostics, place,
                       "kr_ucb evaluates points again, and this domain is without replacement");
  return 0;
}

const RgAlgorithmClass rg_algorithm_kr_ucb = {
  RG_ABOUT("kr_ucb", "KR-UCB", 1,
           "the visited point of largest m(x_i) + C sqrt(log(sum_j W(x_j))/W(x_i)) again, or a new "
           "point of least density near it",
           "Yee, Lisy, Bowling (2016), Monte Carlo tree search in continuous action spaces; "
           "arXiv:2502.06178, Algorithm 5"),
  .needs = RG_NEEDS_NO_CONTEXT | RG_NEEDS_INITIAL,
  RG_OPTIONS(Options, params),
  RG_STATE(State, rg_smoother_create, rg_smoother_destroy),
  .check = check,
  RG_ASK(ask, columns),
};
