/* drbo_mmd: distributionally robust Bayesian optimisation in maximum mean discrepancy.

   x_t = argmax_x min { sum_i q_i U(x, c_i) : q in the simplex, MMD(q, p) <= r_t }, U = mu + width
   sd, over a grid of contexts and those seen outside the box, p the histogram of the contexts
   observed so far, r_t = (2 + sqrt(2 log(1/gamma)))/sqrt(n).
   Source: Kirschner, Bogunovic, Jegelka, Krause (2020); sbo_kde 3.1, wdrbo 3.
   Deviations: the inner problem is solved exactly (robust/mmd.h), where the released comparison
   calls a first-order conic solver; the whole grid in more than one context dimension, where it
   takes the diagonal (diagonal: yes).
   Cost per acquisition value: that of the U (gp/context/context_posterior.h), and O(N) where the
   ball holds the worst context, else O(N |F| + |F|^3) per piece of the path with support F.
   Needs contexts drawn by nature. Revision 6. */
#include "algorithm/mmd_ball.h"

typedef struct {
  RgMmdBallOptions ball;
} Options;

static const RgParam params[] = {RG_MMD_BALL_PARAMS(Options, "100"), {0}};

typedef struct {
  RgMmdBall *ball;
  double *q; /* n */
  RgFailure *failure;
} Inner;

/* Envelope theorem: the derivative by u is the worst distribution. */
static PetscErrorCode worst_case(void *closure, const double *u, const double *slope, double *value,
                                 double *u_bar, double *slope_bar)
{
  Inner *inner = closure;

  return rg_mmd_worst_case(&inner->ball->mmd, u, inner->ball->radius, value,
                           u_bar ? u_bar : inner->q, inner->failure);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgMmdBall ball;
  Inner inner = {&ball, NULL, failure};

  if (!rg_context_seen(algorithm, history, failure)) return 0;
  /* 1. Grid, reference distribution and radius. */
  PetscCall(rg_mmd_ball_create(algorithm, history, options->ball.size, &ball));
  PetscCall(PetscMalloc1(ball.n, &inner.q));
  /* 2. x_t = argmax of the worst case. */
  const RgContextual worst = {ball.n, 0, ball.contexts, worst_case, &inner, NULL};
  PetscCall(rg_contextual_acquire(algorithm, t, history, &worst, NULL, query, failure));
  query->extra[RG_BALL_RADIUS] = ball.radius;
  PetscCall(PetscFree(inner.q));
  PetscCall(rg_mmd_ball_destroy(&ball));
  return 0;
}

const RgAlgorithmClass rg_algorithm_drbo_mmd = {
  RG_ABOUT("drbo_mmd", "DRBO-MMD", 6,
           "x_t = argmax of the worst expectation of mu + width sd over distributions of the\n"
           "context within a maximum mean discrepancy of the observed ones",
           "Kirschner, Bogunovic, Jegelka, Krause (2020), Distributionally robust Bayesian "
           "optimization"),
  RG_OPTIONS(Options, params),
  .cost = rg_mmd_ball_cost,
  RG_ASK(ask, rg_ball_columns),
  RG_CONTEXTUAL_METHODS,
};
