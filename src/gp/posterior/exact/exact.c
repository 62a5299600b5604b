/* The exact back end: factor, grow, solve. exact_predict.c has the predictions. */
#include "gp/posterior/exact/exact.h"

#include <math.h>
#include <string.h>

#include "base/grow.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/exact/factor.h"
#include "maths/blas.h"

/* ---- room ---------------------------------------------------------------------------------- */

/* Move the n rows into arrays of the current capacity. */
static PetscErrorCode grow(RgPosterior *posterior, size_t n, size_t old)
{
  const size_t size = (size_t)posterior->capacity;
  double *L;

  PetscFunctionBeginUser;
  PetscCall(PetscRealloc(size * sizeof(double), &posterior->beta));
  PetscCall(PetscRealloc(size * sizeof(double), &posterior->alpha));
  PetscCall(PetscRealloc(size * sizeof(double), &posterior->row));
  PetscCall(PetscMalloc1(size * size, &L));
  for (size_t j = 0; j < n; j++)
    PetscCall(PetscArraycpy(L + j * size + j, posterior->L + j * old + j, n - j));
  PetscCall(PetscFree(posterior->L));
  PetscCall(PetscFree(posterior->inverse));
  posterior->L = L;
  posterior->n_inverse = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode exact_open(RgPosterior *posterior, int n)
{
  (void)n;
  PetscFunctionBeginUser;
  PetscCall(grow(posterior, 0, 0));
  posterior->alpha_valid = false;
  PetscFunctionReturn(0);
}

static PetscErrorCode exact_close(RgPosterior *posterior)
{
  PetscFunctionBeginUser;
  PetscCall(RG_FREE(&posterior->L, &posterior->beta, &posterior->alpha, &posterior->row,
                    &posterior->inverse));
  posterior->n_inverse = 0;
  PetscFunctionReturn(0);
}

static PetscErrorCode exact_reserve(RgPosterior *posterior, int old)
{
  return grow(posterior, (size_t)posterior->n, (size_t)old);
}

/* ---- the factor ---------------------------------------------------------------------------- */

/* A squared pivot this small is rounding error: the datum repeats what the others determine
   exactly. */
static double smallest_pivot(const RgPosterior *posterior)
{
  return posterior->n * PETSC_MACHINE_EPSILON * rg_kernel_largest_variance(&posterior->kernel);
}

/* Factor K + (noise + jitter) I of the data. *good: all pivots are sound. */
static PetscErrorCode factor_once(RgPosterior *posterior, double jitter, bool *good)
{
  int n = posterior->n, ld = posterior->capacity;
  double *L = posterior->L, limit = smallest_pivot(posterior);

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_lower(&posterior->kernel, n, posterior->X, ld, L));
  for (int i = 0; i < n; i++) L[(size_t)i * ld + i] += posterior->noise_variance + jitter;
  *good = rg_factor_cholesky(n, L, ld) == 0;
  for (int i = 0; *good && i < n; i++) {
    double pivot = L[(size_t)i * ld + i];

    *good = pivot * pivot > limit; /* also false for NaN */
  }
  PetscFunctionReturn(0);
}

/* Factor from scratch, with jitter growing from `jitter` until every pivot is sound. */
static PetscErrorCode factor(RgPosterior *posterior, double jitter, RgFailure *failure)
{
  bool good;

  PetscFunctionBeginUser;
  do {
    PetscCall(factor_once(posterior, jitter, &good));
  } while (!good && rg_kernel_more_jitter(&posterior->kernel, posterior->n, &jitter, failure));
  if (!good) posterior->n = 0;
  posterior->jitter = jitter;
  posterior->n_inverse = 0;
  posterior->alpha_valid = false;
  PetscFunctionReturn(0);
}

/* beta = L^-1 (y - mean) */
static void whiten_outputs(RgPosterior *posterior)
{
  int n = posterior->n;

  for (int i = 0; i < n; i++) posterior->beta[i] = posterior->y[i] - posterior->mean;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, posterior->L,
              posterior->capacity, posterior->beta, 1);
  posterior->alpha_valid = false;
}

static PetscErrorCode exact_reset(RgPosterior *posterior, const RgObservations *data,
                                  RgFailure *failure)
{
  (void)data;
  PetscFunctionBeginUser;
  PetscCall(factor(posterior, 0.0, failure));
  whiten_outputs(posterior);
  PetscFunctionReturn(0);
}

/* Compute row n of the factor and of beta from datum n. *good: its pivot is sound; else nothing
   changes but the scratch. */
static PetscErrorCode append_row(RgPosterior *posterior, int n, bool *good)
{
  const int ld = posterior->capacity;
  const double *x = posterior->X + (size_t)n * posterior->kernel.dim;
  double *row = posterior->row, square;

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_cross(&posterior->kernel, 1, x, n, posterior->X, row));
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, posterior->L, ld, row, 1);
  square = rg_kernel_variance_at(&posterior->kernel, x) + posterior->noise_variance +
           posterior->jitter - cblas_ddot(n, row, 1, row, 1);
  posterior->n = n + 1;
  *good = square > smallest_pivot(posterior);
  if (*good) {
    const double pivot = sqrt(square), r = posterior->y[n] - posterior->mean;

    for (int j = 0; j < n; j++) posterior->L[(size_t)j * ld + n] = row[j];
    posterior->L[(size_t)n * ld + n] = pivot;
    posterior->beta[n] = (r - cblas_ddot(n, row, 1, posterior->beta, 1)) / pivot;
    posterior->alpha_valid = false;
  }
  PetscFunctionReturn(0);
}

/* Take in datum n. If its pivot fails, refactor everything with jitter. */
static PetscErrorCode append_datum(RgPosterior *posterior, int n, RgFailure *failure)
{
  bool good;

  PetscFunctionBeginUser;
  PetscCall(append_row(posterior, n, &good));
  if (!good) {
    PetscCall(factor(posterior, posterior->jitter, failure));
    whiten_outputs(posterior);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode exact_extend(RgPosterior *posterior, const RgObservations *data,
                                   RgFailure *failure)
{
  const int n = posterior->n;

  PetscFunctionBeginUser;
  for (int i = n - data->n; i < n && !failure->failed; i++)
    PetscCall(append_datum(posterior, i, failure));
  PetscFunctionReturn(0);
}

static PetscErrorCode exact_set_outputs(RgPosterior *posterior)
{
  PetscFunctionBeginUser;
  whiten_outputs(posterior);
  PetscFunctionReturn(0);
}

/* ---- pending points ------------------------------------------------------------------------ */

static PetscErrorCode exact_keep(RgPosterior *posterior)
{
  posterior->n_inverse_told = posterior->n_inverse;
  return 0;
}

static PetscErrorCode exact_pend(RgPosterior *posterior, const RgObservations *data,
                                 RgFailure *failure)
{
  const size_t dim = (size_t)posterior->kernel.dim;
  const int end = posterior->n;
  int n = end - data->n;
  bool good;

  (void)failure;
  PetscFunctionBeginUser;
  for (int i = n; i < end; i++) {
    memmove(posterior->X + (size_t)n * dim, posterior->X + (size_t)i * dim, dim * sizeof(double));
    posterior->y[n] = posterior->y[i];
    PetscCall(append_row(posterior, n, &good));
    n += good;
  }
  posterior->n = n;
  PetscFunctionReturn(0);
}

/* Rows of the factor stay as they are; those of the inverse are dropped with the padding that they
   filled. */
static PetscErrorCode exact_restore(RgPosterior *posterior)
{
  const size_t ld = (size_t)posterior->capacity;
  const size_t n = (size_t)PetscMin(posterior->n_inverse, posterior->n_inverse_told);
  const size_t padded = (size_t)rg_pad((int)n);

  PetscFunctionBeginUser;
  for (size_t j = 0; posterior->inverse && j < padded; j++)
    for (size_t i = j < n ? n : 0; i < padded; i++) posterior->inverse[j * ld + i] = 0.0;
  posterior->n_inverse = (int)n;
  posterior->alpha_valid = false;
  PetscFunctionReturn(0);
}

/* ---- solves -------------------------------------------------------------------------------- */

void rg_exact_solve(RgPosterior *posterior)
{
  int n = posterior->n;

  if (posterior->alpha_valid) return;
  cblas_dcopy(n, posterior->beta, 1, posterior->alpha, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, posterior->L,
              posterior->capacity, posterior->alpha, 1);
  posterior->alpha_valid = true;
}

static PetscErrorCode exact_solve_many(const RgPosterior *posterior, int m, double *B)
{
  const int n = posterior->n;

  PetscFunctionBeginUser;
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1.0,
              posterior->L, posterior->capacity, B, m);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, m, n, 1.0,
              posterior->L, posterior->capacity, B, m);
  PetscFunctionReturn(0);
}

static double exact_log_likelihood(const RgPosterior *posterior)
{
  int n = posterior->n;
  double value = -0.5 * cblas_ddot(n, posterior->beta, 1, posterior->beta, 1);

  for (int i = 0; i < n; i++) value -= log(posterior->L[(size_t)i * posterior->capacity + i]);
  return value - n * 0.91893853320467274178; /* log(2 pi)/2 */
}

const RgPosteriorOps rg_exact_ops = {"exact",
                                     true,
                                     exact_open,
                                     exact_close,
                                     exact_reserve,
                                     exact_reset,
                                     exact_extend,
                                     exact_set_outputs,
                                     exact_solve_many,
                                     rg_exact_predict,
                                     rg_exact_gradient,
                                     rg_exact_covariance,
                                     exact_log_likelihood,
                                     NULL,
                                     NULL,
                                     rg_exact_select,
                                     exact_keep,
                                     exact_pend,
                                     exact_restore};
