/* variance_exploration: queries where the posterior variance of a Gaussian process is largest.

   x_{t+1} = argmax_x sd_t(x). With fixed hyperparameters observations play no role: the power
   function of the kernel, greedily minimised.
   Source: Wenzel, Santin, Haasdonk (2021), A novel class of stabilized greedy kernel approximation
   algorithms; boke 3.3.
   Deviations: log sd is maximised, which has the same maximiser and no small slopes.
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per value.
   Needs no context. Revision 1. */
#include "algorithm/surrogate.h"

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  double deviation;

  /* 1. x_{t+1} = argmax sd. */
  return rg_surrogate_most_uncertain(algorithm, algorithm->state, t, history, query, &deviation,
                                     failure);
}

const RgAlgorithmClass rg_algorithm_variance_exploration = {
  RG_ABOUT("variance_exploration", "GP-variance exploration", 1,
           "x_t = argmax sd_{t-1}(x), the posterior deviation of a Gaussian process",
           "Wenzel, Santin, Haasdonk (2021), A novel class of stabilized greedy kernel "
           "approximation algorithms"),
  .params = RG_NO_PARAMS,
  .ask = ask,
  RG_SURROGATE_METHODS,
};
