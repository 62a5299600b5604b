/* ei, log_ei: expected improvement, and by its logarithm: one method under the names of two papers.

   x_t = argmax_x EI_t(x), EI = (mu - tau) Phi(z) + sd phi(z), z = (mu - tau)/sd, of the posterior
   mean mu and deviation sd of f; tau is the incumbent.
   Source: Mockus, Tiesis, Zilinskas (1978); incumbents: irgp_ucb 3.3.
   Deviations: log EI is maximised, which has the same maximiser and no flat zero: log EI = log sd +
   log h(z), h(z) = phi(z) + z Phi(z), with log h to full precision for z -> -inf (Ament, Daulton,
   Eriksson, Balandat, Bakshy 2023, NeurIPS, equations 8-10; below z = -5 by a continued fraction,
   not by erfcx). log_ei shares the random numbers and the queries of ei.
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per acquisition value, plus the
   model.
   Needs no context. Revision 1. */
#include "algorithm/surrogate.h"

typedef struct {
  int incumbent;
} Options;

static const RgParam params[] = {RG_INCUMBENT_PARAM(Options), {0}};

enum { INCUMBENT, ACQUISITION };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT, [ACQUISITION] = RG_COLUMN_ACQUISITION, {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = algorithm->state;
  RgEi ei = {0.0};
  RgAcquisition acquisition = {rg_acquisition_log_ei, &ei};

  /* 1. Incumbent; without data improvement counts from the prior mean. */
  PetscCall(rg_surrogate_incumbent(options->incumbent, model, history, &ei.incumbent));
  /* 2. x_t = argmax log EI. */
  PetscCall(rg_surrogate_acquire(algorithm, model, t, history, &acquisition, query,
                                 &query->extra[ACQUISITION], failure));
  query->extra[INCUMBENT] = ei.incumbent;
  return 0;
}

#define EI_METHODS                                                                                 \
  .traits = RG_MATRIX_FREE | RG_PENALISABLE, RG_OPTIONS(Options, params), RG_ASK(ask, columns),    \
  RG_SURROGATE_METHODS

const RgAlgorithmClass rg_algorithm_ei = {
  RG_ABOUT("ei", "EI", 1,
           "x_t = argmax E[max(f(x) - tau, 0)], the expected improvement over the incumbent tau",
           "Mockus, Tiesis, Zilinskas (1978), The application of Bayesian methods for seeking "
           "the extremum"),
  EI_METHODS,
};

const RgAlgorithmClass rg_algorithm_log_ei = {
  RG_ABOUT("log_ei", "LogEI", 1,
           "x_t = argmax log E[max(f(x) - tau, 0)], stable where the expectation underflows; the\n"
           "queries are those of `ei`",
           "Ament et al. (2023), Unexpected improvements to expected improvement for Bayesian "
           "optimization, NeurIPS"),
  .stream = "ei",
  EI_METHODS,
};
