/* boke_plus: BOKE that exploits with probability 1 - p.

   Each query draws q ~ Bernoulli(p): q = 1 maximises the bound of boke, q = 0 the kernel regression
   m_t alone. Shares all random numbers but q with boke: p = 1 is the same method, bit for bit.
   Source: Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, Algorithm 3.
   Deviations: values of m_t within 1e-12 max(1,|m_t|) count as equal, the first one found wins: m_t
   is flat around a point that dominates.
   Cost per iteration: as boke.
   Needs no context, and an initial design. Revision 2. */
#include "algorithm/boke.h"

static const RgParam params[] = {
  RG_REAL("p", RgBokeOptions, p, "0.5", RG_POSITIVE, 1.0, "p",
          "probability that a query maximises the bound; else it maximises the regression"),
  RG_SMOOTHER_PARAMS(RgBokeOptions),
  RG_OUTPUT_PARAMS(RgBokeOptions),
  RG_WIDTH_PARAMS(RgBokeOptions),
  {0},
};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const RgBokeOptions *options = algorithm->options;

  return rg_boke_ask(algorithm, options->p, t, history, query, failure);
}

const RgAlgorithmClass rg_algorithm_boke_plus = {
  RG_ABOUT("boke_plus", "BOKE+", 2, "boke with probability p, else x_t = argmax m(x)",
           "Zhu, Zhou, Jin, Xu, Yuan, Ji (2025), arXiv:2502.06178, Algorithm 3"),
  .stream = "boke",
  RG_BOKE_METHODS,
};
