/* The functions of RgTileOps, compiled once per instruction set: the including file defines
   TILE_OPS, the name of its table, and LANES, the doubles in one vector register.

   Products keep their sums in registers by way of the vector types of GCC and clang; loops over
   plain arrays are left to the vectoriser. */
#include "gp/tiles.h"

#include <math.h>
#include <string.h>

typedef double Vector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

#define INLINE static inline __attribute__((always_inline))

/* ---- elementwise --------------------------------------------------------------------------- */

/* exp(x) for x <= 0. With n = round(x / log 2), |x - n log 2| <= log(2)/2: a polynomial of degree 11
   there (Chebyshev interpolation of (e^r - 1 - r)/r^2, relative error 1.6e-17), then n is added to
   the exponent bits. No tables, branches or calls, so it becomes vector code of any width on any
   machine. glibc's vector library would do on x86 alone, with up to four units in the last place. */
INLINE double exp_nonpositive(double x)
{
  const double log2_e = 0x1.71547652b82fep0, shift = 0x1.8p52;
  const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
  double   t = x * log2_e + shift, n = t - shift, r = (x - n * ln2_high) - n * ln2_low, q, e;
  uint64_t bits, exponent;

  q = 0x1.af38a9b0ec855p-26;
  q = q * r + 0x1.289185613a3d6p-22;
  q = q * r + 0x1.71de0dae63bb3p-19;
  q = q * r + 0x1.a019b90d2ae7ap-16;
  q = q * r + 0x1.a01a01a7c41d5p-13;
  q = q * r + 0x1.6c16c1788bd90p-10;
  q = q * r + 0x1.11111111109b3p-7;
  q = q * r + 0x1.5555555553d63p-5;
  q = q * r + 0x1.5555555555556p-3;
  q = q * r + 0x1.0000000000001p-1;
  e = 1.0 + (r + (r * r) * q);
  memcpy(&exponent, &t, sizeof t);
  memcpy(&bits, &e, sizeof e);
  bits += exponent << 52;
  memcpy(&e, &bits, sizeof e);
  return x < -345.0 ? 0.0 : e;
}

static void exponential(size_t count, const double *x, double *out)
{
#pragma omp simd
  for (size_t i = 0; i < count; ++i) out[i] = exp_nonpositive(x[i]);
}

/* kappa and its derivative by r2 at one r2. */
INLINE void correlation(RgKernelFamily family, double r2, double *value, double *slope)
{
  double s, q, e;

  switch (family) {
  case RG_KERNEL_GAUSSIAN:
    *value = exp_nonpositive(-0.5 * r2);
    *slope = -0.5 * *value;
    break;
  case RG_KERNEL_MATERN12:
    s      = sqrt(r2);
    *value = exp_nonpositive(-s);
    *slope = s > 0.0 ? -0.5 * *value / s : 0.0;
    break;
  case RG_KERNEL_MATERN32:
    s      = sqrt(3.0 * r2);
    e      = exp_nonpositive(-s);
    *value = e * (1.0 + s);
    *slope = -1.5 * e;
    break;
  default: /* Matern-5/2 */
    q      = 5.0 * r2;
    s      = sqrt(q);
    e      = exp_nonpositive(-s);
    *value = e * (1.0 + s + q * (1.0 / 3.0));
    *slope = (-5.0 / 6.0) * e * (1.0 + s);
  }
}

INLINE void correlations_of(RgKernelFamily family, double scale, size_t count, const double *r2,
                            double *value, double *slope)
{
  if (slope) {
#pragma omp simd
    for (size_t i = 0; i < count; ++i) {
      double v, d;

      correlation(family, r2[i], &v, &d);
      value[i] = scale * v;
      slope[i] = scale * d;
    }
  } else {
#pragma omp simd
    for (size_t i = 0; i < count; ++i) {
      double v, d;

      correlation(family, r2[i], &v, &d);
      value[i] = scale * v;
    }
  }
}

static void correlations(RgKernelFamily family, double scale, size_t count, const double *r2,
                         double *value, double *slope)
{
  switch (family) {
  case RG_KERNEL_GAUSSIAN:
    correlations_of(RG_KERNEL_GAUSSIAN, scale, count, r2, value, slope);
    break;
  case RG_KERNEL_MATERN12:
    correlations_of(RG_KERNEL_MATERN12, scale, count, r2, value, slope);
    break;
  case RG_KERNEL_MATERN32:
    correlations_of(RG_KERNEL_MATERN32, scale, count, r2, value, slope);
    break;
  case RG_KERNEL_MATERN52:
    correlations_of(RG_KERNEL_MATERN52, scale, count, r2, value, slope);
    break;
  }
}

static void multiply(size_t count, const double *b, double *restrict a)
{
  for (size_t i = 0; i < count; ++i) a[i] *= b[i];
}

static void add(size_t count, const double *b, double *restrict a)
{
  for (size_t i = 0; i < count; ++i) a[i] += b[i];
}

/* Sum of the entries of `lanes`, always in the same order. */
INLINE double sum_of(int n, const double *lanes)
{
  double sum = 0.0;

  for (int i = 0; i < n; ++i) sum += lanes[i];
  return sum;
}

static double dot(size_t count, const double *a, const double *b)
{
  Vector sum[RG_TILE / LANES] = {{0}};
  double lanes[RG_TILE];
  size_t i;

  for (i = 0; i + RG_TILE <= count; i += RG_TILE) {
    for (int v = 0; v < RG_TILE / LANES; ++v) {
      sum[v] += *(const Vector *)(a + i + v * LANES) * *(const Vector *)(b + i + v * LANES);
    }
  }
  for (; i < count; i += RG_LANES) {
    for (int v = 0; v < RG_LANES / LANES; ++v) {
      sum[v] += *(const Vector *)(a + i + v * LANES) * *(const Vector *)(b + i + v * LANES);
    }
  }
  memcpy(lanes, sum, sizeof lanes);
  return sum_of(RG_TILE, lanes);
}

/* ---- coordinates: up to four at a time stay in registers ------------------------------------ */

#define GROUP 4

/* Run `call(d, w)` with the constants that equal dim (1..4) and width (8 or 16). */
#define DISPATCH_DIM(dim, call, w) \
  switch (dim) {                   \
  case 1: call(1, w); break;       \
  case 2: call(2, w); break;       \
  case 3: call(3, w); break;       \
  default: call(4, w);             \
  }
#define DISPATCH(dim, width, call)                                           \
  do {                                                                       \
    if ((width) == RG_TILE) { DISPATCH_DIM(dim, call, RG_TILE) }             \
    else { DISPATCH_DIM(dim, call, RG_LANES) }                               \
  } while (0)

/* r2 = or += the distances over `dim` coordinates; width candidates of rows `full` long. */
INLINE void distances_of(int dim, int width, bool more, int n, const double *x, int stride,
                         const double *Z, int full, double *r2)
{
  Vector z[GROUP][RG_TILE / LANES];

  for (int k = 0; k < dim; ++k) {
    for (int v = 0; v < width / LANES; ++v) z[k][v] = *(const Vector *)(Z + k * full + v * LANES);
  }
  for (int i = 0; i < n; ++i, x += stride, r2 += full) {
    for (int v = 0; v < width / LANES; ++v) {
      Vector *out = (Vector *)(r2 + v * LANES), sum = {0};

      if (more) sum = *out;
      for (int k = 0; k < dim; ++k) {
        Vector u = x[k] - z[k][v];
        sum += u * u;
      }
      *out = sum;
    }
  }
}

static void distances(int dim, int n, const double *x, int stride, const double *Z, int width,
                      double *r2)
{
  for (int j = 0; j < width; j += RG_TILE) {
    int part = width - j < RG_TILE ? RG_LANES : RG_TILE;

    for (int k = 0; k < dim; k += GROUP) {
      const double *first = Z + (size_t)k * width + j;

#define FIRST(d, w) distances_of(d, w, false, n, x, stride, first, width, r2 + j)
#define MORE(d, w)  distances_of(d, w, true, n, x + k, stride, first, width, r2 + j)
      if (k == 0) DISPATCH(dim, part, FIRST);
      else DISPATCH(dim - k, part, MORE);
#undef FIRST
#undef MORE
    }
  }
}

INLINE void gradient_of(int dim, int width, int n, const double *x, int stride, const double *Z,
                        const double *w, const double *slope, double *g)
{
  Vector z[GROUP][RG_TILE / LANES], sum[GROUP][RG_TILE / LANES];

  for (int k = 0; k < dim; ++k) {
    for (int v = 0; v < width / LANES; ++v) {
      z[k][v]   = *(const Vector *)(Z + k * width + v * LANES);
      sum[k][v] = *(const Vector *)(g + k * width + v * LANES);
    }
  }
  for (int i = 0; i < n; ++i, x += stride, w += width, slope += width) {
    for (int v = 0; v < width / LANES; ++v) {
      Vector c = *(const Vector *)(w + v * LANES) * *(const Vector *)(slope + v * LANES);

      for (int k = 0; k < dim; ++k) sum[k][v] += c * (z[k][v] - x[k]);
    }
  }
  for (int k = 0; k < dim; ++k) {
    for (int v = 0; v < width / LANES; ++v) *(Vector *)(g + k * width + v * LANES) = sum[k][v];
  }
}

static void gradient(int dim, int n, const double *x, int stride, const double *Z, int width,
                     const double *w, const double *slope, double *g)
{
  for (int k = 0; k < dim; k += GROUP) {
    size_t at = (size_t)k * width;

#define CALL(d, wd) gradient_of(d, wd, n, x + k, stride, Z + at, w, slope, g + at)
    DISPATCH(dim - k, width, CALL);
#undef CALL
  }
}

INLINE void moments_of(int dim, int width, int n, const double *x, int stride, const double *Z,
                       const double *w, const double *slope, double *sums)
{
  Vector z[GROUP][RG_TILE / LANES], sum[GROUP][RG_TILE / LANES];
  double lanes[RG_TILE];

  for (int k = 0; k < dim; ++k) {
    for (int v = 0; v < width / LANES; ++v) {
      z[k][v]   = *(const Vector *)(Z + k * width + v * LANES);
      sum[k][v] = (Vector){0};
    }
  }
  for (int i = 0; i < n; ++i, x += stride, w += width, slope += width) {
    for (int v = 0; v < width / LANES; ++v) {
      Vector c = *(const Vector *)(w + v * LANES) * *(const Vector *)(slope + v * LANES);

      for (int k = 0; k < dim; ++k) {
        Vector u = z[k][v] - x[k];
        sum[k][v] += c * (u * u);
      }
    }
  }
  for (int k = 0; k < dim; ++k) {
    for (int v = 0; v < width / LANES; ++v) *(Vector *)(lanes + v * LANES) = sum[k][v];
    sums[k] += sum_of(width, lanes);
  }
}

static void moments(int dim, int n, const double *x, int stride, const double *Z, int width,
                    const double *w, const double *slope, double *sums)
{
  for (int k = 0; k < dim; k += GROUP) {
#define CALL(d, wd) \
  moments_of(d, wd, n, x + k, stride, Z + (size_t)k * width, w, slope, sums + k)
    DISPATCH(dim - k, width, CALL);
#undef CALL
  }
}

/* ---- products with a triangle --------------------------------------------------------------- */

/* Rows of two vectors whose sums are in registers: 16 out of 32 registers, or 8 out of 16. */
#if LANES == 8 || defined(__aarch64__)
#define ROWS 8
#else
#define ROWS 4
#endif

/* out (ROWS x vectors) = or -= sum over l in [0, count) of M[l*by_term + r*by_row] V_l; rows of V and
   out are v_stride and out_stride apart. */
INLINE void panel(int vectors, bool subtract, int count, const double *M, size_t by_term,
                  size_t by_row, const double *V, size_t v_stride, double *out, size_t out_stride)
{
  Vector sum[ROWS][2];

  for (int r = 0; r < ROWS; ++r) {
    for (int v = 0; v < vectors; ++v) sum[r][v] = (Vector){0};
  }
  for (int l = 0; l < count; ++l, M += by_term, V += v_stride) {
    Vector in[2];

    for (int v = 0; v < vectors; ++v) in[v] = *(const Vector *)(V + v * LANES);
    for (int r = 0; r < ROWS; ++r) {
      double m = M[r * by_row];

      for (int v = 0; v < vectors; ++v) sum[r][v] += m * in[v];
    }
  }
  for (int r = 0; r < ROWS; ++r) {
    for (int v = 0; v < vectors; ++v) {
      Vector *to = (Vector *)(out + r * out_stride + v * LANES);

      if (subtract) *to -= sum[r][v];
      else *to = sum[r][v];
    }
  }
}

/* From the last rows up: what a row needs has not been overwritten yet. */
INLINE void lower_of(int width, int n, const double *M, size_t ld, double *V)
{
  const int vectors = width / LANES < 2 ? 1 : 2;

  for (int i = n - ROWS; i >= 0; i -= ROWS) {
    for (int j = 0; j < width; j += vectors * LANES) {
      panel(vectors, false, i + ROWS, M + i, ld, 1, V + j, width, V + (size_t)i * width + j, width);
    }
  }
}

/* From the first rows down. */
INLINE void upper_of(int width, int n, const double *M, size_t ld, double *V)
{
  const int vectors = width / LANES < 2 ? 1 : 2;

  for (int i = 0; i < n; i += ROWS) {
    double *from = V + (size_t)i * width;

    for (int j = 0; j < width; j += vectors * LANES) {
      panel(vectors, false, n - i, M + i + i * ld, 1, ld, from + j, width, from + j, width);
    }
  }
}

static void lower(int n, const double *M, size_t ld, int width, double *V)
{
  if (width == RG_TILE) lower_of(RG_TILE, n, M, ld, V);
  else lower_of(RG_LANES, n, M, ld, V);
}

static void upper(int n, const double *M, size_t ld, int width, double *V)
{
  if (width == RG_TILE) upper_of(RG_TILE, n, M, ld, V);
  else upper_of(RG_LANES, n, M, ld, V);
}

/* ---- small Cholesky factors: the vectors run down the columns -------------------------------- */

/* Columns done at a time. */
#define COLUMNS 8

/* out (rows [i, i + length) of COLUMNS columns) = or -= the product of rows of M, which has `ld`, with
   the COLUMNS columns given by B[l*by_term + c*by_column]. */
INLINE void columns(bool subtract, int length, int count, const double *M, size_t ld,
                    const double *B, size_t by_term, size_t by_column, double *out)
{
  for (int c = 0; c < COLUMNS; c += ROWS) {
    const double *from = B + c * by_column;
    double       *to   = out + c * ld;
    int           i    = 0;

    for (; i + 2 * LANES <= length; i += 2 * LANES) {
      panel(2, subtract, count, from, by_term, by_column, M + i, ld, to + i, ld);
    }
    for (; i < length; i += LANES) {
      panel(1, subtract, count, from, by_term, by_column, M + i, ld, to + i, ld);
    }
  }
}

static int cholesky(int n, double *A, size_t ld)
{
  int padded = rg_pad(n);

  for (int j = 0; j < n; j += COLUMNS) {
    int last = j + COLUMNS < n ? j + COLUMNS : n;

    columns(true, padded - j, j, A + j, ld, A + j, ld, 1, A + j + j * ld);
    for (int c = j; c < last; ++c) {
      double *restrict column = A + c * ld, pivot;

      for (int q = j; q < c; ++q) {
        const double *other = A + q * ld, factor = other[c];

        for (int i = c; i < n; ++i) column[i] -= factor * other[i];
      }
      if (!(column[c] > 0.0)) return c + 1; /* NaN, too */
      pivot     = sqrt(column[c]);
      column[c] = pivot;
      pivot     = 1.0 / pivot;
      for (int i = c + 1; i < n; ++i) column[i] *= pivot;
    }
  }
  return 0;
}

/* Columns from the right: with L = [L1 0; L21 L2], X = [X1 0; X21 X2], X21 L1 = -X2 L21. This order
   keeps X L - I small, so that X k is as accurate as solving with L (Higham, Accuracy and Stability
   of Numerical Algorithms, 14.2). */
static void invert(int n, const double *L, size_t ld, double *X)
{
  int padded = rg_pad(n);

  for (int j = padded - COLUMNS; j >= 0; j -= COLUMNS) {
    int last = j + COLUMNS < n ? j + COLUMNS : n, below = j + COLUMNS;

    for (int c = j; c < j + COLUMNS; ++c) memset(X + c * ld, 0, (size_t)padded * sizeof *X);
    /* X2 L21, sixteen rows at a time: the triangle ends with each. */
    for (int i = below; i < padded; i += RG_TILE) {
      int length = padded - i < RG_TILE ? RG_LANES : RG_TILE;
      int count  = (i + length < n ? i + length : n) - below;

      columns(false, length, count, X + i + below * ld, ld, L + below + j * ld, 1, ld,
              X + i + j * ld);
    }
    for (int c = last - 1; c >= j; --c) {
      double *restrict column = X + c * ld, inverse = 1.0 / L[c + c * ld];

      for (int i = below; i < n; ++i) column[i] = -column[i];
      column[c] = 1.0;
      for (int q = c + 1; q < last; ++q) {
        const double *other = X + q * ld, factor = L[q + c * ld];

        for (int i = q; i < n; ++i) column[i] -= factor * other[i];
      }
      for (int i = c; i < n; ++i) column[i] *= inverse;
    }
  }
}

/* ---- columns of a tile ---------------------------------------------------------------------- */

INLINE void summarise_of(int width, int n, const double *b, const double *V, double *sum,
                         double *squares)
{
  Vector s[RG_TILE / LANES] = {{0}}, q[RG_TILE / LANES] = {{0}};

  for (int i = 0; i < n; ++i, V += width) {
    for (int v = 0; v < width / LANES; ++v) {
      Vector x = *(const Vector *)(V + v * LANES);

      s[v] += b[i] * x;
      q[v] += x * x;
    }
  }
  for (int v = 0; v < width / LANES; ++v) {
    *(Vector *)(sum + v * LANES)     = s[v];
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
  for (int i = 0; i < n; ++i, V += width, U += width) {
    for (int v = 0; v < width; v += LANES) {
      *(Vector *)(U + v) = b[i] * *(const Vector *)(p + v)
                         + *(const Vector *)(V + v) * *(const Vector *)(q + v);
    }
  }
}

static void combine(int n, int width, const double *b, const double *p, const double *V,
                    const double *q, double *U)
{
  if (width == RG_TILE) combine_of(RG_TILE, n, b, p, V, q, U);
  else combine_of(RG_LANES, n, b, p, V, q, U);
}

#define TEXT_OF(name) #name
#define TEXT(name)    TEXT_OF(name)

const RgTileOps TILE_OPS = {
  .name         = TEXT(TILE_OPS),
  .largest      = LANES > 2 ? 512 : 16,
  .distances    = distances,
  .correlations = correlations,
  .exponential  = exponential,
  .multiply     = multiply,
  .add          = add,
  .dot          = dot,
  .gradient     = gradient,
  .moments      = moments,
  .lower        = lower,
  .upper        = upper,
  .cholesky     = cholesky,
  .invert       = invert,
  .summarise    = summarise,
  .combine      = combine,
};
