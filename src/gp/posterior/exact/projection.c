/* Pseudo-data at the pivots. */
#include "gp/posterior/exact/projection.h"

#include "gp/kernel/kernel_pivots.h"
#include "maths/blas.h"

/* S = F'F + shift I = N N', column-major, in place. */
static PetscErrorCode gram_factor(const RgKernelPivots *pivots, double shift, double *N, bool *good)
{
  const int n = pivots->n, r = pivots->rank;

  PetscFunctionBeginUser;
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, r, n, 1.0, pivots->F, n, 0.0, N, r);
  for (int k = 0; k < r; k++) N[(size_t)k * r + k] += shift;
  *good = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, N, r) == 0;
  PetscFunctionReturn(0);
}

/* L: factor of K_PP + v E E'; scratch: r x r. */
static PetscErrorCode pseudo_factor(const RgKernelPivots *pivots, double noise, double *scratch,
                                    int ld, double *L, bool *good)
{
  const int r = pivots->rank;
  double *E;

  PetscFunctionBeginUser;
  PetscCall(gram_factor(pivots, 0.0, scratch, good));
  if (!*good) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1((size_t)r * r, &E));
  PetscCall(PetscArraycpy(E, pivots->lower, (size_t)r * r));
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, r, 1.0, E, r, 0.0, L, ld);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, r, r, 1.0, scratch,
              r, E, r);
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, r, noise, E, r, 1.0, L, ld);
  PetscCall(PetscFree(E));
  *good = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, L, ld) == 0;
  PetscFunctionReturn(0);
}

/* beta = L' a, a = K_PP's factor^-T (v I + F'F)^-1 F' (y - mean). */
static PetscErrorCode pseudo_outputs(const RgPosterior *posterior, const RgKernelPivots *pivots,
                                     double noise, double *scratch, RgPosterior *projected,
                                     bool *good)
{
  const int n = pivots->n, r = pivots->rank;
  double *residual, *beta = projected->beta;

  PetscFunctionBeginUser;
  PetscCall(gram_factor(pivots, noise, scratch, good));
  if (!*good) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(n, &residual));
  for (int i = 0; i < n; i++) residual[i] = posterior->y[i] - posterior->mean;
  cblas_dgemv(CblasColMajor, CblasTrans, n, r, 1.0, pivots->F, n, residual, 1, 0.0, beta, 1);
  LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', r, 1, scratch, r, beta, r);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r, pivots->lower, r, beta, 1);
  cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, r, projected->L,
              projected->capacity, beta, 1);
  PetscCall(PetscFree(residual));
  PetscFunctionReturn(0);
}

/* The posterior of the pivots, without outputs of its own. */
static PetscErrorCode fill(const RgPosterior *posterior, const RgKernelPivots *pivots,
                           RgPosterior *projected, bool *good)
{
  const double noise = posterior->noise_variance + posterior->jitter;
  const size_t dim = (size_t)posterior->kernel.dim;
  const int r = pivots->rank;
  double *scratch;

  PetscFunctionBeginUser;
  PetscCall(
    rg_posterior_create(&posterior->kernel, noise, posterior->mean, (r + 7) / 8 * 8, projected));
  projected->n = r;
  for (int k = 0; k < r; k++)
    PetscCall(PetscArraycpy(projected->X + k * dim, posterior->X + pivots->pivot[k] * dim, dim));
  PetscCall(PetscMalloc1((size_t)r * r, &scratch));
  PetscCall(pseudo_factor(pivots, noise, scratch, projected->capacity, projected->L, good));
  if (*good) PetscCall(pseudo_outputs(posterior, pivots, noise, scratch, projected, good));
  PetscCall(PetscFree(scratch));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_project(const RgPosterior *posterior, double tolerance,
                                    RgPosterior *projected, bool *made)
{
  const int n = posterior->n, most = 2 * n / 3;
  RgKernelPivots pivots;

  PetscFunctionBeginUser;
  *made = rg_posterior_has_factor(posterior) && most > 0;
  if (!*made) PetscFunctionReturn(0);
  PetscCall(rg_kernel_pivots_create(&posterior->kernel, n, posterior->X, tolerance, most, &pivots));
  *made = pivots.rest <= tolerance;
  if (*made) {
    PetscCall(fill(posterior, &pivots, projected, made));
    if (!*made) PetscCall(rg_posterior_destroy(projected));
  }
  PetscCall(rg_kernel_pivots_destroy(&pivots));
  PetscFunctionReturn(0);
}
