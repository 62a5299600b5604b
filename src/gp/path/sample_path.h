/* Sample paths of a Gaussian process prior on finite sets. */
#ifndef RG_GP_PATH_SAMPLE_PATH_H
#define RG_GP_PATH_SAMPLE_PATH_H

#include "regatta/domain.h"
#include "gp/team/team.h"

/* Write a symmetric matrix K (n x n). */
typedef PetscErrorCode (*RgMatrixFunction)(const void *closure, double *K);
/* The lower Cholesky factor L (n x n, column-major, strict upper triangle zero) of a covariance,
   with growing jitter on its diagonal: 0, then 1e-10 to 1e-4 of `diagonal`. *jitter: the larger of
   its old value and what was added. Every attempt calls `matrix` again, because it overwrites the
   matrix. failure: there is no factor. O(n^3/3). */
PetscErrorCode rg_factor_covariance(int n, RgMatrixFunction matrix, const void *closure,
                                    double diagonal, double *L, double *jitter, RgFailure *failure);

/* f = L z on the points of `space`, L the lower Cholesky factor of the kernel matrix in point
   order. On a grid with a kernel that factors over coordinates (Gaussian; or product with one input
   per factor; single term) the factor is a Kronecker product and costs O(N sum_j levels_j);
   elsewhere a dense factor, O(N^3/3). Both give the same path from the same z. z, f: `space->size`.
   Jitter as in posterior.h; *jitter reports it. Called on the leader of a team (may be NULL), which
   computes a dense factor that is large enough. */
PetscErrorCode rg_sample_path(RgTeam *team, const RgSpace *space, const RgKernel *kernel,
                              const double *z, double *f, double *jitter, RgFailure *failure);

#endif
