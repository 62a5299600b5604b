/* Steps shared by v_ucb and cv_ucb: risk-averse upper confidence bounds of quantiles over finite
   contexts of known probabilities. */
#ifndef RG_ALGORITHM_QUANTILE_UCB_H
#define RG_ALGORITHM_QUANTILE_UCB_H

#include "algorithm/robust.h"

/* x_t = argmax of the upper bound of the measure. If the learner chooses contexts, w_t is a
   lacing value of a quantile at x_t: of the measure's level alpha, or (`below`) of the level in
   (0, alpha] whose quantiles of the upper and the lower bound of f differ most.
   O(designs contexts + contexts^2). */
PetscErrorCode rg_quantile_ucb_step(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                    bool below, RgQuery *query);

#endif
