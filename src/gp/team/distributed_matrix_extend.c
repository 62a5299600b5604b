/* New rows below a block-cyclic Cholesky factor: X = L^-1 A21' by forward substitution that does
   not move L. The process row of a block row of L multiplies it with the known part of X; the
   owner of the block sums the products and solves. The new X_k goes to the process column that
   holds column k. Only sqrt(P) of P ranks work at a time, but n m numbers travel instead of the
   n^2/2 of pdtrsm, which matters for few new rows. */
#include "gp/team/distributed_matrix.h"

#include "maths/blas.h"

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
  const int row = rg_cyclic_count(g, A->row_block, grid->row, grid->rows);
  const int columns = rg_cyclic_count(g, A->column_block, grid->column, grid->columns);

  PetscFunctionBeginUser;
  if (columns)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, e->m, width, columns, -1.0, e->X, e->m,
                A->a + row, A->ld, 0.0, e->part, e->m);
  else PetscCall(PetscArrayzero(e->part, (size_t)width * e->m));
  PetscCallMPI(
    MPI_Reduce(e->part, e->sum, width * e->m, MPI_DOUBLE, MPI_SUM, root, grid->row_comm));
  PetscFunctionReturn(0);
}

/* A21[:, k]' at the owner of block k, from the process rows that have parts of it. */
static PetscErrorCode collect(Extension *e, int column, int width, int root)
{
  const RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(e->rows, (size_t)width * e->m));
  for (int r = 0; r < e->own; r++) {
    const int i = rg_cyclic_global(e->from + r, A->row_block, grid->row, grid->rows) - e->first;
    for (int c = 0; c < width; c++)
      e->rows[c * e->m + i] = A->a[(size_t)(column + c) * A->ld + e->from + r];
  }
  PetscCallMPI(
    MPI_Reduce(e->rows, e->part, width * e->m, MPI_DOUBLE, MPI_SUM, root, grid->column_comm));
  PetscFunctionReturn(0);
}

/* X_k on the process column of block k: into X, and transposed into the new rows. */
static PetscErrorCode spread(Extension *e, int column, int width, int root)
{
  RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Bcast(e->part, width * e->m, MPI_DOUBLE, root, grid->column_comm));
  PetscCall(PetscArraycpy(e->X + (size_t)column * e->m, e->part, (size_t)width * e->m));
  for (int r = 0; r < e->own; r++) {
    const int i = rg_cyclic_global(e->from + r, A->row_block, grid->row, grid->rows) - e->first;
    for (int c = 0; c < width; c++)
      A->a[(size_t)(column + c) * A->ld + e->from + r] = e->part[c * e->m + i];
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode substitute(Extension *e)
{
  const RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;
  const int block = A->row_block;

  PetscFunctionBeginUser;
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
    PetscCall(spread(e, local, width, row));
  }
  PetscFunctionReturn(0);
}

/* A22 -= X'X, its lower triangle. */
static PetscErrorCode complete(Extension *e)
{
  RgBlockMatrix *A = e->A;
  const RgGrid *grid = A->grid;
  const int m = e->m;
  const int columns = rg_cyclic_count(e->first, A->column_block, grid->column, grid->columns);
  const int end = rg_cyclic_count(e->first + m, A->column_block, grid->column, grid->columns);
  double *square;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1((size_t)m * m, &square));
  if (columns)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, m, columns, 1.0, e->X, m, 0.0, square, m);
  PetscCallMPI(MPI_Allreduce(square, e->sum, m * m, MPI_DOUBLE, MPI_SUM, grid->row_comm));
  for (int c = columns; c < end; c++) {
    const int j = rg_cyclic_global(c, A->column_block, grid->column, grid->columns) - e->first;
    for (int r = 0; r < e->own; r++) {
      const int i = rg_cyclic_global(e->from + r, A->row_block, grid->row, grid->rows) - e->first;
      if (i >= j) A->a[(size_t)c * A->ld + e->from + r] -= e->sum[(size_t)j * m + i];
    }
  }
  PetscCall(PetscFree(square));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_block_matrix_extend(int first, int n, RgBlockMatrix *A)
{
  const RgGrid *grid = A->grid;
  const int block = A->row_block, m = n - first;
  const size_t room = (size_t)block * m, square = (size_t)m * m;
  Extension e = {.A = A, .first = first, .m = m};

  PetscFunctionBeginUser;
  e.from = rg_cyclic_count(first, block, grid->row, grid->rows);
  e.own = rg_cyclic_count(n, block, grid->row, grid->rows) - e.from;
  const int columns = rg_cyclic_count(first, block, grid->column, grid->columns);
  PetscCall(PetscMalloc4((size_t)columns * m, &e.X, room, &e.part, room, &e.rows,
                         PetscMax(room, square), &e.sum));
  PetscCall(substitute(&e));
  PetscCall(complete(&e));
  PetscCall(PetscFree4(e.X, e.part, e.rows, e.sum));
  PetscFunctionReturn(0);
}

/* ---- one right-hand side -------------------------------------------------------------------- */

/* sums: L21 b of the new rows, then the square L22, this rank's parts of them. */
static PetscErrorCode gather_rows(const RgBlockMatrix *L, int first, int m, const double *b,
                                  double *sums)
{
  const RgGrid *grid = L->grid;
  const int from = rg_cyclic_count(first, L->row_block, grid->row, grid->rows);
  const int own = rg_cyclic_count(first + m, L->row_block, grid->row, grid->rows) - from;
  const int columns = rg_cyclic_count(first, L->column_block, grid->column, grid->columns);
  const int end = rg_cyclic_count(first + m, L->column_block, grid->column, grid->columns);
  double *mine, *product;

  PetscFunctionBeginUser;
  if (own == 0) PetscFunctionReturn(0);
  PetscCall(PetscMalloc2(columns, &mine, own, &product));
  for (int c = 0; c < columns; c++)
    mine[c] = b[rg_cyclic_global(c, L->column_block, grid->column, grid->columns)];
  PetscCall(PetscArrayzero(product, own));
  if (columns)
    cblas_dgemv(CblasColMajor, CblasNoTrans, own, columns, 1.0, L->a + from, L->ld, mine, 1, 0.0,
                product, 1);
  for (int r = 0; r < own; r++) {
    const int i = rg_cyclic_global(from + r, L->row_block, grid->row, grid->rows) - first;
    sums[i] = product[r];
    for (int c = columns; c < end; c++) {
      const int j = rg_cyclic_global(c, L->column_block, grid->column, grid->columns) - first;
      if (j <= i) sums[m + (size_t)j * m + i] = L->a[(size_t)c * L->ld + from + r];
    }
  }
  PetscCall(PetscFree2(mine, product));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_block_matrix_solve_rows(const RgBlockMatrix *L, int first, int n, double *b)
{
  const int m = n - first;
  double *sums;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1((size_t)m * (m + 1), &sums));
  PetscCall(gather_rows(L, first, m, b, sums));
  PetscCall(rg_grid_sum(L->grid, (size_t)m * (m + 1), sums));
  for (int i = 0; i < m; i++) b[first + i] -= sums[i];
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, m, sums + m, m, b + first, 1);
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}
