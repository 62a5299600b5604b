/* density_exploration: queries where the points so far are least dense.

   x_{t+1} = argmin_x W_t(x), the sum of kernel weights; log W is minimised, which does not
   underflow. Observations play no role.
   Source: Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, section 3.2 and figure 3.
   Deviations: where a compact kernel leaves W = 0 somewhere, the point farthest from the data.
   Cost per iteration: O(t d) per value.
   Needs no context, and an initial design (one uniform point will do). Revision 2. */
#include "algorithm/smoother.h"

typedef struct {
  RgSmootherOptions smoother;
} Options;

static const RgParam params[] = {RG_SMOOTHER_PARAMS(Options), {0}};

static const RgRecordColumn columns[] = {RG_SMOOTHER_COLUMNS, {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  double value;

  /* 1. h_t. */
  PetscCall(rg_smoother_update(algorithm, history, failure));
  if (failure->failed) return 0;
  /* 2. x_{t+1} = argmin W_t. */
  return rg_smoother_acquire(algorithm, t, history, RG_REGRESSION_SPACE, 0.0, query, &value,
                             failure);
}

const RgAlgorithmClass rg_algorithm_density_exploration = {
  RG_ABOUT("density_exploration", "Density-based exploration", 2,
           "x_t = argmin W(x), the sum of kernel weights of the points so far",
           "Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, section 3.2"),
  .needs = RG_NEEDS_NO_CONTEXT | RG_NEEDS_INITIAL,
  .reads = RG_READS_MAXIMISER,
  RG_OPTIONS(Options, params),
  RG_STATE(RgSmoother, rg_smoother_create, rg_smoother_destroy),
  RG_ASK(ask, columns),
};
