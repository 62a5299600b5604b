/* random_sampling: random points, and a surrogate only to recommend.

   x_t uniform on the design, w_t by the probabilities of the contexts; the recommendation is
   argmax rho(mu). Plain random search without a surrogate is `random`.
   Source: Inatsu (2025), arXiv:2504.03172, appendix D (Random).
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities. Revision 2. */
#include "algorithm/robust.h"

static const RgParam params[] = {RG_ROBUST_PARAMS, {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgRobust *state = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "query", t);
  double u;
  int context = 0;

  (void)history, (void)failure;
  PetscFunctionBeginUser;
  rg_robust_set_design(algorithm, (int)rg_random_below(&random, (uint64_t)state->n_designs), query);
  u = rg_random_uniform(&random);
  while (context < state->n_contexts - 1 && (u -= state->p[context]) >= 0.0) ++context;
  rg_robust_set_context(algorithm, context, query);
  PetscFunctionReturn(0);
}

const RgAlgorithmClass rg_algorithm_random_sampling = {
  .name = "random_sampling",
  .title = "Random",
  .summary = "x_t uniform, w_t by its probabilities; recommends argmax rho(mu)",
  .reference = "Inatsu 2025, arXiv:2504.03172, 5",
  .revision = 2,
  .params = params,
  .options_size = sizeof(RgRobustOptions),
  .check = rg_robust_check,
  .ask = ask,
  RG_ROBUST_METHODS,
  RG_ROBUST_STATE,
};
