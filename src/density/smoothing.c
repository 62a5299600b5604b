/* Smoothing kernels and rules of the bandwidth. */
#include "density/smoothing.h"

#include "density/smoothing_formulas.h"
#include "maths/blas.h"

const char *const rg_smoothing_names[] = {
#define RG_SMOOTHING(SYMBOL, name) name,
#include "density/list.h"
#undef RG_SMOOTHING
  NULL};
const char *const rg_bandwidth_names[] = {"scott", "silverman", "spacing", "fixed", "cv", NULL};

double rg_smoothing_value(RgSmoothing kernel, double r2)
{
  return kernel == RG_SMOOTHING_GAUSSIAN ? exp(-0.5 * r2) : rg_smoothing_psi(kernel, r2, 0.0);
}

double rg_smoothing_level_radius(RgSmoothing kernel, int dim, double level)
{
  switch (kernel) {
  case RG_SMOOTHING_GAUSSIAN: return sqrt(-2.0 * log(level));
  case RG_SMOOTHING_EPANECHNIKOV: return sqrt(1.0 - level);
  case RG_SMOOTHING_UNIFORM: return 1.0;
  case RG_SMOOTHING_TRIANGULAR: return 1.0 - level;
  case RG_SMOOTHING_BIWEIGHT: return sqrt(1.0 - sqrt(level));
  case RG_SMOOTHING_TRIWEIGHT: return sqrt(1.0 - cbrt(level));
  case RG_SMOOTHING_TRICUBE: return cbrt(1.0 - cbrt(level));
  case RG_SMOOTHING_COSINE: return acos(level) / M_PI_2;
  case RG_SMOOTHING_EXPONENTIAL: return -log(level);
  case RG_SMOOTHING_LAPLACIAN: return -log(level) / sqrt(dim);
  }
  return 1.0;
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

/* ---- cross-validation ------------------------------------------------------------------------ */

/* |a - b|^2 with the norm of the kernel. */
static double squared_length(RgSmoothing kernel, int dim, const double *a, const double *b)
{
  double sum = 0.0;

  if (kernel != RG_SMOOTHING_LAPLACIAN) return rg_squared_distance(dim, a, b);
  for (int k = 0; k < dim; k++) sum += fabs(a[k] - b[k]);
  return sum * sum;
}

/* The regression at point i from all other points. Weights that are nowhere 0 are relative to that
   of the nearest point; where all weights are 0 the nearest points count equally. */
static double left_out(RgSmoothing kernel, int n, int i, const double *r2, const double *y,
                       double h)
{
  double nearest = INFINITY, sum = 0, weights = 0, close = 0, count = 0;

  for (int j = 0; j < n; j++)
    if (j != i) nearest = fmin(nearest, r2[j]);
  for (int j = 0; j < n; j++) {
    if (j == i) continue;
    const double w = kernel == RG_SMOOTHING_GAUSSIAN
                       ? exp(-(r2[j] - nearest) / (2 * h * h))
                       : rg_smoothing_psi(kernel, r2[j] / (h * h), nearest / (h * h));
    sum += w * y[j];
    weights += w;
    if (r2[j] > nearest) continue;
    close += y[j];
    count++;
  }
  return weights > 0 ? sum / weights : close / count;
}

PetscErrorCode rg_bandwidth_cross_validated(RgSmoothing kernel, int n, int dim, const double *x,
                                            const double *y, double centre, double *h)
{
  double *r2, least = INFINITY;

  *h = centre;
  if (n < 3) return 0;
  PetscCall(PetscMalloc1((size_t)n * n, &r2));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      r2[(size_t)i * n + j] = squared_length(kernel, dim, x + (size_t)i * dim, x + (size_t)j * dim);
  for (int k = RG_CV_STEPS; k >= -RG_CV_STEPS; k--) {
    const double tried = centre * pow(10, (double)k / RG_CV_STEPS);
    double error = 0;
    for (int i = 0; i < n; i++) {
      const double miss = y[i] - left_out(kernel, n, i, r2 + (size_t)i * n, y, tried);
      error += miss * miss;
    }
    if (!(error < least)) continue;
    least = error;
    *h = tried;
  }
  return PetscFree(r2);
}
