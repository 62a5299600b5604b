/* Covariance functions, for problems that are paths of a Gaussian process with a known kernel. */
#ifndef RG_REGATTA_KERNEL_H
#define RG_REGATTA_KERNEL_H

#include "regatta/error.h"

typedef struct RgKernel RgKernel;

/* A kernel over `dim` inputs of the family `name` (as typed in study files; `regatta list
   kernels`) with its default shape. length_scale: 1 value, or `dim` values (ard); variance =
   k(x,x) > 0. Errors: PETSC_ERR_ARG_UNKNOWN_TYPE for an unknown name. */
RG_API PetscErrorCode rg_kernel_create_named(const char *name, int dim, bool ard,
                                             const double *length_scale, double variance,
                                             RgKernel *kernel);
RG_API PetscErrorCode rg_kernel_destroy(RgKernel *kernel);

/* k(x,x) = sum of the variances. */
RG_API double rg_kernel_diagonal(const RgKernel *kernel);

/* K: n x m, K[i*m + j] = k(x_i, z_j) (j is the fast index). X: n x dim, Z: m x dim, row-major.
   O(n m dim), vectorised over j. */
RG_API PetscErrorCode rg_kernel_cross(const RgKernel *kernel, int n, const double *X, int m,
                                      const double *Z, double *K);
/* K: n x n, both triangles, exactly symmetric; the diagonal equals rg_kernel_diagonal exactly. */
RG_API PetscErrorCode rg_kernel_matrix(const RgKernel *kernel, int n, const double *X, double *K);

#endif
