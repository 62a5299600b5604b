/* Process grids and block-cyclic matrices: life and index arithmetic. */
#include "gp/team/distributed_matrix.h"

#include <math.h>

/* Rows and columns that PBLAS works on at a time. The library's 32 makes narrow products: with 256
   a triangular solve on 2 ranks takes a third to a half of the time (n = 4,000, 1,024 columns). */
int pilaenv_(const int *context, const char *precision, size_t length)
{
  (void)context, (void)precision, (void)length;
  return 256;
}

static void near_square(int size, int *rows, int *columns)
{
  *rows = (int)sqrt((double)size);
  while (size % *rows) (*rows)--;
  *columns = size / *rows;
}

PetscErrorCode rg_grid_create(MPI_Comm comm, int block, RgGrid *grid)
{
  PetscFunctionBeginUser;
  *grid = (RgGrid){.block = block > 0 ? block : RG_DISTRIBUTED_BLOCK};
  PetscCallMPI(MPI_Comm_dup(comm, &grid->comm));
  PetscCallMPI(MPI_Comm_size(grid->comm, &grid->size));
  PetscCallMPI(MPI_Comm_rank(grid->comm, &grid->rank));
  near_square(grid->size, &grid->rows, &grid->columns);
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
  PetscFunctionReturn(0);
}

PetscErrorCode rg_grid_destroy(RgGrid *grid)
{
  PetscFunctionBeginUser;
  if (!grid->size) PetscFunctionReturn(0);
  Cblacs_gridexit(grid->context);
  Cfree_blacs_system_handle(grid->handle);
  PetscCallMPI(MPI_Comm_free(&grid->row_comm));
  PetscCallMPI(MPI_Comm_free(&grid->column_comm));
  PetscCallMPI(MPI_Comm_free(&grid->comm));
  *grid = (RgGrid){0};
  PetscFunctionReturn(0);
}

int rg_cyclic_count(int n, int block, int index, int count)
{
  const int whole = n / block, rest = n % block, turn = whole % count;
  int mine = whole / count * block;
  if (index < turn) mine += block;
  if (index == turn) mine += rest;
  return mine;
}

int rg_cyclic_global(int local, int block, int index, int count)
{
  return (local / block * count + index) * block + local % block;
}

static PetscErrorCode lay_out(RgBlockMatrix *matrix)
{
  const RgGrid *grid = matrix->grid;
  const int zero = 0;
  int info;

  PetscFunctionBeginUser;
  matrix->local_rows = rg_cyclic_count(matrix->rows, matrix->row_block, grid->row, grid->rows);
  matrix->local_columns =
    rg_cyclic_count(matrix->columns, matrix->column_block, grid->column, grid->columns);
  matrix->ld = PetscMax(1, (matrix->local_rows + 7) / 8 * 8);
  descinit_(matrix->descriptor, &matrix->rows, &matrix->columns, &matrix->row_block,
            &matrix->column_block, &zero, &zero, &grid->context, &matrix->ld, &info);
  PetscCheck(info == 0, grid->comm, PETSC_ERR_LIB, "descinit returned %d", info);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_block_matrix_create(const RgGrid *grid, int rows, int columns, int row_block,
                                      int column_block, RgBlockMatrix *matrix)
{
  PetscFunctionBeginUser;
  *matrix = (RgBlockMatrix){.grid = grid,
                            .rows = rows,
                            .columns = columns,
                            .row_block = row_block,
                            .column_block = column_block};
  PetscCall(lay_out(matrix));
  PetscCheck((size_t)matrix->ld * PetscMax(matrix->local_columns, 1) < (size_t)INT32_MAX,
             PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "a %d x %d matrix over %d ranks has %d x %d entries on one of them; ScaLAPACK counts "
             "to 2^31: use at least %.0f ranks",
             rows, columns, grid->size, matrix->ld, matrix->local_columns,
             ceil((double)rows * columns / INT32_MAX) + 1);
  PetscCall(PetscMalloc1((size_t)matrix->ld * matrix->local_columns, &matrix->a));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_block_matrix_destroy(RgBlockMatrix *matrix)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(matrix->a));
  *matrix = (RgBlockMatrix){0};
  PetscFunctionReturn(0);
}

PetscErrorCode rg_block_matrix_grow(RgBlockMatrix *matrix, int n, int rows, int columns)
{
  const RgGrid *grid = matrix->grid;
  RgBlockMatrix larger;

  PetscFunctionBeginUser;
  PetscCall(
    rg_block_matrix_create(grid, rows, columns, matrix->row_block, matrix->column_block, &larger));
  const int kept_rows = rg_cyclic_count(n, matrix->row_block, grid->row, grid->rows);
  const int kept_columns = rg_cyclic_count(n, matrix->column_block, grid->column, grid->columns);
  for (int j = 0; j < kept_columns; j++)
    PetscCall(PetscArraycpy(larger.a + (size_t)j * larger.ld, matrix->a + (size_t)j * matrix->ld,
                            kept_rows));
  PetscCall(rg_block_matrix_destroy(matrix));
  *matrix = larger;
  PetscFunctionReturn(0);
}

void rg_block_matrix_rows(const RgBlockMatrix *matrix, int first, int n, int dim, const double *X,
                          double *rows)
{
  const RgGrid *grid = matrix->grid;
  const int begin = rg_cyclic_count(first, matrix->row_block, grid->row, grid->rows);
  const int end = rg_cyclic_count(n, matrix->row_block, grid->row, grid->rows);
  for (int i = begin; i < end; i++) {
    const double *x =
      X + (size_t)rg_cyclic_global(i, matrix->row_block, grid->row, grid->rows) * dim;
    for (int k = 0; k < dim; k++) *rows++ = x[k];
  }
}

PetscErrorCode rg_grid_sum(const RgGrid *grid, size_t count, double *values)
{
  const size_t most = (size_t)1 << 26;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < count; i += most)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values + i, (int)PetscMin(most, count - i), MPI_DOUBLE,
                               MPI_SUM, grid->comm));
  PetscFunctionReturn(0);
}
