/* The distributed posterior: its lifetime and its data. */
#include "base/grow.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/team/distributed.h"
#include "gp/team/distributed_matrix.h"
#include "maths/blas.h"

#include <math.h>
#include <string.h>

struct RgDistributed {
  RgGrid grid;
  RgKernel kernel;
  double noise_variance, mean, jitter;
  int n, capacity;
  double *X, *y, *beta, *alpha; /* capacity (X: times dim), the same on every rank */
  bool alpha_valid;
  int n_told;      /* number of data before the pending ones */
  RgBlockMatrix L; /* capacity x capacity */
  RgBlockMatrix V; /* n x batch: L^-1 k(x_i, z_j) of the last batch */
  int n_kept, m_kept, kept_capacity;
  double *Z_kept; /* the points of the last batch */
};

static const double log_2pi = 1.83787706640934548356065947281;

/* ---- likelihood ---------------------------------------------------------------------------- */

/* alpha (n) = (K + v I)^-1 (y - mean), the mean by generalised least squares if it is learned. */
static PetscErrorCode weights_of_outputs(const RgBlockMatrix *factor, bool learn_mean, int n,
                                         const double *y, double *mean, double *alpha)
{
  double *B, wy = 0.0, w1 = 0.0;

  if (!learn_mean) {
    for (int i = 0; i < n; i++) alpha[i] = y[i] - *mean;
    return rg_block_matrix_solve_all(factor, true, true, n, 1, alpha);
  }
  PetscCall(PetscMalloc1(2 * (size_t)n, &B));
  for (int i = 0; i < n; i++) {
    B[2 * i] = y[i];
    B[2 * i + 1] = 1.0;
  }
  PetscCall(rg_block_matrix_solve_all(factor, true, true, n, 2, B));
  for (int i = 0; i < n; i++) {
    wy += B[2 * i];
    w1 += B[2 * i + 1];
  }
  *mean = wy / w1;
  for (int i = 0; i < n; i++) alpha[i] = B[2 * i] - *mean * B[2 * i + 1];
  return PetscFree(B);
}

/* weight (width x height): alpha alpha' - K^-1 at a block of columns from g on, twice below the
   diagonal, nothing above it; *trace += its diagonal. */
static void weigh_block(const RgBlockMatrix *inverse, int top, int column, int g, int width,
                        const double *alpha, double *weight, double *trace)
{
  const int height = inverse->local_rows - top;
  for (int c = 0; c < width; c++) {
    const double *entry = inverse->a + (size_t)(column + c) * inverse->ld + top;
    double *out = weight + (size_t)c * height;
    for (int r = 0; r < height; r++) {
      const int row = rg_block_global_row(inverse, top + r);
      const double value = alpha[row] * alpha[g + c] - entry[r];
      out[r] = row > g + c ? 2.0 * value : row == g + c ? value : 0.0;
      if (row == g + c) *trace += value;
    }
  }
}

/* gradient (theta_size + 1): sum of A_ij dK_ij/dtheta and the trace of A, this rank's part. */
static PetscErrorCode contract_gradient(const RgKernel *kernel, const RgBlockMatrix *inverse, int n,
                                        const double *X, const double *alpha, double *gradient)
{
  const int dim = kernel->dim, size = rg_kernel_theta_size(kernel), block = inverse->column_block;
  const int columns = rg_block_column(inverse, n);
  const int rows = inverse->local_rows;
  double *points, *weight, *part;

  PetscCall(PetscMalloc3((size_t)rows * dim, &points, (size_t)rows * block, &weight, size, &part));
  rg_block_matrix_rows(inverse, 0, n, dim, X, points);
  for (int j = 0; j < columns; j += block) {
    const int g = rg_block_global_column(inverse, j);
    const int width = PetscMin(block, n - g);
    const int top = rg_block_row(inverse, g);
    if (top == rows) continue;
    weigh_block(inverse, top, j, g, width, alpha, weight, &gradient[size]);
    PetscCall(rg_kernel_theta_cross(kernel, width, X + (size_t)g * dim, rows - top,
                                    points + (size_t)top * dim, weight, part));
    for (int p = 0; p < size; p++) gradient[p] += part[p];
  }
  return PetscFree3(points, weight, part);
}

/* The value. Leaves the factor in `matrix` and (K + noise I)^-1 (y - mean) in alpha; neither is
   set where the factorisation fails. */
static PetscErrorCode likelihood(const RgKernel *kernel, double noise_variance, bool learn_mean,
                                 double *mean, const RgData *data, RgBlockMatrix *matrix,
                                 double *alpha, double *value)
{
  const int n = data->n;
  const double smallest = n * PETSC_MACHINE_EPSILON * rg_kernel_diagonal(kernel);
  double log_det, fit = 0.0;
  bool good;

  PetscCall(rg_block_matrix_kernel(kernel, 0, n, data->X, noise_variance, matrix));
  PetscCall(rg_block_matrix_cholesky(0, n, smallest, matrix, &good, &log_det));
  if (!good) return 0;
  PetscCall(weights_of_outputs(matrix, learn_mean, n, data->y, mean, alpha));
  for (int i = 0; i < n; i++) fit += (data->y[i] - *mean) * alpha[i];
  const double sum = -0.5 * (fit + log_det + n * log_2pi);
  if (isfinite(sum)) *value = sum;
  return 0;
}

PetscErrorCode rg_distributed_objective(const RgSpread *spread, const RgKernel *kernel,
                                        double noise_variance, bool learn_mean, double *mean,
                                        const RgData *data, double *value, double *gradient)
{
  const int n = data->n, size = rg_kernel_theta_size(kernel);
  RgGrid grid;
  RgBlockMatrix matrix;
  double *alpha;

  *value = -INFINITY;
  PetscCall(rg_grid_create(spread->comm, spread->block, &grid));
  PetscCall(rg_block_matrix_create(&grid, n, n, grid.block, grid.block, &matrix));
  PetscCall(PetscMalloc1(n, &alpha));
  PetscCall(likelihood(kernel, noise_variance, learn_mean, mean, data, &matrix, alpha, value));
  if (gradient && isfinite(*value)) {
    PetscCall(rg_block_matrix_invert(n, &matrix));
    PetscCall(PetscArrayzero(gradient, size + 1));
    PetscCall(contract_gradient(kernel, &matrix, n, data->X, alpha, gradient));
    PetscCall(rg_grid_sum(&grid, (size_t)size + 1, gradient));
    for (int p = 0; p < size; p++) gradient[p] *= 0.5;
    gradient[size] *= 0.5 * noise_variance;
  }
  PetscCall(PetscFree(alpha));
  PetscCall(rg_block_matrix_destroy(&matrix));
  return rg_grid_destroy(&grid);
}

/* ---- sample paths -------------------------------------------------------------------------- */

/* f = L z: every rank adds its entries on and below the diagonal, column by column. */
static PetscErrorCode multiply(const RgBlockMatrix *L, int n, const double *z, double *f)
{
  const RgGrid *grid = L->grid;
  const int rows = rg_block_row(L, n);
  const int columns = rg_block_column(L, n);
  double *sums;

  PetscCall(PetscCalloc1(PetscMax(rows, 1), &sums));
  for (int j = 0; j < columns; j++) {
    const int g = rg_block_global_column(L, j);
    const double *a = L->a + (size_t)j * L->ld, factor = z[g];
    for (int i = rg_block_row(L, g); i < rows; i++) sums[i] += a[i] * factor;
  }
  PetscCall(PetscArrayzero(f, n));
  for (int i = 0; i < rows; i++) f[rg_block_global_row(L, i)] = sums[i];
  PetscCall(rg_grid_sum(grid, (size_t)n, f));
  return PetscFree(sums);
}

PetscErrorCode rg_distributed_sample_path(const RgSpread *spread, const RgKernel *kernel, int n,
                                          const double *X, const double *z, double *f,
                                          double *jitter, RgFailure *failure)
{
  const double diagonal = rg_kernel_diagonal(kernel);
  RgGrid grid;
  RgBlockMatrix L;
  bool good = false;

  PetscCall(rg_grid_create(spread->comm, spread->block, &grid));
  PetscCall(rg_block_matrix_create(&grid, n, n, grid.block, grid.block, &L));
  *jitter = 0.0;
  for (double added = 0.0;; added = added > 0.0 ? 10.0 * added : 1e-10 * diagonal) {
    if (added > 1.001e-4 * diagonal) {
      rg_failure_set(failure, "Cholesky factorisation of the prior on %d points failed", n);
      break;
    }
    PetscCall(rg_block_matrix_kernel(kernel, 0, n, X, added, &L));
    PetscCall(rg_block_matrix_cholesky(0, n, 0.0, &L, &good, NULL));
    *jitter = added;
    if (good) break;
  }
  if (good) PetscCall(multiply(&L, n, z, f));
  PetscCall(rg_block_matrix_destroy(&L));
  return rg_grid_destroy(&grid);
}

/* ---- predictions --------------------------------------------------------------------------- */

/* Make alpha valid. Collective. */
static PetscErrorCode make_alpha(RgDistributed *p)
{
  if (p->alpha_valid) return 0;
  PetscCall(PetscArraycpy(p->alpha, p->beta, p->n));
  PetscCall(rg_block_matrix_solve_all(&p->L, false, true, p->n, 1, p->alpha));
  p->alpha_valid = true;
  return 0;
}

static int batch_size(const RgDistributed *p)
{
  return p->grid.block * p->grid.columns;
}

/* V for n data and m candidates, every process column with an equal part of them. */
static PetscErrorCode lay_out_batch(RgDistributed *p, int m)
{
  const int columns = p->grid.columns, part = (m + columns - 1) / columns;

  if (p->V.grid && p->V.rows == p->n && p->V.column_block == part && p->V.columns == m) return 0;
  p->m_kept = 0; /* freeing V also forgets its contents */
  PetscCall(rg_block_matrix_destroy(&p->V));
  return rg_block_matrix_create(&p->grid, p->n, m, p->grid.block, part, &p->V);
}

/* V = k(X, Z), multiplied by L^-1 if `whiten`. */
static PetscErrorCode fill_batch(RgDistributed *p, int m, const double *Z, bool whiten)
{
  const size_t size = (size_t)m * p->kernel.dim;

  if (whiten && p->m_kept == m && p->n_kept == p->n &&
      !memcmp(Z, p->Z_kept, size * sizeof *Z)) /* the same bits on every rank */
    return 0;
  PetscCall(lay_out_batch(p, m));
  PetscCall(rg_block_matrix_cross(&p->kernel, p->n, p->X, m, Z, &p->V));
  p->m_kept = 0;
  if (!whiten) return 0;
  PetscCall(rg_block_matrix_solve(&p->L, false, p->n, m, &p->V));
  if (m > p->kept_capacity) {
    PetscCall(PetscFree(p->Z_kept));
    PetscCall(PetscMalloc1(size, &p->Z_kept));
    p->kept_capacity = m;
  }
  PetscCall(PetscArraycpy(p->Z_kept, Z, size));
  p->m_kept = m;
  p->n_kept = p->n;
  return 0;
}

static PetscErrorCode predict_batch(RgDistributed *p, int m, const double *Z, double *mean,
                                    double *variance)
{
  const double diagonal = rg_kernel_diagonal(&p->kernel);
  double *weight, *sums; /* sums: means, then squared norms */

  PetscCall(fill_batch(p, m, Z, variance != NULL));
  const int rows = p->V.local_rows;
  PetscCall(PetscMalloc1(PetscMax(rows, 1), &weight));
  PetscCall(PetscCalloc1(2 * (size_t)m, &sums));
  rg_block_matrix_rows(&p->V, 0, p->n, 1, variance ? p->beta : p->alpha, weight);
  for (int j = 0; j < p->V.local_columns; j++) {
    const double *v = p->V.a + (size_t)j * p->V.ld;
    const int at = rg_block_global_column(&p->V, j);
    sums[at] = cblas_ddot(rows, v, 1, weight, 1);
    if (variance) sums[m + at] = cblas_ddot(rows, v, 1, v, 1);
  }
  PetscCall(rg_grid_sum(&p->grid, (size_t)m * (variance ? 2 : 1), sums));
  for (int j = 0; j < m; j++) {
    mean[j] = p->mean + sums[j];
    if (variance) variance[j] = PetscMax(diagonal - sums[m + j], 0.0);
  }
  PetscCall(PetscFree(weight));
  return PetscFree(sums);
}

PetscErrorCode rg_distributed_predict(RgDistributed *p, int m, const double *Z, double *mean,
                                      double *variance)
{
  const int batch = batch_size(p);

  if (p->n == 0) {
    for (int j = 0; j < m; j++) mean[j] = p->mean;
    for (int j = 0; variance && j < m; j++) variance[j] = rg_kernel_diagonal(&p->kernel);
    return 0;
  }
  if (!variance) PetscCall(make_alpha(p));
  for (int j = 0; j < m; j += batch)
    PetscCall(predict_batch(p, PetscMin(batch, m - j), Z + (size_t)j * p->kernel.dim, mean + j,
                            variance ? variance + j : NULL));
  return 0;
}

/* G += the contraction of U with the kernel's gradient, over this rank's part. */
static PetscErrorCode contract(const RgDistributed *p, int m, const double *Z,
                               const RgBlockMatrix *U, const double *alpha, const double *mean_bar,
                               double *G)
{
  const int rows = p->V.local_rows, count = p->V.local_columns, dim = p->kernel.dim;
  double *points, *targets, *weights, *part;

  if (rows == 0 || count == 0) return 0;
  PetscCall(PetscMalloc4((size_t)rows * dim, &points, (size_t)count * dim, &targets,
                         (size_t)rows * count, &weights, (size_t)count * dim, &part));
  rg_block_matrix_rows(&p->V, 0, p->n, dim, p->X, points);
  for (int j = 0; j < count; j++) {
    const int at = rg_block_global_column(&p->V, j);
    PetscCall(PetscArraycpy(targets + (size_t)j * dim, Z + (size_t)at * dim, dim));
    for (int i = 0; i < rows; i++)
      weights[(size_t)i * count + j] = U ? U->a[(size_t)j * U->ld + i] : alpha[i] * mean_bar[at];
  }
  PetscCall(rg_kernel_cross_gradient(&p->kernel, rows, points, count, targets, weights, part));
  for (int j = 0; j < count; j++)
    PetscCall(PetscArraycpy(G + (size_t)rg_block_global_column(&p->V, j) * dim,
                            part + (size_t)j * dim, dim));
  return PetscFree4(points, targets, weights, part);
}

static PetscErrorCode gradient_batch(RgDistributed *p, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar, double *G)
{
  RgBlockMatrix U = {0};
  double *weight;

  PetscCall(PetscArrayzero(G, (size_t)m * p->kernel.dim));
  if (variance_bar) PetscCall(fill_batch(p, m, Z, true));
  else PetscCall(lay_out_batch(p, m));
  PetscCall(PetscMalloc1(PetscMax(p->V.local_rows, 1), &weight));
  rg_block_matrix_rows(&p->V, 0, p->n, 1, variance_bar ? p->beta : p->alpha, weight);
  if (variance_bar) {
    PetscCall(rg_block_matrix_create(&p->grid, p->n, m, p->grid.block, p->V.column_block, &U));
    for (int j = 0; j < p->V.local_columns; j++) { /* U = beta p' + V q */
      const int at = rg_block_global_column(&p->V, j);
      const double *v = p->V.a + (size_t)j * p->V.ld;
      const double a = mean_bar[at], b = -2.0 * variance_bar[at];
      double *u = U.a + (size_t)j * U.ld;
      for (int i = 0; i < p->V.local_rows; i++) u[i] = weight[i] * a + v[i] * b;
    }
    PetscCall(rg_block_matrix_solve(&p->L, true, p->n, m, &U));
  }
  PetscCall(contract(p, m, Z, U.grid ? &U : NULL, weight, mean_bar, G));
  PetscCall(rg_grid_sum(&p->grid, (size_t)m * p->kernel.dim, G));
  PetscCall(PetscFree(weight));
  return rg_block_matrix_destroy(&U);
}

PetscErrorCode rg_distributed_gradient(RgDistributed *p, int m, const double *Z,
                                       const double *mean_bar, const double *variance_bar,
                                       double *G)
{
  const int batch = batch_size(p), dim = p->kernel.dim;

  if (p->n == 0) return PetscArrayzero(G, (size_t)m * dim);
  if (!variance_bar) PetscCall(make_alpha(p));
  for (int j = 0; j < m; j += batch)
    PetscCall(gradient_batch(p, PetscMin(batch, m - j), Z + (size_t)j * dim, mean_bar + j,
                             variance_bar ? variance_bar + j : NULL, G + (size_t)j * dim));
  return 0;
}

/* ---- life ---------------------------------------------------------------------------------- */

static PetscErrorCode reserve(RgDistributed *p, int capacity)
{
  const int block = p->grid.block;
  const size_t dim = (size_t)p->kernel.dim;

  if (capacity <= p->capacity) return 0;
  const size_t size = (size_t)capacity;
  PetscCall(PetscRealloc(size * dim * sizeof(double), &p->X));
  PetscCall(PetscRealloc(size * sizeof(double), &p->y));
  PetscCall(PetscRealloc(size * sizeof(double), &p->beta));
  PetscCall(PetscRealloc(size * sizeof(double), &p->alpha));
  if (p->L.grid) PetscCall(rg_block_matrix_grow(&p->L, p->n, capacity, capacity));
  else PetscCall(rg_block_matrix_create(&p->grid, capacity, capacity, block, block, &p->L));
  p->capacity = capacity;
  return 0;
}

PetscErrorCode rg_distributed_create(MPI_Comm comm, const RgKernel *kernel, double noise_variance,
                                     double mean, int capacity, int block,
                                     RgDistributed **posterior)
{
  RgDistributed *p;

  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  PetscCall(PetscNew(&p));
  PetscCall(rg_grid_create(comm, block, &p->grid));
  PetscCall(rg_kernel_copy(kernel, &p->kernel));
  p->noise_variance = noise_variance;
  p->mean = mean;
  PetscCall(reserve(p, PetscMax(capacity, 1)));
  *posterior = p;
  return 0;
}

PetscErrorCode rg_distributed_destroy(RgDistributed **posterior)
{
  RgDistributed *p = *posterior;

  if (!p) return 0;
  PetscCall(rg_block_matrix_destroy(&p->L));
  PetscCall(rg_block_matrix_destroy(&p->V));
  PetscCall(rg_kernel_destroy(&p->kernel));
  PetscCall(RG_FREE(&p->X, &p->y, &p->beta, &p->alpha, &p->Z_kept));
  PetscCall(rg_grid_destroy(&p->grid));
  return PetscFree(*posterior);
}

/* ---- data ---------------------------------------------------------------------------------- */

/* As in posterior.c: a squared pivot this small is rounding error. */
static double smallest_pivot(const RgDistributed *p)
{
  return p->n * PETSC_MACHINE_EPSILON * rg_kernel_diagonal(&p->kernel);
}

static PetscErrorCode factor(RgDistributed *p, double jitter, RgFailure *failure)
{
  bool good;

  do {
    PetscCall(rg_block_matrix_kernel(&p->kernel, 0, p->n, p->X, p->noise_variance + jitter, &p->L));
    PetscCall(rg_block_matrix_cholesky(0, p->n, smallest_pivot(p), &p->L, &good, NULL));
  } while (!good && rg_kernel_more_jitter(&p->kernel, p->n, &jitter, failure));
  if (!good) p->n = 0;
  p->jitter = jitter;
  return 0;
}

/* beta = L^-1 (y - mean); its first `first` entries are already valid. */
static PetscErrorCode whiten_outputs(RgDistributed *p, int first)
{
  const bool few = first > 0 && p->n - first <= RG_FEW_ROWS;
  for (int i = few ? first : 0; i < p->n; i++) p->beta[i] = p->y[i] - p->mean;
  if (few) PetscCall(rg_block_matrix_solve_rows(&p->L, first, p->n, p->beta));
  else PetscCall(rg_block_matrix_solve_all(&p->L, true, false, p->n, 1, p->beta));
  p->alpha_valid = false;
  p->m_kept = 0;
  return 0;
}

PetscErrorCode rg_distributed_set(RgDistributed *p, const RgKernel *kernel, double noise_variance,
                                  double mean, int n, const double *X, const double *y,
                                  RgFailure *failure)
{
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  if (kernel) PetscCall(rg_kernel_assign(kernel, &p->kernel));
  p->noise_variance = noise_variance;
  p->mean = mean;
  p->n = 0;
  PetscCall(reserve(p, n));
  p->n = n;
  PetscCall(PetscArraycpy(p->X, X, (size_t)n * p->kernel.dim));
  PetscCall(PetscArraycpy(p->y, y, n));
  PetscCall(factor(p, 0.0, failure));
  return whiten_outputs(p, 0);
}

/* New rows of the factor from m new data. *good: all pivots are sound; the rows before are the same
   in any case. */
static PetscErrorCode append_rows(RgDistributed *p, int m, const double *X, const double *y,
                                  bool *good)
{
  const int before = p->n;

  if (before + m > p->capacity) PetscCall(reserve(p, PetscMax(before + m, before + before / 4)));
  PetscCall(PetscArraycpy(p->X + (size_t)before * p->kernel.dim, X, (size_t)m * p->kernel.dim));
  PetscCall(PetscArraycpy(p->y + before, y, m));
  p->n = before + m;
  PetscCall(
    rg_block_matrix_kernel(&p->kernel, before, p->n, p->X, p->noise_variance + p->jitter, &p->L));
  return rg_block_matrix_cholesky(before, p->n, smallest_pivot(p), &p->L, good, NULL);
}

PetscErrorCode rg_distributed_append(RgDistributed *p, int m, const double *X, const double *y,
                                     RgFailure *failure)
{
  const int before = p->n;
  bool good;

  if (m == 0) return 0;
  PetscCall(append_rows(p, m, X, y, &good));
  if (!good) PetscCall(factor(p, p->jitter, failure));
  return whiten_outputs(p, good ? before : 0);
}

PetscErrorCode rg_distributed_keep(RgDistributed *p)
{
  p->n_told = p->n;
  return 0;
}

PetscErrorCode rg_distributed_pend(RgDistributed *p, const double *x, double y)
{
  const int before = p->n;
  bool good;

  PetscCall(append_rows(p, 1, x, &y, &good));
  if (good) return whiten_outputs(p, before);
  p->n = before;
  return 0;
}

PetscErrorCode rg_distributed_restore(RgDistributed *p)
{
  p->n = p->n_told;
  p->alpha_valid = false;
  p->m_kept = 0;
  return 0;
}

PetscErrorCode rg_distributed_set_outputs(RgDistributed *p, double mean, const double *y)
{
  p->mean = mean;
  PetscCall(PetscArraycpy(p->y, y, p->n));
  return whiten_outputs(p, 0);
}

PetscErrorCode rg_distributed_solve(RgDistributed *p, bool lower, bool upper, int m, double *B)
{
  return rg_block_matrix_solve_all(&p->L, lower, upper, p->n, m, B);
}

/* ---- state --------------------------------------------------------------------------------- */

int rg_distributed_size(const RgDistributed *p)
{
  return p->n;
}

double rg_distributed_jitter(const RgDistributed *p)
{
  return p->jitter;
}

double rg_distributed_bytes(const RgDistributed *p)
{
  return 8.0 * ((double)p->L.ld * p->L.local_columns + (double)p->V.ld * p->V.local_columns +
                (double)p->capacity * (p->kernel.dim + 3));
}

double rg_distributed_memory(int n, int dim, int ranks, bool fit)
{
  const double size = n, share = size * size / ranks;
  return 8.0 * (share * (fit ? 2 : 1) + 3.0 * size * RG_DISTRIBUTED_BLOCK + size * (2.0 * dim + 6));
}
