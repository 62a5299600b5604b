/* The kernel matrix as an operator, and its preconditioner. */
#include "gp/posterior/iterative/iterative_internal.h"

#include <math.h>

#include "maths/blas.h"
#include "gp/kernel/kernel_internal.h"

/* A tile of the matrix: so many data by so many of the rank's rows. */
enum { DATA = 256, WIDTH = 128 };

PetscErrorCode rg_iterative_gather(const RgIterative *gp, int s, const double *mine, double *all)
{
  int *counts, *starts;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(gp->ranks, &counts, gp->ranks, &starts));
  for (int r = 0; r < gp->ranks; r++) {
    starts[r] = gp->first[r] * s;
    counts[r] = (gp->first[r + 1] - gp->first[r]) * s;
  }
  PetscCallMPI(
    MPI_Allgatherv(mine, gp->rows * s, MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, gp->comm));
  PetscCall(PetscFree2(counts, starts));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_multiply(const RgIterative *gp, int s, const double *V, double *Y)
{
  const RgTileOps *ops = rg_tile_ops();
  const RgKernel *kernel = gp->kernel;
  const int columns = rg_kernel_n_columns(kernel), first = gp->first[gp->rank];
  double *value, *B, *sum, *scratch;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(DATA * WIDTH, &value, WIDTH * columns, &B, (size_t)WIDTH * s, &sum,
                         rg_kernel_tile_scratch(kernel, WIDTH), &scratch));
  for (int j = 0; j < gp->rows; j += WIDTH) {
    const int count = PetscMin(WIDTH, gp->rows - j), width = rg_pad(count);
    rg_kernel_scale_tile(kernel, count, gp->X + (size_t)(first + j) * kernel->dim, width, B);
    PetscCall(PetscArrayzero(sum, (size_t)WIDTH * s));
    for (int i = 0; i < gp->n; i += DATA) {
      const int data = PetscMin(DATA, gp->n - i);
      const double *v = V + (size_t)i * s;
      rg_kernel_tile(ops, kernel, data, gp->scaled + (size_t)i * columns, B, width, value, NULL, 0,
                     scratch);
      if (s == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, data, width, 1.0, value, width, v, 1, 1.0, sum, 1);
      else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, width, s, data, 1.0, value, width, v,
                    s, 1.0, sum, s);
    }
    for (int k = 0; k < count * s; k++)
      Y[(size_t)j * s + k] = sum[k] + gp->noise_variance * V[(size_t)(first + j) * s + k];
  }
  PetscCall(PetscFree4(value, B, sum, scratch));
  PetscFunctionReturn(0);
}

/* ---- pivoted Cholesky ---------------------------------------------------------------------- */

typedef struct {
  double value;
  int index;
} Pivot;

/* The row of largest variance left, the lowest of equals, and its row of L so far. */
static PetscErrorCode choose_pivot(const RgIterative *gp, int k, const double *left, Pivot *pivot,
                                   double *row)
{
  const int first = gp->first[gp->rank];
  Pivot mine = {-1.0, gp->n};
  int owner = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < gp->rows; i++)
    if (left[i] > mine.value) mine = (Pivot){left[i], first + i};
  PetscCallMPI(MPI_Allreduce(&mine, pivot, 1, MPI_DOUBLE_INT, MPI_MAXLOC, gp->comm));
  while (gp->first[owner + 1] <= pivot->index) owner++;
  if (owner == gp->rank)
    for (int c = 0; c < k; c++)
      row[c] = gp->L[(size_t)c * gp->rows + (size_t)(pivot->index - first)];
  PetscCallMPI(MPI_Bcast(row, k, MPI_DOUBLE, owner, gp->comm));
  PetscFunctionReturn(0);
}

static PetscErrorCode factor(RgIterative *gp, double *left, double *row)
{
  const int rows = gp->rows, dim = gp->kernel->dim;
  const double *mine = gp->X + (size_t)gp->first[gp->rank] * dim;
  const double enough = 1e-12 * rg_kernel_diagonal(gp->kernel);

  PetscFunctionBeginUser;
  for (int i = 0; i < rows; i++) left[i] = rg_kernel_diagonal(gp->kernel);
  for (int k = 0; k < gp->options.rank; k++) {
    double *column = gp->L + (size_t)k * rows;
    Pivot pivot;
    PetscCall(choose_pivot(gp, k, left, &pivot, row));
    if (pivot.value <= enough) break;
    PetscCall(
      rg_kernel_cross(gp->kernel, 1, gp->X + (size_t)pivot.index * dim, rows, mine, column));
    if (k && rows)
      cblas_dgemv(CblasColMajor, CblasNoTrans, rows, k, -1.0, gp->L, rows, row, 1, 1.0, column, 1);
    const double root = sqrt(pivot.value);
    for (int i = 0; i < rows; i++) {
      column[i] /= root;
      left[i] = PetscMax(left[i] - column[i] * column[i], 0.0);
    }
    gp->columns = k + 1;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_build_preconditioner(RgIterative *gp)
{
  const int rows = gp->rows;
  double *left, *row;

  PetscFunctionBeginUser;
  gp->options.rank = PetscMin(gp->options.rank, gp->n);
  PetscCall(PetscMalloc1((size_t)rows * gp->options.rank, &gp->L));
  PetscCall(PetscMalloc2(rows, &left, gp->options.rank, &row));
  PetscCall(factor(gp, left, row));
  PetscCall(PetscFree2(left, row));
  const int r = gp->columns;
  gp->log_det = (gp->n - r) * log(gp->noise_variance);
  if (r == 0) PetscFunctionReturn(0);
  PetscCall(PetscCalloc1((size_t)r * r, &gp->M));
  if (rows)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, r, rows, 1.0, gp->L, rows, 0.0, gp->M, r);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, gp->M, r * r, MPI_DOUBLE, MPI_SUM, gp->comm));
  for (int k = 0; k < r; k++) gp->M[(size_t)k * (r + 1)] += gp->noise_variance;
  const int info = (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, gp->M, r);
  PetscCheck(info == 0, gp->comm, PETSC_ERR_FP, "the preconditioner is not positive definite");
  for (int k = 0; k < r; k++) gp->log_det += 2 * log(gp->M[(size_t)k * (r + 1)]);
  PetscFunctionReturn(0);
}

/* (noise I + L L')^-1 = (I - L (noise I + L'L)^-1 L') / noise */
PetscErrorCode rg_iterative_precondition(const RgIterative *gp, int s, const double *in,
                                         double *out)
{
  const int rows = gp->rows, r = gp->columns;
  double *T, *transposed;

  PetscFunctionBeginUser;
  PetscCall(PetscArraycpy(out, in, (size_t)rows * s));
  if (r) {
    PetscCall(PetscCalloc2((size_t)r * s, &T, (size_t)r * s, &transposed));
    if (rows)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, s, r, rows, 1.0, in, s, gp->L, rows,
                  0.0, T, s);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, T, r * s, MPI_DOUBLE, MPI_SUM, gp->comm));
    for (int k = 0; k < r; k++)
      for (int j = 0; j < s; j++) transposed[(size_t)j * r + k] = T[(size_t)k * s + j];
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', r, s, gp->M, r, transposed, r);
    for (int k = 0; k < r; k++)
      for (int j = 0; j < s; j++) T[(size_t)k * s + j] = transposed[(size_t)j * r + k];
    if (rows)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, s, rows, r, -1.0, T, s, gp->L, rows, 1.0,
                  out, s);
    PetscCall(PetscFree2(T, transposed));
  }
  for (size_t i = 0; i < (size_t)rows * (size_t)s; i++) out[i] /= gp->noise_variance;
  PetscFunctionReturn(0);
}
