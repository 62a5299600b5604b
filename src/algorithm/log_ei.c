/* log_ei: expected improvement by its logarithm.

   x_t = argmax_x log EI_t(x), log EI = log sd + log h(z), h(z) = phi(z) + z Phi(z),
   z = (mu - tau)/sd, with log h to full precision for z -> -inf, so that value and gradient tell
   points apart where EI itself is 0 in floating point.
   Source: Ament, Daulton, Eriksson, Balandat, Bakshy (2023), Unexpected improvements to expected
   improvement for Bayesian optimization, NeurIPS, equations 8-10.
   Deviations: log h below z = -5 by a continued fraction, not by erfcx. The method is `ei`, which
   maximises log EI too, under the name of the paper: it shares its random numbers and its queries.
   Cost per iteration: as EI.
   Needs no context. Revision 1. */
#include "algorithm/ei.h"

const RgAlgorithmClass rg_algorithm_log_ei = {
  .name = "log_ei",
  .title = "LogEI",
  .summary =
    "x_t = argmax log E[max(f(x) - tau, 0)], stable where the expectation underflows; the\n"
    "queries are those of `ei`",
  .reference = "Ament et al. (2023), Unexpected improvements to expected improvement for Bayesian "
               "optimization, NeurIPS",
  .revision = 1,
  .stream = "ei",
  .needs = RG_NEEDS_NO_CONTEXT,
  .reads = RG_READS_SURROGATE | RG_READS_MAXIMISER,
  .matrix_free = true,
  .params = rg_ei_params,
  .options_size = sizeof(RgEiOptions),
  .columns = rg_ei_columns,
  .state_size = sizeof(RgModel),
  .create = rg_surrogate_create,
  .ask = rg_ei_ask,
  .model = rg_surrogate_model,
  .destroy = rg_surrogate_destroy,
};
