/* bbbmobo: bounding-box-based Bayesian optimisation of robustness measures, one measure.

   x_t = argmax of the upper bound of F(x) = rho(f(x, .)) from mu -/+ sqrt(beta_t) sd,
   beta_t = 2 log(|X x Omega| pi^2 t^2 / (6 delta)); w_t maximises the variance at x_t, or nature
   draws it. confidence: fixed puts beta_t = value instead. The recommendation is argmax rho(mu), as
   for every method of the comparison (the authors' own is argmax of the lower bound).
   Source: Inatsu et al. (2024); as in Inatsu (2025), arXiv:2504.03172, section 5 and appendix D.
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities. Revision 2. */
#include "algorithm/robust.h"

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  return rg_robust_ucb_step(algorithm, t, history, rg_algorithm_width(algorithm, t), false, query);
}

const RgAlgorithmClass rg_algorithm_bbbmobo = {
  RG_ABOUT("bbbmobo", "BBBMOBO", 2,
           "x_t = argmax of the upper bound of rho from mu -/+ sqrt(beta_t) sd,\n"
           "beta_t = 2 log(|X x Omega| pi^2 t^2 / (6 delta)); w_t = argmax sd(x_t, w)",
           "Inatsu et al. 2024; Inatsu 2025, arXiv:2504.03172, 5"),
  RG_OPTIONS(RgRobustUcbOptions, rg_robust_ucb_params),
  .check = rg_robust_check,
  .ask = ask,
  .scores = &rg_robust_aimed_scores,
  .confidence = rg_robust_ucb_confidence,
  RG_ROBUST_METHODS,
};
