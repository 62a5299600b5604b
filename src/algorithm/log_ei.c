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
  RG_ABOUT("log_ei", "LogEI", 1,
           "x_t = argmax log E[max(f(x) - tau, 0)], stable where the expectation underflows; the\n"
           "queries are those of `ei`",
           "Ament et al. (2023), Unexpected improvements to expected improvement for Bayesian "
           "optimization, NeurIPS"),
  .stream = "ei",
  .traits = RG_MATRIX_FREE | RG_PENALISABLE,
  RG_OPTIONS(RgEiOptions, rg_ei_params),
  RG_ASK(rg_ei_ask, rg_ei_columns),
  RG_SURROGATE_METHODS,
};
