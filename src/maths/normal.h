/* Distribution functions, stable in the tails. They refer to the standard normal law unless
   stated otherwise. */
#ifndef RG_MATHS_NORMAL_H
#define RG_MATHS_NORMAL_H

#include "regatta/error.h"

/* Density, distribution function and quantile of the standard normal law. */
double rg_normal_pdf(double z);
double rg_normal_cdf(double z);
double rg_normal_log_cdf(double z);  /* full relative precision down to z = -1e8 */
double rg_normal_hazard(double z);   /* pdf(z)/cdf(z), stable for z -> -inf (irgp_ucb 3.7) */
double rg_normal_quantile(double p); /* GSL; p in (0,1) */
/* Quantile of Gamma(shape, scale 1), shape > 0, relative precision 1e-13 up to shape 1e3, 1e-9 up
   to 1e5: Newton's iteration on GSL's distribution function (irgp_ucb 7.2). p <= 0 gives 0, p >= 1
   infinity. */
double rg_gamma_quantile(double shape, double p);
double rg_gamma_upper(double a, double x); /* int_x^inf t^(a-1) exp(-t) dt; GSL */
double rg_log_erfc(double x);              /* log of the complementary error function; GSL */

#endif
