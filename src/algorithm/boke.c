/* boke: Bayesian optimisation by kernel regression and density-based exploration.

   x_{t+1} = argmax_x m_t(x) + sqrt(beta_t) W_t(x)^(-1/2) (IKR-UCB), m_t the kernel regression and
   W_t the sum of kernel weights of the t points evaluated so far.
   Source: Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, Algorithm 2; beta_t: theorems 4.10
   and 4.13. Constants the paper leaves open: boke 9.
   Deviations: where W^(-1/2) may overflow bounds are compared by their logarithms; with a compact
   kernel points of weight 0 come first, the farthest from the data before the others. The search
   climbs from at least 100 starts per input, most of them on faces of the box
   (rg_regression_acquire).
   Cost per iteration: O(t d) per acquisition value, and no model to fit.
   Needs no context, and an initial design. Revision 2. */
#include "algorithm/boke.h"

#include <math.h>

static const RgParam params[] = {RG_SMOOTHER_PARAMS(RgBokeOptions),
                                 RG_OUTPUT_PARAMS(RgBokeOptions),
                                 RG_WIDTH_PARAMS(RgBokeOptions),
                                 {0}};

const RgRecordColumn rg_boke_columns[] = {
  RG_SMOOTHER_COLUMNS,
  [RG_SMOOTHER_CONFIDENCE] = RG_COLUMN_CONFIDENCE,
  [RG_SMOOTHER_ACQUISITION] = RG_COLUMN_ACQUISITION,
  [RG_SMOOTHER_CHOICE] = {"exploration",
                          "1: the bound was maximised; 0: the regression alone (BOKE+)"},
  {0}};

PetscErrorCode rg_boke_check(const void *closure, const RgDomain *domain, RgPlace place,
                             RgDiagnostics *diagnostics)
{
  const RgBokeOptions *options = closure;

  (void)domain;
  rg_width_check(&options->width, params, place, diagnostics);
  return 0;
}

PetscErrorCode rg_boke_ask(RgAlgorithm *algorithm, double p, int t, const RgHistory *history,
                           RgQuery *query, RgFailure *failure)
{
  const RgBokeOptions *options = algorithm->options;
  RgSmoother *smoother = algorithm->state;
  RgRandom choice = rg_algorithm_stream_at(algorithm, "choice", t);

  /* 1. h_t, units of the outputs, and beta_t. */
  PetscCall(rg_smoother_update(algorithm, history, failure));
  if (failure->failed) return 0;
  double beta = rg_width_beta(&options->width, algorithm, smoother, history->n);
  /* 2. q ~ Bernoulli(p): explore or exploit. */
  bool explore = rg_random_uniform(&choice) < p;
  /* 3. x_{t+1} = argmax of the bound, or of m_t. */
  PetscCall(rg_smoother_acquire(algorithm, t, history,
                                explore ? RG_REGRESSION_UCB : RG_REGRESSION_MEAN, sqrt(beta), query,
                                &query->extra[RG_SMOOTHER_ACQUISITION], failure));
  query->extra[RG_SMOOTHER_CONFIDENCE] = beta;
  query->extra[RG_SMOOTHER_CHOICE] = explore;
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  return rg_boke_ask(algorithm, 1.0, t, history, query, failure);
}

const RgAlgorithmClass rg_algorithm_boke = {
  RG_ABOUT("boke", "BOKE", 2,
           "x_t = argmax m(x) + sqrt(beta_t) W(x)^(-1/2), kernel regression m with sum of weights "
           "W",
           "Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, Algorithm 2"),
  RG_BOKE_METHODS,
};
