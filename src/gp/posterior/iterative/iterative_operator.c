/* The kernel matrix as an operator, and its preconditioner. */
#include "gp/posterior/iterative/iterative_internal.h"

#include <math.h>

#include "maths/blas.h"
#include "gp/kernel/kernel_internal.h"

/* Size of a matrix tile: data by rows of this rank. */
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

/* The row of largest remaining variance (the lowest index among equals), and its row of L so
   far. */
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
    for (int c = 0; c < k; c++) row[c] = gp->L[(size_t)c * gp->ld + (size_t)(pivot->index - first)];
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
    double *column = gp->L + (size_t)k * gp->ld;
    Pivot pivot;
    PetscCall(choose_pivot(gp, k, left, &pivot, row));
    if (pivot.value <= enough) break;
    PetscCall(
      rg_kernel_cross(gp->kernel, 1, gp->X + (size_t)pivot.index * dim, rows, mine, column));
    if (k && rows)
      cblas_dgemv(CblasColMajor, CblasNoTrans, rows, k, -1.0, gp->L, gp->ld, row, 1, 1.0, column,
                  1);
    const double root = sqrt(pivot.value);
    PetscCall(PetscArraycpy(gp->pivots + (size_t)k * dim, gp->X + (size_t)pivot.index * dim, dim));
    for (int c = 0; c < k; c++) gp->T[(size_t)c * gp->options.rank + k] = row[c];
    gp->T[(size_t)k * (gp->options.rank + 1)] = root;
    for (int i = 0; i < rows; i++) {
      column[i] /= root;
      left[i] = PetscMax(left[i] - column[i] * column[i], 0.0);
    }
    gp->columns = k + 1;
  }
  PetscFunctionReturn(0);
}

/* M, the factor of noise I + L'L, and the determinant, from the Gram matrix. */
static PetscErrorCode factor_gram(RgIterative *gp)
{
  const int r = gp->columns;

  PetscFunctionBeginUser;
  gp->log_det = (gp->n - r) * log(gp->noise_variance);
  if (r == 0) PetscFunctionReturn(0);
  PetscCall(PetscArraycpy(gp->M, gp->gram, (size_t)r * r));
  const int info = (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, gp->M, r);
  PetscCheck(info == 0, gp->comm, PETSC_ERR_FP, "the preconditioner is not positive definite");
  for (int k = 0; k < r; k++) gp->log_det += 2 * log(gp->M[(size_t)k * (r + 1)]);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_build_preconditioner(RgIterative *gp)
{
  const int rows = gp->rows, most = PetscMin(gp->rank_wanted, gp->n);
  double *left, *row;

  PetscFunctionBeginUser;
  gp->options.rank = most;
  gp->columns = 0;
  gp->ld = rows;
  PetscCall(PetscFree(gp->L));
  PetscCall(PetscFree4(gp->pivots, gp->T, gp->gram, gp->M));
  PetscCall(PetscMalloc1((size_t)rows * most, &gp->L));
  PetscCall(PetscMalloc4((size_t)most * gp->kernel->dim, &gp->pivots, (size_t)most * most, &gp->T,
                         (size_t)most * most, &gp->gram, (size_t)most * most, &gp->M));
  PetscCall(PetscMalloc2(rows, &left, most, &row));
  PetscCall(factor(gp, left, row));
  PetscCall(PetscFree2(left, row));
  const int r = gp->columns;
  PetscCall(PetscArrayzero(gp->gram, (size_t)r * r));
  if (rows && r)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, r, rows, 1.0, gp->L, gp->ld, 0.0, gp->gram,
                r);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, gp->gram, r * r, MPI_DOUBLE, MPI_SUM, gp->comm));
  for (int k = 0; k < r; k++) gp->gram[(size_t)k * (r + 1)] += gp->noise_variance;
  PetscCall(factor_gram(gp));
  PetscFunctionReturn(0);
}

/* Room for m more rows of L on this rank. */
static PetscErrorCode widen(RgIterative *gp, int m)
{
  const int rows = gp->rows;
  double *L;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)(rows + m) * gp->columns, &L));
  for (int k = 0; k < gp->columns; k++)
    PetscCall(PetscArraycpy(L + (size_t)k * (rows + m), gp->L + (size_t)k * gp->ld, rows));
  PetscCall(PetscFree(gp->L));
  gp->L = L;
  gp->ld = rows + m;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_extend_preconditioner(RgIterative *gp, int m)
{
  const int r = gp->columns, dim = gp->kernel->dim, last = gp->rank == gp->ranks - 1;
  double *row;

  PetscFunctionBeginUser;
  if (last) PetscCall(widen(gp, m));
  PetscCall(PetscMalloc1(r, &row));
  for (int i = 0; i < m; i++) {
    const double *x = gp->X + (size_t)(gp->n - m + i) * dim;
    PetscCall(rg_kernel_cross(gp->kernel, 1, x, r, gp->pivots, row));
    if (r) {
      cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, gp->T, gp->options.rank,
                  row, 1);
      cblas_dsyr(CblasColMajor, CblasLower, r, 1.0, row, 1, gp->gram, r);
    }
    for (int k = 0; last && k < r; k++) gp->L[(size_t)k * gp->ld + gp->rows + i] = row[k];
  }
  PetscCall(PetscFree(row));
  if (last) gp->rows += m;
  PetscCall(factor_gram(gp));
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
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, s, r, rows, 1.0, in, s, gp->L, gp->ld,
                  0.0, T, s);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, T, r * s, MPI_DOUBLE, MPI_SUM, gp->comm));
    for (int k = 0; k < r; k++)
      for (int j = 0; j < s; j++) transposed[(size_t)j * r + k] = T[(size_t)k * s + j];
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', r, s, gp->M, r, transposed, r);
    for (int k = 0; k < r; k++)
      for (int j = 0; j < s; j++) T[(size_t)k * s + j] = transposed[(size_t)j * r + k];
    if (rows)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, s, rows, r, -1.0, T, s, gp->L, gp->ld,
                  1.0, out, s);
    PetscCall(PetscFree2(T, transposed));
  }
  for (size_t i = 0; i < (size_t)rows * (size_t)s; i++) out[i] /= gp->noise_variance;
  PetscFunctionReturn(0);
}
