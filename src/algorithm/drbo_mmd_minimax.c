/* drbo_mmd_minimax: DRBO-MMD with a closed form in place of the inner problem.

   As drbo_mmd, with the worst expectation replaced by the average of a lower bound (tangent at
   radius 0, by the sensitivity S) and an upper bound (chord to the smallest U).
   Source: Tay, Foo, Urano, Leong, Low (2022); sbo_kde 3.2, wdrbo 3.
   Deviations: sensitivity identity is the fast variant both papers compare with; centre: uniform,
   tangent: no and batch: mixed are what the released comparison computes (a sign keeps it from the
   tangent, a mask sets values to 0).
   Cost per acquisition value: that of the U (gp/context/context_posterior.h), and O(N) for a
   grid of N contexts (sensitivity exact: O(N^2)).
   Needs contexts drawn by nature. Revision 6. */
#include "algorithm/mmd_ball.h"
#include "base/grow.h"

enum { REFERENCE, UNIFORM };
enum { SEPARATE, MIXED };

typedef struct {
  RgMmdBallOptions ball;
  int sensitivity, centre, screening, batch;
  bool tangent;
} Options;

static const char *const sensitivities[] = {"identity", "exact", NULL};
static const char *const centres[] = {"reference", "uniform", NULL};
static const char *const batches[] = {"separate", "mixed", NULL};

static const RgParam params[] = {
  RG_MMD_BALL_PARAMS(Options, "1024"),
  RG_CHOICE("sensitivity", Options, sensitivity, "identity", sensitivities, "S",
            "of the worst case to the radius at 0: K replaced by the identity, or exact"),
  RG_CHOICE("centre", Options, centre, "reference", centres, "",
            "expectation at radius 0: under the observed contexts, or the mean over the grid (as "
            "released)"),
  RG_BOOL("tangent", Options, tangent, "yes",
          "lower bound: the tangent at radius 0 or the smallest U, the larger one; no: the "
          "smallest U (as released)"),
  RG_INT("screening", Options, screening, "64", 2, 1e5, "",
         "points of a coarser grid that the search begins with; it ends with all"),
  RG_ENTRY("batch", CHOICE, Options, batch, int, "separate", RG_LATER, 0, batches, "",
           "mixed: a design whose ball reaches its worst context counts as 0 if the ball of "
           "another one in its batch does not (as released); searched on all contexts unless "
           "context_nodes is a number"),
  {0},
};

typedef struct {
  RgMmdBall *ball;
  const Options *options;
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
  PetscCall(rg_mmd_minimax(&inner->ball->mmd, u, inner->ball->radius, &how, value, u_bar));
  return 0;
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

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgMmdBall ball, coarse;

  if (!rg_context_seen(algorithm, history, failure)) return 0;
  /* 1. Grid, reference distribution and radius. */
  PetscCall(rg_mmd_ball_create(algorithm, history, options->ball.size, &ball));
  PetscCall(rg_mmd_ball_create(algorithm, history, PetscMin(options->screening, ball.n), &coarse));
  /* 2. x_t = argmax of the approximate worst case. */
  const bool mixed = options->batch == MIXED;
  Inner fine = {&ball, options, ball.n, 0, NULL}, few = {&coarse, options, ball.n, 0, NULL};
  const RgContextual worst = {ball.n, 0, ball.contexts, approximation, &fine, mixed ? mix : NULL};
  const RgContextual rough = {coarse.n, 0, coarse.contexts, approximation, &few, NULL};
  PetscCall(rg_contextual_acquire(algorithm, t, history, &worst, &rough, query, failure));
  PetscCall(PetscFree(fine.reaches));
  query->extra[RG_BALL_RADIUS] = ball.radius;
  PetscCall(rg_mmd_ball_destroy(&coarse));
  PetscCall(rg_mmd_ball_destroy(&ball));
  return 0;
}

const RgAlgorithmClass rg_algorithm_drbo_mmd_minimax = {
  RG_ABOUT("drbo_mmd_minimax", "DRBO-MMD Minimax", 6,
           "x_t = argmax of a closed-form approximation of the worst expectation of mu + width sd\n"
           "over distributions of the context within a maximum mean discrepancy of the observed",
           "Tay, Foo, Urano, Leong, Low (2022), Efficient distributionally robust Bayesian "
           "optimization with worst-case sensitivity"),
  RG_OPTIONS(Options, params),
  .cost = rg_mmd_ball_cost,
  RG_ASK(ask, rg_ball_columns),
  RG_CONTEXTUAL_METHODS,
};
