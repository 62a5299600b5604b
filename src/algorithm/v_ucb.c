/* v_ucb: Bayesian optimisation of the value at risk.

   u, l = mu +/- sqrt(beta_t) sd, beta_t = 2 log(|X x Omega| pi^2 t^2 / (6 delta)); x_t = argmax of
   the alpha-quantile of u(x, .). w_t is a lacing value at x_t: l(x_t, w_t) is at most the
   alpha-quantile of l(x_t, .), and u(x_t, w_t) at least that of u(x_t, .). Or nature draws w_t.
   Among several lacing values, w_t has the largest probability, then the widest bounds. The
   recommendation is argmax rho(mu), as for every method of the comparison in arXiv:2504.03172.
   Source: Nguyen, Dai, Low, Jaillet (2021), arXiv:2105.06126.
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities; made for var. Revision 1. */
#include "algorithm/quantile_ucb.h"

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  return rg_robust_demand_kind(options, domain, "v_ucb", RG_MEASURE_VAR,
                               "accepted are a problem or a 'measure' of that kind", place,
                               diagnostics);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  (void)failure;
  return rg_quantile_ucb_step(algorithm, t, history, false, query);
}

const RgAlgorithmClass rg_algorithm_v_ucb = {
  RG_ABOUT("v_ucb", "V-UCB", 1,
           "x_t = argmax of the upper bound of the value at risk;\n"
           "w_t is a lacing value of the quantile, or nature draws it",
           "Nguyen, Dai, Low, Jaillet (2021), arXiv:2105.06126"),
  RG_OPTIONS(RgRobustUcbOptions, rg_robust_ucb_params),
  .check = check,
  .ask = ask,
  .scores = &rg_robust_aimed_scores,
  .confidence = rg_robust_ucb_confidence,
  RG_ROBUST_METHODS,
};
