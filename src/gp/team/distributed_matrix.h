/* Kernel matrices spread block-cyclically over the ranks of a communicator, and their Cholesky
   factors. A rank holds its share and O(n * block). All functions except the pure index
   arithmetic are collective on the grid's communicator, with the same arguments on every rank.
   Internal to gp/. */
#ifndef RG_GP_TEAM_DISTRIBUTED_MATRIX_H
#define RG_GP_TEAM_DISTRIBUTED_MATRIX_H

#include "gp/team/distributed.h"
#include "gp/team/scalapack.h"

/* Ranks as rows x columns, rank = row * columns + column; as square as the number of ranks allows,
   never taller than wide. */
typedef struct {
  MPI_Comm comm; /* a duplicate, owned */
  int size, rank;
  int handle, context; /* handle and context of BLACS */
  int rows, columns, row, column;
  MPI_Comm row_comm, column_comm; /* ranks of this row, ranks of this column; owned */
  int block;                      /* rows and columns of a block */
} RgGrid;

/* block 0: the default, RG_DISTRIBUTED_BLOCK. */
PetscErrorCode rg_grid_create(MPI_Comm comm, int block, RgGrid *grid);
PetscErrorCode rg_grid_destroy(RgGrid *grid);

/* rows x columns, cut into row_block x column_block, local part column-major. */
typedef struct {
  const RgGrid *grid; /* borrowed */
  int rows, columns, row_block, column_block;
  int local_rows, local_columns, ld;
  double *a; /* local_columns * ld; owned */
  int descriptor[RG_DESCRIPTOR];
} RgBlockMatrix;

/* The local index of this rank's first row (column) whose global index is at least g. This is also
   the number of its rows (columns) among the first g. */
int rg_block_row(const RgBlockMatrix *matrix, int g);
int rg_block_column(const RgBlockMatrix *matrix, int g);
/* The global index of a local row (column). */
int rg_block_global_row(const RgBlockMatrix *matrix, int i);
int rg_block_global_column(const RgBlockMatrix *matrix, int j);

/* Create a block matrix over the grid, with unset entries; destroy it. Every rank calls both. */
PetscErrorCode rg_block_matrix_create(const RgGrid *grid, int rows, int columns, int row_block,
                                      int column_block, RgBlockMatrix *matrix);
PetscErrorCode rg_block_matrix_destroy(RgBlockMatrix *matrix);
/* A larger matrix with the same blocks; entries of the leading n x n part stay. No communication.
 */
PetscErrorCode rg_block_matrix_grow(RgBlockMatrix *matrix, int n, int rows, int columns);

/* This rank's rows first .. n-1 of X (n x dim) in local order; rows: room for local rows x dim. */
void rg_block_matrix_rows(const RgBlockMatrix *matrix, int first, int n, int dim, const double *X,
                          double *rows);

/* Lower triangle of rows first .. n-1 of the kernel matrix of X (n x dim) plus `diagonal` on its
   diagonal, in place. Entries above the diagonal in the blocks on it are overwritten. O(n^2 dim)
   over all ranks, O(n * block) scratch. */
PetscErrorCode rg_block_matrix_kernel(const RgKernel *kernel, int first, int n, const double *X,
                                      double diagonal, RgBlockMatrix *matrix);
/* K: rows x columns part of k(x_i, z_j), i < n, j < m, of a matrix of n x m entries in place. */
PetscErrorCode rg_block_matrix_cross(const RgKernel *kernel, int n, const double *X, int m,
                                     const double *Z, RgBlockMatrix *matrix);

/* Lower Cholesky factor of the leading n x n part, of which the first `first` rows and columns are
   factored already. *good: all pivots squared are above `smallest`. *log_det (NULL: not wanted):
   the log determinant of the matrix. */
PetscErrorCode rg_block_matrix_cholesky(int first, int n, double smallest, RgBlockMatrix *matrix,
                                        bool *good, double *log_det);
/* b (n, the same on every rank), whose first `first` entries are already those of L^-1 b.
   Computes the others. Sends (n - first)^2 numbers per rank. */
PetscErrorCode rg_block_matrix_solve_rows(const RgBlockMatrix *factor, int first, int n, double *b);
/* Up to this many rows count as few. */
enum { RG_FEW_ROWS = 128 };

/* Lower triangle of the inverse of the factored matrix, in place; overwrites the entries above
   the diagonal. 2 n^3/3 flops, 3 n^2/sqrt(ranks) numbers sent per rank. */
PetscErrorCode rg_block_matrix_invert(int n, RgBlockMatrix *matrix);
/* B := L^-1 B, or L^-T B; B n x m distributed in the same row blocks. */
PetscErrorCode rg_block_matrix_solve(const RgBlockMatrix *factor, bool transposed, int n, int m,
                                     RgBlockMatrix *B);
/* B (n x m, B[i*m + j], the same on every rank): L^-1 B (lower), then L^-T B (upper). */
PetscErrorCode rg_block_matrix_solve_all(const RgBlockMatrix *factor, bool lower, bool upper, int n,
                                         int m, double *B);

/* Sum over the ranks, in place, the same bits everywhere. Any count. */
PetscErrorCode rg_grid_sum(const RgGrid *grid, size_t count, double *values);

#endif
