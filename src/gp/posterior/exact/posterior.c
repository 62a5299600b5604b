#include "gp/posterior/exact/posterior.h"
#include "gp/posterior/exact/factor.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/exact/posterior_internal.h"
#include "maths/blas.h"

#include <math.h>

PetscErrorCode rg_posterior_create(const RgKernel *kernel, double noise_variance, double mean,
                                   int capacity, RgPosterior *posterior)
{
  PetscFunctionBeginUser;
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  PetscCall(PetscMemzero(posterior, sizeof *posterior));
  PetscCall(rg_kernel_copy(kernel, &posterior->kernel));
  posterior->noise_variance = noise_variance;
  posterior->mean = mean;
  PetscCall(rg_posterior_reserve(posterior, PetscMax(capacity, 1)));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_destroy(RgPosterior *posterior)
{
  PetscFunctionBeginUser;
  PetscCall(rg_posterior_leave_team(posterior));
  PetscCall(rg_kernel_destroy(&posterior->kernel));
  PetscCall(PetscFree(posterior->X));
  PetscCall(PetscFree(posterior->y));
  PetscCall(PetscFree(posterior->L));
  PetscCall(PetscFree(posterior->beta));
  PetscCall(PetscFree(posterior->alpha));
  PetscCall(PetscFree(posterior->row));
  PetscCall(PetscFree(posterior->inverse));
  PetscCall(PetscMemzero(posterior, sizeof *posterior));
  PetscFunctionReturn(0);
}

/* A longer copy of `n` doubles. */
static PetscErrorCode grow(size_t n, size_t capacity, double **array)
{
  double *longer;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(capacity, &longer));
  if (n) PetscCall(PetscArraycpy(longer, *array, n));
  PetscCall(PetscFree(*array));
  *array = longer;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_reserve(RgPosterior *posterior, int capacity)
{
  size_t n = (size_t)posterior->n, old = (size_t)posterior->capacity, dim, size;
  double *L;

  PetscFunctionBeginUser;
  if (capacity <= posterior->capacity) PetscFunctionReturn(0);
  capacity = rg_pad(capacity);
  size = (size_t)capacity;
  dim = (size_t)posterior->kernel.dim;
  PetscCall(grow(n * dim, size * dim, &posterior->X));
  PetscCall(grow(n, size, &posterior->y));
  PetscCall(grow(n, size, &posterior->beta));
  PetscCall(grow(n, size, &posterior->alpha));
  PetscCall(grow(0, size, &posterior->row));
  posterior->capacity = capacity;
  if (posterior->remote) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(size * size, &L));
  for (size_t j = 0; j < n; ++j) {
    PetscCall(PetscArraycpy(L + j * size + j, posterior->L + j * old + j, n - j));
  }
  PetscCall(PetscFree(posterior->L));
  PetscCall(PetscFree(posterior->inverse));
  posterior->L = L;
  posterior->n_inverse = 0;
  PetscFunctionReturn(0);
}

/* A squared pivot this small is rounding error: the datum repeats what is known exactly. */
static double smallest_pivot(const RgPosterior *posterior)
{
  return posterior->n * PETSC_MACHINE_EPSILON * rg_kernel_diagonal(&posterior->kernel);
}

/* Factor K + (noise + jitter) I of the data held. *good tells whether all pivots are sound. */
static PetscErrorCode factor_once(RgPosterior *posterior, double jitter, bool *good)
{
  int n = posterior->n, ld = posterior->capacity;
  double *L = posterior->L, limit = smallest_pivot(posterior);

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_lower(&posterior->kernel, n, posterior->X, ld, L));
  for (int i = 0; i < n; ++i) L[(size_t)i * ld + i] += posterior->noise_variance + jitter;
  *good = rg_factor_cholesky(n, L, ld) == 0;
  for (int i = 0; *good && i < n; ++i) {
    double pivot = L[(size_t)i * ld + i];

    *good = pivot * pivot > limit; /* false for NaN, too */
  }
  PetscFunctionReturn(0);
}

/* Factor from scratch, jitter growing from `jitter` until every pivot is sound. */
static PetscErrorCode factor(RgPosterior *posterior, double jitter, RgFailure *failure)
{
  double diagonal = rg_kernel_diagonal(&posterior->kernel);
  bool good;

  PetscFunctionBeginUser;
  for (;;) {
    PetscCall(factor_once(posterior, jitter, &good));
    if (good) break;
    jitter = jitter > 0.0 ? 10.0 * jitter : 1e-10 * diagonal;
    if (!(jitter <= 1.001e-4 * diagonal)) {
      rg_failure_set(failure,
                     "Cholesky factorisation of %d data failed with jitter up to 1e-4 of the "
                     "signal variance",
                     posterior->n);
      posterior->n = 0;
      break;
    }
  }
  posterior->jitter = jitter;
  posterior->n_inverse = 0;
  posterior->alpha_valid = false;
  PetscFunctionReturn(0);
}

/* beta = L^-1 (y - mean) */
static void whiten_outputs(RgPosterior *posterior)
{
  int n = posterior->n;

  for (int i = 0; i < n; ++i) posterior->beta[i] = posterior->y[i] - posterior->mean;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, posterior->L,
              posterior->capacity, posterior->beta, 1);
  posterior->alpha_valid = false;
}

PetscErrorCode rg_posterior_set(RgPosterior *posterior, const RgKernel *kernel,
                                double noise_variance, double mean, int n, const double *X,
                                const double *y, RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  if (kernel) PetscCall(rg_kernel_assign(kernel, &posterior->kernel));
  posterior->noise_variance = noise_variance;
  posterior->mean = mean;
  const bool remote = rg_team_takes(posterior->team, n);
  if (remote) PetscCall(rg_posterior_go_remote(posterior, n));
  else PetscCall(rg_posterior_return_local(posterior));
  if (n > posterior->capacity) {
    PetscCall(rg_posterior_reserve(posterior, PetscMax(n, 2 * posterior->capacity)));
  }
  posterior->n = n;
  if (X != posterior->X) {
    PetscCall(PetscArraycpy(posterior->X, X, (size_t)n * posterior->kernel.dim));
  }
  if (y != posterior->y) PetscCall(PetscArraycpy(posterior->y, y, n));
  if (remote) {
    PetscCall(rg_posterior_set_remote(posterior, failure));
    PetscFunctionReturn(0);
  }
  PetscCall(factor(posterior, 0.0, failure));
  whiten_outputs(posterior);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_append(RgPosterior *posterior, const double *x, double y,
                                   RgFailure *failure)
{
  int n = posterior->n, ld;
  double *row, square;

  PetscFunctionBeginUser;
  if (posterior->remote || rg_team_takes(posterior->team, n + 1)) {
    PetscCall(rg_posterior_append_batch(posterior, 1, x, &y, failure));
    PetscFunctionReturn(0);
  }
  if (n == posterior->capacity) PetscCall(rg_posterior_reserve(posterior, 2 * n));
  ld = posterior->capacity;
  row = posterior->row;
  PetscCall(rg_kernel_cross(&posterior->kernel, 1, x, n, posterior->X, row));
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, posterior->L, ld, row, 1);
  square = rg_kernel_diagonal(&posterior->kernel) + posterior->noise_variance + posterior->jitter -
           cblas_ddot(n, row, 1, row, 1);
  PetscCall(
    PetscArraycpy(posterior->X + (size_t)n * posterior->kernel.dim, x, posterior->kernel.dim));
  posterior->y[n] = y;
  ++posterior->n;
  if (square > smallest_pivot(posterior)) {
    double pivot = sqrt(square);

    for (int j = 0; j < n; ++j) posterior->L[(size_t)j * ld + n] = row[j];
    posterior->L[(size_t)n * ld + n] = pivot;
    posterior->beta[n] = (y - posterior->mean - cblas_ddot(n, row, 1, posterior->beta, 1)) / pivot;
    posterior->alpha_valid = false;
  } else {
    PetscCall(factor(posterior, posterior->jitter, failure));
    whiten_outputs(posterior);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_set_outputs(RgPosterior *posterior, double mean, const double *y)
{
  PetscFunctionBeginUser;
  posterior->mean = mean;
  if (y != posterior->y) PetscCall(PetscArraycpy(posterior->y, y, posterior->n));
  if (posterior->remote) {
    PetscCall(rg_team_posterior_set_outputs(posterior->team, posterior->slot, mean, posterior->y));
    PetscFunctionReturn(0);
  }
  whiten_outputs(posterior);
  PetscFunctionReturn(0);
}

void rg_posterior_solve(RgPosterior *posterior)
{
  int n = posterior->n;

  if (posterior->alpha_valid) return;
  cblas_dcopy(n, posterior->beta, 1, posterior->alpha, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, posterior->L,
              posterior->capacity, posterior->alpha, 1);
  posterior->alpha_valid = true;
}

double rg_posterior_log_likelihood(const RgPosterior *posterior)
{
  int n = posterior->n;
  if (posterior->remote)
    return rg_distributed_log_likelihood(rg_team_posterior(posterior->team, posterior->slot));
  double value = -0.5 * cblas_ddot(n, posterior->beta, 1, posterior->beta, 1);

  for (int i = 0; i < n; ++i) value -= log(posterior->L[(size_t)i * posterior->capacity + i]);
  return value - n * 0.91893853320467274178; /* log(2 pi)/2 */
}
