/* The functions of RgRegressionLoops, compiled once per instruction set. The including file
   defines REGRESSION_LOOPS, the name of its table, and LANES, the doubles in one vector
   register. */
#include "maths/lanes.h"
#include "maths/vector_math.h"
#include "density/regression_loops.h"

#define BLOCK RG_VECTOR_BLOCK

INLINE double least_of(const Vector *v)
{
  double s[BLOCK];

  memcpy(s, v, sizeof s);
  for (int l = 1; l < BLOCK; l++) s[0] = s[l] < s[0] ? s[l] : s[0];
  return s[0];
}

static double distances(int dim, int n, const double *x, size_t ld, const double *z, double *r2)
{
  Vector least[VECTORS];

  for (int v = 0; v < VECTORS; v++) least[v] = (Vector){0} + HUGE_VAL;
  for (int i = 0; i < n; i += BLOCK) {
    Vector sum[VECTORS] = {{0}};

    for (int k = 0; k < dim; k++) {
      for (int v = 0; v < VECTORS; v++) {
        Vector u = *(const Vector *)(x + k * ld + i + v * LANES) - z[k];
        sum[v] += u * u;
      }
    }
    for (int v = 0; v < VECTORS; v++) {
      *(Vector *)(r2 + i + v * LANES) = sum[v];
      for (int l = 0; l < LANES; l++)
        least[v][l] = sum[v][l] < least[v][l] ? sum[v][l] : least[v][l];
    }
  }
  return least_of(least);
}

/* Psi at one point. */
INLINE double weight(RgSmoothing kernel, double z2, double nearest2)
{
  double s;

  switch (kernel) {
  case RG_SMOOTHING_GAUSSIAN:
    s = 0.5 * (nearest2 - z2);
    return rg_exp_nonpositive(s < -700.0 ? -700.0 : s);
  case RG_SMOOTHING_EPANECHNIKOV: return z2 < 1.0 ? 1.0 - z2 : 0.0;
  default: return z2 <= 1.0 ? 1.0 : 0.0;
  }
}

INLINE void weigh_as(RgSmoothing kernel, int n, double factor, double nearest, const double *r2,
                     const double *y, double *restrict e, double sums[2])
{
  Vector mass[VECTORS] = {{0}}, moment[VECTORS] = {{0}};

  for (int i = 0; i < n; i += BLOCK) {
#pragma omp simd
    for (int l = 0; l < BLOCK; l++) e[i + l] = weight(kernel, factor * r2[i + l], factor * nearest);
    for (int v = 0; v < VECTORS; v++) {
      Vector part = *(const Vector *)(e + i + v * LANES);
      mass[v] += part;
      moment[v] += part * *(const Vector *)(y + i + v * LANES);
    }
  }
  sums[0] = sum_block(mass);
  sums[1] = sum_block(moment);
}

static void weigh(RgSmoothing kernel, int n, double factor, double nearest, const double *r2,
                  const double *y, double *e, double sums[2])
{
  switch (kernel) {
  case RG_SMOOTHING_GAUSSIAN:
    weigh_as(RG_SMOOTHING_GAUSSIAN, n, factor, nearest, r2, y, e, sums);
    break;
  case RG_SMOOTHING_EPANECHNIKOV:
    weigh_as(RG_SMOOTHING_EPANECHNIKOV, n, factor, nearest, r2, y, e, sums);
    break;
  default: weigh_as(RG_SMOOTHING_UNIFORM, n, factor, nearest, r2, y, e, sums);
  }
}

extern const RgRegressionLoops REGRESSION_LOOPS;
const RgRegressionLoops REGRESSION_LOOPS = {.distances = distances, .weigh = weigh};
