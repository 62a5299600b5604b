/* The functions of RgRegressionLoops, compiled once per instruction set. The including file
   defines REGRESSION_LOOPS, the name of its table, and LANES, the doubles in one vector
   register. */
#include "maths/lanes.h"
#include "density/regression_loops.h"
#include "density/smoothing_formulas.h"

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

INLINE void weigh_as(RgSmoothing kernel, int n, double factor, double nearest, const double *r2,
                     const double *y, double *restrict e, double sums[2])
{
  Vector mass[VECTORS] = {{0}}, moment[VECTORS] = {{0}};

  for (int i = 0; i < n; i += BLOCK) {
#pragma omp simd
    for (int l = 0; l < BLOCK; l++)
      e[i + l] = rg_smoothing_psi(kernel, factor * r2[i + l], factor * nearest);
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
#define RG_SMOOTHING(SYMBOL, name)                                                                 \
  case RG_SMOOTHING_##SYMBOL:                                                                      \
    weigh_as(RG_SMOOTHING_##SYMBOL, n, factor, nearest, r2, y, e, sums);                           \
    break;
#include "density/list.h"
#undef RG_SMOOTHING
  }
}

extern const RgRegressionLoops REGRESSION_LOOPS;
const RgRegressionLoops REGRESSION_LOOPS = {.distances = distances, .weigh = weigh};
