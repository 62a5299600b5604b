/* Kernel regression and kernel density of the points seen so far. */
#include "density/regression.h"

#include "base/poll.h"
#include "maths/vector.h"
#include "density/regression_loops.h"
#include "density/smoothing_formulas.h"

#include <math.h>

#define FAR 1e15 /* coordinate of padding points: weight 0, never the nearest */

static size_t padded(size_t n)
{
  return (n + RG_VECTOR_BLOCK - 1) / RG_VECTOR_BLOCK * RG_VECTOR_BLOCK;
}

/* Make room for `wanted` points and keep the existing ones. */
static PetscErrorCode grow(RgRegression *r, size_t wanted)
{
  size_t ld = padded(wanted);
  double *x, *y;

  PetscCall(PetscMalloc2(ld * r->dim, &x, ld, &y));
  for (int k = 0; k < r->dim; k++)
    for (size_t i = 0; i < ld; i++) x[k * ld + i] = i < (size_t)r->n ? r->x[k * r->ld + i] : FAR;
  for (size_t i = 0; i < ld; i++) y[i] = i < (size_t)r->n ? r->y[i] : 0.0;
  PetscCall(PetscFree2(r->x, r->y));
  PetscCall(PetscFree3(r->r2, r->e, r->g));
  PetscCall(PetscMalloc3(ld, &r->r2, ld, &r->e, ld, &r->g));
  r->x = x;
  r->y = y;
  r->ld = ld;
  return 0;
}

PetscErrorCode rg_regression_create(RgSmoothing kernel, int dim, int capacity,
                                    RgRegression *regression)
{
  *regression = (RgRegression){.kernel = kernel, .dim = dim};
  return grow(regression, (size_t)PetscMax(capacity, 1));
}

PetscErrorCode rg_regression_destroy(RgRegression *regression)
{
  PetscCall(PetscFree2(regression->x, regression->y));
  return PetscFree3(regression->r2, regression->e, regression->g);
}

PetscErrorCode rg_regression_append(RgRegression *r, const double *x, double y)
{
  double difference = y - r->mean;

  if ((size_t)r->n == r->ld) PetscCall(grow(r, 2 * r->ld));
  for (int k = 0; k < r->dim; k++) r->x[k * r->ld + r->n] = x[k];
  r->y[r->n++] = y;
  r->mean += difference / r->n;
  if (r->square == 0) (void)frexp(difference, &r->exponent);
  r->square += ldexp(difference, -r->exponent) * ldexp(y - r->mean, -r->exponent);
  return 0;
}

PetscErrorCode rg_regression_update(RgRegression *regression, const RgHistory *history)
{
  while (regression->n < history->n)
    PetscCall(rg_regression_append(regression, history->x + (size_t)regression->n * history->dim,
                                   history->y[regression->n]));
  return 0;
}

double rg_regression_deviation(const RgRegression *regression)
{
  double variance = regression->n > 1 ? regression->square / regression->n : 0.0;

  return variance > 0.0 ? ldexp(sqrt(variance), regression->exponent) : 1.0;
}

/* Return the mean of the y_i over all points at squared distance `nearest`. */
static double nearest_value(const RgRegression *r, double nearest)
{
  double sum = 0.0;
  int count = 0;

  for (int i = 0; i < r->n; i++) {
    if (r->r2[i] > nearest) continue;
    sum += r->y[i];
    count++;
  }
  return sum / count;
}

/* With g_i such that grad W = sum_i g_i (x_i - x): grad m = sum_i g_i (y_i - m) (x_i - x) / W and
   grad log W = sum_i g_i (x_i - x) / W, g_i = -Psi'(z_i)/(z_i h^2). */
static void gradients(const RgRegression *r, int n, double factor, double mass, double mean,
                      const double *x, double *d_mean, double *d_log_weight)
{
  const RgVectorOps *ops = rg_vector_ops();
  double sum_g = 0.0, sum_gy = 0.0;

  if (r->kernel != RG_SMOOTHING_GAUSSIAN)
    for (int i = 0; i < n; i++) r->e[i] = rg_smoothing_slope(r->kernel, factor * r->r2[i], r->e[i]);
  for (int i = 0; i < n; i++) {
    r->g[i] = r->e[i] * (r->y[i] - mean);
    sum_g += r->e[i];
    sum_gy += r->g[i];
  }
  for (int k = 0; k < r->dim; k++) {
    const double *column = r->x + k * r->ld;
    d_log_weight[k] = (ops->dot(n, r->e, column) - sum_g * x[k]) * factor / mass;
    d_mean[k] = (ops->dot(n, r->g, column) - sum_gy * x[k]) * factor / mass;
  }
}

/* Likewise with the Laplacian kernel: grad W = sum_i k_i sign(x_i - x)/h. */
static void laplacian_gradients(const RgRegression *r, double h, double mass, double mean,
                                const double *x, double *d_mean, double *d_log_weight)
{
  for (int k = 0; k < r->dim; k++) {
    const double *column = r->x + k * r->ld;
    double sum = 0.0, sum_y = 0.0;
    for (int i = 0; i < r->n; i++) {
      const double g = column[i] > x[k] ? r->e[i] : column[i] < x[k] ? -r->e[i] : 0.0;
      sum += g;
      sum_y += g * (r->y[i] - mean);
    }
    d_log_weight[k] = sum / (h * mass);
    d_mean[k] = sum_y / (h * mass);
  }
}

/* The squared distances r2 of x from all points and padding, with the norm of the kernel; returns
   the smallest. */
static double distances(RgRegression *r, const RgRegressionLoops *loops, int n, const double *x)
{
  double least = INFINITY;

  if (r->kernel != RG_SMOOTHING_LAPLACIAN)
    return loops->distances(r->dim, n, r->x, r->ld, x, r->r2);
  PetscArrayzero(r->r2, n);
  for (int k = 0; k < r->dim; k++)
    for (int i = 0; i < n; i++) r->r2[i] += fabs(r->x[k * r->ld + i] - x[k]);
  for (int i = 0; i < n; i++) {
    r->r2[i] *= r->r2[i];
    least = r->r2[i] < least ? r->r2[i] : least;
  }
  return least;
}

/* -log Psi at |z|^2 = z2 for a kernel that is nowhere 0; 0 for the others. */
static double decay(RgSmoothing kernel, double z2)
{
  if (kernel == RG_SMOOTHING_GAUSSIAN) return 0.5 * z2;
  return kernel == RG_SMOOTHING_EXPONENTIAL || kernel == RG_SMOOTHING_LAPLACIAN ? sqrt(z2) : 0.0;
}

PetscErrorCode rg_regression_predict(RgRegression *r, double h, int count, const double *X,
                                     double *mean, double *log_weight, double *d_mean,
                                     double *d_log_weight)
{
  const RgRegressionLoops *loops = rg_regression_loops();
  const double factor = 1.0 / (h * h);
  const int n = (int)padded((size_t)r->n);

  PetscCheck(r->n >= 1, PETSC_COMM_SELF, PETSC_ERR_ORDER, "kernel regression without data");
  for (int c = 0; c < count; c++) {
    const double *x = X + (size_t)c * r->dim;
    double sums[2], m, nearest = distances(r, loops, n, x);
    bool flat = r->kernel == RG_SMOOTHING_UNIFORM;
    if (c % RG_POLL_POINTS == 0) PetscCall(rg_poll());
    loops->weigh(r->kernel, n, factor, nearest, r->r2, r->y, r->e, sums);
    if (sums[0] > 0.0) {
      m = sums[1] / sums[0];
    } else {
      m = nearest_value(r, nearest);
      flat = true;
    }
    if (mean) mean[c] = m;
    if (log_weight) log_weight[c] = log(sums[0]) - decay(r->kernel, factor * nearest);
    if (!d_mean) continue;
    if (flat) {
      PetscCall(PetscArrayzero(d_mean + (size_t)c * r->dim, r->dim));
      PetscCall(PetscArrayzero(d_log_weight + (size_t)c * r->dim, r->dim));
    } else if (r->kernel == RG_SMOOTHING_LAPLACIAN) {
      laplacian_gradients(r, h, sums[0], m, x, d_mean + (size_t)c * r->dim,
                          d_log_weight + (size_t)c * r->dim);
    } else {
      gradients(r, n, factor, sums[0], m, x, d_mean + (size_t)c * r->dim,
                d_log_weight + (size_t)c * r->dim);
    }
  }
  return 0;
}

PetscErrorCode rg_regression_distance(RgRegression *r, int count, const double *X, double *distance,
                                      double *d_distance)
{
  const RgRegressionLoops *loops = rg_regression_loops();
  const int n = (int)padded((size_t)r->n);

  for (int c = 0; c < count; c++) {
    const double *x = X + (size_t)c * r->dim;
    double nearest = loops->distances(r->dim, n, r->x, r->ld, x, r->r2);
    int i = 0;
    distance[c] = sqrt(nearest);
    if (!d_distance) continue;
    while (r->r2[i] > nearest) i++;
    for (int k = 0; k < r->dim; k++)
      d_distance[(size_t)c * r->dim + k] =
        nearest > 0.0 ? (x[k] - r->x[k * r->ld + i]) / distance[c] : 0.0;
  }
  return 0;
}
