/* Block-cyclic kernel matrices: assembly in place, Cholesky, solves. */
#include "gp/team/distributed_matrix.h"

#include <math.h>

#include "maths/blas.h"

/* ---- assembly ------------------------------------------------------------------------------ */

/* Local row of the first global row >= g, in the rank's part. */
static int row_of(const RgBlockMatrix *matrix, int g)
{
  return rg_cyclic_count(g, matrix->row_block, matrix->grid->row, matrix->grid->rows);
}

static int column_of(const RgBlockMatrix *matrix, int g)
{
  return rg_cyclic_count(g, matrix->column_block, matrix->grid->column, matrix->grid->columns);
}

static int global_column(const RgBlockMatrix *matrix, int local)
{
  return rg_cyclic_global(local, matrix->column_block, matrix->grid->column, matrix->grid->columns);
}

/* This rank's entry (g, g); NULL if another rank holds it. */
static double *diagonal_entry(const RgBlockMatrix *matrix, int g)
{
  const RgGrid *grid = matrix->grid;
  if (g / matrix->row_block % grid->rows != grid->row) return NULL;
  if (g / matrix->column_block % grid->columns != grid->column) return NULL;
  return matrix->a + (size_t)column_of(matrix, g) * matrix->ld + row_of(matrix, g);
}

PetscErrorCode rg_block_matrix_kernel(const RgKernel *kernel, int first, int n, const double *X,
                                      double diagonal, RgBlockMatrix *matrix)
{
  const int dim = kernel->dim, block = matrix->column_block, ld = matrix->ld;
  const int begin = row_of(matrix, first), end = row_of(matrix, n);
  const int columns = column_of(matrix, n);
  double *points, *tile;

  PetscFunctionBeginUser;
  PetscCall(
    PetscMalloc2((size_t)(end - begin) * dim, &points, (size_t)(end - begin) * block, &tile));
  rg_block_matrix_rows(matrix, first, n, dim, X, points);
  for (int j = 0; j < columns; j += block) {
    const int g = global_column(matrix, j), width = PetscMin(block, n - g);
    const int top = row_of(matrix, PetscMax(first, g)), height = end - top;
    if (height == 0) continue;
    PetscCall(rg_kernel_cross(kernel, width, X + (size_t)g * dim, height,
                              points + (size_t)(top - begin) * dim, tile));
    for (int c = 0; c < width; c++)
      PetscCall(
        PetscArraycpy(matrix->a + (size_t)(j + c) * ld + top, tile + (size_t)c * height, height));
  }
  for (int g = first; g < n; g++) {
    double *entry = diagonal_entry(matrix, g);
    if (entry) *entry = rg_kernel_diagonal(kernel) + diagonal;
  }
  PetscCall(PetscFree2(points, tile));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_block_matrix_cross(const RgKernel *kernel, int n, const double *X, int m,
                                     const double *Z, RgBlockMatrix *matrix)
{
  const int dim = kernel->dim, block = matrix->column_block, height = row_of(matrix, n);
  const int columns = column_of(matrix, m);
  double *points, *tile;

  PetscFunctionBeginUser;
  if (height == 0) PetscFunctionReturn(0);
  PetscCall(
    PetscMalloc2((size_t)height * dim, &points, (size_t)height * PetscMin(block, m), &tile));
  rg_block_matrix_rows(matrix, 0, n, dim, X, points);
  for (int j = 0; j < columns; j += block) {
    const int g = global_column(matrix, j), width = PetscMin(block, m - g);
    PetscCall(rg_kernel_cross(kernel, width, Z + (size_t)g * dim, height, points, tile));
    for (int c = 0; c < width; c++)
      PetscCall(
        PetscArraycpy(matrix->a + (size_t)(j + c) * matrix->ld, tile + (size_t)c * height, height));
  }
  PetscCall(PetscFree2(points, tile));
  PetscFunctionReturn(0);
}

/* ---- Cholesky ------------------------------------------------------------------------------ */

static const double one = 1.0, minus_one = -1.0;

/* Factor rows and columns k .. k+width-1, all in one block. Returns success on every rank. */
static PetscErrorCode factor_diagonal_block(int k, int width, RgBlockMatrix *matrix, bool *good)
{
  const RgGrid *grid = matrix->grid;
  const int owner =
    k / matrix->row_block % grid->rows * grid->columns + k / matrix->column_block % grid->columns;
  double *corner = diagonal_entry(matrix, k);
  int info = 0;

  PetscFunctionBeginUser;
  if (corner) info = (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', width, corner, matrix->ld);
  PetscCallMPI(MPI_Bcast(&info, 1, MPI_INT, owner, grid->comm));
  *good = info == 0;
  PetscFunctionReturn(0);
}

/* Right-looking Cholesky factorisation of the rows and columns from `first` on. `first` need not
   begin a block, which pdpotrf requires. */
static PetscErrorCode factor_trailing(int first, int n, RgBlockMatrix *matrix, bool *good)
{
  const int *d = matrix->descriptor, block = matrix->row_block;
  double *a = matrix->a;

  PetscFunctionBeginUser;
  *good = true;
  for (int k = first, width; *good && k < n; k += width) {
    width = PetscMin(block - k % block, n - k);
    const int here = k + 1, next = here + width, rest = n - k - width;
    PetscCall(factor_diagonal_block(k, width, matrix, good));
    if (!*good || rest == 0) continue;
    pdtrsm_("R", "L", "T", "N", &rest, &width, &one, a, &here, &here, d, a, &next, &here, d);
    pdsyrk_("L", "N", &rest, &width, &minus_one, a, &next, &here, d, &one, a, &next, &next, d);
  }
  PetscFunctionReturn(0);
}

/* New rows below a factor: B = A21 L^-T, then the factor of A22 - B B'. */
static PetscErrorCode extend(int first, int n, RgBlockMatrix *matrix, bool *good)
{
  const int *d = matrix->descriptor, start = 1, here = first + 1, rest = n - first;
  double *a = matrix->a;

  PetscFunctionBeginUser;
  if (rest <= RG_FEW_ROWS) {
    PetscCall(rg_block_matrix_extend(first, n, matrix));
  } else {
    pdtrsm_("R", "L", "T", "N", &rest, &first, &one, a, &start, &start, d, a, &here, &start, d);
    pdsyrk_("L", "N", &rest, &first, &minus_one, a, &here, &start, d, &one, a, &here, &here, d);
  }
  PetscCall(factor_trailing(first, n, matrix, good));
  PetscFunctionReturn(0);
}

static PetscErrorCode factor_whole(int n, RgBlockMatrix *matrix, bool *good)
{
  const int start = 1;
  int info;

  PetscFunctionBeginUser;
  if (matrix->grid->size == 1) {
    info = (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, matrix->a, matrix->ld);
  } else {
    pdpotrf_("L", &n, matrix->a, &start, &start, matrix->descriptor, &info, 1);
  }
  PetscCheck(info >= 0, matrix->grid->comm, PETSC_ERR_LIB, "pdpotrf returned %d", info);
  *good = info == 0;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_block_matrix_cholesky(int first, int n, double smallest, RgBlockMatrix *matrix,
                                        bool *good, double *log_det)
{
  double sums[2] = {0, 0}; /* logarithms of pivots, number of bad pivots */

  PetscFunctionBeginUser;
  *log_det = 0;
  *good = true;
  if (n == 0) PetscFunctionReturn(0);
  if (first == 0) PetscCall(factor_whole(n, matrix, good));
  else if (first < n) PetscCall(extend(first, n, matrix, good));
  if (!*good) PetscFunctionReturn(0);
  for (int g = 0; g < n; g++) {
    const double *pivot = diagonal_entry(matrix, g);
    if (!pivot) continue;
    if (*pivot * *pivot > smallest) sums[0] += log(*pivot);
    else sums[1] += 1; /* also true for NaN */
  }
  PetscCall(rg_grid_sum(matrix->grid, 2, sums));
  *good = sums[1] == 0;
  *log_det = 2 * sums[0];
  PetscFunctionReturn(0);
}

PetscErrorCode rg_block_matrix_invert(int n, RgBlockMatrix *matrix)
{
  int info;

  PetscFunctionBeginUser;
  if (matrix->grid->size > 1) {
    PetscCall(rg_block_matrix_sweep(n, matrix));
    PetscFunctionReturn(0);
  }
  info = (int)LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, matrix->a, matrix->ld);
  PetscCheck(info == 0, matrix->grid->comm, PETSC_ERR_LIB, "dpotri returned %d", info);
  PetscFunctionReturn(0);
}

/* ---- solves -------------------------------------------------------------------------------- */

PetscErrorCode rg_block_matrix_solve(const RgBlockMatrix *factor, bool transposed, int n, int m,
                                     RgBlockMatrix *B)
{
  const int start = 1;

  PetscFunctionBeginUser;
  if (n == 0 || m == 0) PetscFunctionReturn(0);
  if (factor->grid->size == 1) {
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans,
                CblasNonUnit, n, m, 1.0, factor->a, factor->ld, B->a, B->ld);
  } else {
    pdtrsm_("L", "L", transposed ? "T" : "N", "N", &n, &m, &one, factor->a, &start, &start,
            factor->descriptor, B->a, &start, &start, B->descriptor);
  }
  PetscFunctionReturn(0);
}

/* Columns begin .. begin+count-1 of B, from the replicated to the distributed form or back. */
static void spread(int n, int m, int begin, int count, double *B, RgBlockMatrix *part, bool back)
{
  const RgGrid *grid = part->grid;
  const int rows = row_of(part, n), columns = column_of(part, count);
  for (int j = 0; j < columns; j++) {
    const size_t at = (size_t)(begin + global_column(part, j));
    for (int i = 0; i < rows; i++) {
      const size_t g = (size_t)rg_cyclic_global(i, part->row_block, grid->row, grid->rows);
      double *mine = part->a + (size_t)j * part->ld + i, *all = B + g * (size_t)m + at;
      if (back) *all = *mine;
      else *mine = *all;
    }
  }
}

PetscErrorCode rg_block_matrix_solve_all(const RgBlockMatrix *factor, bool lower, bool upper, int n,
                                         int m, double *B)
{
  const RgGrid *grid = factor->grid;
  const int batch = PetscMin(m, factor->row_block * grid->columns);
  RgBlockMatrix part;

  PetscFunctionBeginUser;
  if (n == 0 || m == 0) PetscFunctionReturn(0);
  PetscCall(rg_block_matrix_create(grid, n, batch, factor->row_block,
                                   (batch + grid->columns - 1) / grid->columns, &part));
  for (int begin = 0; begin < m; begin += batch) {
    const int count = PetscMin(batch, m - begin);
    spread(n, m, begin, count, B, &part, false);
    if (lower) PetscCall(rg_block_matrix_solve(factor, false, n, count, &part));
    if (upper) PetscCall(rg_block_matrix_solve(factor, true, n, count, &part));
    for (size_t i = 0; i < (size_t)n; i++)
      for (int j = 0; j < count; j++) B[i * (size_t)m + (size_t)(begin + j)] = 0;
    spread(n, m, begin, count, B, &part, true);
  }
  PetscCall(rg_grid_sum(grid, (size_t)n * m, B));
  PetscCall(rg_block_matrix_destroy(&part));
  PetscFunctionReturn(0);
}
