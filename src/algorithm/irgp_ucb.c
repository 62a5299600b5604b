/* irgp_ucb: improved randomised upper confidence bound, width from a shifted exponential.

   zeta_t = s_t + Exp(rate lambda); x_t = argmax_x mu_{t-1}(x) + sqrt(zeta_t) sd_{t-1}(x).
   Source: Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979, Algorithm 1; shifts s_t of Theorems
   4.1 to 4.5 and of Section 5.2: irgp_ucb 2.1 (acquisition/confidence.h).
   Deviations: none; the continuous rule is taken on the unit cube, r = 1.
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per acquisition value, plus the
   model.
   Needs no context. Revision 1. */
#include "acquisition/confidence.h"
#include "algorithm/surrogate.h"

#include <math.h>

enum { AUTO, FINITE, CONTINUOUS, HEURISTIC, HIGHPROB, FIXED };

typedef struct {
  RgRuleOptions rule;
  double rate;
  int zeta_seed; /* -1: the trial's own stream */
} Options;

static const char *const shifts[] = {"auto",     "finite", "continuous", "heuristic",
                                     "highprob", "fixed",  NULL};

static const RgParam params[] = {
  RG_CHOICE("shift", Options, rule.rule, "auto", shifts, "s_t",
            "rule of the shift; auto: finite on a finite design, heuristic on a box"),
  RG_REAL("rate", Options, rate, "0.5", RG_POSITIVE, 1e6, "lambda",
          "rate of the exponential part, whose mean is 1/rate; the theory needs 1/2"),
  RG_RULE_CONSTANTS("highprob", "continuous"),
  RG_RULE_VALUE(0.0, "s", "shift"),
  RG_INT("zeta_seed", Options, zeta_seed, "auto", 0, 2147483647, "",
         "number of a sequence of zeta_t that all functions and seeds share, for regret given that "
         "sequence; auto: every trial draws its own"),
  {0},
};

static const RgRules rules = {.entry = params,
                              .on_set = FINITE,
                              .on_box = HEURISTIC,
                              .finite_only = 1u << FINITE | 1u << HIGHPROB,
                              .continuous = CONTINUOUS,
                              .fixed = FIXED};

RG_RULE_CHECK(rules)

/* s_t of the rule. */
static double shift_t(const RgRuleOptions *options, int rule, const RgDomain *domain, int t)
{
  const int dim = domain->design.dim, n_points = domain->design.size;

  switch (rule) {
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
  static const char *const name[] = {[FINITE] = "irgp_finite",
                                     [CONTINUOUS] = "irgp_continuous",
                                     [HIGHPROB] = "irgp_highprob",
                                     [FIXED] = NULL};
  const Options *options = closure;
  const int rule = rg_rule_of(&rules, &options->rule, domain);

  *law = (RgConfidenceLaw){.kind = RG_LAW_EXPONENTIAL,
                           .a = shift_t(&options->rule, rule, domain, t),
                           .b = options->rate,
                           .rule = options->rate == 0.5 ? name[rule] : NULL,
                           .delta = rule == HIGHPROB ? options->rule.delta : NAN};
}

/* One width zeta_t = s_t + Exp(lambda) for all x; x_t = argmax mu + sqrt(zeta_t) sd. */
static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgRandom random = rg_algorithm_stream_at(algorithm, "confidence", t);

  if (options->zeta_seed >= 0) {
    const RgStream shared = rg_stream(0, "", 0, "zeta", (uint64_t)options->zeta_seed);
    random = rg_stream_at(&shared, (uint64_t)t);
  }
  return rg_ucb_step(algorithm, t, history, &random, query, failure);
}

const RgAlgorithmClass rg_algorithm_irgp_ucb = {
  RG_ABOUT("irgp_ucb", "IRGP-UCB", 1,
           "x_t = argmax mu_{t-1}(x) + sqrt(zeta_t) sd_{t-1}(x), zeta_t ~ s_t + Exp(lambda)",
           "Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979, Algorithm 1"),
  RG_OPTIONS(Options, params),
  .ask = ask,
  RG_RULE_METHODS,
};
