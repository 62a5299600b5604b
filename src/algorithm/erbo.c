/* erbo: empirical-risk Bayesian optimisation.

   x_t = argmax_x E_{c~P}[U(x, c)], U = mu + width sd, P the contexts observed so far, or given
   laws. With `measure: rho` the expectation is replaced by rho.
   Source: Micheli, Balta, Tsiamis, Lygeros (2025), arXiv:2503.20341, WDRBO at radius 0; wdrbo 2.8.
   Cost per acquisition value: see gp/context/context_posterior.h, M = contexts observed.
   Needs contexts drawn by nature. Revision 7. */
#include "algorithm/contextual.h"

typedef struct {
  RgCentreOptions centre;
} Options;

static const RgParam params[] = {
  RG_CENTRE_PARAMS(Options, centre), RG_CONTEXTUAL_MEASURE(Options, centre.common), {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgContextCentre centre;
  RgContextWeights weights;
  RgMeasure measure;
  const RgMeasure *rho;

  /* 1. P. */
  PetscCall(rg_centre_create(algorithm, t, history, &centre, failure));
  if (failure->failed) return 0;
  PetscCall(rg_contextual_measure(algorithm->options, &measure, &rho));
  weights = (RgContextWeights){centre.n, centre.weight, rho};
  /* 2. x_t = argmax E U, or another measure. */
  const RgContextual average = {centre.n, 0, centre.contexts, rg_ucb_expectation, &weights, NULL};
  PetscCall(rg_contextual_acquire(algorithm, t, history, algorithm->options, &average, NULL, query,
                                  failure));
  PetscCall(rg_measure_destroy(&measure));
  return rg_centre_destroy(&centre);
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  cost->contexts = rg_centre_size(options, size->n);
  cost->bytes = rg_centre_bytes(options, size->dim_c, size->n);
}

const RgAlgorithmClass rg_algorithm_erbo = {
  RG_ABOUT("erbo", "ERBO", 7,
           "x_t = argmax of the average of mu(x, c) + width sd(x, c) over the contexts observed",
           "Micheli, Balta, Tsiamis, Lygeros (2025), arXiv:2503.20341, section 5"),
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  RG_ASK(ask, rg_ucb_columns),
  RG_CENTRE_NEEDS,
  RG_CONTEXTUAL_STATE,
};
