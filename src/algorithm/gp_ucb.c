/* gp_ucb: upper confidence bound with a deterministic width.

   x_t = argmax_x mu_{t-1}(x) + sqrt(beta_t) sd_{t-1}(x).
   Source: Srinivas, Krause, Kakade, Seeger (2010), Algorithm 1 and Theorem 1; rules for beta_t:
   irgp_ucb 3.1 (acquisition/confidence.h).
   Deviations: beta_t is multiplied by `scale` (1: the rule as it is). The continuous rule is taken
   on the unit cube, r = 1.
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per acquisition value, plus the
   model.
   Needs no context. Revision 1. */
#include "acquisition/confidence.h"
#include "algorithm/rule.h"
#include "algorithm/surrogate.h"

#include <math.h>

enum { AUTO, BCR, SRINIVAS, HEURISTIC, BCR_CONT, FIXED };

typedef struct {
  int beta;
  double delta, a, b, scale, value;
} Options;

static const char *const betas[] = {"auto",     "bcr",   "srinivas", "heuristic",
                                    "bcr_cont", "fixed", NULL};

static const RgParam params[] = {
  {"beta", RG_PARAM_CHOICE, offsetof(Options, beta), "auto", 0, 0, betas, "beta_t",
   "rule of the squared width; auto: bcr on a finite design, heuristic on a box"},
  {"delta", RG_PARAM_REAL, offsetof(Options, delta), "0.1", RG_POSITIVE, 0.999999, NULL, "delta",
   "probability that the bound may fail (srinivas)"},
  {"a", RG_PARAM_REAL, offsetof(Options, a), "1", RG_POSITIVE, 1e12, NULL, "a",
   "constant of Pr(sup |df/dx_j| > L) <= a exp(-(L/b)^2) on the unit cube (bcr_cont)"},
  {"b", RG_PARAM_REAL, offsetof(Options, b), "1", RG_POSITIVE, 1e12, NULL, "b",
   "the other constant of it (bcr_cont)"},
  {"scale", RG_PARAM_REAL, offsetof(Options, scale), "1", 0.0, 1e6, NULL, "",
   "beta_t of the rule is multiplied by it"},
  {"value", RG_PARAM_REAL, offsetof(Options, value), "auto", 0.0, 1e6, NULL, "beta",
   "beta of the fixed rule; auto: not used"},
  {0}};

static PetscErrorCode check(const void *closure, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *options = closure;
  const RgParam *beta = &params[0];

  PetscFunctionBeginUser;
  rg_rule_check_finite(beta, options->beta, 1u << BCR | 1u << SRINIVAS, domain, place, diagnostics);
  rg_rule_check_constants(beta, options->beta, BCR_CONT, options->a, domain, place, diagnostics);
  rg_rule_check_value(beta, options->beta, FIXED, options->value, place, diagnostics);
  PetscFunctionReturn(0);
}

static int rule_of(const Options *options, const RgDomain *domain)
{
  if (options->beta != AUTO) return options->beta;
  return rg_space_is_finite(&domain->design) ? BCR : HEURISTIC;
}

/* beta_t of the rule. */
static double beta_t(const Options *options, const RgDomain *domain, int t)
{
  int dim = domain->design.dim, n_points = domain->design.size;

  switch (rule_of(options, domain)) {
  case BCR: return rg_gp_ucb_beta_bcr(n_points, t);
  case SRINIVAS: return rg_gp_ucb_beta_srinivas(n_points, t, options->delta);
  case HEURISTIC: return rg_gp_ucb_beta_heuristic(dim, t);
  case BCR_CONT: return rg_gp_ucb_beta_bcr_cont(dim, t, options->a, options->b, 1.0);
  default: return options->value;
  }
}

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;
  const int rule = rule_of(options, domain);

  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT,
                           .a = options->scale * beta_t(options, domain, t),
                           .theory = rule == BCR && options->scale == 1 ? RG_THEORY_GP_UCB_BCR
                                                                        : RG_THEORY_NONE,
                           .delta = rule == SRINIVAS ? options->delta : NAN};
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = algorithm->state;

  PetscFunctionBeginUser;
  /* 1. Posterior mu_{t-1}, sd_{t-1}. */
  PetscCall(rg_model_update(model, history, failure));
  if (failure->failed) PetscFunctionReturn(0);
  /* 2. Width. */
  double beta = options->scale * beta_t(options, algorithm->setup.domain, t);
  /* 3. x_t = argmax mu + sqrt(beta_t) sd. */
  PetscCall(rg_ucb_acquire(algorithm, model, t, history, beta, query, failure));
  PetscFunctionReturn(0);
}

const RgAlgorithmClass rg_algorithm_gp_ucb = {
  .name = "gp_ucb",
  .title = "GP-UCB",
  .summary = "x_t = argmax mu_{t-1}(x) + sqrt(beta_t) sd_{t-1}(x)",
  .reference = "Srinivas, Krause, Kakade, Seeger (2010), Gaussian process optimization in the "
               "bandit setting, Algorithm 1",
  .revision = 1,
  .needs = RG_NEEDS_NO_CONTEXT,
  .reads = RG_READS_SURROGATE | RG_READS_MAXIMISER,
  .params = params,
  .options_size = sizeof(Options),
  .columns = rg_ucb_columns,
  .state_size = sizeof(RgModel),
  .check = check,
  .create = rg_surrogate_create,
  .ask = ask,
  .confidence = confidence,
  .model = rg_surrogate_model,
  .destroy = rg_surrogate_destroy,
};
