/* drbo_mmd, drbo_mmd_minimax: distributionally robust Bayesian optimisation in maximum mean
   discrepancy, exactly and with a closed form in place of the inner problem.

   x_t = argmax_x min { sum_i q_i U(x, c_i) : q in the simplex, MMD(q, p) <= r_t }, U = mu + width
   sd, over a grid of contexts and those seen outside the box, p the histogram of the contexts
   observed so far, r_t = (2 + sqrt(2 log(1/gamma)))/sqrt(n). drbo_mmd_minimax replaces the worst
   expectation by the average of a lower bound (tangent at radius 0, by the sensitivity S) and an
   upper bound (chord to the smallest U).
   Source: Kirschner, Bogunovic, Jegelka, Krause (2020), sbo_kde 3.1; Tay, Foo, Urano, Leong, Low
   (2022), sbo_kde 3.2; wdrbo 3.
   Deviations: the inner problem is solved exactly (robust/mmd.h), where the released comparison
   calls a first-order conic solver; the whole grid in more than one context dimension, where it
   takes the diagonal (diagonal: yes). Sensitivity identity is the fast variant both papers compare
   with; centre: uniform, tangent: no and batch: mixed are what the released comparison computes (a
   sign keeps it from the tangent, a mask sets values to 0).
   Cost per acquisition value: that of the U (gp/context/context_posterior.h), and O(N) where the
   ball holds the worst context, else O(N |F| + |F|^3) per piece of the path with support F; of
   drbo_mmd_minimax O(N) for a grid of N contexts (sensitivity exact: O(N^2)).
   Need contexts drawn by nature. Revision 6. */
#include "algorithm/contextual.h"
#include "base/grow.h"
#include "robust/mmd.h"

#include <string.h>

typedef struct {
  RgContextualOptions common;
  int size;      /* number of points in the grid of a box of contexts */
  bool diagonal; /* whether the grid has the points (c, c, ..) only */
  double gamma;  /* gamma of the radius */
  double jitter;
} BallOptions;

#define BALL_PARAMS(Options, default_size)                                                         \
  RG_CONTEXTUAL_PARAMS(Options, ball.common),                                                      \
    RG_CONTEXT_GRID_PARAM(Options, ball.size, default_size),                                       \
    RG_BOOL("diagonal", Options, ball.diagonal, "no",                                              \
            "only the points of the grid whose coordinates are equal (as released)"),              \
    RG_REAL("gamma", Options, ball.gamma, "0.1", RG_POSITIVE, 0.999999, "gamma",                   \
            "radius (2 + sqrt(2 log(1/gamma))) / sqrt(n) after n contexts"),                       \
    RG_REAL("jitter", Options, ball.jitter, "1e-8", 0.0, 1.0, "",                                  \
            "added to the diagonal of the MMD matrix, relative to its mean")

/* The ball of one iteration: a grid of contexts, and discrepancies from the reference
   distribution by the model's kernel at equal x (including its signal variance). */
typedef struct {
  int n;
  double *contexts; /* n x dim_c, owned */
  double radius;
  RgMmd mmd;
} Ball;

/* Compute K of the contexts, which is the model's kernel at equal x. */
static PetscErrorCode context_matrix(const RgModel *model, int n, const double *contexts, double *K)
{
  const int dim = model->kernel.dim, dim_c = model->domain->context.dim;
  double *Z;

  PetscCall(PetscCalloc1((size_t)n * dim, &Z));
  for (int i = 0; i < n; i++)
    PetscCall(
      PetscArraycpy(Z + (size_t)i * dim + dim - dim_c, contexts + (size_t)i * dim_c, dim_c));
  PetscCall(rg_kernel_matrix(&model->kernel, n, Z, K));
  return PetscFree(Z);
}

/* Add the contexts that nature drew outside the box, each once. */
static PetscErrorCode add_outside(const RgHistory *history, int *n, double **points)
{
  const int dim = history->context_dim;
  double *all;

  PetscCall(PetscMalloc1((size_t)(*n + history->n) * dim, &all));
  PetscCall(PetscArraycpy(all, *points, (size_t)*n * dim));
  for (int i = 0, grid = *n; i < history->n; i++) {
    const double *c = history->c + (size_t)i * dim;
    bool known = true; /* as one inside the box */
    for (int k = 0; k < dim; k++) known = known && c[k] >= 0 && c[k] <= 1;
    for (int l = grid; l < *n && !known; l++)
      known = !memcmp(all + (size_t)l * dim, c, dim * sizeof(double));
    if (known) continue;
    PetscCall(PetscArraycpy(all + (size_t)*n * dim, c, dim));
    (*n)++;
  }
  PetscCall(PetscFree(*points));
  *points = all;
  return 0;
}

/* A ball over a grid of about `size` points and the contexts seen outside the box, or over all of a
   finite set. The model must be up to date. p_i is the share of observed contexts that are nearest
   to point i. */
static PetscErrorCode ball_create(const RgAlgorithm *algorithm, const RgHistory *history, int size,
                                  Ball *ball)
{
  const BallOptions *options = algorithm->options;
  const RgModel *model = algorithm->state;
  double *K, *p;

  PetscCall(
    rg_context_points(&model->domain->context, size, options->diagonal, &ball->n, &ball->contexts));
  if (!rg_space_is_finite(&model->domain->context))
    PetscCall(add_outside(history, &ball->n, &ball->contexts));
  PetscCall(PetscMalloc1((size_t)ball->n * ball->n, &K));
  PetscCall(PetscMalloc1(ball->n, &p));
  rg_context_histogram(history, ball->n, ball->contexts, p);
  PetscCall(context_matrix(model, ball->n, ball->contexts, K));
  PetscCall(rg_mmd_create(ball->n, K, p, options->jitter, &ball->mmd));
  ball->radius = rg_mmd_radius(options->gamma, history->n);
  return PetscFree(p);
}

static PetscErrorCode ball_destroy(Ball *ball)
{
  PetscCall(rg_mmd_destroy(&ball->mmd));
  return PetscFree(ball->contexts);
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  const BallOptions *ball = options;
  const double N =
    size->size_c ? size->size_c : rg_context_grid_size(size->dim_c, ball->size, ball->diagonal);

  cost->contexts = size->size_c ? size->size_c : ball->size;
  cost->bytes = 16 * N * N + rg_context_table_bytes(N, size->n);
}

/* ---- drbo_mmd ------------------------------------------------------------------------------- */

typedef struct {
  BallOptions ball;
} ExactOptions;

static const RgParam exact_params[] = {BALL_PARAMS(ExactOptions, "100"), {0}};

typedef struct {
  Ball *ball;
  double *q; /* n */
  RgFailure *failure;
} Exact;

/* Envelope theorem: the derivative by u is the worst distribution. */
static PetscErrorCode worst_case(void *closure, const double *u, const double *slope, double *value,
                                 double *u_bar, double *slope_bar)
{
  Exact *exact = closure;

  return rg_mmd_worst_case(&exact->ball->mmd, u, exact->ball->radius, value,
                           u_bar ? u_bar : exact->q, exact->failure);
}

static PetscErrorCode ask_exact(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                RgQuery *query, RgFailure *failure)
{
  const ExactOptions *options = algorithm->options;
  Ball ball;
  Exact exact = {&ball, NULL, failure};

  if (!rg_context_seen(algorithm, history, failure)) return 0;
  /* 1. Grid, reference distribution and radius. */
  PetscCall(ball_create(algorithm, history, options->ball.size, &ball));
  PetscCall(PetscMalloc1(ball.n, &exact.q));
  /* 2. x_t = argmax of the worst case. */
  const RgContextual worst = {ball.n, 0, ball.contexts, worst_case, &exact, NULL};
  PetscCall(rg_contextual_acquire(algorithm, t, history, &options->ball.common, &worst, NULL, query,
                                  failure));
  query->extra[RG_BALL_RADIUS] = ball.radius;
  PetscCall(PetscFree(exact.q));
  return ball_destroy(&ball);
}

const RgAlgorithmClass rg_algorithm_drbo_mmd = {
  RG_ABOUT("drbo_mmd", "DRBO-MMD", 6,
           "x_t = argmax of the worst expectation of mu + width sd over distributions of the\n"
           "context within a maximum mean discrepancy of the observed ones",
           "Kirschner, Bogunovic, Jegelka, Krause (2020), Distributionally robust Bayesian "
           "optimization"),
  RG_OPTIONS(ExactOptions, exact_params),
  .cost = cost_of,
  RG_ASK(ask_exact, rg_ball_columns),
  RG_CONTEXTUAL_METHODS,
};

/* ---- drbo_mmd_minimax ----------------------------------------------------------------------- */

enum { REFERENCE, UNIFORM };
enum { SEPARATE, MIXED };

typedef struct {
  BallOptions ball;
  int sensitivity, centre, screening, batch;
  bool tangent;
} MinimaxOptions;

static const char *const sensitivities[] = {"identity", "exact", NULL};
static const char *const centres[] = {"reference", "uniform", NULL};
static const char *const batches[] = {"separate", "mixed", NULL};

static const RgParam minimax_params[] = {
  BALL_PARAMS(MinimaxOptions, "1024"),
  RG_CHOICE("sensitivity", MinimaxOptions, sensitivity, "identity", sensitivities, "S",
            "of the worst case to the radius at 0: K replaced by the identity, or exact"),
  RG_CHOICE("centre", MinimaxOptions, centre, "reference", centres, "",
            "expectation at radius 0: under the observed contexts, or the mean over the grid (as "
            "released)"),
  RG_BOOL("tangent", MinimaxOptions, tangent, "yes",
          "lower bound: the tangent at radius 0 or the smallest U, the larger one; no: the "
          "smallest U (as released)"),
  RG_INT("screening", MinimaxOptions, screening, "64", 2, 1e5, "",
         "points of a coarser grid that the search begins with; it ends with all"),
  RG_ENTRY("batch", CHOICE, MinimaxOptions, batch, int, "separate", RG_LATER, 0, batches, "",
           "mixed: a design whose ball reaches its worst context counts as 0 if the ball of "
           "another one in its batch does not (as released); searched on all contexts unless "
           "context_nodes is a number"),
  {0},
};

typedef struct {
  Ball *ball;
  const MinimaxOptions *options;
  int finer; /* number of points in the grid of the method */
  int n;     /* designs of the batch so far. For the mixed batch only: */
  bool *reaches;
} Inner;

static PetscErrorCode approximation(void *closure, const double *u, const double *slope,
                                    double *value, double *u_bar, double *slope_bar)
{
  Inner *inner = closure;
  const RgMmdMinimax how = {(RgMmdSensitivity)inner->options->sensitivity,
                            inner->options->centre == UNIFORM, !inner->options->tangent,
                            inner->finer};

  if (inner->options->batch == MIXED) {
    PetscCall(RG_GROW(inner->n, inner->reaches));
    inner->reaches[inner->n++] = rg_mmd_reaches_worst(&inner->ball->mmd, u, inner->ball->radius);
  }
  return rg_mmd_minimax(&inner->ball->mmd, u, inner->ball->radius, &how, value, u_bar);
}

static void mix(void *closure, int m, int dim, double *value, double *gradient)
{
  Inner *inner = closure;
  bool all = true;

  for (int i = 0; i < m; i++) all = all && inner->reaches[i];
  for (int i = 0; i < m && !all; i++) {
    if (!inner->reaches[i]) continue;
    value[i] = 0.0;
    for (int k = 0; gradient && k < dim; k++) gradient[(size_t)i * dim + k] = 0.0;
  }
  inner->n = 0;
}

static PetscErrorCode ask_minimax(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                  RgQuery *query, RgFailure *failure)
{
  const MinimaxOptions *options = algorithm->options;
  Ball ball, coarse;

  if (!rg_context_seen(algorithm, history, failure)) return 0;
  /* 1. Grid, reference distribution and radius. */
  PetscCall(ball_create(algorithm, history, options->ball.size, &ball));
  PetscCall(ball_create(algorithm, history, PetscMin(options->screening, ball.n), &coarse));
  /* 2. x_t = argmax of the approximate worst case. */
  const bool mixed = options->batch == MIXED;
  Inner fine = {&ball, options, ball.n, 0, NULL}, few = {&coarse, options, ball.n, 0, NULL};
  const RgContextual worst = {ball.n, 0, ball.contexts, approximation, &fine, mixed ? mix : NULL};
  const RgContextual rough = {coarse.n, 0, coarse.contexts, approximation, &few, NULL};
  PetscCall(rg_contextual_acquire(algorithm, t, history, &options->ball.common, &worst, &rough,
                                  query, failure));
  PetscCall(PetscFree(fine.reaches));
  query->extra[RG_BALL_RADIUS] = ball.radius;
  PetscCall(ball_destroy(&coarse));
  return ball_destroy(&ball);
}

const RgAlgorithmClass rg_algorithm_drbo_mmd_minimax = {
  RG_ABOUT("drbo_mmd_minimax", "DRBO-MMD Minimax", 6,
           "x_t = argmax of a closed-form approximation of the worst expectation of mu + width sd\n"
           "over distributions of the context within a maximum mean discrepancy of the observed",
           "Tay, Foo, Urano, Leong, Low (2022), Efficient distributionally robust Bayesian "
           "optimization with worst-case sensitivity"),
  RG_OPTIONS(MinimaxOptions, minimax_params),
  .cost = cost_of,
  RG_ASK(ask_minimax, rg_ball_columns),
  RG_CONTEXTUAL_METHODS,
};
