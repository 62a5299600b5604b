/* Pivoted Cholesky of a kernel matrix that is never formed. */
#include "gp/kernel/kernel_pivots.h"

#include "maths/blas.h"

#include <math.h>

/* The point with the largest rest; the first one of equal rests. */
static int largest(int n, const double *rest)
{
  int best = 0;

  for (int i = 1; i < n; i++) {
    if (rest[i] > rest[best]) best = i;
  }
  return best;
}

/* Adds column `rank` of F, from point p, and updates the rests. */
static PetscErrorCode add_column(const RgKernel *kernel, const double *X, int p, double *rest,
                                 RgKernelPivots *pivots)
{
  const int n = pivots->n, rank = pivots->rank;
  double *F = pivots->F, *column = F + (size_t)rank * n;
  const double root = sqrt(rest[p]);

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_cross(kernel, 1, X + (size_t)p * kernel->dim, n, X, column));
  if (rank > 0)
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, rank, -1.0, F, n, F + p, n, 1.0, column, 1);
  for (int i = 0; i < n; i++) {
    column[i] /= root;
    rest[i] = fmax(rest[i] - column[i] * column[i], 0.0);
  }
  for (int k = 0; k < rank; k++) column[pivots->pivot[k]] = 0.0;
  column[p] = root;
  rest[p] = 0.0;
  pivots->pivot[pivots->rank++] = p;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_pivots_create(const RgKernel *kernel, int n, const double *X,
                                       double tolerance, int most, RgKernelPivots *pivots)
{
  const double diagonal = rg_kernel_diagonal(kernel);
  const size_t room = (size_t)PetscMin(n, most);
  double *rest;

  PetscFunctionBeginUser;
  *pivots = (RgKernelPivots){.n = n, .rest = 1.0};
  PetscCall(PetscMalloc3(room, &pivots->pivot, room * n, &pivots->F, room * room, &pivots->lower));
  PetscCall(PetscMalloc1(n, &rest));
  for (int i = 0; i < n; i++) rest[i] = diagonal;
  for (int p = 0; (size_t)pivots->rank < room && pivots->rest > tolerance;) {
    PetscCall(add_column(kernel, X, p, rest, pivots));
    p = largest(n, rest);
    pivots->rest = rest[p] / diagonal;
  }
  for (int k = 0; k < pivots->rank; k++) {
    for (int i = 0; i < pivots->rank; i++)
      pivots->lower[(size_t)k * pivots->rank + i] = pivots->F[(size_t)k * n + pivots->pivot[i]];
  }
  PetscCall(PetscFree(rest));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_pivots_destroy(RgKernelPivots *pivots)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(pivots->pivot, pivots->F, pivots->lower));
  PetscFunctionReturn(0);
}
