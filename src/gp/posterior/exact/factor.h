/* Cholesky factors of the sizes that fits of Gaussian processes need repeatedly. Up to a few
   hundred rows the loops of tiles.h take less than half the time of OpenBLAS 0.3.21; larger
   matrices go to LAPACK. Internal to gp/.
   Matrices are column-major, lower triangles. ld is a multiple of 8; ld and the number of stored
   columns are at least n padded to a multiple of 8 (rg_pad). Padding and upper triangles may
   hold anything and are overwritten. */
#ifndef RG_GP_POSTERIOR_EXACT_FACTOR_H
#define RG_GP_POSTERIOR_EXACT_FACTOR_H

#include "gp/kernel/tiles.h"

/* A = L L' in place. Returns 0, or 1 + the column whose pivot is not positive (or NaN). n^3/3
   flops. */
int rg_factor_cholesky(int n, double *A, int ld);

/* X = L^-1, with zeros above the diagonal and in the padding. X L - I is as small as after a
   triangular solve. n^3/3 flops. */
void rg_factor_invert(int n, const double *L, int ld, double *X);

/* Lower triangle of (L L')^-1 = X' X, row-major with leading dimension n: P[i*n + j], j <= i.
   Overwrites some entries above the diagonal too. X as from rg_factor_invert. n^3/3 flops.
   Errors: PETSC_ERR_MEM. */
PetscErrorCode rg_factor_inverse_product(int n, const double *X, int ld, double *P);

#endif
