/* Cross-validated bandwidth of kernel regression. */
#include "density/cross_validation.h"

#include <math.h>

/* |x_i - x_j|^2, n x n. */
static void square_distances(int n, int dim, const double *x, double *r2)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < dim; k++) {
        const double difference = x[(size_t)i * dim + k] - x[(size_t)j * dim + k];
        sum += difference * difference;
      }
      r2[(size_t)i * n + j] = sum;
    }
}

/* The regression at point i from all other points. Gaussian weights are relative to that of the
   nearest one; where all weights are 0 the nearest points count equally. */
static double left_out(RgSmoothing kernel, int n, int i, const double *r2, const double *y,
                       double h)
{
  double nearest = INFINITY, sum = 0, weights = 0, close = 0, count = 0;

  for (int j = 0; j < n; j++)
    if (j != i) nearest = fmin(nearest, r2[j]);
  for (int j = 0; j < n; j++) {
    if (j == i) continue;
    const double w = kernel == RG_SMOOTHING_GAUSSIAN ? exp(-(r2[j] - nearest) / (2 * h * h))
                                                     : rg_smoothing_value(kernel, r2[j] / (h * h));
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

  PetscFunctionBeginUser;
  *h = centre;
  if (n < 3) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1((size_t)n * n, &r2));
  square_distances(n, dim, x, r2);
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
  PetscCall(PetscFree(r2));
  PetscFunctionReturn(0);
}
