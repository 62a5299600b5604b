/* Pivoted Cholesky of a kernel matrix: few points that represent many. K = F F' up to a rest;
   the point with the largest rest is chosen next. Internal to gp/. */
#ifndef RG_GP_KERNEL_KERNEL_PIVOTS_H
#define RG_GP_KERNEL_KERNEL_PIVOTS_H

#include "gp/kernel/kernel.h"

typedef struct {
  int n, rank;
  double rest;   /* the largest k(x,x) that remains, relative */
  int *pivot;    /* rank: the chosen points */
  double *F;     /* n x rank, column-major */
  double *lower; /* rank x rank, column-major: the rows of F at the pivots, lower triangular */
} RgKernelPivots;

/* Chooses among the n >= 1 points X (n x dim), until the rest is at most `tolerance` or `most`
   points are chosen. O(n rank^2). */
PetscErrorCode rg_kernel_pivots_create(const RgKernel *kernel, int n, const double *X,
                                       double tolerance, int most, RgKernelPivots *pivots);
PetscErrorCode rg_kernel_pivots_destroy(RgKernelPivots *pivots);

#endif
