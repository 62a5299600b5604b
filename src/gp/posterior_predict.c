#include "gp/kernel_internal.h"
#include "gp/posterior_internal.h"
#include "base/blas.h"

/* Candidates of one block and the leading dimension of its rows. */
static int block_width(int m, int block)
{
  return PetscMin(m - block * RG_KERNEL_BLOCK, RG_KERNEL_BLOCK);
}

static PetscErrorCode prediction_reserve(int n, int m, RgPrediction *work)
{
  int padded = rg_kernel_padded(m), size;

  PetscFunctionBeginUser;
  work->n = n;
  work->m = m;
  size    = n * padded;
  if (size > work->capacity) {
    PetscCall(PetscFree(work->K));
    PetscCall(PetscFree(work->V));
    PetscCall(PetscMalloc1(size, &work->K));
    PetscCall(PetscMalloc1(size, &work->V));
    work->capacity = size;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_prediction_destroy(RgPrediction *work)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(work->K));
  PetscCall(PetscFree(work->V));
  work->n = work->m = work->capacity = 0;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                    double *variance, RgPrediction *work)
{
  int    n = posterior->n, dim = posterior->kernel.dim;
  double diagonal = rg_kernel_diagonal(&posterior->kernel);

  PetscFunctionBeginUser;
  PetscCall(prediction_reserve(n, m, work));
  rg_posterior_solve(posterior);
  for (int b = 0; b * RG_KERNEL_BLOCK < m; ++b) {
    int     width = block_width(m, b), first = b * RG_KERNEL_BLOCK;
    double *K = work->K + (size_t)first * n, *V = work->V + (size_t)first * n;

    PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, width, Z + (size_t)first * dim,
                              K));
    for (int j = 0; j < width; ++j) mean[first + j] = posterior->mean;
    if (n) {
      cblas_dgemv(CblasColMajor, CblasNoTrans, width, n, 1.0, K, width, posterior->alpha, 1, 1.0,
                  mean + first, 1);
    }
    if (!variance) continue;
    PetscCall(PetscArraycpy(V, K, (size_t)width * n));
    if (n) {
      cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, width, n, 1.0,
                  posterior->L, posterior->capacity, V, width);
    }
    for (int j = 0; j < width; ++j) variance[first + j] = diagonal;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < width; ++j) {
        double v = V[(size_t)i * width + j];
        variance[first + j] -= v * v;
      }
    }
    for (int j = 0; j < width; ++j) variance[first + j] = PetscMax(variance[first + j], 0.0);
  }
  work->whitened = variance != NULL;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_gradient(RgPosterior *posterior, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar,
                                     RgPrediction *work, double *G)
{
  int n = posterior->n, dim = posterior->kernel.dim;

  PetscFunctionBeginUser;
  PetscCheck(m == work->m && n == work->n, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The gradient is wanted at %d points with %d data, the prediction was %d and %d", m, n,
             work->m, work->n);
  PetscCheck(!variance_bar || work->whitened, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "The prediction did not ask for the variance");
  rg_posterior_solve(posterior);
  for (int b = 0; b * RG_KERNEL_BLOCK < m; ++b) {
    int     width = block_width(m, b), first = b * RG_KERNEL_BLOCK;
    double *V = work->V + (size_t)first * n;

    if (variance_bar && n) {
      cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, width, n, 1.0,
                  posterior->L, posterior->capacity, V, width);
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < width; ++j) {
        double *w = &V[(size_t)i * width + j];
        *w        = mean_bar[first + j] * posterior->alpha[i]
           + (variance_bar ? -2.0 * variance_bar[first + j] * *w : 0.0);
      }
    }
    PetscCall(rg_kernel_cross_gradient(&posterior->kernel, n, posterior->X, width,
                                       Z + (size_t)first * dim, V, G + (size_t)first * dim));
  }
  work->whitened = false;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_covariance(RgPosterior *posterior, int a, const double *A, int b,
                                       const double *B, double *C)
{
  int     n = posterior->n, ld = posterior->capacity;
  double *V, *W;

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_cross(&posterior->kernel, a, A, b, B, C));
  if (n == 0 || a == 0 || b == 0) PetscFunctionReturn(0);
  PetscCall(PetscMalloc2((size_t)n * a, &V, (size_t)n * b, &W));
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, a, A, V));
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, b, B, W));
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, a, n, 1.0,
              posterior->L, ld, V, a);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, b, n, 1.0,
              posterior->L, ld, W, b);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, b, a, n, -1.0, W, b, V, a, 1.0, C, b);
  PetscCall(PetscFree2(V, W));
  PetscFunctionReturn(0);
}
