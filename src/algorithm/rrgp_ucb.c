/* rrgp_ucb: upper confidence bounds of a robustness measure with a random width.

   beta_t = 2 log |X x Omega| + xi_t, xi_t ~ chi^2_2; lower and upper bounds of F(x) = rho(f(x, .))
   from the credible intervals mu -/+ sqrt(beta_t) sd (robust/measure.h); x_t is the maximiser of
   the upper bound or the recommendation argmax rho(mu), whichever has the wider bounds; w_t
   maximises the variance at x_t, or nature draws it. confidence: fixed puts beta_t = value instead.
   Source: Inatsu (2025), arXiv:2504.03172, Algorithms 1 and 2, Definitions 3.1 and 3.2.
   Cost per iteration: the model's update plus a pass over |X x Omega| points.
   Needs a finite design and finite contexts with known probabilities. Revision 1. */
#include "algorithm/robust.h"

#include <math.h>

enum { RANDOM, FIXED };

typedef struct {
  RgRobustOptions common;
  int             confidence;
  double          value;
} Options;

static const char *const rules[] = {"random", "fixed", NULL};

// clang-format off
static const RgParam params[] = {
  RG_ROBUST_PARAMS,
  {"confidence", RG_PARAM_CHOICE, offsetof(Options, confidence), "random", 0, 0, rules, "beta_t",
   "random: 2 log |X x Omega| + chi^2_2; fixed: value"},
  {"value", RG_PARAM_REAL, offsetof(Options, value), "9", 0, 1e6, NULL, "beta",
   "squared width of the fixed rule"},
  {0}};
// clang-format on

static double draw_beta(const RgAlgorithm *algorithm, int t)
{
  const Options  *options = algorithm->options;
  const RgDomain *domain = algorithm->setup.domain;
  RgRandom        random = rg_algorithm_stream_at(algorithm, "confidence", t);

  if (options->confidence == FIXED) return options->value;
  return 2.0 * log((double)domain->design.size * domain->context.size)
    + 2.0 * rg_random_exponential(&random);
}

static void confidence(const void *context, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = context;

  (void)t;
  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT, .a = options->value, .delta = NAN};
  if (options->confidence == FIXED) return;
  *law = (RgConfidenceLaw){.kind = RG_LAW_EXPONENTIAL,
                           .a = 2.0 * log((double)domain->design.size * domain->context.size),
                           .b = 0.5,
                           .theory = RG_THEORY_RRGP,
                           .delta = NAN};
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCall(rg_model_update(rg_robust_model(algorithm), history, failure));
  if (failure->failed) PetscFunctionReturn(0);
  PetscCall(rg_robust_ucb_step(algorithm, t, history, draw_beta(algorithm, t), true, query));
  PetscFunctionReturn(0);
}

const RgAlgorithmClass rg_algorithm_rrgp_ucb = {
  .name = "rrgp_ucb",
  .title = "RRGP-UCB",
  .summary = "x_t = argmax of the upper bound of rho or argmax rho(mu), whichever has the wider "
             "bounds;\nbeta_t = 2 log |X x Omega| + chi^2_2; w_t = argmax sd(x_t, w)",
  .reference = "Inatsu 2025, arXiv:2504.03172, Algorithms 1 and 2",
  .revision = 1,
  .needs = RG_NEEDS_FINITE | RG_NEEDS_CONTEXT_PROB,
  .reads = RG_READS_SURROGATE,
  .params = params,
  .options_size = sizeof(Options),
  .columns = rg_robust_columns,
  .state_size = sizeof(RgRobust),
  .check = rg_robust_check,
  .create = rg_robust_create,
  .ask = ask,
  .recommend = rg_robust_recommend,
  .recommend_by = rg_robust_recommend_by,
  .aims = rg_robust_aims,
  .confidence = confidence,
  .model = rg_robust_model,
  .destroy = rg_robust_destroy,
};
