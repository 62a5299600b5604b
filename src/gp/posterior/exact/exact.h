/* The exact back end: a Cholesky factor on this rank that grows row by row (fields L to row of
   RgPosterior). Code that reads the factor directly checks rg_posterior_has_factor first.
   Internal to gp/. */
#ifndef RG_GP_POSTERIOR_EXACT_EXACT_H
#define RG_GP_POSTERIOR_EXACT_EXACT_H

#include "gp/kernel/tiles.h"
#include "gp/posterior/posterior.h"
#include "gp/posterior/posterior_ops.h"

/* Make alpha valid. */
void rg_exact_solve(RgPosterior *posterior);
/* Make the inverse of the factor valid; PETSC_ERR_SUP on another back end. */
PetscErrorCode rg_exact_invert(RgPosterior *posterior);

typedef struct {
  const RgKernel *kernel; /* borrowed from the posterior */
  int centres, p;         /* n + p; p */
  double *points;         /* centres x dim: the data, then the p points; owned */
  double *weights;        /* centres x p; owned */
  double *work;           /* owned */
  size_t room;            /* doubles allocated in work */
} RgCrossCovariance;

/* Covariances with the p points of X (p x dim). The posterior must keep its hyperparameters
   while they are in use; later data do not change them. O(n^2 p). */
PetscErrorCode rg_cross_covariance_create(const RgPosterior *posterior, int p, const double *X,
                                          RgCrossCovariance *cross);
PetscErrorCode rg_cross_covariance_destroy(RgCrossCovariance *cross);

/* C (p x m), C[s*m + j] = c_s(z_j). O(m n p). */
PetscErrorCode rg_cross_covariance_evaluate(RgCrossCovariance *cross, int m, const double *Z,
                                            double *C);
/* G (m x dim) += gradient of sum_s C_bar[s*m + j] c_s(z) at z = z_j. O(m n (p + dim)). */
PetscErrorCode rg_cross_covariance_gradient(RgCrossCovariance *cross, int m, const double *Z,
                                            const double *C_bar, double *G);

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
