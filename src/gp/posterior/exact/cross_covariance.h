/* Posterior covariances of any point with p fixed points, as functions of that point:
   c_s(z) = cov(f(z), f(x_s)) = k(z, x_s) - k(z, data) (K + noise I)^-1 k(data, x_s).
   Each is a weighted sum of kernels at the n data and the p points. */
#ifndef RG_GP_POSTERIOR_EXACT_CROSS_COVARIANCE_H
#define RG_GP_POSTERIOR_EXACT_CROSS_COVARIANCE_H

#include "gp/posterior/posterior.h"

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

#endif
