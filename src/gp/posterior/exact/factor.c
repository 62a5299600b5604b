/* The Cholesky factor, with as much jitter as needed. */
#include "gp/posterior/exact/factor.h"
#include "maths/blas.h"

#include <string.h>

int rg_factor_cholesky(int n, double *A, int ld)
{
  const RgTileOps *ops = rg_tile_ops();

  if (n <= ops->largest) return ops->cholesky(n, A, (size_t)ld);
  return (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, ld);
}

void rg_factor_invert(int n, const double *L, int ld, double *X)
{
  const RgTileOps *ops = rg_tile_ops();
  size_t padded = (size_t)rg_pad(n), stride = (size_t)ld, size = (size_t)n;

  if (n <= ops->largest) {
    ops->invert(n, L, stride, X);
    return;
  }
  for (size_t j = 0; j < padded; j++) {
    memset(X + j * stride, 0, padded * sizeof *X);
    if (j < size) memcpy(X + j * stride + j, L + j * stride + j, (size - j) * sizeof *X);
  }
  LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', n, X, ld);
}

PetscErrorCode rg_factor_inverse_product(int n, const double *X, int ld, double *P)
{
  const RgTileOps *ops = rg_tile_ops();
  int padded = rg_pad(n);
  size_t stride = (size_t)ld;
  double *tile;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)padded * RG_TILE, &tile));
  for (int j = 0; j < n; j += RG_TILE) {
    int width = rg_tile_width(n - j), count = PetscMin(width, n - j), rows = padded - j;
    const double *corner = X + j * stride + j;

    for (int c = 0; c < width; c++) {
      for (int i = 0; i < rows; i++) tile[i * width + c] = corner[c * stride + i];
    }
    ops->upper(rows, corner, stride, width, tile);
    for (int i = 0; i < n - j; i++) {
      memcpy(P + (size_t)(j + i) * n + j, tile + (size_t)i * width, (size_t)count * sizeof *P);
    }
  }
  PetscCall(PetscFree(tile));
  PetscFunctionReturn(0);
}
