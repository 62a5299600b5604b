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
#include "algorithm/rule.h"
#include "algorithm/surrogate.h"

#include <math.h>

enum { AUTO, FINITE, HEURISTIC, FIXED };

typedef struct {
  int kappa;
  double theta, value;
} Options;

static const char *const kappas[] = {"auto", "finite", "heuristic", "fixed", NULL};

static const RgParam params[] = {
  {"kappa", RG_PARAM_CHOICE, offsetof(Options, kappa), "auto", 0, 0, kappas, "kappa_t",
   "rule of the shape of Gamma; auto: finite on a finite design, heuristic on a box"},
  {"theta", RG_PARAM_REAL, offsetof(Options, theta), "1", RG_POSITIVE, 1e6, NULL, "theta",
   "scale of Gamma; the mean of zeta_t is theta * kappa_t"},
  {"value", RG_PARAM_REAL, offsetof(Options, value), "auto", RG_POSITIVE, 1e6, NULL, "kappa",
   "shape of the fixed rule; auto: not used"},
  {0}};

static PetscErrorCode check(const void *closure, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *options = closure;

  PetscFunctionBeginUser;
  rg_rule_check_finite(&params[0], options->kappa, 1u << FINITE, domain, place, diagnostics);
  rg_rule_check_value(&params[0], options->kappa, FIXED, options->value, place, diagnostics);
  PetscFunctionReturn(0);
}

static int rule_of(const Options *options, const RgDomain *domain)
{
  if (options->kappa != AUTO) return options->kappa;
  return rg_space_is_finite(&domain->design) ? FINITE : HEURISTIC;
}

/* kappa_t of the rule. */
static double kappa_t(const Options *options, const RgDomain *domain, int t)
{
  switch (rule_of(options, domain)) {
  case FINITE: return rg_rgp_shape_finite(domain->design.size, t, options->theta);
  case HEURISTIC: return rg_rgp_shape_heuristic(domain->design.dim, t);
  default: return options->value;
  }
}

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;

  *law = (RgConfidenceLaw){.kind = RG_LAW_GAMMA,
                           .a = kappa_t(options, domain, t),
                           .b = options->theta,
                           .theory = rule_of(options, domain) == FINITE ? RG_THEORY_RGP_UCB
                                                                        : RG_THEORY_NONE,
                           .delta = NAN};
}

/* zeta_t ~ Gamma(kappa_t, theta); a single point needs none. */
static double draw_zeta(const RgAlgorithm *algorithm, int t)
{
  const Options *options = algorithm->options;
  const RgDomain *domain = algorithm->setup.domain;
  RgRandom random = rg_algorithm_stream_at(algorithm, "confidence", t);

  if (domain->design.size == 1) return 0.0;
  return rg_random_gamma(&random, kappa_t(options, domain, t), options->theta);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgModel *model = algorithm->state;

  PetscFunctionBeginUser;
  /* 1. Posterior mu_{t-1}, sd_{t-1}. */
  PetscCall(rg_model_update(model, history, failure));
  if (failure->failed) PetscFunctionReturn(0);
  /* 2. One width for all x. */
  double zeta = draw_zeta(algorithm, t);
  /* 3. x_t = argmax mu + sqrt(zeta_t) sd. */
  PetscCall(rg_ucb_acquire(algorithm, model, t, history, zeta, query, failure));
  PetscFunctionReturn(0);
}

const RgAlgorithmClass rg_algorithm_rgp_ucb = {
  .name = "rgp_ucb",
  .title = "RGP-UCB",
  .summary = "x_t = argmax mu_{t-1}(x) + sqrt(zeta_t) sd_{t-1}(x), zeta_t ~ Gamma(kappa_t, theta)",
  .reference = "Berk, Gupta, Rana, Venkatesh (2020), arXiv:2006.04296",
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
