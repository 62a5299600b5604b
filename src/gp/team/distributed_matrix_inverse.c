/* Inverse of a block-cyclic matrix from its Cholesky factor, K^-1 = W'W with W = L^-1, in one sweep
   over the block rows. ScaLAPACK's pdpotri needs two and works on narrow panels; here every step is
   two products of local matrices.

   At step k, W[k,:] = L_kk^-1 R[k,:], where R holds minus the sums over j < k of L[:,j] W[j,:] in
   the rows that are still to come: R[i,:] -= L[i,k] W[k,:] for i > k, and the rows up to k gather
   W[k,:]' W[k,:]. Both live where L was. */
#include "gp/team/distributed_matrix.h"

#include "maths/blas.h"

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
  const RgGrid *grid = s->A->grid;
  const int block = s->A->row_block;

  s->k = k;
  s->g = k * block;
  s->width = PetscMin(block, s->n - s->g);
  s->rows = rg_cyclic_count(s->n, block, grid->row, grid->rows);
  s->row = rg_cyclic_count(s->g, block, grid->row, grid->rows);
  s->next = rg_cyclic_count(s->g + s->width, block, grid->row, grid->rows);
  s->column = rg_cyclic_count(s->g, block, grid->column, grid->columns);
  s->columns = rg_cyclic_count(s->g + s->width, block, grid->column, grid->columns);
}

/* L_kk^-1 to the process row of the block. */
static PetscErrorCode invert_corner(Sweep *s)
{
  const RgGrid *grid = s->A->grid;
  const int width = s->width;
  int info = 0;

  PetscFunctionBeginUser;
  if (!own_row(s)) PetscFunctionReturn(0);
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
  PetscFunctionReturn(0);
}

/* Move rows x columns entries of the matrix, from (row, column) on, to `out`, and leave zeros
   behind. */
static void take(const RgBlockMatrix *A, int row, int column, int rows, int columns, double *out)
{
  for (int j = 0; j < columns; j++) {
    double *a = A->a + (size_t)(column + j) * A->ld + row;
    for (int i = 0; i < rows; i++) {
      out[(size_t)j * rows + i] = a[i];
      a[i] = 0.0;
    }
  }
}

static PetscErrorCode share_left(Sweep *s)
{
  const RgGrid *grid = s->A->grid;
  const int below = s->rows - s->next;

  PetscFunctionBeginUser;
  if (own_column(s)) take(s->A, s->next, s->column, below, s->width, s->left);
  PetscCallMPI(
    MPI_Bcast(s->left, below * s->width, MPI_DOUBLE, s->k % grid->columns, grid->row_comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode share_panel(Sweep *s)
{
  const RgGrid *grid = s->A->grid;
  const int width = s->width;

  PetscFunctionBeginUser;
  if (own_row(s)) {
    take(s->A, s->row, 0, width, s->columns, s->panel);
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, width, s->column,
                1.0, s->corner, width, s->panel, width);
    if (own_column(s))
      PetscCall(PetscArraycpy(s->panel + (size_t)s->column * width, s->corner, width * width));
  }
  PetscCallMPI(
    MPI_Bcast(s->panel, width * s->columns, MPI_DOUBLE, s->k % grid->rows, grid->column_comm));
  PetscFunctionReturn(0);
}

/* The panel's blocks of the local rows, from the process columns that have them. */
static PetscErrorCode share_across(Sweep *s)
{
  const RgGrid *grid = s->A->grid;
  const int width = s->width, block = s->A->row_block;
  int sent = 0, total = 0;

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

static void update(const Sweep *s)
{
  RgBlockMatrix *A = s->A;
  const RgGrid *grid = A->grid;
  const int width = s->width, below = s->rows - s->next, step = CHUNK * A->column_block;

  if (below && s->columns)
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, below, s->columns, width, -1.0, s->left,
                below, s->panel, width, 1.0, A->a + s->next, A->ld);
  for (int j = 0; j < s->columns; j += step) {
    const int first = rg_cyclic_global(j, A->column_block, grid->column, grid->columns);
    const int top = rg_cyclic_count(first, A->row_block, grid->row, grid->rows);
    if (top >= s->next) break;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, s->next - top,
                PetscMin(step, s->columns - j), width, 1.0, s->across + (size_t)top * width, width,
                s->panel + (size_t)j * width, width, 1.0, A->a + (size_t)j * A->ld + top, A->ld);
  }
}

PetscErrorCode rg_block_matrix_sweep(int n, RgBlockMatrix *A)
{
  const int block = A->row_block, rows = A->local_rows, columns = A->local_columns;
  Sweep s = {.A = A, .n = n};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(block * block, &s.corner, (size_t)rows * block, &s.left,
                         (size_t)columns * block, &s.panel, (size_t)rows * block, &s.across));
  PetscCall(PetscMalloc4((size_t)columns * block, &s.packed, (size_t)rows * block, &s.arrived,
                         A->grid->columns, &s.counts, A->grid->columns, &s.starts));
  for (int k = 0; k * block < n; k++) {
    place(&s, k);
    PetscCall(invert_corner(&s));
    PetscCall(share_left(&s));
    PetscCall(share_panel(&s));
    PetscCall(share_across(&s));
    update(&s);
  }
  PetscCall(PetscFree4(s.corner, s.left, s.panel, s.across));
  PetscCall(PetscFree4(s.packed, s.arrived, s.counts, s.starts));
  PetscFunctionReturn(0);
}
