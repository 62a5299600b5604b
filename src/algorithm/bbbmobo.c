/* bbbmobo: bounding-box-based Bayesian optimisation of robustness measures, one measure.

   x_t = argmax of the upper bound of F(x) = rho(f(x, .)) from mu -/+ sqrt(beta_t) sd,
   beta_t = 2 log(|X x Omega| pi^2 t^2 / (6 delta)); w_t maximises the variance at x_t, or nature
   draws it. confidence: fixed puts beta_t = value instead. The recommendation is argmax rho(mu), as
   for every method of the comparison (the authors' own is argmax of the lower bound).
   Source: Inatsu et al. (2024); as in Inatsu (2025), arXiv:2504.03172, section 5 and appendix D.
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities. Revision 2. */
#include "acquisition/confidence.h"
#include "algorithm/robust.h"

enum { BAYESIAN, FIXED };

typedef struct {
  RgRobustOptions common;
  int confidence;
  double delta, value;
} Options;

static const char *const rules[] = {"bayesian", "fixed", NULL};

static const RgParam params[] = {
  RG_ROBUST_PARAMS,
  RG_CHOICE("confidence", Options, confidence, "bayesian", rules, "beta_t",
            "bayesian: 2 log(|X x Omega| pi^2 t^2 / (6 delta)); fixed: value"),
  RG_REAL("delta", Options, delta, "0.05", RG_POSITIVE, 1, "delta",
          "probability that the bounds of the bayesian rule may fail"),
  RG_ROBUST_FIXED_WIDTH(Options),
  {0},
};

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;
  const double n = (double)domain->design.size * domain->context.size;
  const double beta =
    options->confidence == FIXED ? options->value : rg_gp_ucb_beta_srinivas(n, t, options->delta);

  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT, .a = beta, .delta = NAN};
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  (void)failure;
  return rg_robust_ucb_step(algorithm, t, history, rg_algorithm_width(algorithm, t), false, query);
}

const RgAlgorithmClass rg_algorithm_bbbmobo = {
  RG_ABOUT("bbbmobo", "BBBMOBO", 2,
           "x_t = argmax of the upper bound of rho from mu -/+ sqrt(beta_t) sd,\n"
           "beta_t = 2 log(|X x Omega| pi^2 t^2 / (6 delta)); w_t = argmax sd(x_t, w)",
           "Inatsu et al. 2024; Inatsu 2025, arXiv:2504.03172, 5"),
  RG_OPTIONS(Options, params),
  .check = rg_robust_check,
  .ask = ask,
  .scores = &rg_robust_aimed_scores,
  .confidence = confidence,
  RG_ROBUST_METHODS,
};
