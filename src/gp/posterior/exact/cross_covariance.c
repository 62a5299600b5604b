/* Posterior covariances with fixed points as weighted sums of kernels. */
#include "gp/posterior/exact/cross_covariance.h"
#include "maths/blas.h"

PetscErrorCode rg_cross_covariance_create(const RgPosterior *posterior, int p, const double *X,
                                          RgCrossCovariance *cross)
{
  int n = posterior->n, dim = posterior->kernel.dim;
  double *weights;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(cross, sizeof *cross));
  cross->kernel = &posterior->kernel;
  cross->centres = n + p;
  cross->p = p;
  PetscCall(
    PetscMalloc2((size_t)(n + p) * dim, &cross->points, (size_t)(n + p) * p, &cross->weights));
  PetscCall(PetscArraycpy(cross->points, posterior->X, (size_t)n * dim));
  PetscCall(PetscArraycpy(cross->points + (size_t)n * dim, X, (size_t)p * dim));
  weights = cross->weights;
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, p, X, weights));
  PetscCall(rg_posterior_solve_many(posterior, p, weights));
  for (size_t i = 0; i < (size_t)n * (size_t)p; i++) weights[i] = -weights[i];
  PetscCall(PetscArrayzero(weights + (size_t)n * p, (size_t)p * p));
  for (int s = 0; s < p; s++) weights[(size_t)(n + s) * p + s] = 1.0;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_cross_covariance_destroy(RgCrossCovariance *cross)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(cross->points, cross->weights));
  PetscCall(PetscFree(cross->work));
  PetscCall(PetscMemzero(cross, sizeof *cross));
  PetscFunctionReturn(0);
}

static PetscErrorCode reserve(RgCrossCovariance *cross, size_t size)
{
  PetscFunctionBeginUser;
  if (size <= cross->room) PetscFunctionReturn(0);
  PetscCall(PetscFree(cross->work));
  PetscCall(PetscMalloc1(size, &cross->work));
  cross->room = size;
  PetscFunctionReturn(0);
}

/* C = weights' K, K (centres x m) the kernel between centres and candidates. */
PetscErrorCode rg_cross_covariance_evaluate(RgCrossCovariance *cross, int m, const double *Z,
                                            double *C)
{
  PetscFunctionBeginUser;
  PetscCall(reserve(cross, (size_t)cross->centres * m));
  PetscCall(rg_kernel_cross(cross->kernel, cross->centres, cross->points, m, Z, cross->work));
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, cross->p, m, cross->centres, 1.0,
              cross->weights, cross->p, cross->work, m, 0.0, C, m);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_cross_covariance_gradient(RgCrossCovariance *cross, int m, const double *Z,
                                            const double *C_bar, double *G)
{
  size_t size = (size_t)cross->centres * m, entries = (size_t)m * cross->kernel->dim;
  double *W, *add;

  PetscFunctionBeginUser;
  PetscCall(reserve(cross, size + entries));
  W = cross->work;
  add = W + size;
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, cross->centres, m, cross->p, 1.0,
              cross->weights, cross->p, C_bar, m, 0.0, W, m);
  PetscCall(rg_kernel_cross_gradient(cross->kernel, cross->centres, cross->points, m, Z, W, add));
  for (size_t i = 0; i < entries; i++) G[i] += add[i];
  PetscFunctionReturn(0);
}
