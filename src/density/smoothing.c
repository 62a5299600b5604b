/* Smoothing kernels and rules of the bandwidth. */
#include "density/smoothing.h"

#include <math.h>

const char *const rg_smoothing_names[] = {"gaussian", "epanechnikov", "uniform", NULL};
const char *const rg_bandwidth_names[] = {"scott", "silverman", "spacing", "fixed", "cv", NULL};

double rg_smoothing_value(RgSmoothing kernel, double r2)
{
  switch (kernel) {
  case RG_SMOOTHING_GAUSSIAN: return exp(-0.5 * r2);
  case RG_SMOOTHING_EPANECHNIKOV: return fmax(1.0 - r2, 0.0);
  default: return r2 <= 1.0 ? 1.0 : 0.0;
  }
}

double rg_smoothing_level_radius(RgSmoothing kernel, double level)
{
  switch (kernel) {
  case RG_SMOOTHING_GAUSSIAN: return sqrt(-2.0 * log(level));
  case RG_SMOOTHING_EPANECHNIKOV: return sqrt(1.0 - level);
  default: return 1.0;
  }
}

double rg_bandwidth(RgBandwidthRule rule, double constant, double n, int dim)
{
  switch (rule) {
  case RG_BANDWIDTH_CV:
  case RG_BANDWIDTH_SCOTT: return constant * pow(n, -1.0 / (dim + 4.0));
  case RG_BANDWIDTH_SILVERMAN: return constant * pow(n * (dim + 2.0) / 4.0, -1.0 / (dim + 4.0));
  case RG_BANDWIDTH_SPACING: return constant * pow(n, -1.0 / dim);
  default: return constant;
  }
}

void rg_sample_deviations(int n, int dim, const double *points, double *deviation)
{
  for (int j = 0; j < dim; j++) {
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < n; i++) mean += points[(size_t)i * dim + j];
    mean /= n;
    for (int i = 0; i < n; i++) {
      double difference = points[(size_t)i * dim + j] - mean;
      square += difference * difference;
    }
    deviation[j] = n > 1 ? sqrt(square / (n - 1)) : 0.0;
  }
}
