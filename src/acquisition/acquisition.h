/* Acquisition functions of the posterior mean and deviation at one point ("marginal" ones: UCB, EI,
   PI, MES ...), evaluated in batches with derivatives. */
#ifndef RG_ACQUISITION_ACQUISITION_H
#define RG_ACQUISITION_ACQUISITION_H

#include "base/core.h"

/* value_j = a(mean_j, sd_j), with partial derivatives (both NULL: not wanted). Larger is better. */
typedef void (*RgMarginalFunction)(const void *closure, int m, const double *mean, const double *sd,
                                   double *value, double *d_mean, double *d_sd);

typedef struct {
  RgMarginalFunction function;
  const void *closure; /* borrowed */
} RgAcquisition;

/* mean + width * sd; context: RgUcb. */
typedef struct {
  double width;
} RgUcb; /* sqrt(beta_t), sqrt(zeta_t) */
void rg_acquisition_ucb(const void *closure, int m, const double *mean, const double *sd,
                        double *value, double *d_mean, double *d_sd);

/* Logarithm of the expected improvement over `incumbent` (model units), stable for z -> -inf
   (irgp_ucb 3.3); monotone in EI, so the maximiser is the same. sd = 0: log max(mean - incumbent,
   0). */
typedef struct {
  double incumbent;
} RgEi;
void rg_acquisition_log_ei(const void *closure, int m, const double *mean, const double *sd,
                           double *value, double *d_mean, double *d_sd);

/* log h(z), h(z) = phi(z) + z Phi(z): EI of unit deviation, stable for z -> -inf. With Phi(z)/h(z)
   = d log h/dz, and phi(z)/h(z). */
double rg_acquisition_log_h(double z, double *cdf_ratio, double *pdf_ratio);

/* EI itself, for oracles and records. */
double rg_expected_improvement(double mean, double sd, double incumbent);

#endif
