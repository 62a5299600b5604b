/* cgp_ucb: upper confidence bound under a context that is announced before the decision.

   x_t = argmax_x mu_{t-1}(x, c_t) + sqrt(beta_t) sd_{t-1}(x, c_t), c_t known; the model is over
   (x, c). beta: theory takes beta_t = 2 log(|X| |C| t^2 pi^2/(6 delta)).
   Source: Krause, Ong (2011), Contextual Gaussian process bandit optimization, Algorithm 1 and
   Theorem 1 (finite X and C).
   Deviations: none; on boxes the paper's beta_t has constants that can't be known, so the width is
   given.
   Cost per iteration: O(n^2) per acquisition value, plus the model.
   Needs announced contexts. Revision 1. */
#include "acquisition/confidence.h"
#include "algorithm/contextual.h"

#include <math.h>

enum { FIXED, THEORY };

typedef struct {
  RgContextualOptions common;
  int beta;
  double delta;
} Options;

static const char *const betas[] = {"fixed", "theory", NULL};

static const RgParam params[] = {
  RG_CHOICE("beta", Options, beta, "fixed", betas, "beta_t",
            "squared width: width^2, or 2 log(|X| |C| t^2 pi^2/(6 delta)) on a finite design with "
            "finite contexts"),
  RG_REAL("width", Options, common.width, "1.5", 0.0, 1e6, "sqrt(beta)",
          "multiple of the posterior deviation (beta: fixed)"),
  RG_REAL("delta", Options, delta, "0.1", RG_POSITIVE, 1, "delta",
          "probability that the bound of the theory may fail"),
  {0},
};

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const bool finite = domain->design.size && domain->context.size;

  if (((const Options *)options)->beta == THEORY && !finite)
    rg_diagnostics_add(diagnostics, place,
                       "'beta: theory' counts designs and contexts, which must be finite; accepted "
                       "here: 'beta: fixed'");
  return 0;
}

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;
  const double points = (double)domain->design.size * domain->context.size;
  const bool theory = options->beta == THEORY;

  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT,
                           .a = theory ? rg_gp_ucb_beta_srinivas(points, t, options->delta)
                                       : options->common.width * options->common.width,
                           .delta = theory ? options->delta : NAN};
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgContextualOptions how = ((const Options *)algorithm->options)->common;
  RgContextWeights one = {1, NULL, NULL};
  const RgContextual here = {1, 0, query->c, rg_ucb_expectation, &one, NULL};

  how.width = sqrt(rg_algorithm_width(algorithm, t));
  return rg_contextual_acquire(algorithm, t, history, &how, &here, NULL, query, failure);
}

const RgAlgorithmClass rg_algorithm_cgp_ucb = {
  RG_ABOUT("cgp_ucb", "CGP-UCB", 1,
           "x_t = argmax mu(x, c_t) + sqrt(beta_t) sd(x, c_t), c_t announced before the decision",
           "Krause, Ong (2011), Contextual Gaussian process bandit optimization, Algorithm 1"),
  .needs = RG_NEEDS_ANNOUNCED,
  .check = check,
  .confidence = confidence,
  RG_OPTIONS(Options, params),
  RG_ASK(ask, rg_ucb_columns),
  RG_CONTEXTUAL_STATE,
};
