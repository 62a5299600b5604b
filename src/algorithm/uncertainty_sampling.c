/* uncertainty_sampling: the most uncertain point.

   (x_t, w_t) = argmax of the posterior variance over designs and contexts; if nature draws the
   context, only x_t is used. The recommendation is argmax rho(mu). From empty data this is the
   greedy maximiser of the information gain.
   Source: Inatsu (2025), arXiv:2504.03172, section 5 and appendix D (US).
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities. Revision 2. */
#include "algorithm/robust.h"
#include "gp/model/model.h"

static const RgParam params[] = {RG_ROBUST_PARAMS, {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgRobust *state = algorithm->state;
  const double *variance = rg_posterior_variances(&state->model.posterior);
  const int index =
    rg_robust_argmax(algorithm, t, "design_ties", state->n_designs * state->n_contexts, variance);

  rg_robust_set_design(algorithm, index / state->n_contexts, query);
  rg_robust_set_context(algorithm, index % state->n_contexts, query);
  query->extra[RG_ROBUST_ACQUISITION] = variance[index];
  return 0;
}

const RgAlgorithmClass rg_algorithm_uncertainty_sampling = {
  RG_ABOUT("uncertainty_sampling", "US", 2,
           "(x_t, w_t) = argmax of the posterior variance; recommends argmax rho(mu)",
           "Inatsu 2025, arXiv:2504.03172, 5"),
  RG_OPTIONS(RgRobustOptions, params),
  .check = rg_robust_check,
  .ask = ask,
  .scores = &rg_robust_scores,
  RG_ROBUST_METHODS,
};
