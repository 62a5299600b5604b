/* rgp_ucb: upper confidence bound with a width drawn from a Gamma distribution.

   zeta_t ~ Gamma(shape kappa_t, scale theta); x_t = argmax_x mu_{t-1}(x) + sqrt(zeta_t)
   sd_{t-1}(x).
   Source: Berk, Gupta, Rana, Venkatesh (2020), Randomised Gaussian process upper confidence bound;
   rules for kappa_t: irgp_ucb 3.2 (acquisition/confidence.h).
   Deviations: the authors' program exchanges shape and scale; here they are as the paper says.
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per acquisition value, plus the
   model.
   Needs no context. Revision 1. */
#include "acquisition/confidence.h"
#include "algorithm/surrogate.h"

#include <math.h>

enum { AUTO, FINITE, HEURISTIC, FIXED };

typedef struct {
  RgRuleOptions rule;
  double theta;
} Options;

static const char *const kappas[] = {"auto", "finite", "heuristic", "fixed", NULL};

static const RgParam params[] = {
  RG_CHOICE("kappa", Options, rule.rule, "auto", kappas, "kappa_t",
            "rule of the shape of Gamma; auto: finite on a finite design, heuristic on a box"),
  RG_REAL("theta", Options, theta, "1", RG_POSITIVE, 1e6, "theta",
          "scale of Gamma; the mean of zeta_t is theta * kappa_t"),
  RG_RULE_VALUE(RG_POSITIVE, "kappa", "shape"),
  {0},
};

static const RgRules rules = {.entry = params,
                              .on_set = FINITE,
                              .on_box = HEURISTIC,
                              .finite_only = 1u << FINITE,
                              .fixed = FIXED};

RG_RULE_CHECK(rules)

/* kappa_t of the rule. */
static double kappa_t(const Options *options, int rule, const RgDomain *domain, int t)
{
  switch (rule) {
  case FINITE: return rg_rgp_shape_finite(domain->design.size, t, options->theta);
  case HEURISTIC: return rg_rgp_shape_heuristic(domain->design.dim, t);
  default: return options->rule.value;
  }
}

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;
  const int rule = rg_rule_of(&rules, &options->rule, domain);

  *law = (RgConfidenceLaw){.kind = RG_LAW_GAMMA,
                           .a = kappa_t(options, rule, domain, t),
                           .b = options->theta,
                           .rule = rule == FINITE ? "rgp_ucb" : NULL,
                           .delta = NAN};
}

const RgAlgorithmClass rg_algorithm_rgp_ucb = {
  RG_ABOUT("rgp_ucb", "RGP-UCB", 1,
           "x_t = argmax mu_{t-1}(x) + sqrt(zeta_t) sd_{t-1}(x), zeta_t ~ Gamma(kappa_t, theta)",
           "Berk, Gupta, Rana, Venkatesh (2020), arXiv:2006.04296"),
  RG_OPTIONS(Options, params),
  .ask = rg_ucb_ask,
  RG_RULE_METHODS,
};
