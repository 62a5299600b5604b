/* irgp_ucb: improved randomised upper confidence bound, width from a shifted exponential.

   zeta_t = s_t + Exp(rate lambda); x_t = argmax_x mu_{t-1}(x) + sqrt(zeta_t) sd_{t-1}(x).
   Source: Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979, Algorithm 1; shifts s_t of Theorems
   4.1 to 4.5 and of Section 5.2: irgp_ucb 2.1 (acquisition/confidence.h).
   Deviations: none; the continuous rule is taken on the unit cube, r = 1.
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per acquisition value, plus the
   model.
   Needs no context. Revision 1. */
#include "acquisition/confidence.h"
#include "algorithm/rule.h"
#include "algorithm/surrogate.h"

#include <math.h>

enum { AUTO, FINITE, CONTINUOUS, HEURISTIC, HIGHPROB, FIXED };

typedef struct {
  int shift;
  double rate, delta, a, b, value;
  int zeta_seed; /* -1: the trial's own stream */
} Options;

static const char *const shifts[] = {"auto",     "finite", "continuous", "heuristic",
                                     "highprob", "fixed",  NULL};

static const RgParam params[] = {
  {"shift", RG_PARAM_CHOICE, offsetof(Options, shift), "auto", 0, 0, shifts, "s_t",
   "rule of the shift; auto: finite on a finite design, heuristic on a box"},
  {"rate", RG_PARAM_REAL, offsetof(Options, rate), "0.5", RG_POSITIVE, 1e6, NULL, "lambda",
   "rate of the exponential part, whose mean is 1/rate; the theory needs 1/2"},
  {"delta", RG_PARAM_REAL, offsetof(Options, delta), "0.1", RG_POSITIVE, 0.999999, NULL, "delta",
   "probability that the bound may fail (highprob)"},
  {"a", RG_PARAM_REAL, offsetof(Options, a), "1", RG_POSITIVE, 1e12, NULL, "a",
   "constant of Pr(sup |df/dx_j| > L) <= a exp(-(L/b)^2) on the unit cube (continuous)"},
  {"b", RG_PARAM_REAL, offsetof(Options, b), "1", RG_POSITIVE, 1e12, NULL, "b",
   "the other constant of it (continuous)"},
  {"value", RG_PARAM_REAL, offsetof(Options, value), "auto", 0.0, 1e6, NULL, "s",
   "shift of the fixed rule; auto: not used"},
  {"zeta_seed", RG_PARAM_INT, offsetof(Options, zeta_seed), "auto", 0, 2147483647, NULL, "",
   "number of a sequence of zeta_t that all functions and seeds share, for regret given that "
   "sequence; auto: every trial draws its own"},
  {0}};

static PetscErrorCode check(const void *closure, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *options = closure;
  const RgParam *shift = &params[0];

  PetscFunctionBeginUser;
  rg_rule_check_finite(shift, options->shift, 1u << FINITE | 1u << HIGHPROB, domain, place,
                       diagnostics);
  rg_rule_check_constants(shift, options->shift, CONTINUOUS, options->a, domain, place,
                          diagnostics);
  rg_rule_check_value(shift, options->shift, FIXED, options->value, place, diagnostics);
  PetscFunctionReturn(0);
}

static int rule_of(const Options *options, const RgDomain *domain)
{
  if (options->shift != AUTO) return options->shift;
  return rg_space_is_finite(&domain->design) ? FINITE : HEURISTIC;
}

/* s_t of the rule. */
static double shift_t(const Options *options, const RgDomain *domain, int t)
{
  int dim = domain->design.dim, n_points = domain->design.size;

  switch (rule_of(options, domain)) {
  case FINITE: return rg_irgp_shift_finite(n_points);
  case CONTINUOUS: return rg_irgp_shift_continuous(dim, t, options->a, options->b, 1.0);
  case HEURISTIC: return rg_irgp_shift_heuristic(dim);
  case HIGHPROB: return rg_irgp_shift_highprob(n_points, t, options->delta);
  default: return options->value;
  }
}

/* The theorems need rate 1/2. */
static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  static const RgTheory theory[] = {[FINITE] = RG_THEORY_IRGP_FINITE,
                                    [CONTINUOUS] = RG_THEORY_IRGP_CONTINUOUS,
                                    [HIGHPROB] = RG_THEORY_IRGP_HIGHPROB,
                                    [FIXED] = RG_THEORY_NONE};
  const Options *options = closure;
  const int rule = rule_of(options, domain);

  *law = (RgConfidenceLaw){.kind = RG_LAW_EXPONENTIAL,
                           .a = shift_t(options, domain, t),
                           .b = options->rate,
                           .theory = options->rate == 0.5 ? theory[rule] : RG_THEORY_NONE,
                           .delta = rule == HIGHPROB ? options->delta : NAN};
}

/* zeta_t = s_t + Exp(lambda); a single point needs none. */
static double draw_zeta(const RgAlgorithm *algorithm, int t)
{
  const Options *options = algorithm->options;
  const RgDomain *domain = algorithm->setup.domain;
  RgRandom random = rg_algorithm_stream_at(algorithm, "confidence", t);

  if (options->zeta_seed >= 0) {
    RgStream shared = rg_stream(0, "", 0, "zeta", (uint64_t)options->zeta_seed);
    random = rg_stream_at(&shared, (uint64_t)t);
  }
  if (domain->design.size == 1) return 0.0;
  return shift_t(options, domain, t) + rg_random_exponential(&random) / options->rate;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgModel *model = algorithm->state;

  PetscFunctionBeginUser;
  /* 1, 2. Hyperparameters when due, posterior mu_{t-1}, sd_{t-1}. */
  PetscCall(rg_model_update(model, history, failure));
  if (failure->failed) PetscFunctionReturn(0);
  /* 3. One width for all x. */
  double zeta = draw_zeta(algorithm, t);
  /* 4. x_t = argmax mu + sqrt(zeta_t) sd. */
  PetscCall(rg_ucb_acquire(algorithm, model, t, history, zeta, query, failure));
  PetscFunctionReturn(0);
}

const RgAlgorithmClass rg_algorithm_irgp_ucb = {
  .name = "irgp_ucb",
  .title = "IRGP-UCB",
  .summary = "x_t = argmax mu_{t-1}(x) + sqrt(zeta_t) sd_{t-1}(x), zeta_t ~ s_t + Exp(lambda)",
  .reference = "Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979, Algorithm 1",
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
