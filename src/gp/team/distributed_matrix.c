/* Block-cyclic kernel matrices: assembly in place, Cholesky, solves. */
#include "gp/team/distributed_matrix.h"
#include "maths/blas.h"

#include <math.h>

/* Rows and columns that PBLAS works on at a time. The library's 32 makes narrow products: with 256
   a triangular solve on 2 ranks takes a third to a half of the time (n = 4,000, 1,024 columns). */
int pilaenv_(const int *context, const char *precision, size_t length)
{
  return 256;
}

PetscErrorCode rg_grid_create(MPI_Comm comm, int block, RgGrid *grid)
{
  PetscCheck(rg_scalapack_available(), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "This build has no ScaLAPACK");
  *grid = (RgGrid){.block = block > 0 ? block : RG_DISTRIBUTED_BLOCK};
  PetscCallMPI(MPI_Comm_dup(comm, &grid->comm));
  PetscCallMPI(MPI_Comm_size(grid->comm, &grid->size));
  PetscCallMPI(MPI_Comm_rank(grid->comm, &grid->rank));
  grid->rows = (int)sqrt((double)grid->size);
  while (grid->size % grid->rows) grid->rows--;
  grid->columns = grid->size / grid->rows;
  grid->handle = grid->context = Csys2blacs_handle(grid->comm);
  PetscCallMPI(MPI_Comm_split(grid->comm, grid->rank / grid->columns, grid->rank, &grid->row_comm));
  PetscCallMPI(
    MPI_Comm_split(grid->comm, grid->rank % grid->columns, grid->rank, &grid->column_comm));
  Cblacs_gridinit(&grid->context, "Row", grid->rows, grid->columns);
  int rows, columns;
  Cblacs_gridinfo(grid->context, &rows, &columns, &grid->row, &grid->column);
  PetscCheck(rows == grid->rows && columns == grid->columns &&
               grid->row * columns + grid->column == grid->rank,
             PETSC_COMM_SELF, PETSC_ERR_LIB,
             "BLACS made a %d x %d grid with rank %d at (%d, %d), wanted was %d x %d", rows,
             columns, grid->rank, grid->row, grid->column, grid->rows, grid->columns);
  return 0;
}

PetscErrorCode rg_grid_destroy(RgGrid *grid)
{
  if (!grid->size) return 0;
  Cblacs_gridexit(grid->context);
  Cfree_blacs_system_handle(grid->handle);
  PetscCallMPI(MPI_Comm_free(&grid->row_comm));
  PetscCallMPI(MPI_Comm_free(&grid->column_comm));
  PetscCallMPI(MPI_Comm_free(&grid->comm));
  *grid = (RgGrid){0};
  return 0;
}

/* The number of global indices in 0 .. n-1 that process `index` of `count` holds. */
static int cyclic_count(int n, int block, int index, int count)
{
  const int whole = n / block, rest = n % block, turn = whole % count;
  int mine = whole / count * block;
  if (index < turn) mine += block;
  if (index == turn) mine += rest;
  return mine;
}

int rg_block_row(const RgBlockMatrix *matrix, int g)
{
  return cyclic_count(g, matrix->row_block, matrix->grid->row, matrix->grid->rows);
}

int rg_block_column(const RgBlockMatrix *matrix, int g)
{
  return cyclic_count(g, matrix->column_block, matrix->grid->column, matrix->grid->columns);
}

int rg_block_global_row(const RgBlockMatrix *matrix, int i)
{
  const int block = matrix->row_block;
  return (i / block * matrix->grid->rows + matrix->grid->row) * block + i % block;
}

int rg_block_global_column(const RgBlockMatrix *matrix, int j)
{
  const int block = matrix->column_block;
  return (j / block * matrix->grid->columns + matrix->grid->column) * block + j % block;
}

PetscErrorCode rg_block_matrix_create(const RgGrid *grid, int rows, int columns, int row_block,
                                      int column_block, RgBlockMatrix *matrix)
{
  const int zero = 0;
  int info;

  *matrix = (RgBlockMatrix){.grid = grid,
                            .rows = rows,
                            .columns = columns,
                            .row_block = row_block,
                            .column_block = column_block};
  matrix->local_rows = rg_block_row(matrix, rows);
  matrix->local_columns = rg_block_column(matrix, columns);
  matrix->ld = PetscMax(1, (matrix->local_rows + 7) / 8 * 8);
  descinit_(matrix->descriptor, &rows, &columns, &row_block, &column_block, &zero, &zero,
            &grid->context, &matrix->ld, &info);
  PetscCheck(info == 0, grid->comm, PETSC_ERR_LIB, "descinit returned %d", info);
  PetscCheck((size_t)matrix->ld * PetscMax(matrix->local_columns, 1) < (size_t)INT32_MAX,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "a %d x %d matrix over %d ranks has %d x %d entries on one of them; ScaLAPACK counts "
             "to 2^31: use at least %.0f ranks",
             rows, columns, grid->size, matrix->ld, matrix->local_columns,
             ceil((double)rows * columns / INT32_MAX) + 1);
  return PetscMalloc1((size_t)matrix->ld * matrix->local_columns, &matrix->a);
}

PetscErrorCode rg_block_matrix_destroy(RgBlockMatrix *matrix)
{
  PetscCall(PetscFree(matrix->a));
  *matrix = (RgBlockMatrix){0};
  return 0;
}

PetscErrorCode rg_block_matrix_grow(RgBlockMatrix *matrix, int n, int rows, int columns)
{
  const RgGrid *grid = matrix->grid;
  RgBlockMatrix larger;

  PetscCall(
    rg_block_matrix_create(grid, rows, columns, matrix->row_block, matrix->column_block, &larger));
  const int kept_rows = rg_block_row(matrix, n);
  const int kept_columns = rg_block_column(matrix, n);
  for (int j = 0; j < kept_columns; j++)
    PetscCall(PetscArraycpy(larger.a + (size_t)j * larger.ld, matrix->a + (size_t)j * matrix->ld,
                            kept_rows));
  PetscCall(rg_block_matrix_destroy(matrix));
  *matrix = larger;
  return 0;
}

void rg_block_matrix_rows(const RgBlockMatrix *matrix, int first, int n, int dim, const double *X,
                          double *rows)
{
  const int begin = rg_block_row(matrix, first);
  const int end = rg_block_row(matrix, n);
  for (int i = begin; i < end; i++) {
    const double *x = X + (size_t)rg_block_global_row(matrix, i) * dim;
    for (int k = 0; k < dim; k++) *rows++ = x[k];
  }
}

PetscErrorCode rg_grid_sum(const RgGrid *grid, size_t count, double *values)
{
  const size_t most = (size_t)1 << 26;

  for (size_t i = 0; i < count; i += most)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values + i, (int)PetscMin(most, count - i), MPI_DOUBLE,
                               MPI_SUM, grid->comm));
  return 0;
}

/* ---- assembly ------------------------------------------------------------------------------ */

/* This rank's entry (g, g); NULL if another rank holds it. */
static double *diagonal_entry(const RgBlockMatrix *matrix, int g)
{
  const RgGrid *grid = matrix->grid;
  if (g / matrix->row_block % grid->rows != grid->row) return NULL;
  if (g / matrix->column_block % grid->columns != grid->column) return NULL;
  return matrix->a + (size_t)rg_block_column(matrix, g) * matrix->ld + rg_block_row(matrix, g);
}

/* k(x_i, z_j) of rows first .. n-1 and columns 0 .. m-1 in place, a block of columns at a time.
   triangle: blocks above the diagonal stay as they are. */
static PetscErrorCode assemble(const RgKernel *kernel, int first, int n, const double *X, int m,
                               const double *Z, bool triangle, RgBlockMatrix *matrix)
{
  const int dim = kernel->dim, block = matrix->column_block;
  const int begin = rg_block_row(matrix, first), end = rg_block_row(matrix, n);
  const int columns = rg_block_column(matrix, m);
  double *points, *tile;

  PetscCall(
    PetscMalloc2((size_t)(end - begin) * dim, &points, (size_t)(end - begin) * block, &tile));
  rg_block_matrix_rows(matrix, first, n, dim, X, points);
  for (int j = 0; j < columns; j += block) {
    const int g = rg_block_global_column(matrix, j), width = PetscMin(block, m - g);
    const int top = triangle ? rg_block_row(matrix, PetscMax(first, g)) : begin;
    const int height = end - top;
    if (height == 0) continue;
    PetscCall(rg_kernel_cross(kernel, width, Z + (size_t)g * dim, height,
                              points + (size_t)(top - begin) * dim, tile));
    for (int c = 0; c < width; c++)
      PetscCall(PetscArraycpy(matrix->a + (size_t)(j + c) * matrix->ld + top,
                              tile + (size_t)c * height, height));
  }
  return PetscFree2(points, tile);
}

PetscErrorCode rg_block_matrix_kernel(const RgKernel *kernel, int first, int n, const double *X,
                                      double diagonal, RgBlockMatrix *matrix)
{
  PetscCall(assemble(kernel, first, n, X, n, X, true, matrix));
  for (int g = first; g < n; g++) {
    double *entry = diagonal_entry(matrix, g);
    if (entry) *entry = rg_kernel_diagonal(kernel) + diagonal;
  }
  return 0;
}

PetscErrorCode rg_block_matrix_cross(const RgKernel *kernel, int n, const double *X, int m,
                                     const double *Z, RgBlockMatrix *matrix)
{
  return assemble(kernel, 0, n, X, m, Z, false, matrix);
}

/* ---- few rows below a factor ----------------------------------------------------------------- */

typedef struct {
  RgBlockMatrix *A;
  int first, m;  /* numbers of factored and of new rows */
  int own, from; /* number of new rows on this process row, and their first local row */
  double *X;     /* local columns x m, row-major: X_k of the local columns */
  double *part;  /* block x m: the product, then X_k */
  double *rows;  /* block x m: block of A21' */
  double *sum;   /* block x m, m x m: results of reductions */
} Extension;

/* part = -L[k, j < k] X_j, of the local columns, summed at the owner of block k. */
static PetscErrorCode multiply(Extension *e, int g, int width, int root)
{
  const RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;
  const int row = rg_block_row(A, g);
  const int columns = rg_block_column(A, g);

  if (columns)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, e->m, width, columns, -1.0, e->X, e->m,
                A->a + row, A->ld, 0.0, e->part, e->m);
  else PetscCall(PetscArrayzero(e->part, (size_t)width * e->m));
  PetscCallMPI(
    MPI_Reduce(e->part, e->sum, width * e->m, MPI_DOUBLE, MPI_SUM, root, grid->row_comm));
  return 0;
}

/* A21[:, k]' at the owner of block k, from the process rows that have parts of it. */
static PetscErrorCode collect(Extension *e, int column, int width, int root)
{
  const RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;

  PetscCall(PetscArrayzero(e->rows, (size_t)width * e->m));
  for (int r = 0; r < e->own; r++) {
    const int i = rg_block_global_row(A, e->from + r) - e->first;
    for (int c = 0; c < width; c++)
      e->rows[c * e->m + i] = A->a[(size_t)(column + c) * A->ld + e->from + r];
  }
  PetscCallMPI(
    MPI_Reduce(e->rows, e->part, width * e->m, MPI_DOUBLE, MPI_SUM, root, grid->column_comm));
  return 0;
}

/* X_k on the process column of block k: into X, and transposed into the new rows. */
static PetscErrorCode spread_columns(Extension *e, int column, int width, int root)
{
  RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;

  PetscCallMPI(MPI_Bcast(e->part, width * e->m, MPI_DOUBLE, root, grid->column_comm));
  PetscCall(PetscArraycpy(e->X + (size_t)column * e->m, e->part, (size_t)width * e->m));
  for (int r = 0; r < e->own; r++) {
    const int i = rg_block_global_row(A, e->from + r) - e->first;
    for (int c = 0; c < width; c++)
      A->a[(size_t)(column + c) * A->ld + e->from + r] = e->part[c * e->m + i];
  }
  return 0;
}

static PetscErrorCode substitute(Extension *e)
{
  const RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;
  const int block = A->row_block;

  for (int k = 0; k * block < e->first; k++) {
    const int g = k * block, width = PetscMin(block, e->first - g);
    const int row = k % grid->rows, column = k % grid->columns;
    const int local = k / grid->columns * block;
    if (grid->row == row) PetscCall(multiply(e, g, width, column));
    if (grid->column != column) continue;
    PetscCall(collect(e, local, width, row));
    if (grid->row == row) {
      const double *corner = A->a + (size_t)local * A->ld + k / grid->rows * block;
      for (int i = 0; i < width * e->m; i++) e->part[i] += e->sum[i];
      cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, e->m, width, 1.0,
                  corner, A->ld, e->part, e->m);
    }
    PetscCall(spread_columns(e, local, width, row));
  }
  return 0;
}

/* A22 -= X'X, its lower triangle. */
static PetscErrorCode complete(Extension *e)
{
  RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;
  const int m = e->m;
  const int columns = rg_block_column(A, e->first);
  const int end = rg_block_column(A, e->first + m);
  double *square;

  PetscCall(PetscCalloc1((size_t)m * m, &square));
  if (columns)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, m, columns, 1.0, e->X, m, 0.0, square, m);
  PetscCallMPI(MPI_Allreduce(square, e->sum, m * m, MPI_DOUBLE, MPI_SUM, grid->row_comm));
  for (int c = columns; c < end; c++) {
    const int j = rg_block_global_column(A, c) - e->first;
    for (int r = 0; r < e->own; r++) {
      const int i = rg_block_global_row(A, e->from + r) - e->first;
      if (i >= j) A->a[(size_t)c * A->ld + e->from + r] -= e->sum[(size_t)j * m + i];
    }
  }
  return PetscFree(square);
}

/* Below a factor of the leading first x first part: rows first .. n-1 become L21 = A21 L^-T and
   A22 - L21 L21', which remains to be factored. For few rows: sends (n - first) n numbers per
   rank. */
static PetscErrorCode block_matrix_extend(int first, int n, RgBlockMatrix *A)
{
  const int block = A->row_block, m = n - first;
  const size_t room = (size_t)block * m, square = (size_t)m * m;
  Extension e = {.A = A, .first = first, .m = m};

  e.from = rg_block_row(A, first);
  e.own = rg_block_row(A, n) - e.from;
  const int columns = rg_block_column(A, first);
  PetscCall(PetscMalloc4((size_t)columns * m, &e.X, room, &e.part, room, &e.rows,
                         PetscMax(room, square), &e.sum));
  PetscCall(substitute(&e));
  PetscCall(complete(&e));
  return PetscFree4(e.X, e.part, e.rows, e.sum);
}

/* ---- Cholesky ------------------------------------------------------------------------------ */

static const double one = 1.0, minus_one = -1.0;

/* Right-looking Cholesky factorisation of the rows and columns from `first` on. `first` need not
   begin a block, which pdpotrf requires. */
static PetscErrorCode factor_trailing(int first, int n, RgBlockMatrix *matrix, bool *good)
{
  const int *d = matrix->descriptor, block = matrix->row_block;
  double *a = matrix->a;

  *good = true;
  for (int k = first, width; *good && k < n; k += width) {
    width = PetscMin(block - k % block, n - k);
    const int here = k + 1, next = here + width, rest = n - k - width;
    double *corner = diagonal_entry(matrix, k); /* of one block, whose owner factors it */
    int info = 0;
    if (corner) info = (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', width, corner, matrix->ld);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &info, 1, MPI_INT, MPI_MAX, matrix->grid->comm));
    *good = info == 0;
    if (!*good || rest == 0) continue;
    pdtrsm_("R", "L", "T", "N", &rest, &width, &one, a, &here, &here, d, a, &next, &here, d);
    pdsyrk_("L", "N", &rest, &width, &minus_one, a, &next, &here, d, &one, a, &next, &next, d);
  }
  return 0;
}

PetscErrorCode rg_block_matrix_cholesky(int first, int n, double smallest, RgBlockMatrix *matrix,
                                        bool *good, double *log_det)
{
  const int *d = matrix->descriptor, start = 1, here = first + 1, rest = n - first;
  double *a = matrix->a, sums[2] = {0, 0}; /* logarithms of pivots, number of bad pivots */
  int info;

  if (log_det) *log_det = 0;
  *good = true;
  if (n == 0) return 0;
  if (first && rest) { /* new rows below a factor: B = A21 L^-T, then the factor of A22 - B B' */
    if (rest <= RG_FEW_ROWS) {
      PetscCall(block_matrix_extend(first, n, matrix));
    } else {
      pdtrsm_("R", "L", "T", "N", &rest, &first, &one, a, &start, &start, d, a, &here, &start, d);
      pdsyrk_("L", "N", &rest, &first, &minus_one, a, &here, &start, d, &one, a, &here, &here, d);
    }
    PetscCall(factor_trailing(first, n, matrix, good));
  } else if (!first) {
    if (matrix->grid->size == 1)
      info = (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, a, matrix->ld);
    else pdpotrf_("L", &n, a, &start, &start, d, &info, 1);
    PetscCheck(info >= 0, matrix->grid->comm, PETSC_ERR_LIB, "pdpotrf returned %d", info);
    *good = info == 0;
  }
  if (!*good) return 0;
  for (int g = 0; g < n; g++) {
    const double *pivot = diagonal_entry(matrix, g);
    if (!pivot) continue;
    if (*pivot * *pivot > smallest) sums[0] += log(*pivot);
    else sums[1] += 1; /* also true for NaN */
  }
  PetscCall(rg_grid_sum(matrix->grid, 2, sums));
  *good = sums[1] == 0;
  if (log_det) *log_det = 2 * sums[0];
  return 0;
}

/* ---- solves -------------------------------------------------------------------------------- */

PetscErrorCode rg_block_matrix_solve(const RgBlockMatrix *factor, bool transposed, int n, int m,
                                     RgBlockMatrix *B)
{
  const int start = 1;

  if (n == 0 || m == 0) return 0;
  if (factor->grid->size == 1) {
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transposed ? CblasTrans : CblasNoTrans,
                CblasNonUnit, n, m, 1.0, factor->a, factor->ld, B->a, B->ld);
  } else {
    pdtrsm_("L", "L", transposed ? "T" : "N", "N", &n, &m, &one, factor->a, &start, &start,
            factor->descriptor, B->a, &start, &start, B->descriptor);
  }
  return 0;
}

/* Columns begin .. begin+count-1 of B, from the replicated to the distributed form or back. */
static void spread(int n, int m, int begin, int count, double *B, RgBlockMatrix *part, bool back)
{
  const int rows = rg_block_row(part, n), columns = rg_block_column(part, count);
  for (int j = 0; j < columns; j++) {
    const size_t at = (size_t)(begin + rg_block_global_column(part, j));
    for (int i = 0; i < rows; i++) {
      const size_t g = (size_t)rg_block_global_row(part, i);
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

  if (n == 0 || m == 0) return 0;
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
  return rg_block_matrix_destroy(&part);
}

/* ---- one right-hand side -------------------------------------------------------------------- */

/* sums: L21 b of the new rows, then the square L22, this rank's parts of them. */
static PetscErrorCode gather_rows(const RgBlockMatrix *L, int first, int m, const double *b,
                                  double *sums)
{
  const int from = rg_block_row(L, first);
  const int own = rg_block_row(L, first + m) - from;
  const int columns = rg_block_column(L, first);
  const int end = rg_block_column(L, first + m);
  double *mine, *product;

  if (own == 0) return 0;
  PetscCall(PetscMalloc2(columns, &mine, own, &product));
  for (int c = 0; c < columns; c++) mine[c] = b[rg_block_global_column(L, c)];
  PetscCall(PetscArrayzero(product, own));
  if (columns)
    cblas_dgemv(CblasColMajor, CblasNoTrans, own, columns, 1.0, L->a + from, L->ld, mine, 1, 0.0,
                product, 1);
  for (int r = 0; r < own; r++) {
    const int i = rg_block_global_row(L, from + r) - first;
    sums[i] = product[r];
    for (int c = columns; c < end; c++) {
      const int j = rg_block_global_column(L, c) - first;
      if (j <= i) sums[m + (size_t)j * m + i] = L->a[(size_t)c * L->ld + from + r];
    }
  }
  return PetscFree2(mine, product);
}

PetscErrorCode rg_block_matrix_solve_rows(const RgBlockMatrix *L, int first, int n, double *b)
{
  const int m = n - first;
  double *sums;

  PetscCall(PetscCalloc1((size_t)m * (m + 1), &sums));
  PetscCall(gather_rows(L, first, m, b, sums));
  PetscCall(rg_grid_sum(L->grid, (size_t)m * (m + 1), sums));
  for (int i = 0; i < m; i++) b[first + i] -= sums[i];
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, m, sums + m, m, b + first, 1);
  return PetscFree(sums);
}

/* ---- inverse ------------------------------------------------------------------------------- */

enum { CHUNK = 2 }; /* block columns of one update */

typedef struct {
  RgBlockMatrix *A;
  int n, k, g, width;  /* order; current block, its first column, its number of columns */
  int rows, row, next; /* number of local rows; first row of the block; first row after the block */
  int column, columns; /* local column of the block; number of local columns up to its end */
  double *corner;      /* width x width: L_kk^-1 */
  double *left;        /* (rows - next) x width: L[i,k] of the local rows below */
  double *panel;       /* width x columns: W[k,j] of the local columns */
  double *across;      /* width x next: W[k,i] of the local rows up to the block */
  double *packed, *arrived; /* blocks of the panel before they go into `across` */
  int *counts, *starts;     /* counts and offsets per process column */
} Sweep;

static bool own_row(const Sweep *s)
{
  return s->k % s->A->grid->rows == s->A->grid->row;
}

static bool own_column(const Sweep *s)
{
  return s->k % s->A->grid->columns == s->A->grid->column;
}

static void place(Sweep *s, int k)
{
  const int block = s->A->row_block;

  s->k = k;
  s->g = k * block;
  s->width = PetscMin(block, s->n - s->g);
  s->rows = rg_block_row(s->A, s->n);
  s->row = rg_block_row(s->A, s->g);
  s->next = rg_block_row(s->A, s->g + s->width);
  s->column = rg_block_column(s->A, s->g);
  s->columns = rg_block_column(s->A, s->g + s->width);
}

/* L_kk^-1 to the process row of the block. */
static PetscErrorCode invert_corner(Sweep *s)
{
  const RgGrid *grid = s->A->grid;
  const int width = s->width;
  int info = 0;

  if (!own_row(s)) return 0;
  if (own_column(s)) {
    const double *a = s->A->a + (size_t)s->column * s->A->ld + s->row;
    for (int j = 0; j < width; j++)
      for (int i = 0; i < width; i++)
        s->corner[j * width + i] = i < j ? 0.0 : a[(size_t)j * s->A->ld + i];
    info = (int)LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', width, s->corner, width);
    PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "dtrtri returned %d", info);
  }
  PetscCallMPI(
    MPI_Bcast(s->corner, width * width, MPI_DOUBLE, s->k % grid->columns, grid->row_comm));
  return 0;
}

/* Move rows x columns entries of the matrix, from (row, column) on, to `out`, and leave zeros
   behind. */
static void move_out(const RgBlockMatrix *A, int row, int column, int rows, int columns,
                     double *out)
{
  for (int j = 0; j < columns; j++) {
    double *a = A->a + (size_t)(column + j) * A->ld + row;
    for (int i = 0; i < rows; i++) {
      out[(size_t)j * rows + i] = a[i];
      a[i] = 0.0;
    }
  }
}

static PetscErrorCode share_panel(Sweep *s)
{
  const RgGrid *grid = s->A->grid;
  const int width = s->width;

  if (own_row(s)) {
    move_out(s->A, s->row, 0, width, s->columns, s->panel);
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, width, s->column,
                1.0, s->corner, width, s->panel, width);
    if (own_column(s))
      PetscCall(PetscArraycpy(s->panel + (size_t)s->column * width, s->corner, width * width));
  }
  PetscCallMPI(
    MPI_Bcast(s->panel, width * s->columns, MPI_DOUBLE, s->k % grid->rows, grid->column_comm));
  return 0;
}

/* The panel's blocks of the local rows, from the process columns that have them. */
static PetscErrorCode share_across(Sweep *s)
{
  const RgGrid *grid = s->A->grid;
  const int width = s->width, block = s->A->row_block;
  int sent = 0, total = 0;

  PetscCall(PetscArrayzero(s->counts, grid->columns));
  for (int b = grid->row; b <= s->k; b += grid->rows) {
    const int owner = b % grid->columns, size = width * (b == s->k ? width : block);
    s->counts[owner] += size;
    if (owner != grid->column) continue;
    PetscCall(PetscArraycpy(s->packed + sent,
                            s->panel + (size_t)(b / grid->columns) * block * width, size));
    sent += size;
  }
  for (int c = 0; c < grid->columns; c++) {
    s->starts[c] = total;
    total += s->counts[c];
  }
  PetscCallMPI(MPI_Allgatherv(s->packed, sent, MPI_DOUBLE, s->arrived, s->counts, s->starts,
                              MPI_DOUBLE, grid->row_comm));
  for (int b = grid->row; b <= s->k; b += grid->rows) {
    const int size = width * (b == s->k ? width : block);
    int *start = &s->starts[b % grid->columns];
    PetscCall(PetscArraycpy(s->across + (size_t)(b / grid->rows) * block * width,
                            s->arrived + *start, size));
    *start += size;
  }
  return 0;
}

static void update(const Sweep *s)
{
  RgBlockMatrix *A = s->A;
  const int width = s->width, below = s->rows - s->next, step = CHUNK * A->column_block;

  if (below && s->columns)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, below, s->columns, width, -1.0, s->left,
                below, s->panel, width, 1.0, A->a + s->next, A->ld);
  for (int j = 0; j < s->columns; j += step) {
    const int first = rg_block_global_column(A, j);
    const int top = rg_block_row(A, first);
    if (top >= s->next) break;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, s->next - top,
                PetscMin(step, s->columns - j), width, 1.0, s->across + (size_t)top * width, width,
                s->panel + (size_t)j * width, width, 1.0, A->a + (size_t)j * A->ld + top, A->ld);
  }
}

PetscErrorCode rg_block_matrix_invert(int n, RgBlockMatrix *A)
{
  const int block = A->row_block, rows = A->local_rows, columns = A->local_columns;
  Sweep s = {.A = A, .n = n};

  if (A->grid->size == 1) {
    const int info = (int)LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, A->a, A->ld);
    PetscCheck(info == 0, A->grid->comm, PETSC_ERR_LIB, "dpotri returned %d", info);
    return 0;
  }
  PetscCall(PetscMalloc4(block * block, &s.corner, (size_t)rows * block, &s.left,
                         (size_t)columns * block, &s.panel, (size_t)rows * block, &s.across));
  PetscCall(PetscMalloc4((size_t)columns * block, &s.packed, (size_t)rows * block, &s.arrived,
                         A->grid->columns, &s.counts, A->grid->columns, &s.starts));
  for (int k = 0; k * block < n; k++) {
    place(&s, k);
    PetscCall(invert_corner(&s));
    const int below = s.rows - s.next;
    if (own_column(&s)) move_out(A, s.next, s.column, below, s.width, s.left);
    PetscCallMPI(
      MPI_Bcast(s.left, below * s.width, MPI_DOUBLE, k % A->grid->columns, A->grid->row_comm));
    PetscCall(share_panel(&s));
    PetscCall(share_across(&s));
    update(&s);
  }
  PetscCall(PetscFree4(s.corner, s.left, s.panel, s.across));
  return PetscFree4(s.packed, s.arrived, s.counts, s.starts);
}
