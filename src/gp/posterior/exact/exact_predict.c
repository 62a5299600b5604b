/* Batched prediction by the exact back end: tiles of candidates against the inverted factor. */
#include "gp/kernel/kernel_internal.h"
#include "base/poll.h"
#include "gp/posterior/exact/exact.h"
#include "maths/blas.h"

#include <string.h>

/* A prediction larger than this (doubles) keeps nothing for its gradient, which then recomputes
   it. */
#define MOST_KEPT ((size_t)1 << 22)

/* One tile of candidates. */
typedef struct {
  int first, count, width;
  size_t at; /* offset of the tile in V and in each slope */
} Tile;

static Tile tile_at(const RgPrediction *work, int first)
{
  int width = rg_tile_width(work->m - first);

  return (Tile){.first = first,
                .count = PetscMin(width, work->m - first),
                .width = width,
                .at = work->kept ? (size_t)first * (size_t)rg_pad(work->n) : 0};
}

/* Distance between the slopes of two factors. */
static size_t slope_stride(const RgPrediction *work)
{
  return (size_t)rg_pad(work->n) * (size_t)(work->kept ? rg_pad(work->m) : RG_TILE);
}

/* Lay out the arrays for n data and m candidates. */
static PetscErrorCode prediction_begin(const RgPosterior *posterior, int m, RgPrediction *work)
{
  const RgKernel *kernel = &posterior->kernel;
  size_t columns = (size_t)rg_kernel_n_columns(kernel);
  size_t factors = (size_t)rg_kernel_n_factors(kernel), rows = (size_t)rg_pad(posterior->n), tiles;
  size_t size[7], total = 0;
  double **array[] = {&work->V, &work->slope, &work->U,      &work->A,
                      &work->B, &work->g,     &work->scratch};

  PetscFunctionBeginUser;
  work->kept = !work->values_only && rows * (size_t)rg_pad(m) * (1 + factors) <= MOST_KEPT;
  tiles = (size_t)(work->kept ? rg_pad(m) : RG_TILE);
  size[0] = rows * tiles;
  size[1] = factors * rows * tiles;
  size[2] = rows * RG_TILE;
  size[3] = rows * columns;
  size[4] = RG_TILE * columns;
  size[5] = RG_TILE * columns;
  size[6] = rg_kernel_tile_scratch(kernel, RG_TILE);
  for (int a = 0; a < 7; a++) total += size[a] = (size[a] + 7) / 8 * 8;
  if (total + 8 > work->capacity) {
    PetscCall(PetscFree(work->memory));
    work->capacity = total + total / 2 + 8;
    PetscCall(PetscMalloc1(work->capacity, &work->memory));
  }
  *array[0] = rg_align(work->memory);
  for (int a = 1; a < 7; a++) *array[a] = *array[a - 1] + size[a - 1];
  PetscFunctionReturn(0);
}

/* V of one tile, and the slopes if a gradient may follow. */
static PetscErrorCode fill_tile(const RgPosterior *posterior, const RgTileOps *ops, const double *Z,
                                bool slopes, const Tile *tile, RgPrediction *work)
{
  int n = work->n, dim = posterior->kernel.dim, rows = rg_pad(n);
  double *V = work->V + tile->at;

  PetscFunctionBeginUser;
  Z += (size_t)tile->first * dim;
  rg_kernel_scale_tile(&posterior->kernel, tile->count, Z, tile->width, work->B);
  rg_kernel_tile(ops, &posterior->kernel, n, work->A, work->B, tile->width, V,
                 slopes ? work->slope + tile->at : NULL, slope_stride(work), work->scratch);
  PetscCall(rg_kernel_add_trend(&posterior->kernel, n, posterior->X, tile->count, Z,
                                (size_t)tile->width, V));
  for (int i = n * tile->width; i < rows * tile->width; i++) V[i] = 0.0;
  if (work->has_variance) {
    ops->lower(rows, posterior->inverse, (size_t)posterior->capacity, tile->width, V);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_exact_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                double *variance, RgPrediction *work)
{
  const RgTileOps *ops = rg_tile_ops();
  const size_t dim = (size_t)posterior->kernel.dim;
  double sum[RG_TILE], squares[RG_TILE];

  PetscFunctionBeginUser;
  PetscCall(prediction_begin(posterior, m, work));
  if (variance) PetscCall(rg_exact_invert(posterior));
  else rg_exact_solve(posterior);
  rg_kernel_scale_points(&posterior->kernel, posterior->n, posterior->X, work->A);
  for (int j = 0; j < m; j += RG_TILE) {
    Tile tile = tile_at(work, j);

    if (j % RG_POLL_POINTS == 0) PetscCall(rg_poll());
    PetscCall(fill_tile(posterior, ops, Z, work->kept, &tile, work));
    ops->summarise(work->n, tile.width, variance ? posterior->beta : posterior->alpha,
                   work->V + tile.at, sum, squares);
    for (int k = 0; k < tile.count; k++) {
      mean[j + k] = posterior->mean + sum[k];
      if (variance) {
        const double prior = rg_kernel_variance_at(&posterior->kernel, Z + (j + k) * dim);
        variance[j + k] = PetscMax(prior - squares[k], 0.0);
      }
    }
  }
  PetscFunctionReturn(0);
}

/* Move the columns `which` from tiles for m points to tiles for `count` points. Each tile is
   gathered before it is written, to a place whose columns are no longer needed. */
static void select_columns(size_t rows, const int *which, const RgPrediction *was,
                           const RgPrediction *work, const double *from, double *to)
{
  for (int first = 0; first < work->m; first += RG_TILE) {
    const Tile tile = tile_at(work, first);

    for (int k = 0; k < tile.width; k++) {
      const int j = which[first + PetscMin(k, tile.count - 1)];
      const Tile source = tile_at(was, j - j % RG_TILE);
      const double *column = from + source.at + j % RG_TILE;

      for (size_t i = 0; i < rows; i++) work->U[i * tile.width + k] = column[i * source.width];
    }
    memcpy(to + tile.at, work->U, rows * tile.width * sizeof *to);
  }
}

void rg_exact_select(const RgPosterior *posterior, int count, const int *which, RgPrediction *work)
{
  const size_t rows = (size_t)rg_pad(work->n);
  const int factors = rg_kernel_n_factors(&posterior->kernel);
  const RgPrediction was = *work;

  work->m = count;
  select_columns(rows, which, &was, work, work->V, work->V);
  for (int f = 0; f < factors; f++)
    select_columns(rows, which, &was, work, work->slope + f * slope_stride(&was),
                   work->slope + f * slope_stride(work));
}

/* U of one tile, so that the gradient is sum_i U_ij dk(x_i, z_j)/dz_j. With V = L^-1 K this is
   L^-T (beta mean_bar' - 2 V variance_bar). */
static void weigh_tile(const RgPosterior *posterior, const RgTileOps *ops, const Tile *tile,
                       const double *mean_bar, const double *variance_bar, RgPrediction *work)
{
  int n = work->n, rows = rg_pad(n);
  bool both = variance_bar != NULL;
  const double *V = work->V + tile->at;
  double p[RG_TILE] = {0}, q[RG_TILE] = {0};

  for (int k = 0; k < tile->count; k++) {
    p[k] = mean_bar[tile->first + k];
    if (both) q[k] = -2.0 * variance_bar[tile->first + k];
  }
  ops->combine(n, tile->width, both ? posterior->beta : posterior->alpha, p, V, q, work->U);
  if (!both) return;
  for (int i = n * tile->width; i < rows * tile->width; i++) work->U[i] = 0.0;
  ops->upper(rows, posterior->inverse, (size_t)posterior->capacity, tile->width, work->U);
}

PetscErrorCode rg_exact_gradient(RgPosterior *posterior, int m, const double *Z,
                                 const double *mean_bar, const double *variance_bar,
                                 RgPrediction *work, double *G)
{
  const RgTileOps *ops = rg_tile_ops();
  const RgKernel *kernel = &posterior->kernel;
  int columns = rg_kernel_n_columns(kernel), dim = kernel->dim;

  PetscFunctionBeginUser;
  if (!variance_bar) rg_exact_solve(posterior);
  for (int j = 0; j < m; j += RG_TILE) {
    Tile tile = tile_at(work, j);

    if (work->kept) {
      rg_kernel_scale_tile(kernel, tile.count, Z + (size_t)j * dim, tile.width, work->B);
    } else {
      PetscCall(fill_tile(posterior, ops, Z, true, &tile, work));
    }
    weigh_tile(posterior, ops, &tile, mean_bar, variance_bar, work);
    PetscCall(PetscArrayzero(work->g, tile.width * columns));
    rg_kernel_tile_gradient(ops, kernel, work->n, work->A, work->B, tile.width, work->U,
                            work->slope + tile.at, slope_stride(work), work->g);
    rg_kernel_unscale_gradient(kernel, tile.count, Z + (size_t)j * dim, work->g, tile.width,
                               G + (size_t)j * dim);
    PetscCall(rg_kernel_add_trend_gradient(kernel, work->n, posterior->X, tile.count,
                                           Z + (size_t)j * dim, (size_t)tile.width, work->U,
                                           G + (size_t)j * dim));
    for (int k = 0; variance_bar && k < tile.count; k++)
      rg_kernel_add_variance_gradient(kernel, variance_bar[j + k], Z + (size_t)(j + k) * dim,
                                      G + (size_t)(j + k) * dim);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_exact_covariance(RgPosterior *posterior, int a, const double *A, int b,
                                   const double *B, double *C)
{
  int n = posterior->n, ld = posterior->capacity;
  double *V, *W;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((size_t)n * a, &V, (size_t)n * b, &W));
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, a, A, V));
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, b, B, W));
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, a, n, 1.0,
              posterior->L, ld, V, a);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, b, n, 1.0,
              posterior->L, ld, W, b);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, b, a, n, -1.0, W, b, V, a, 1.0, C, b);
  PetscCall(PetscFree2(V, W));
  PetscFunctionReturn(0);
}
