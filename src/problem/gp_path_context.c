/* gp_path_context: a Gaussian process path over one design and one context coordinate.

   f = S Z S on the grid of `levels` equally spaced values of [-5, 5] for x and for w; S the
   symmetric root of the levels' kernel matrix exp(-(a - b)^2/2), Z standard normal: a path with
   kernel exp(-|(x, w) - (x', w')|^2/2). The contexts are equally likely; every instance is another
   path.
   The 2D problem of arXiv:2504.03172, section 5.1 (50 levels). */
#include "gp/kernel/kernel.h"
#include "maths/blas.h"
#include "problem/finite_context.h"

#include <math.h>

enum { LEVELS_MAX = 500 };

static const RgParam params[] = {
  RG_FINITE_GRID_PARAMS("50", LEVELS_MAX, "grid levels of the design, and of the context"), {0}};

static const RgFiniteGrid grid = {1, -5.0, 5.0, NULL};

/* S with S S = K, K_ij = exp(-(a_i - a_j)^2/2): singular to rounding, so no Cholesky factor. */
static PetscErrorCode symmetric_root(int n, double *S)
{
  double *U, *lambda;

  PetscCall(PetscMalloc2((size_t)n * n, &U, n, &lambda));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double difference = 10.0 * (i - j) / (n - 1);
      U[(size_t)i * n + j] = exp(-0.5 * difference * difference);
    }
  }
  PetscCheck(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', n, U, n, lambda) == 0, PETSC_COMM_SELF,
             PETSC_ERR_LIB, "Eigenvalues of the kernel matrix");
  for (int k = 0; k < n; k++) { /* U diag(lambda^(1/4)), so that S = U U' */
    double root = sqrt(sqrt(lambda[k] > 0.0 ? lambda[k] : 0.0));
    for (int i = 0; i < n; i++) U[(size_t)i * n + k] *= root;
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1.0, U, n, U, n, 0.0, S, n);
  PetscCall(PetscFree2(U, lambda));
  return 0;
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const RgFiniteGridOptions *o = problem->options;
  size_t size = (size_t)o->levels * o->levels;
  RgRandom random = rg_stream_at(&problem->stream, 0);
  RgFiniteContext *data;
  double *S, *Z, *SZ;
  int n = o->levels;

  PetscCall(rg_finite_context_create(problem, &data));
  PetscCall(PetscMalloc3(size, &S, size, &Z, size, &SZ));
  PetscCall(symmetric_root(n, S));
  rg_random_normals(&random, size, Z);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, S, n, Z, n, 0.0, SZ, n);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, SZ, n, S, n, 0.0, data->f,
              n);
  PetscCall(PetscFree3(S, Z, SZ));
  PetscCall(rg_finite_context_finish(problem));
  return 0;
}

static PetscErrorCode prior(const void *options, RgKernel *kernel)
{
  const double length_scale = 0.1; /* share of the range [-5, 5] */

  return rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &length_scale, 1.0, kernel);
}

const RgProblemClass rg_problem_gp_path_context = {
  RG_ABOUT("gp_path_context", "GP path with context", 2,
           "a draw of a Gaussian process over (x, w) on a grid of [-5, 5]^2, kernel\n"
           "exp(-r^2/2); a robustness measure over w",
           "Inatsu 2025, arXiv:2504.03172, 5.1"),
  .params = params,
  .traits = RG_PROBLEM_RANDOM,
  .prior = prior,
  .create = create,
  RG_FINITE_GRID(grid),
};
