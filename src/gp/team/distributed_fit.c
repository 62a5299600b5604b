/* Likelihood with gradient and sample paths over the ranks of a communicator. Each uses one
   distributed matrix, which it factors, uses and frees. */
#include "gp/team/distributed.h"

#include <math.h>

#include "gp/team/distributed_matrix.h"
#include "gp/kernel/kernel_internal.h"

static const double log_2pi = 1.83787706640934548356065947281;

/* ---- likelihood ---------------------------------------------------------------------------- */

/* alpha (n) = (K + v I)^-1 (y - mean), the mean by generalised least squares if it is learned. */
static PetscErrorCode weights_of_outputs(const RgBlockMatrix *factor, bool learn_mean, int n,
                                         const double *y, double *mean, double *alpha)
{
  double *B, wy = 0.0, w1 = 0.0;

  PetscFunctionBeginUser;
  if (!learn_mean) {
    for (int i = 0; i < n; i++) alpha[i] = y[i] - *mean;
    PetscCall(rg_block_matrix_solve_all(factor, true, true, n, 1, alpha));
    PetscFunctionReturn(0);
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
  PetscCall(PetscFree(B));
  PetscFunctionReturn(0);
}

/* weight (width x height): alpha alpha' - K^-1 at a block of columns from g on, twice below the
   diagonal, nothing above it; *trace += its diagonal. */
static void weigh_block(const RgBlockMatrix *inverse, int top, int column, int g, int width,
                        const double *alpha, double *weight, double *trace)
{
  const int height = inverse->local_rows - top;
  const RgGrid *grid = inverse->grid;
  for (int c = 0; c < width; c++) {
    const double *entry = inverse->a + (size_t)(column + c) * inverse->ld + top;
    double *out = weight + (size_t)c * height;
    for (int r = 0; r < height; r++) {
      const int row = rg_cyclic_global(top + r, inverse->row_block, grid->row, grid->rows);
      const double value = alpha[row] * alpha[g + c] - entry[r];
      out[r] = row > g + c ? 2.0 * value : row == g + c ? value : 0.0;
      if (row == g + c) *trace += value;
    }
  }
}

/* gradient (theta_size + 1): sum of A_ij dK_ij/dtheta and the trace of A, this rank's part. */
static PetscErrorCode contract(const RgKernel *kernel, const RgBlockMatrix *inverse, int n,
                               const double *X, const double *alpha, double *gradient)
{
  const RgGrid *grid = inverse->grid;
  const int dim = kernel->dim, size = rg_kernel_theta_size(kernel), block = inverse->column_block;
  const int columns = rg_cyclic_count(n, block, grid->column, grid->columns);
  const int rows = inverse->local_rows;
  double *points, *weight, *part;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3((size_t)rows * dim, &points, (size_t)rows * block, &weight, size, &part));
  rg_block_matrix_rows(inverse, 0, n, dim, X, points);
  for (int j = 0; j < columns; j += block) {
    const int g = rg_cyclic_global(j, block, grid->column, grid->columns);
    const int width = PetscMin(block, n - g);
    const int top = rg_cyclic_count(g, inverse->row_block, grid->row, grid->rows);
    if (top == rows) continue;
    weigh_block(inverse, top, j, g, width, alpha, weight, &gradient[size]);
    PetscCall(rg_kernel_theta_cross(kernel, width, X + (size_t)g * dim, rows - top,
                                    points + (size_t)top * dim, weight, part));
    for (int p = 0; p < size; p++) gradient[p] += part[p];
  }
  PetscCall(PetscFree3(points, weight, part));
  PetscFunctionReturn(0);
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

  PetscFunctionBeginUser;
  PetscCall(rg_block_matrix_kernel(kernel, 0, n, data->X, noise_variance, matrix));
  PetscCall(rg_block_matrix_cholesky(0, n, smallest, matrix, &good, &log_det));
  if (!good) PetscFunctionReturn(0);
  PetscCall(weights_of_outputs(matrix, learn_mean, n, data->y, mean, alpha));
  for (int i = 0; i < n; i++) fit += (data->y[i] - *mean) * alpha[i];
  const double sum = -0.5 * (fit + log_det + n * log_2pi);
  if (isfinite(sum)) *value = sum;
  PetscFunctionReturn(0);
}

/* The gradient, from what `value` left behind. */
static PetscErrorCode slopes(const RgKernel *kernel, double noise_variance, const RgData *data,
                             const double *alpha, RgBlockMatrix *matrix, double *gradient)
{
  const int size = rg_kernel_theta_size(kernel), n = data->n;

  PetscFunctionBeginUser;
  PetscCall(rg_block_matrix_invert(n, matrix));
  PetscCall(PetscArrayzero(gradient, size + 1));
  PetscCall(contract(kernel, matrix, n, data->X, alpha, gradient));
  PetscCall(rg_grid_sum(matrix->grid, (size_t)size + 1, gradient));
  for (int p = 0; p < size; p++) gradient[p] *= 0.5;
  gradient[size] *= 0.5 * noise_variance;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_objective(const RgSpread *spread, const RgKernel *kernel,
                                        double noise_variance, bool learn_mean, double *mean,
                                        const RgData *data, double *value, double *gradient)
{
  const int n = data->n;
  RgGrid grid;
  RgBlockMatrix matrix;
  double *alpha;

  PetscFunctionBeginUser;
  *value = -INFINITY;
  PetscCall(rg_grid_create(spread->comm, spread->block, &grid));
  PetscCall(rg_block_matrix_create(&grid, n, n, grid.block, grid.block, &matrix));
  PetscCall(PetscMalloc1(n, &alpha));
  PetscCall(likelihood(kernel, noise_variance, learn_mean, mean, data, &matrix, alpha, value));
  if (gradient && isfinite(*value))
    PetscCall(slopes(kernel, noise_variance, data, alpha, &matrix, gradient));
  PetscCall(PetscFree(alpha));
  PetscCall(rg_block_matrix_destroy(&matrix));
  PetscCall(rg_grid_destroy(&grid));
  PetscFunctionReturn(0);
}

/* ---- sample paths -------------------------------------------------------------------------- */

/* f = L z: every rank adds its entries on and below the diagonal, column by column. */
static PetscErrorCode multiply(const RgBlockMatrix *L, int n, const double *z, double *f)
{
  const RgGrid *grid = L->grid;
  const int rows = rg_cyclic_count(n, L->row_block, grid->row, grid->rows);
  const int columns = rg_cyclic_count(n, L->column_block, grid->column, grid->columns);
  double *sums;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(PetscMax(rows, 1), &sums));
  for (int j = 0; j < columns; j++) {
    const int g = rg_cyclic_global(j, L->column_block, grid->column, grid->columns);
    const double *a = L->a + (size_t)j * L->ld, factor = z[g];
    for (int i = rg_cyclic_count(g, L->row_block, grid->row, grid->rows); i < rows; i++)
      sums[i] += a[i] * factor;
  }
  PetscCall(PetscArrayzero(f, n));
  for (int i = 0; i < rows; i++)
    f[rg_cyclic_global(i, L->row_block, grid->row, grid->rows)] = sums[i];
  PetscCall(rg_grid_sum(grid, (size_t)n, f));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_sample_path(const RgSpread *spread, const RgKernel *kernel, int n,
                                          const double *X, const double *z, double *f,
                                          double *jitter, RgFailure *failure)
{
  const double diagonal = rg_kernel_diagonal(kernel);
  RgGrid grid;
  RgBlockMatrix L;
  double log_det;
  bool good = false;

  PetscFunctionBeginUser;
  PetscCall(rg_grid_create(spread->comm, spread->block, &grid));
  PetscCall(rg_block_matrix_create(&grid, n, n, grid.block, grid.block, &L));
  *jitter = 0.0;
  for (double added = 0.0;; added = added > 0.0 ? 10.0 * added : 1e-10 * diagonal) {
    if (added > 1.001e-4 * diagonal) {
      rg_failure_set(failure, "Cholesky factorisation of the prior on %d points failed", n);
      break;
    }
    PetscCall(rg_block_matrix_kernel(kernel, 0, n, X, added, &L));
    PetscCall(rg_block_matrix_cholesky(0, n, 0.0, &L, &good, &log_det));
    *jitter = added;
    if (good) break;
  }
  if (good) PetscCall(multiply(&L, n, z, f));
  PetscCall(rg_block_matrix_destroy(&L));
  PetscCall(rg_grid_destroy(&grid));
  PetscFunctionReturn(0);
}
