/* Marginal acquisition functions: UCB, EI, the probability of lying below a threshold. */
#include "regatta/acquire.h"

#include "maths/normal.h"

#include <math.h>

#define SD_ZERO 1e-12 /* below this variance the posterior counts as certain (irgp_ucb 3.3) */
#define TAIL -5.0     /* below this z: continued fraction instead of differences */
#define LOG_SQRT_2PI 0.91893853320467274178 /* log sqrt(2 pi) */

void rg_acquisition_ucb(const void *closure, int m, const double *mean, const double *sd,
                        double *value, double *d_mean, double *d_sd)
{
  double width = ((const RgUcb *)closure)->width;

  for (int j = 0; j < m; j++) value[j] = mean[j] + width * sd[j];
  if (!d_mean) return;
  for (int j = 0; j < m; j++) {
    d_mean[j] = 1.0;
    d_sd[j] = width;
  }
}

/* c(x) = 1/(x + 2/(x + 3/(x + ...))), x >= 5, so that the Mills ratio is 1/(x + c) and
   1 - x Mills(x) = c/(x + c) without cancellation. */
static double mills_tail(double x)
{
  int levels = 8 + (int)(600.0 / (x * x));
  double c = x;

  for (int k = levels; k >= 2; k--) c = x + k / c;
  return 1.0 / c;
}

double rg_acquisition_log_h(double z, double *cdf_ratio, double *pdf_ratio)
{
  if (z < TAIL) {
    double c = mills_tail(-z);
    *cdf_ratio = 1.0 / c;
    *pdf_ratio = (c - z) / c;
    return -0.5 * z * z - LOG_SQRT_2PI + log(c / (c - z));
  }
  double pdf = rg_normal_pdf(z), cdf = rg_normal_cdf(z), h = pdf + z * cdf;
  *cdf_ratio = cdf / h;
  *pdf_ratio = pdf / h;
  return log(h);
}

void rg_acquisition_log_ei(const void *closure, int m, const double *mean, const double *sd,
                           double *value, double *d_mean, double *d_sd)
{
  double incumbent = ((const RgEi *)closure)->incumbent;

  for (int j = 0; j < m; j++) {
    double gain = mean[j] - incumbent, cdf_ratio = 0.0, pdf_ratio = 0.0, unit = sd[j];
    if (sd[j] >= SD_ZERO) {
      value[j] = log(sd[j]) + rg_acquisition_log_h(gain / sd[j], &cdf_ratio, &pdf_ratio);
    } else {
      bool improves = gain > 0.0;
      value[j] = improves ? log(gain) : -INFINITY;
      cdf_ratio = improves;
      unit = improves ? gain : 1.0;
    }
    if (d_mean) {
      d_mean[j] = cdf_ratio / unit;
      d_sd[j] = pdf_ratio / unit;
    }
  }
}

double rg_expected_improvement(double mean, double sd, double incumbent)
{
  double gain = mean - incumbent, z = gain / sd, cdf_ratio, pdf_ratio;

  if (sd < SD_ZERO) return fmax(gain, 0.0);
  if (z < TAIL) return sd * exp(rg_acquisition_log_h(z, &cdf_ratio, &pdf_ratio));
  return gain * rg_normal_cdf(z) + sd * rg_normal_pdf(z);
}

void rg_acquisition_log_below(const void *closure, int m, const double *mean, const double *sd,
                              double *value, double *d_mean, double *d_sd)
{
  const double threshold = ((const RgThreshold *)closure)->threshold;

  for (int j = 0; j < m; j++) {
    const bool certain = sd[j] < SD_ZERO;
    const double z = certain ? 0 : (threshold - mean[j]) / sd[j];
    if (certain) value[j] = mean[j] <= threshold ? 0 : -INFINITY;
    else value[j] = rg_normal_log_cdf(z);
    if (!d_mean) continue;
    d_mean[j] = certain ? 0 : -rg_normal_hazard(z) / sd[j];
    d_sd[j] = d_mean[j] * z;
  }
}
