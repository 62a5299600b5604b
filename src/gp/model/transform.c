/* Monotone transformations of outputs: the Yeo-Johnson power and the Gaussian copula. */
#include "gp/model/transform.h"

#include <math.h>

#include "maths/normal.h"

#define LOWER -6.0 /* range of the exponent */
#define UPPER 8.0
#define GOLDEN 0.61803398874989484820
enum { GRID = 57, STEPS = 40 };

/* ---- Yeo-Johnson ----------------------------------------------------------------------------- */

/* ((1 + z)^p - 1)/p for z >= 0, log(1 + z) at p = 0. */
static double power(double z, double p)
{
  return fabs(p) < 1e-12 ? log1p(z) : expm1(p * log1p(z)) / p;
}

static double inverse_power(double v, double p)
{
  if (fabs(p) < 1e-12) return expm1(v);
  return expm1(log1p(p * v) / p);
}

static double yeo_johnson(double z, double lambda)
{
  return z >= 0 ? power(z, lambda) : -power(-z, 2 - lambda);
}

/* Logarithm of the likelihood of z = (y - shift)/scale, up to a constant. */
static double likelihood(int n, const double *y, double shift, double scale, double lambda)
{
  double sum = 0, squares = 0, jacobian = 0;

  for (int i = 0; i < n; i++) {
    const double z = (y[i] - shift) / scale;
    sum += yeo_johnson(z, lambda);
    jacobian += copysign(log1p(fabs(z)), z);
  }
  const double mean = sum / n;
  for (int i = 0; i < n; i++) {
    const double d = yeo_johnson((y[i] - shift) / scale, lambda) - mean;
    squares += d * d;
  }
  return -0.5 * n * log(squares / n) + (lambda - 1) * jacobian;
}

/* The best point of a grid, then golden sections beside it. */
static double best_exponent(int n, const double *y, double shift, double scale)
{
  const double step = (UPPER - LOWER) / (GRID - 1);
  double best = -INFINITY, at = 1;

  for (int k = 0; k < GRID; k++) {
    const double value = likelihood(n, y, shift, scale, LOWER + k * step);
    if (!(value > best)) continue;
    best = value;
    at = LOWER + k * step;
  }
  double a = fmax(at - step, LOWER), b = fmin(at + step, UPPER);
  double c = b - GOLDEN * (b - a), d = a + GOLDEN * (b - a);
  double fc = likelihood(n, y, shift, scale, c), fd = likelihood(n, y, shift, scale, d);
  for (int k = 0; k < STEPS; k++) {
    if (fc > fd) {
      b = d;
      d = c;
      fd = fc;
      c = b - GOLDEN * (b - a);
      fc = likelihood(n, y, shift, scale, c);
    } else {
      a = c;
      c = d;
      fc = fd;
      d = a + GOLDEN * (b - a);
      fd = likelihood(n, y, shift, scale, d);
    }
  }
  return 0.5 * (a + b);
}

/* The power of two above the largest size; 0 for zeros. */
static int exponent_of(int n, const double *value, double centre)
{
  double largest = 0;
  int exponent = 0;

  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(value[i] - centre));
  (void)frexp(largest, &exponent);
  return exponent;
}

double rg_mean(int n, const double *value)
{
  const int exponent = exponent_of(n, value, 0);
  double sum = 0;

  for (int i = 0; i < n; i++) sum += ldexp(value[i], -exponent);
  return ldexp(sum / n, exponent);
}

double rg_root_mean_square(int n, const double *value, double centre, int divisor)
{
  const int exponent = exponent_of(n, value, centre);
  double squares = 0;

  for (int i = 0; i < n; i++) {
    const double d = ldexp(value[i] - centre, -exponent);
    squares += d * d;
  }
  return ldexp(sqrt(squares / divisor), exponent);
}

/* ---- copula ---------------------------------------------------------------------------------- */

/* The piece of the line through (x, v) that x = at belongs to. */
static int piece(const RgTransform *transform, const double *x, double at)
{
  int low = 0, high = transform->n - 1;

  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (x[middle] <= at) low = middle;
    else high = middle;
  }
  return low;
}

static double line(const RgTransform *transform, const double *x, const double *v, double at,
                   double *slope)
{
  const int k = piece(transform, x, at);

  *slope = (v[k + 1] - v[k]) / (x[k + 1] - x[k]);
  return at == x[k + 1] ? v[k + 1] : v[k] + *slope * (at - x[k]);
}

/* ---- the transformation ---------------------------------------------------------------------- */

PetscErrorCode rg_transform_fit(RgTransform *transform, RgTransformKind kind, int n,
                                const double *y)
{
  double *sorted;

  PetscCall(rg_transform_destroy(transform));
  if (kind == RG_TRANSFORM_NONE) return 0;
  PetscCall(PetscMalloc1(PetscMax(n, 1), &sorted));
  PetscCall(PetscArraycpy(sorted, y, n));
  PetscCall(PetscSortReal(n, sorted));
  int different = n > 0;
  for (int i = 1; i < n; i++) different += sorted[i] != sorted[i - 1];
  if (different >= 3) {
    transform->kind = kind;
    transform->lowest = sorted[0];
    transform->highest = sorted[n - 1];
    if (kind == RG_TRANSFORM_YEO_JOHNSON) {
      transform->shift = rg_mean(n, y);
      transform->scale = rg_root_mean_square(n, y, transform->shift, n);
      transform->lambda = best_exponent(n, y, transform->shift, transform->scale);
    } else {
      /* Equal outputs share the score of their mean rank: the normal quantile at (rank - 1/2)/n. */
      PetscCall(PetscMalloc1(n, &transform->knot));
      PetscCall(PetscMalloc1(n, &transform->score));
      for (int first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && sorted[end] == sorted[first];) end++;
        transform->knot[transform->n] = sorted[first];
        transform->score[transform->n++] = rg_normal_quantile(0.5 * (first + end) / n);
      }
    }
  }
  return PetscFree(sorted);
}

PetscErrorCode rg_transform_destroy(RgTransform *transform)
{
  PetscCall(PetscFree(transform->knot));
  PetscCall(PetscFree(transform->score));
  *transform = (RgTransform){0};
  return 0;
}

double rg_transform_value(const RgTransform *transform, double y)
{
  double slope;

  switch (transform->kind) {
  case RG_TRANSFORM_YEO_JOHNSON:
    return yeo_johnson((y - transform->shift) / transform->scale, transform->lambda);
  case RG_TRANSFORM_COPULA: return line(transform, transform->knot, transform->score, y, &slope);
  case RG_TRANSFORM_NONE: break;
  }
  return y;
}

double rg_transform_slope(const RgTransform *transform, double y)
{
  double slope = 1;

  switch (transform->kind) {
  case RG_TRANSFORM_YEO_JOHNSON: {
    const double z = (y - transform->shift) / transform->scale;
    const double exponent = z >= 0 ? transform->lambda - 1 : 1 - transform->lambda;
    return exp(exponent * log1p(fabs(z))) / transform->scale;
  }
  case RG_TRANSFORM_COPULA:
    (void)line(transform, transform->knot, transform->score, y, &slope);
    break;
  case RG_TRANSFORM_NONE: break;
  }
  return slope;
}

/* The value on the line through an outermost output. */
static double beyond(const RgTransform *transform, double output, double value)
{
  return output +
         (value - rg_transform_value(transform, output)) / rg_transform_slope(transform, output);
}

double rg_transform_inverse(const RgTransform *transform, double value)
{
  const double lambda = transform->lambda;
  double slope;

  switch (transform->kind) {
  case RG_TRANSFORM_YEO_JOHNSON: {
    if (value > rg_transform_value(transform, transform->highest))
      return beyond(transform, transform->highest, value);
    if (value < rg_transform_value(transform, transform->lowest))
      return beyond(transform, transform->lowest, value);
    const double z = value >= 0 ? inverse_power(value, lambda) : -inverse_power(-value, 2 - lambda);
    return transform->shift + transform->scale * z;
  }
  case RG_TRANSFORM_COPULA:
    return line(transform, transform->score, transform->knot, value, &slope);
  case RG_TRANSFORM_NONE: break;
  }
  return value;
}
