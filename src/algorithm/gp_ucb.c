/* gp_ucb: upper confidence bound with a deterministic width.

   x_t = argmax_x mu_{t-1}(x) + sqrt(beta_t) sd_{t-1}(x).
   Source: Srinivas, Krause, Kakade, Seeger (2010), Algorithm 1 and Theorem 1; rules for beta_t:
   irgp_ucb 3.1 (acquisition/confidence.h); with a batch of points that are believed to have their
   mean it is GP-BUCB (Desautels, Krause, Burdick 2014).
   Deviations: beta_t is multiplied by `scale` (1: the rule as it is). The continuous rule is taken
   on the unit cube, r = 1. The first `initialise` queries are argmax sd (GP-BUCB); they count in t.
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per acquisition value, plus the
   model.
   Needs no context. Revision 1. */
#include "acquisition/confidence.h"
#include "algorithm/surrogate.h"

#include <math.h>

enum { AUTO, BCR, SRINIVAS, HEURISTIC, BCR_CONT, KANDASAMY, FIXED };

typedef struct {
  RgRuleOptions rule;
  double scale;
  int initialise;
} Options;

static const char *const betas[] = {"auto",     "bcr",       "srinivas", "heuristic",
                                    "bcr_cont", "kandasamy", "fixed",    NULL};

static const RgParam params[] = {
  RG_CHOICE("beta", Options, rule.rule, "auto", betas, "beta_t",
            "rule of the squared width; auto: bcr on a finite design, heuristic on a box"),
  RG_RULE_CONSTANTS("srinivas", "bcr_cont"),
  RG_REAL("scale", Options, scale, "1", 0.0, 1e6, "", "beta_t of the rule is multiplied by it"),
  RG_RULE_VALUE(0.0, "beta", "beta"),
  RG_INITIALISE_PARAM(Options),
  {0},
};

static const RgRules rules = {.entry = params,
                              .on_set = BCR,
                              .on_box = HEURISTIC,
                              .finite_only = 1u << BCR | 1u << SRINIVAS,
                              .continuous = BCR_CONT,
                              .fixed = FIXED};

RG_RULE_CHECK(rules)

/* beta_t of the rule. */
static double beta_t(const RgRuleOptions *options, int rule, const RgDomain *domain, int t)
{
  const int dim = domain->design.dim, n_points = domain->design.size;

  switch (rule) {
  case BCR: return rg_gp_ucb_beta_bcr(n_points, t);
  case SRINIVAS: return rg_gp_ucb_beta_srinivas(n_points, t, options->delta);
  case HEURISTIC: return rg_gp_ucb_beta_heuristic(dim, t);
  case KANDASAMY: return rg_gp_ucb_beta_kandasamy(dim, t);
  case BCR_CONT: return rg_gp_ucb_beta_bcr_cont(dim, t, options->a, options->b, 1.0);
  default: return options->value;
  }
}

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;
  const int rule = rg_rule_of(&rules, &options->rule, domain);
  const bool bounded = rule == BCR && options->scale == 1;

  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT,
                           .a = options->scale * beta_t(&options->rule, rule, domain, t),
                           .rule = bounded ? "gp_ucb_bcr" : NULL,
                           .delta = rule == SRINIVAS ? options->rule.delta : NAN};
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  double *value = &query->extra[RG_UCB_ACQUISITION];

  /* 1. The first queries: argmax sd. */
  if (t <= options->initialise)
    PetscCall(
      rg_surrogate_most_uncertain(algorithm, algorithm->state, t, history, query, value, failure));
  /* 2. Then argmax mu + sqrt(beta_t) sd. */
  else PetscCall(rg_ucb_ask(algorithm, t, history, query, failure));
  return 0;
}

const RgAlgorithmClass rg_algorithm_gp_ucb = {
  RG_ABOUT("gp_ucb", "GP-UCB", 1, "x_t = argmax mu_{t-1}(x) + sqrt(beta_t) sd_{t-1}(x)",
           "Srinivas, Krause, Kakade, Seeger (2010), Gaussian process optimization in the "
           "bandit setting, Algorithm 1"),
  RG_OPTIONS(Options, params),
  .ask = ask,
  RG_RULE_METHODS,
};
