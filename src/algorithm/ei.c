/* ei: expected improvement.

   x_t = argmax_x EI_t(x), EI = (mu - tau) Phi(z) + sd phi(z), z = (mu - tau)/sd, of the posterior
   mean mu and deviation sd of f; tau is the incumbent.
   Source: Mockus, Tiesis, Zilinskas (1978); incumbents: irgp_ucb 3.3.
   Deviations: log EI is maximised, which has the same maximiser and no flat zero (Ament et al.
   2023; log_ei is this very method under the name of that paper).
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per acquisition value, plus the
   model.
   Needs no context. Revision 1. */
#include "algorithm/ei.h"

const RgParam rg_ei_params[] = {RG_INCUMBENT_PARAM(RgEiOptions), {0}};

enum { INCUMBENT, ACQUISITION };

const RgRecordColumn rg_ei_columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT, [ACQUISITION] = RG_COLUMN_ACQUISITION, {0}};

PetscErrorCode rg_ei_ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                         RgFailure *failure)
{
  const RgEiOptions *options = algorithm->options;
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

const RgAlgorithmClass rg_algorithm_ei = {
  RG_ABOUT("ei", "EI", 1,
           "x_t = argmax E[max(f(x) - tau, 0)], the expected improvement over the incumbent tau",
           "Mockus, Tiesis, Zilinskas (1978), The application of Bayesian methods for seeking "
           "the extremum"),
  .traits = RG_MATRIX_FREE | RG_PENALISABLE,
  RG_OPTIONS(RgEiOptions, rg_ei_params),
  RG_ASK(rg_ei_ask, rg_ei_columns),
  RG_SURROGATE_METHODS,
};
