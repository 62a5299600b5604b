/* Kernels over tiles: coordinates divided by length scales, values and slopes, and the gradients
   back in the inputs. */
#include "gp/kernel/kernel_internal.h"
#include "gp/kernel/kernel.h"
#include "maths/blas.h"

#include <math.h>
#include <string.h>

int rg_kernel_n_factors(const RgKernel *kernel)
{
  int n = 0;

  for (int t = 0; t < kernel->n_terms; t++) n += kernel->terms[t].n_factors;
  return n;
}

int rg_kernel_n_columns(const RgKernel *kernel)
{
  int n = 0;

  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++)
      n += rg_kernel_factor_columns(&kernel->terms[t].factors[f]);
  return n;
}

/* Whether input k enters as it is, in one column. */
static bool is_plain(const RgKernelFactor *factor, int k)
{
  return !rg_kernel_input_words(factor, k) && !rg_kernel_classes[factor->family]->warp;
}

/* The columns of input k, a choice or of a family that warps its inputs, at point x: x[0] is the
   input, and x[shift] is added to it. Column c goes to out[c * stride]. */
static void warp_input(const RgKernel *kernel, const RgKernelFactor *factor, int k, const double *x,
                       size_t stride, double *out)
{
  const RgKernelClass *class = rg_kernel_classes[factor->family];
  const double inverse = rg_kernel_inverse_scale(factor, k);
  const int words = rg_kernel_input_words(factor, k);
  double u[RG_KERNEL_COLUMNS_MAX];

  for (int c = 0; c < words; c++) out[c * stride] = 0;
  if (words) {
    out[rg_kernel_word(words, x[0]) * stride] = RG_KERNEL_WORD * inverse;
    return;
  }

  const double at = rg_kernel_input(kernel, factor->inputs[k], x[0]);
  class->warp(factor->shape, factor->shift ? at + x[factor->shift] : at, u, NULL);
  for (int c = 0; c < class->columns; c++) out[c * stride] = u[c] * inverse;
}

void rg_kernel_scale_points(const RgKernel *kernel, int n, const double *X, double *A)
{
  int columns = rg_kernel_n_columns(kernel), dim = kernel->dim;

  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      if (rg_kernel_on_sphere(factor)) {
        const double stretch = rg_kernel_sphere_stretch(factor);
        for (size_t i = 0; i < (size_t)n; i++)
          rg_kernel_sphere_project(kernel, factor, stretch, X + i * dim, 1, A + i * columns);
        A += rg_kernel_factor_columns(factor);
        continue;
      }
      for (int k = 0; k < factor->n_inputs; A += rg_kernel_input_columns(factor, k++)) {
        const double *x = X + factor->inputs[k];
        size_t shift = (size_t)factor->shift;
        double inverse = rg_kernel_inverse_scale(factor, k);
        const bool plain = is_plain(factor, k);
        for (size_t i = 0; i < (size_t)n && !plain; i++)
          warp_input(kernel, factor, k, x + i * dim, 1, A + i * columns);
        if (!plain) continue;
        const int input = factor->inputs[k];
        for (size_t i = 0; i < (size_t)n && !kernel->warp; i++)
          A[i * columns] = x[i * dim] * inverse;
        for (size_t i = 0; i < (size_t)n && kernel->warp; i++)
          A[i * columns] = rg_kernel_warp_at(kernel, input, x[i * dim], NULL) * inverse;
        for (size_t i = 0; i < (size_t)n && shift; i++)
          A[i * columns] += x[i * dim + shift] * inverse;
      }
    }
  }
}

void rg_kernel_scale_tile(const RgKernel *kernel, int m, const double *Z, int width, double *B)
{
  int dim = kernel->dim;

  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      if (rg_kernel_on_sphere(factor)) {
        const double stretch = rg_kernel_sphere_stretch(factor);
        for (int j = 0; j < m; j++)
          rg_kernel_sphere_project(kernel, factor, stretch, Z + (size_t)j * dim, (size_t)width,
                                   B + j);
        for (int c = rg_kernel_factor_columns(factor); c > 0; c--, B += width)
          for (int j = m; j < width; j++) B[j] = B[m - 1];
        continue;
      }
      for (int k = 0; k < factor->n_inputs; k++) {
        const double *z = Z + factor->inputs[k];
        double inverse = rg_kernel_inverse_scale(factor, k);
        const bool plain = is_plain(factor, k);
        for (int j = 0; j < m && !plain; j++)
          warp_input(kernel, factor, k, z + (size_t)j * dim, (size_t)width, B + j);
        for (int j = 0; j < m && plain; j++)
          B[j] = rg_kernel_input(kernel, factor->inputs[k], z[(size_t)j * dim]) * inverse;
        for (int j = 0; j < m && plain && factor->shift; j++)
          B[j] += z[(size_t)j * dim + factor->shift] * inverse;
        for (int c = rg_kernel_input_columns(factor, k); c > 0; c--, B += width)
          for (int j = m; j < width; j++) B[j] = B[m - 1];
      }
    }
  }
}

static int chunk_rows(int width)
{
  return width < RG_CHUNK ? RG_CHUNK / width : 1;
}

size_t rg_kernel_tile_scratch(const RgKernel *kernel, int width)
{
  int most = 0;

  if (rg_kernel_n_factors(kernel) == 1) return 0;
  for (int t = 0; t < kernel->n_terms; t++) most = PetscMax(most, kernel->terms[t].n_factors);
  return (size_t)(most + 1) * (size_t)chunk_rows(width) * (size_t)width;
}

/* The first factor carries the variance. */
void rg_kernel_term_tile(const RgTileOps *ops, const RgKernelTerm *term, int n, const double *A,
                         int columns, const double *B, int width, double *value, double *slope,
                         size_t stride, double *scratch)
{
  size_t count = (size_t)n * (size_t)width;
  int last = term->n_factors - 1;

  for (int f = 0; f <= last; f++) {
    const RgKernelFactor *factor = &term->factors[f];
    double *out = last == 0 ? value : scratch + (size_t)f * count;
    const int own = rg_kernel_factor_columns(factor);

    ops->distances(own, n, A, columns, B, width, out);
    ops->correlations(factor->family, factor->shape, f ? 1.0 : term->variance, count, out, out,
                      slope ? slope + (size_t)f * stride : NULL);
    A += own;
    B += (size_t)own * width;
  }
  if (last == 0) return;
  memcpy(value, scratch, count * sizeof *value);
  for (int f = 1; f <= last; f++) ops->multiply(count, scratch + (size_t)f * count, value);
  for (int f = 0; slope && f <= last; f++) {
    for (int g = 0; g <= last; g++)
      if (g != f) ops->multiply(count, scratch + (size_t)g * count, slope + (size_t)f * stride);
  }
}

void rg_kernel_tile(const RgTileOps *ops, const RgKernel *kernel, int n, const double *A,
                    const double *B, int width, double *value, double *slope, size_t stride,
                    double *scratch)
{
  const int columns = rg_kernel_n_columns(kernel), most = chunk_rows(width);

  for (int i = 0; i < n; i += most) {
    const int rows = PetscMin(most, n - i);
    const size_t at = (size_t)i * (size_t)width, count = (size_t)rows * (size_t)width;
    const double *a = A + (size_t)i * columns, *b = B;
    double *d = slope ? slope + at : NULL;
    for (int t = 0; t < kernel->n_terms; t++) {
      const RgKernelTerm *term = &kernel->terms[t];
      rg_kernel_term_tile(ops, term, rows, a, columns, b, width, t ? scratch : value + at, d,
                          stride, t ? scratch + count : scratch);
      if (t) ops->add(count, scratch, value + at);
      for (int f = 0; f < term->n_factors; f++) {
        const int own = rg_kernel_factor_columns(&term->factors[f]);
        a += own;
        b += (size_t)own * width;
      }
      if (d) d += (size_t)term->n_factors * stride;
    }
  }
}

void rg_kernel_tile_gradient(const RgTileOps *ops, const RgKernel *kernel, int n, const double *A,
                             const double *B, int width, const double *w, const double *slope,
                             size_t stride, double *g)
{
  int columns = rg_kernel_n_columns(kernel);

  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      int own = rg_kernel_factor_columns(&kernel->terms[t].factors[f]);
      ops->gradient(own, n, A, columns, B, width, w, slope, g);
      A += own;
      B += own * width;
      g += own * width;
      slope += stride;
    }
  }
}

/* The derivative by x of a function with derivatives g[c * stride] by the columns of a warped
   input. */
static double warped_gradient(const RgKernel *kernel, const RgKernelFactor *factor, int input,
                              const double *x, const double *g, size_t stride)
{
  const RgKernelClass *class = rg_kernel_classes[factor->family];
  double u[RG_KERNEL_COLUMNS_MAX], du[RG_KERNEL_COLUMNS_MAX], sum = 0;

  const double at = rg_kernel_input(kernel, input, x[0]);
  class->warp(factor->shape, factor->shift ? at + x[factor->shift] : at, u, du);
  for (int c = 0; c < class->columns; c++) sum += g[c * stride] * du[c];
  return sum;
}

PetscErrorCode rg_kernel_unscale_gradient(const RgKernel *kernel, int m, const double *Z,
                                          const double *g, int width, double *G)
{
  size_t dim = (size_t)kernel->dim;

  memset(G, 0, (size_t)m * dim * sizeof *G);
  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      const RgKernelClass *class = rg_kernel_classes[factor->family];
      if (rg_kernel_on_sphere(factor)) {
        PetscCall(rg_kernel_sphere_unproject(kernel, factor, m, Z, g, (size_t)width, G));
        g += rg_kernel_factor_columns(factor) * width;
        continue;
      }
      for (int k = 0; k < factor->n_inputs; g += width * rg_kernel_input_columns(factor, k++)) {
        double scale = 2.0 * rg_kernel_inverse_scale(factor, k);
        if (rg_kernel_input_words(factor, k)) continue; /* constant within a word */
        const double *z = Z + factor->inputs[k];
        double *out = G + factor->inputs[k];

        for (size_t j = 0; j < (size_t)m; j++) {
          double slope = scale * (class->warp ? warped_gradient(kernel, factor, factor->inputs[k],
                                                                z + j * dim, g + j, (size_t)width)
                                              : g[j]);
          out[j * dim] += slope;
          if (factor->shift) out[j * dim + factor->shift] += slope;
        }
      }
    }
  }
  for (size_t i = 0; kernel->warp && i < (size_t)m * dim; i++) {
    double slope[3];
    (void)rg_kernel_warp_at(kernel, (int)(i % dim), Z[i], slope);
    G[i] *= slope[0];
  }
  return 0;
}

/* Distances are summed coordinate by coordinate, never as |x|^2 + |z|^2 - 2 x.z with dgemm. The
   latter loses half the digits of short distances (all of them for Matern-1/2, which has a
   square root there). Below some twenty inputs the exponential costs more than the distances
   anyway. */

/* Working arrays of one call. */
typedef struct {
  const RgTileOps *ops;
  int columns, width; /* width of the widest tile */
  double *A, *B, *value, *scratch;
} Work;

/* Room for n points and tiles of `rows`, at most `width` wide. */
static PetscErrorCode work_create(const RgKernel *kernel, int n, int rows, int width, Work *work)
{
  work->ops = rg_tile_ops();
  work->columns = rg_kernel_n_columns(kernel);
  work->width = width;
  return PetscMalloc4((size_t)n * work->columns, &work->A, work->width * work->columns, &work->B,
                      (size_t)rows * work->width, &work->value,
                      rg_kernel_tile_scratch(kernel, work->width), &work->scratch);
}

static PetscErrorCode work_destroy(Work *work)
{
  return PetscFree4(work->A, work->B, work->value, work->scratch);
}

/* Copies the rows of a tile to their places, `ld` apart. */
static void copy_rows(int n, int count, int width, const double *tile, size_t ld, double *K)
{
  for (int i = 0; i < n; i++, tile += width, K += ld)
    if (count == RG_TILE) memcpy(K, tile, RG_TILE * sizeof *K);
    else memcpy(K, tile, (size_t)count * sizeof *K);
}

/* The rows that are done at a time, and the width of tiles for many candidates: long pieces of
   the rows of K are written at once. */
#define ROWS 64
#define WIDE 128

PetscErrorCode rg_kernel_cross(const RgKernel *kernel, int n, const double *X, int m,
                               const double *Z, double *K)
{
  int width;
  Work work;

  if (n == 0 || m == 0) return 0;
  width = m < WIDE && n > 4 ? RG_TILE : WIDE;
  PetscCall(work_create(kernel, n, PetscMin(n, ROWS), PetscMin(rg_pad(m), width), &work));
  rg_kernel_scale_points(kernel, n, X, work.A);
  for (int j = 0; j < m; j += width) {
    int count;
    width = PetscMin(work.width, rg_pad(m - j));
    count = PetscMin(width, m - j);
    rg_kernel_scale_tile(kernel, count, Z + (size_t)j * kernel->dim, width, work.B);
    for (int i = 0; i < n; i += ROWS) {
      int rows = PetscMin(ROWS, n - i);
      rg_kernel_tile(work.ops, kernel, rows, work.A + (size_t)i * work.columns, work.B, width,
                     work.value, NULL, 0, work.scratch);
      copy_rows(rows, count, width, work.value, (size_t)m, K + (size_t)i * m + j);
    }
  }
  PetscCall(work_destroy(&work));
  return rg_kernel_add_trend(kernel, n, X, m, Z, (size_t)m, K);
}

PetscErrorCode rg_kernel_lower(const RgKernel *kernel, int n, const double *X, int ld, double *L)
{
  Work work;

  if (n == 0) return 0;
  PetscCall(work_create(kernel, n, n, RG_TILE, &work));
  rg_kernel_scale_points(kernel, n, X, work.A);
  for (int i = 0; i < n; i += RG_TILE) {
    int width = rg_tile_width(n - i), count = PetscMin(width, n - i);
    rg_kernel_scale_tile(kernel, count, X + (size_t)i * kernel->dim, width, work.B);
    rg_kernel_tile(work.ops, kernel, i + count, work.A, work.B, width, work.value, NULL, 0,
                   work.scratch);
    copy_rows(i + count, count, width, work.value, (size_t)ld, L + i);
    PetscCall(rg_kernel_add_trend(kernel, i + count, X, count, X + (size_t)i * kernel->dim,
                                  (size_t)ld, L + i));
  }
  for (int j = 0; j < n; j++)
    L[(size_t)j * ld + j] = rg_kernel_variance_at(kernel, X + (size_t)j * kernel->dim);
  return work_destroy(&work);
}

/* Copies block by block, so that both sides of the copy stay in cache. */
PetscErrorCode rg_kernel_matrix(const RgKernel *kernel, int n, const double *X, double *K)
{
  size_t ld = (size_t)n;

  PetscCall(rg_kernel_lower(kernel, n, X, n, K));
  for (int a = 0; a < n; a += RG_LANES) {
    int end = PetscMin(a + RG_LANES, n);
    for (int i = a; i < n; i++)
      for (int j = a; j < PetscMin(end, i); j++) K[i * ld + j] = K[j * ld + i];
  }
  return 0;
}

/* Copy of one tile of the weights; columns beyond m get weight 0. */
static void weights(int n, int m, int j, int width, const double *W, double *tile)
{
  int count = PetscMin(width, m - j);

  for (int i = 0; i < n; i++, tile += width) {
    const double *row = W + (size_t)i * m + j;
    for (int k = 0; k < count; k++) tile[k] = row[k];
    for (int k = count; k < width; k++) tile[k] = 0.0;
  }
}

/* The derivatives by candidates (G), or through them by hyperparameters of a sphere (theta). */
static PetscErrorCode cross_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                     const double *Z, const double *W, double *G, double *theta)
{
  size_t stride = (size_t)n * RG_TILE;
  double *slope, *tile, *g;
  Work work;

  if (m == 0) return 0;
  PetscCall(work_create(kernel, n, n, RG_TILE, &work));
  PetscCall(PetscMalloc3(stride * rg_kernel_n_factors(kernel), &slope, stride, &tile,
                         RG_TILE * work.columns, &g));
  rg_kernel_scale_points(kernel, n, X, work.A);
  for (int j = 0; j < m; j += RG_TILE) {
    int width = rg_tile_width(m - j), count = PetscMin(width, m - j);
    rg_kernel_scale_tile(kernel, count, Z + (size_t)j * kernel->dim, width, work.B);
    rg_kernel_tile(work.ops, kernel, n, work.A, work.B, width, work.value, slope, stride,
                   work.scratch);
    weights(n, m, j, width, W, tile);
    PetscCall(PetscArrayzero(g, width * work.columns));
    rg_kernel_tile_gradient(work.ops, kernel, n, work.A, work.B, width, tile, slope, stride, g);
    if (theta)
      PetscCall(
        rg_kernel_sphere_theta(kernel, count, Z + (size_t)j * kernel->dim, g, width, theta));
    else
      PetscCall(rg_kernel_unscale_gradient(kernel, count, Z + (size_t)j * kernel->dim, g, width,
                                           G + (size_t)j * kernel->dim));
  }
  PetscCall(PetscFree3(slope, tile, g));
  return work_destroy(&work);
}

PetscErrorCode rg_kernel_cross_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                        const double *Z, const double *W, double *G)
{
  PetscCall(cross_gradient(kernel, n, X, m, Z, W, G, NULL));
  return m ? rg_kernel_add_trend_gradient(kernel, n, X, m, Z, (size_t)m, W, G) : 0;
}

PetscErrorCode rg_kernel_sphere_cross(const RgKernel *kernel, int n, const double *X, int m,
                                      const double *Z, const double *W, double *theta)
{
  return cross_gradient(kernel, n, X, m, Z, W, NULL, theta);
}

/* The point with the largest rest; the first one of equal rests. */
static int largest(int n, const double *rest)
{
  int best = 0;

  for (int i = 1; i < n; i++)
    if (rest[i] > rest[best]) best = i;
  return best;
}

/* Adds column `rank` of F, from point p, and updates the rests. */
static PetscErrorCode add_column(const RgKernel *kernel, const double *X, int p, double *rest,
                                 RgKernelPivots *pivots)
{
  const int n = pivots->n, rank = pivots->rank;
  double *F = pivots->F, *column = F + (size_t)rank * n;
  const double root = sqrt(rest[p]);

  PetscCall(rg_kernel_cross(kernel, 1, X + (size_t)p * kernel->dim, n, X, column));
  if (rank > 0)
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, rank, -1.0, F, n, F + p, n, 1.0, column, 1);
  for (int i = 0; i < n; i++) {
    column[i] /= root;
    rest[i] = fmax(rest[i] - column[i] * column[i], 0.0);
  }
  for (int k = 0; k < rank; k++) column[pivots->pivot[k]] = 0.0;
  column[p] = root;
  rest[p] = 0.0;
  pivots->pivot[pivots->rank++] = p;
  return 0;
}

PetscErrorCode rg_kernel_pivots_create(const RgKernel *kernel, int n, const double *X,
                                       double tolerance, int most, RgKernelPivots *pivots)
{
  const double diagonal = rg_kernel_diagonal(kernel);
  const size_t room = (size_t)PetscMin(n, most);
  double *rest;

  *pivots = (RgKernelPivots){.n = n, .rest = 1.0};
  PetscCall(PetscMalloc3(room, &pivots->pivot, room * n, &pivots->F, room * room, &pivots->lower));
  PetscCall(PetscMalloc1(n, &rest));
  for (int i = 0; i < n; i++) rest[i] = diagonal;
  for (int p = 0; (size_t)pivots->rank < room && pivots->rest > tolerance;) {
    PetscCall(add_column(kernel, X, p, rest, pivots));
    p = largest(n, rest);
    pivots->rest = rest[p] / diagonal;
  }
  for (int k = 0; k < pivots->rank; k++)
    for (int i = 0; i < pivots->rank; i++)
      pivots->lower[(size_t)k * pivots->rank + i] = pivots->F[(size_t)k * n + pivots->pivot[i]];
  return PetscFree(rest);
}

PetscErrorCode rg_kernel_pivots_destroy(RgKernelPivots *pivots)
{
  return PetscFree3(pivots->pivot, pivots->F, pivots->lower);
}
