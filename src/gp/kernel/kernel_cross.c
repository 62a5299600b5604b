/* Kernel matrices and their gradients with respect to the points, tile by tile. */
#include "gp/kernel/kernel_internal.h"

#include <string.h>

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
  PetscFunctionBeginUser;
  work->ops = rg_tile_ops();
  work->columns = rg_kernel_n_columns(kernel);
  work->width = width;
  PetscCall(PetscMalloc4((size_t)n * work->columns, &work->A, work->width * work->columns, &work->B,
                         (size_t)rows * work->width, &work->value,
                         rg_kernel_tile_scratch(kernel, work->width), &work->scratch));
  PetscFunctionReturn(0);
}

static PetscErrorCode work_destroy(Work *work)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(work->A, work->B, work->value, work->scratch));
  PetscFunctionReturn(0);
}

/* Copies the rows of a tile to their places, `ld` apart. */
static void copy_rows(int n, int count, int width, const double *tile, size_t ld, double *K)
{
  for (int i = 0; i < n; i++, tile += width, K += ld) {
    if (count == RG_TILE) memcpy(K, tile, RG_TILE * sizeof *K);
    else memcpy(K, tile, (size_t)count * sizeof *K);
  }
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

  PetscFunctionBeginUser;
  if (n == 0 || m == 0) PetscFunctionReturn(0);
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
  PetscCall(rg_kernel_add_trend(kernel, n, X, m, Z, (size_t)m, K));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_lower(const RgKernel *kernel, int n, const double *X, int ld, double *L)
{
  Work work;

  PetscFunctionBeginUser;
  if (n == 0) PetscFunctionReturn(0);
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
  PetscCall(work_destroy(&work));
  PetscFunctionReturn(0);
}

/* Copies block by block, so that both sides of the copy stay in cache. */
PetscErrorCode rg_kernel_matrix(const RgKernel *kernel, int n, const double *X, double *K)
{
  size_t ld = (size_t)n;

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_lower(kernel, n, X, n, K));
  for (int a = 0; a < n; a += RG_LANES) {
    int end = PetscMin(a + RG_LANES, n);

    for (int i = a; i < n; i++) {
      for (int j = a; j < PetscMin(end, i); j++) K[i * ld + j] = K[j * ld + i];
    }
  }
  PetscFunctionReturn(0);
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

PetscErrorCode rg_kernel_cross_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                        const double *Z, const double *W, double *G)
{
  size_t stride = (size_t)n * RG_TILE;
  double *slope, *tile, *g;
  Work work;

  PetscFunctionBeginUser;
  if (m == 0) PetscFunctionReturn(0);
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
    rg_kernel_unscale_gradient(kernel, count, Z + (size_t)j * kernel->dim, g, width,
                               G + (size_t)j * kernel->dim);
  }
  PetscCall(PetscFree3(slope, tile, g));
  PetscCall(rg_kernel_add_trend_gradient(kernel, n, X, m, Z, (size_t)m, W, G));
  PetscCall(work_destroy(&work));
  PetscFunctionReturn(0);
}
