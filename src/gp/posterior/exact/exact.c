/* The exact back end: predict, factor, grow, solve. */
#include "gp/posterior/exact/exact.h"
#include "base/grow.h"
#include "base/poll.h"
#include "gp/kernel/kernel_internal.h"
#include "maths/blas.h"

#include <math.h>
#include <string.h>

int rg_factor_cholesky(int n, double *A, int ld)
{
  const RgTileOps *ops = rg_tile_ops();

  if (n <= ops->largest) return ops->cholesky(n, A, (size_t)ld);
  return (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, ld);
}

void rg_factor_invert(int n, const double *L, int ld, double *X)
{
  const RgTileOps *ops = rg_tile_ops();
  size_t padded = (size_t)rg_pad(n), stride = (size_t)ld, size = (size_t)n;

  if (n <= ops->largest) {
    ops->invert(n, L, stride, X);
    return;
  }
  for (size_t j = 0; j < padded; j++) {
    memset(X + j * stride, 0, padded * sizeof *X);
    if (j < size) memcpy(X + j * stride + j, L + j * stride + j, (size - j) * sizeof *X);
  }
  LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', n, X, ld);
}

PetscErrorCode rg_factor_inverse_product(int n, const double *X, int ld, double *P)
{
  const RgTileOps *ops = rg_tile_ops();
  int padded = rg_pad(n);
  size_t stride = (size_t)ld;
  double *tile;

  PetscCall(PetscMalloc1((size_t)padded * RG_TILE, &tile));
  for (int j = 0; j < n; j += RG_TILE) {
    int width = rg_tile_width(n - j), count = PetscMin(width, n - j), rows = padded - j;
    const double *corner = X + j * stride + j;
    for (int c = 0; c < width; c++)
      for (int i = 0; i < rows; i++) tile[i * width + c] = corner[c * stride + i];
    ops->upper(rows, corner, stride, width, tile);
    for (int i = 0; i < n - j; i++)
      memcpy(P + (size_t)(j + i) * n + j, tile + (size_t)i * width, (size_t)count * sizeof *P);
  }
  return PetscFree(tile);
}

PetscErrorCode rg_cross_covariance_create(const RgPosterior *posterior, int p, const double *X,
                                          RgCrossCovariance *cross)
{
  int n = posterior->n, dim = posterior->kernel.dim;
  double *weights;

  PetscCall(PetscMemzero(cross, sizeof *cross));
  cross->kernel = &posterior->kernel;
  cross->centres = n + p;
  cross->p = p;
  PetscCall(
    PetscMalloc2((size_t)(n + p) * dim, &cross->points, (size_t)(n + p) * p, &cross->weights));
  PetscCall(PetscArraycpy(cross->points, posterior->X, (size_t)n * dim));
  PetscCall(PetscArraycpy(cross->points + (size_t)n * dim, X, (size_t)p * dim));
  weights = cross->weights;
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, p, X, weights));
  PetscCall(rg_posterior_solve_many(posterior, p, weights));
  for (size_t i = 0; i < (size_t)n * (size_t)p; i++) weights[i] = -weights[i];
  PetscCall(PetscArrayzero(weights + (size_t)n * p, (size_t)p * p));
  for (int s = 0; s < p; s++) weights[(size_t)(n + s) * p + s] = 1.0;
  return 0;
}

PetscErrorCode rg_cross_covariance_destroy(RgCrossCovariance *cross)
{
  PetscCall(PetscFree2(cross->points, cross->weights));
  PetscCall(PetscFree(cross->work));
  return PetscMemzero(cross, sizeof *cross);
}

/* C = weights' K, K (centres x m) the kernel between centres and candidates. */
PetscErrorCode rg_cross_covariance_evaluate(RgCrossCovariance *cross, int m, const double *Z,
                                            double *C)
{
  const size_t size = (size_t)cross->centres * m;

  PetscCall(rg_room(size, size, &cross->room, &cross->work));
  PetscCall(rg_kernel_cross(cross->kernel, cross->centres, cross->points, m, Z, cross->work));
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, cross->p, m, cross->centres, 1.0,
              cross->weights, cross->p, cross->work, m, 0.0, C, m);
  return 0;
}

PetscErrorCode rg_cross_covariance_gradient(RgCrossCovariance *cross, int m, const double *Z,
                                            const double *C_bar, double *G)
{
  size_t size = (size_t)cross->centres * m, entries = (size_t)m * cross->kernel->dim;
  double *W, *add;

  PetscCall(rg_room(size + entries, size + entries, &cross->room, &cross->work));
  W = cross->work;
  add = W + size;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, cross->centres, m, cross->p, 1.0,
              cross->weights, cross->p, C_bar, m, 0.0, W, m);
  PetscCall(rg_kernel_cross_gradient(cross->kernel, cross->centres, cross->points, m, Z, W, add));
  for (size_t i = 0; i < entries; i++) G[i] += add[i];
  return 0;
}

/* Row n of the inverse from row n of the factor, (l', d): r' L = -l'/d. Solving with L, rather
   than multiplying by the inverse so far, keeps the error at that of a solve (see invert in
   tiles_body.h). */
static void append_inverse_row(RgPosterior *posterior, int n)
{
  size_t ld = (size_t)posterior->capacity;
  const double *L = posterior->L;
  double *X = posterior->inverse, *row = posterior->row;
  double inverse = 1.0 / L[n * ld + n];

  const size_t end = (size_t)(n + RG_LANES); /* of the padding that joins with this row */
  for (size_t j = 0; n % RG_LANES == 0 && j < end; j++)
    for (size_t i = j < (size_t)n ? (size_t)n : 0; i < end; i++) X[j * ld + i] = 0.0;
  for (int j = 0; j < n; j++) row[j] = -inverse * L[j * ld + n];
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, L, (int)ld, row, 1);
  for (int j = 0; j < n; j++) X[j * ld + n] = row[j];
  X[n * ld + n] = inverse;
}

PetscErrorCode rg_exact_invert(RgPosterior *posterior)
{
  size_t ld = (size_t)posterior->capacity;

  PetscCheck(rg_posterior_has_factor(posterior), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The %s posterior has no factor to invert here", posterior->ops->name);
  if (!posterior->inverse) {
    PetscCall(PetscMalloc1(ld * ld, &posterior->inverse));
    posterior->n_inverse = 0;
  }
  /* One row costs n^2; all rows together cost n^3/3 and run several times faster. */
  if (posterior->n - posterior->n_inverse > PetscMax(4, posterior->n / 16)) {
    rg_factor_invert(posterior->n, posterior->L, posterior->capacity, posterior->inverse);
    posterior->n_inverse = posterior->n;
  }
  for (; posterior->n_inverse < posterior->n; posterior->n_inverse++)
    append_inverse_row(posterior, posterior->n_inverse);
  return 0;
}

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
  return 0;
}

/* V of one tile, and the slopes if a gradient may follow. */
static PetscErrorCode fill_tile(const RgPosterior *posterior, const RgTileOps *ops, const double *Z,
                                bool slopes, const Tile *tile, RgPrediction *work)
{
  int n = work->n, dim = posterior->kernel.dim, rows = rg_pad(n);
  double *V = work->V + tile->at;

  Z += (size_t)tile->first * dim;
  rg_kernel_scale_tile(&posterior->kernel, tile->count, Z, tile->width, work->B);
  rg_kernel_tile(ops, &posterior->kernel, n, work->A, work->B, tile->width, V,
                 slopes ? work->slope + tile->at : NULL, slope_stride(work), work->scratch);
  PetscCall(rg_kernel_add_trend(&posterior->kernel, n, posterior->X, tile->count, Z,
                                (size_t)tile->width, V));
  for (int i = n * tile->width; i < rows * tile->width; i++) V[i] = 0.0;
  if (work->has_variance)
    ops->lower(rows, posterior->inverse, (size_t)posterior->capacity, tile->width, V);
  return 0;
}

/* Prediction, its gradient, its selection, and covariances, as in RgPosteriorOps. */
static PetscErrorCode exact_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                    double *variance, RgPrediction *work)
{
  const RgTileOps *ops = rg_tile_ops();
  const size_t dim = (size_t)posterior->kernel.dim;
  double sum[RG_TILE], squares[RG_TILE];

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
  return 0;
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

static void exact_select(const RgPosterior *posterior, int count, const int *which,
                         RgPrediction *work)
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

static PetscErrorCode exact_gradient(RgPosterior *posterior, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar,
                                     RgPrediction *work, double *G)
{
  const RgTileOps *ops = rg_tile_ops();
  const RgKernel *kernel = &posterior->kernel;
  int columns = rg_kernel_n_columns(kernel), dim = kernel->dim;

  if (!variance_bar) rg_exact_solve(posterior);
  for (int j = 0; j < m; j += RG_TILE) {
    Tile tile = tile_at(work, j);
    if (work->kept)
      rg_kernel_scale_tile(kernel, tile.count, Z + (size_t)j * dim, tile.width, work->B);
    else PetscCall(fill_tile(posterior, ops, Z, true, &tile, work));
    weigh_tile(posterior, ops, &tile, mean_bar, variance_bar, work);
    PetscCall(PetscArrayzero(work->g, tile.width * columns));
    rg_kernel_tile_gradient(ops, kernel, work->n, work->A, work->B, tile.width, work->U,
                            work->slope + tile.at, slope_stride(work), work->g);
    PetscCall(rg_kernel_unscale_gradient(kernel, tile.count, Z + (size_t)j * dim, work->g,
                                         tile.width, G + (size_t)j * dim));
    PetscCall(rg_kernel_add_trend_gradient(kernel, work->n, posterior->X, tile.count,
                                           Z + (size_t)j * dim, (size_t)tile.width, work->U,
                                           G + (size_t)j * dim));
    for (int k = 0; variance_bar && k < tile.count; k++)
      rg_kernel_add_variance_gradient(kernel, variance_bar[j + k], Z + (size_t)(j + k) * dim,
                                      G + (size_t)(j + k) * dim);
  }
  return 0;
}

/* ---- room ---------------------------------------------------------------------------------- */

/* Move the n rows into arrays of the current capacity. */
static PetscErrorCode grow(RgPosterior *posterior, size_t n, size_t old)
{
  const size_t size = (size_t)posterior->capacity;
  double *L;

  PetscCall(PetscRealloc(size * sizeof(double), &posterior->beta));
  PetscCall(PetscRealloc(size * sizeof(double), &posterior->alpha));
  PetscCall(PetscRealloc(size * sizeof(double), &posterior->row));
  PetscCall(PetscMalloc1(size * size, &L));
  for (size_t j = 0; j < n; j++)
    PetscCall(PetscArraycpy(L + j * size + j, posterior->L + j * old + j, n - j));
  PetscCall(PetscFree(posterior->L));
  PetscCall(PetscFree(posterior->inverse));
  posterior->L = L;
  posterior->n_inverse = 0;
  return 0;
}

static PetscErrorCode exact_open(RgPosterior *posterior, int n)
{
  PetscCall(grow(posterior, 0, 0));
  posterior->alpha_valid = false;
  return 0;
}

static PetscErrorCode exact_close(RgPosterior *posterior)
{
  PetscCall(RG_FREE(&posterior->L, &posterior->beta, &posterior->alpha, &posterior->row,
                    &posterior->inverse));
  posterior->n_inverse = 0;
  return 0;
}

static PetscErrorCode exact_reserve(RgPosterior *posterior, int old)
{
  return grow(posterior, (size_t)posterior->n, (size_t)old);
}

/* ---- the factor ---------------------------------------------------------------------------- */

/* A squared pivot this small is rounding error: the datum repeats what the others determine
   exactly. */
static double smallest_pivot(const RgPosterior *posterior)
{
  return posterior->n * PETSC_MACHINE_EPSILON * rg_kernel_largest_variance(&posterior->kernel);
}

/* Factor K + (noise + jitter) I of the data from scratch, with jitter growing from `jitter` until
   every pivot is sound. */
static PetscErrorCode factor(RgPosterior *posterior, double jitter, RgFailure *failure)
{
  const int n = posterior->n, ld = posterior->capacity;
  const size_t stride = (size_t)ld + 1;
  const double limit = smallest_pivot(posterior);
  double *L = posterior->L;
  bool good;

  do {
    PetscCall(rg_kernel_lower(&posterior->kernel, n, posterior->X, ld, L));
    for (int i = 0; i < n; i++) L[i * stride] += posterior->noise_variance + jitter;
    good = rg_factor_cholesky(n, L, ld) == 0;
    for (int i = 0; good && i < n; i++)
      good = L[i * stride] * L[i * stride] > limit; /* also false for NaN */
  } while (!good && rg_kernel_more_jitter(&posterior->kernel, n, &jitter, failure));
  if (!good) posterior->n = 0;
  posterior->jitter = jitter;
  posterior->n_inverse = 0;
  posterior->alpha_valid = false;
  return 0;
}

/* beta = L^-1 (y - mean) */
static void whiten_outputs(RgPosterior *posterior)
{
  int n = posterior->n;

  for (int i = 0; i < n; i++) posterior->beta[i] = posterior->y[i] - posterior->mean;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, posterior->L,
              posterior->capacity, posterior->beta, 1);
  posterior->alpha_valid = false;
}

static PetscErrorCode exact_reset(RgPosterior *posterior, const RgObservations *data,
                                  RgFailure *failure)
{
  PetscCall(factor(posterior, 0.0, failure));
  whiten_outputs(posterior);
  return 0;
}

/* Compute row n of the factor and of beta from datum n. *good: its pivot is sound; else nothing
   changes but the scratch. */
static PetscErrorCode append_row(RgPosterior *posterior, int n, bool *good)
{
  const int ld = posterior->capacity;
  const double *x = posterior->X + (size_t)n * posterior->kernel.dim;
  double *row = posterior->row, square;

  PetscCall(rg_kernel_cross(&posterior->kernel, 1, x, n, posterior->X, row));
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, posterior->L, ld, row, 1);
  square = rg_kernel_variance_at(&posterior->kernel, x) + posterior->noise_variance +
           posterior->jitter - cblas_ddot(n, row, 1, row, 1);
  posterior->n = n + 1;
  *good = square > smallest_pivot(posterior);
  if (*good) {
    const double pivot = sqrt(square), r = posterior->y[n] - posterior->mean;
    for (int j = 0; j < n; j++) posterior->L[(size_t)j * ld + n] = row[j];
    posterior->L[(size_t)n * ld + n] = pivot;
    posterior->beta[n] = (r - cblas_ddot(n, row, 1, posterior->beta, 1)) / pivot;
    posterior->alpha_valid = false;
  }
  return 0;
}

/* One datum at a time. If its pivot fails, refactor everything with jitter. */
static PetscErrorCode exact_extend(RgPosterior *posterior, const RgObservations *data,
                                   RgFailure *failure)
{
  const int n = posterior->n;

  for (int i = n - data->n; i < n && !failure->failed; i++) {
    bool good;
    PetscCall(append_row(posterior, i, &good));
    if (good) continue;
    PetscCall(factor(posterior, posterior->jitter, failure));
    whiten_outputs(posterior);
  }
  return 0;
}

static PetscErrorCode exact_set_outputs(RgPosterior *posterior)
{
  whiten_outputs(posterior);
  return 0;
}

/* ---- pending points ------------------------------------------------------------------------ */

static PetscErrorCode exact_keep(RgPosterior *posterior)
{
  posterior->n_inverse_told = posterior->n_inverse;
  return 0;
}

static PetscErrorCode exact_pend_one(RgPosterior *posterior)
{
  const int n = posterior->n;
  bool good;

  PetscCall(append_row(posterior, n, &good));
  posterior->n = n + good;
  return 0;
}

/* Rows of the factor stay as they are; those of the inverse are dropped with the padding that they
   filled. */
static PetscErrorCode exact_restore(RgPosterior *posterior)
{
  const size_t ld = (size_t)posterior->capacity;
  const size_t n = (size_t)PetscMin(posterior->n_inverse, posterior->n_inverse_told);
  const size_t padded = (size_t)rg_pad((int)n);

  for (size_t j = 0; posterior->inverse && j < padded; j++)
    for (size_t i = j < n ? n : 0; i < padded; i++) posterior->inverse[j * ld + i] = 0.0;
  posterior->n_inverse = (int)n;
  posterior->alpha_valid = false;
  return 0;
}

/* ---- solves -------------------------------------------------------------------------------- */

void rg_exact_solve(RgPosterior *posterior)
{
  int n = posterior->n;

  if (posterior->alpha_valid) return;
  cblas_dcopy(n, posterior->beta, 1, posterior->alpha, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, posterior->L,
              posterior->capacity, posterior->alpha, 1);
  posterior->alpha_valid = true;
}

static PetscErrorCode exact_whiten(const RgPosterior *posterior, int m, double *B)
{
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, posterior->n, 1.0,
              posterior->L, posterior->capacity, B, m);
  return 0;
}

static PetscErrorCode exact_solve_many(const RgPosterior *posterior, int m, double *B)
{
  PetscCall(exact_whiten(posterior, m, B));
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, m, posterior->n,
              1.0, posterior->L, posterior->capacity, B, m);
  return 0;
}

const RgPosteriorOps rg_exact_ops = {
  .name = "exact",
  .open = exact_open,
  .close = exact_close,
  .reserve = exact_reserve,
  .reset = exact_reset,
  .extend = exact_extend,
  .set_outputs = exact_set_outputs,
  .solve_many = exact_solve_many,
  .predict = exact_predict,
  .gradient = exact_gradient,
  .whiten = exact_whiten,
  .select = exact_select,
  .keep = exact_keep,
  .pend_one = exact_pend_one,
  .restore = exact_restore,
};
