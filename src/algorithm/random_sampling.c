/* random_sampling: random points, and a surrogate only to recommend.

   x_t uniform on the design, w_t by the probabilities of the contexts, or uniform too; the
   recommendation is argmax rho(mu). Plain random search without a surrogate is `random`.
   Source: Inatsu (2025), arXiv:2504.03172. In appendix D.1 w_t follows the probabilities; in
   section 5.1 it is uniform.
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities. Revision 2. */
#include "algorithm/robust.h"

enum { BY_LAW, UNIFORM };

typedef struct {
  RgRobustOptions common;
  int contexts;
} Options;

static const char *const laws[] = {"law", "uniform", NULL};

static const RgParam params[] = {
  RG_ROBUST_PARAMS,
  RG_ENTRY("contexts", CHOICE, Options, contexts, int, "law", RG_LATER, 0, laws, "w",
           "drawn by their probabilities, or uniform over the set"),
  {0},
};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgRobust *state = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "query", t);

  rg_robust_set_design(algorithm, (int)rg_random_below(&random, (uint64_t)state->n_designs), query);
  rg_robust_set_context(algorithm,
                        options->contexts == UNIFORM
                          ? (int)rg_random_below(&random, (uint64_t)state->n_contexts)
                          : rg_random_index(&random, state->n_contexts, state->p),
                        query);
  return 0;
}

const RgAlgorithmClass rg_algorithm_random_sampling = {
  RG_ABOUT("random_sampling", "Random", 2,
           "x_t uniform, w_t by its probabilities or uniform; recommends argmax rho(mu)",
           "Inatsu 2025, arXiv:2504.03172, 5"),
  RG_OPTIONS(Options, params),
  .check = rg_robust_check,
  .ask = ask,
  .scores = &rg_robust_scores,
  RG_ROBUST_METHODS,
};
