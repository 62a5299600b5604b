/* The functions of RgTileOps, compiled once per instruction set: the including file defines
   TILE_OPS, the name of its table, and LANES, the doubles in one vector register.

   Products keep their sums in registers by way of vector types (maths/lanes.h); loops over plain
   arrays are left to the vectoriser. */
#include "gp/kernel/tiles.h"
#include "maths/lanes.h"
#include "maths/vector_math.h"

/* ---- elementwise --------------------------------------------------------------------------- */

static void exponential(size_t count, const double *x, double *out)
{
#pragma omp simd
  for (size_t i = 0; i < count; i++) out[i] = rg_exp_nonpositive(x[i]);
}

#define RG_KERNEL_FORMULAS
#include "regatta_kernels.h" /* made by the build: the file of every family on the list */
#undef RG_KERNEL_FORMULAS

/* kappa and its derivative by r2 at one r2. */
INLINE void correlation(RgKernelFamily family, double shape, double r2, double *value,
                        double *slope)
{
  switch (family) {
#define RG_KERNEL(name, NAME)                                                                      \
  case RG_KERNEL_##NAME:                                                                           \
    name##_formula(shape, r2, value, slope);                                                       \
    break;
#include "gp/kernel/list.h"
#undef RG_KERNEL
  }
}

INLINE void correlations_of(RgKernelFamily family, double shape, double scale, size_t count,
                            const double *r2, double *value, double *slope)
{
  if (slope) {
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
      double v, d;

      correlation(family, shape, r2[i], &v, &d);
      value[i] = scale * v;
      slope[i] = scale * d;
    }
  } else {
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
      double v, d;

      correlation(family, shape, r2[i], &v, &d);
      value[i] = scale * v;
    }
  }
}

/* One pair of loops per family. */
static void correlations(RgKernelFamily family, double shape, double scale, size_t count,
                         const double *r2, double *value, double *slope)
{
  switch (family) {
#define RG_KERNEL(name, NAME)                                                                      \
  case RG_KERNEL_##NAME:                                                                           \
    correlations_of(RG_KERNEL_##NAME, shape, scale, count, r2, value, slope);                      \
    break;
#include "gp/kernel/list.h"
#undef RG_KERNEL
  }
}

static void multiply(size_t count, const double *b, double *restrict a)
{
  for (size_t i = 0; i < count; i++) a[i] *= b[i];
}

static void add(size_t count, const double *b, double *restrict a)
{
  for (size_t i = 0; i < count; i++) a[i] += b[i];
}

/* Eight rows at a time: one load and store of `out` for eight of R. */
static void subtract_rows(int rows, size_t count, const double *c, const double *R, size_t stride,
                          double *restrict out)
{
  int r = 0;

  for (; r + 8 <= rows; r += 8, R += 8 * stride, c += 8) {
    const double *R1 = R + stride, *R2 = R1 + stride, *R3 = R2 + stride, *R4 = R3 + stride;
    const double *R5 = R4 + stride, *R6 = R5 + stride, *R7 = R6 + stride;
    double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5], c6 = c[6], c7 = c[7];

#pragma omp simd
    for (size_t j = 0; j < count; j++) {
      double a = c0 * R[j] + c1 * R1[j] + c2 * R2[j] + c3 * R3[j];
      double b = c4 * R4[j] + c5 * R5[j] + c6 * R6[j] + c7 * R7[j];

      out[j] -= a + b;
    }
  }
  for (; r < rows; r++, R += stride, c++) {
#pragma omp simd
    for (size_t j = 0; j < count; j++) out[j] -= c[0] * R[j];
  }
}

static void scale(size_t count, double factor, double *a)
{
  for (size_t j = 0; j < count; j++) a[j] *= factor;
}

static void absorb(size_t count, double step, const double *restrict row, double *restrict mean,
                   double *restrict variance)
{
#pragma omp simd
  for (size_t j = 0; j < count; j++) {
    double c = row[j], v = variance[j] - c * c;

    mean[j] += step * c;
    variance[j] = v > 0.0 ? v : 0.0;
  }
}

/* Sum of the entries of `lanes`, always in the same order. */
INLINE double sum_of(int n, const double *lanes)
{
  double sum = 0.0;

  for (int i = 0; i < n; i++) sum += lanes[i];
  return sum;
}

static double dot(size_t count, const double *a, const double *b)
{
  Vector sum[RG_TILE / LANES] = {{0}};
  double lanes[RG_TILE];
  size_t i;

  for (i = 0; i + RG_TILE <= count; i += RG_TILE) {
    for (int v = 0; v < RG_TILE / LANES; v++) {
      sum[v] += *(const Vector *)(a + i + v * LANES) * *(const Vector *)(b + i + v * LANES);
    }
  }
  for (; i < count; i += RG_LANES) {
    for (int v = 0; v < RG_LANES / LANES; v++) {
      sum[v] += *(const Vector *)(a + i + v * LANES) * *(const Vector *)(b + i + v * LANES);
    }
  }
  memcpy(lanes, sum, sizeof lanes);
  return sum_of(RG_TILE, lanes);
}

/* ---- columns of a tile ---------------------------------------------------------------------- */

INLINE void summarise_of(int width, int n, const double *b, const double *V, double *sum,
                         double *squares)
{
  Vector s[RG_TILE / LANES] = {{0}}, q[RG_TILE / LANES] = {{0}};

  for (int i = 0; i < n; i++, V += width) {
    for (int v = 0; v < width / LANES; v++) {
      Vector x = *(const Vector *)(V + v * LANES);

      s[v] += b[i] * x;
      q[v] += x * x;
    }
  }
  for (int v = 0; v < width / LANES; v++) {
    *(Vector *)(sum + v * LANES) = s[v];
    *(Vector *)(squares + v * LANES) = q[v];
  }
}

static void summarise(int n, int width, const double *b, const double *V, double *sum,
                      double *squares)
{
  if (width == RG_TILE) summarise_of(RG_TILE, n, b, V, sum, squares);
  else summarise_of(RG_LANES, n, b, V, sum, squares);
}

INLINE void combine_of(int width, int n, const double *b, const double *p, const double *V,
                       const double *q, double *U)
{
  for (int i = 0; i < n; i++, V += width, U += width) {
    for (int v = 0; v < width; v += LANES) {
      *(Vector *)(U + v) =
        b[i] * *(const Vector *)(p + v) + *(const Vector *)(V + v) * *(const Vector *)(q + v);
    }
  }
}

static void combine(int n, int width, const double *b, const double *p, const double *V,
                    const double *q, double *U)
{
  if (width == RG_TILE) combine_of(RG_TILE, n, b, p, V, q, U);
  else combine_of(RG_LANES, n, b, p, V, q, U);
}

#include "gp/kernel/tiles_coordinates.h"
#include "gp/kernel/tiles_products.h"

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

const RgTileOps TILE_OPS = {
  .name = TEXT(TILE_OPS),
  .largest = LANES > 2 ? 512 : 16,
  .distances = distances,
  .correlations = correlations,
  .exponential = exponential,
  .multiply = multiply,
  .add = add,
  .dot = dot,
  .subtract_rows = subtract_rows,
  .scale = scale,
  .absorb = absorb,
  .gradient = gradient,
  .moments = moments,
  .lower = lower,
  .upper = upper,
  .cholesky = cholesky,
  .invert = invert,
  .summarise = summarise,
  .combine = combine,
};
