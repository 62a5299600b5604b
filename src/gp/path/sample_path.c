/* Sample paths of a prior on finite sets: dense, or axis by axis on a grid. */
#include "gp/path/sample_path.h"
#include "gp/kernel/kernel_internal.h"
#include "maths/blas.h"

#include <string.h>

PetscErrorCode rg_factor_covariance(int n, RgMatrixFunction matrix, const void *closure,
                                    double diagonal, double *L, double *jitter, RgFailure *failure)
{
  for (double added = 0.0;; added = added > 0.0 ? 10.0 * added : 1e-10 * diagonal) {
    if (added > 1.001e-4 * diagonal) {
      rg_failure_set(failure, "Cholesky factorisation of the covariance of %d points failed", n);
      break;
    }
    PetscCall((*matrix)(closure, L));
    for (int i = 0; i < n; i++) L[(size_t)i * n + i] += added;
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, L, n) == 0) {
      *jitter = PetscMax(*jitter, added);
      break;
    }
  }
  for (int j = 1; j < n; j++) memset(L + (size_t)j * n, 0, (size_t)j * sizeof *L);
  return 0;
}

/* The dense method. */
typedef struct {
  const RgKernel *kernel;
  int n;
  const double *X;
} Points;

static PetscErrorCode points_matrix(const void *closure, double *K)
{
  const Points *points = closure;

  return rg_kernel_matrix(points->kernel, points->n, points->X, K);
}

static PetscErrorCode sample_dense(const RgSpace *space, const RgKernel *kernel, const double *z,
                                   double *f, double *jitter, RgFailure *failure)
{
  int n = space->size;
  Points points = {kernel, n, space->points};
  double *L;

  PetscCall(PetscMalloc1((size_t)n * n, &L));
  PetscCall(rg_factor_covariance(n, points_matrix, &points, rg_kernel_diagonal(kernel), L, jitter,
                                 failure));
  PetscCall(PetscArraycpy(f, z, n));
  cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, L, n, f, 1);
  return PetscFree(L);
}

/* Correlations between the levels of one coordinate. */
typedef struct {
  const RgKernel *kernel;
  int input, n;
  const double *axis;
} Axis;

static PetscErrorCode axis_matrix(const void *closure, double *K)
{
  const Axis *axis = closure;
  RgKernel restricted;

  PetscCall(rg_kernel_restrict(&axis->kernel->terms[0], axis->input, 1.0, &restricted));
  if (restricted.n_terms) {
    PetscCall(rg_kernel_matrix(&restricted, axis->n, axis->axis, K));
    PetscCall(rg_kernel_destroy(&restricted));
  } else {
    for (size_t i = 0; i < (size_t)axis->n * axis->n; i++) K[i] = 1.0;
  }
  return 0;
}

/* The factor of a Kronecker product is the Kronecker product of the factors: with f viewed as
   before x n x after (row-major), each multiplies its middle index, in place. */
static PetscErrorCode sample_grid(const RgSpace *space, const RgKernel *kernel, const double *z,
                                  double *f, double *jitter, RgFailure *failure)
{
  const double *axis = space->axes;
  int before = 1, after = space->size;

  for (int i = 0; i < space->size; i++) f[i] = z[i] * PetscSqrtReal(kernel->terms[0].variance);
  for (int k = 0; k < space->dim; k++) {
    int n = space->levels[k];
    Axis levels = {kernel, k, n, axis};
    double *L;
    after /= n;
    PetscCall(PetscMalloc1((size_t)n * n, &L));
    PetscCall(rg_factor_covariance(n, axis_matrix, &levels, 1.0, L, jitter, failure));
    for (int b = 0; b < before; b++)
      cblas_dtrmm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, n, after, 1.0, L,
                  n, f + (size_t)b * n * after, after);
    PetscCall(PetscFree(L));
    before *= n;
    axis += n;
  }
  *jitter *= kernel->terms[0].variance;
  return 0;
}

PetscErrorCode rg_sample_path(RgTeam *team, const RgSpace *space, const RgKernel *kernel,
                              const double *z, double *f, double *jitter, RgFailure *failure)
{
  PetscCheck(rg_space_is_finite(space), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "Sample paths are drawn on finite sets");
  PetscCheck(space->dim == kernel->dim, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "The space has %d coordinates, the kernel %d inputs", space->dim, kernel->dim);
  *jitter = 0.0;
  if (space->kind == RG_SPACE_GRID && kernel->n_terms == 1 && rg_kernel_factors_over_inputs(kernel))
    return sample_grid(space, kernel, z, f, jitter, failure);
  if (rg_team_takes(team, space->size))
    return rg_team_sample_path(team, kernel, space->size, space->points, z, f, jitter, failure);
  return sample_dense(space, kernel, z, f, jitter, failure);
}
