#include "gp/kernel_internal.h"

PetscErrorCode rg_kernel_cross(const RgKernel *kernel, int n, const double *X, int m,
                               const double *Z, double *K)
{
  int     columns = rg_kernel_n_columns(kernel), block = PetscMin(m, RG_KERNEL_BLOCK);
  double *A, *B, *scratch;

  PetscFunctionBeginUser;
  if (n == 0 || m == 0) PetscFunctionReturn(0);
  PetscCall(PetscMalloc3((size_t)n * columns, &A, (size_t)block * columns, &B,
                         rg_kernel_row_scratch(kernel, block), &scratch));
  rg_kernel_scale_points(kernel, n, X, A);
  for (int j = 0; j < m; j += block) {
    int width = PetscMin(block, m - j);

    rg_kernel_scale_candidates(kernel, width, Z + (size_t)j * kernel->dim, width, B);
    for (int i = 0; i < n; ++i) {
      rg_kernel_row(kernel, A + (size_t)i * columns, B, width, width, K + (size_t)i * m + j, NULL,
                    0, scratch);
    }
  }
  PetscCall(PetscFree3(A, B, scratch));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_matrix(const RgKernel *kernel, int n, const double *X, double *K)
{
  int     columns = rg_kernel_n_columns(kernel);
  double *A, *B, *scratch, diagonal = rg_kernel_diagonal(kernel);

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3((size_t)n * columns, &A, (size_t)n * columns, &B,
                         rg_kernel_row_scratch(kernel, n), &scratch));
  rg_kernel_scale_points(kernel, n, X, A);
  if (n) rg_kernel_scale_candidates(kernel, n, X, n, B);
  for (int i = 0; i < n; ++i) {
    double *row = K + (size_t)i * n;

    rg_kernel_row(kernel, A + (size_t)i * columns, B, n, i, row, NULL, 0, scratch);
    row[i] = diagonal;
    for (int j = 0; j < i; ++j) K[(size_t)j * n + i] = row[j];
  }
  PetscCall(PetscFree3(A, B, scratch));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_lower(const RgKernel *kernel, int n, const double *X, int ld, double *L)
{
  int     columns = rg_kernel_n_columns(kernel);
  double *A, *B, *scratch, diagonal = rg_kernel_diagonal(kernel);

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3((size_t)n * columns, &A, (size_t)n * columns, &B,
                         rg_kernel_row_scratch(kernel, n), &scratch));
  rg_kernel_scale_points(kernel, n, X, A);
  if (n) rg_kernel_scale_candidates(kernel, n, X, n, B);
  for (int j = 0; j < n; ++j) {
    double *column = L + (size_t)j * ld + j;

    column[0] = diagonal;
    rg_kernel_row(kernel, A + (size_t)j * columns, B + j + 1, n, n - j - 1, column + 1, NULL, 0,
                  scratch);
  }
  PetscCall(PetscFree3(A, B, scratch));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_cross_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                        const double *Z, const double *W, double *G)
{
  int     columns = rg_kernel_n_columns(kernel), factors = rg_kernel_n_factors(kernel);
  int     block = PetscMin(m, RG_KERNEL_BLOCK);
  double *A, *B, *g, *rows, *scratch;

  PetscFunctionBeginUser;
  if (m == 0) PetscFunctionReturn(0);
  PetscCall(PetscMalloc5((size_t)n * columns, &A, (size_t)block * columns, &B,
                         (size_t)block * columns, &g, (size_t)block * (1 + factors), &rows,
                         rg_kernel_row_scratch(kernel, block), &scratch));
  rg_kernel_scale_points(kernel, n, X, A);
  for (int j = 0; j < m; j += block) {
    int     width = PetscMin(block, m - j);
    double *slope = rows + width;

    rg_kernel_scale_candidates(kernel, width, Z + (size_t)j * kernel->dim, width, B);
    PetscCall(PetscArrayzero(g, (size_t)width * columns));
    for (int i = 0; i < n; ++i) {
      const double *x = A + (size_t)i * columns;

      rg_kernel_row(kernel, x, B, width, width, rows, slope, width, scratch);
      rg_kernel_row_gradient(kernel, x, B, width, width, W + (size_t)i * m + j, slope, width, g);
    }
    rg_kernel_unscale_gradient(kernel, width, g, width, 2.0, G + (size_t)j * kernel->dim);
  }
  PetscCall(PetscFree5(A, B, g, rows, scratch));
  PetscFunctionReturn(0);
}
