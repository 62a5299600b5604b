/* Posterior mean, variance and log determinant without the kernel matrix. */
#include <math.h>

#include "maths/blas.h"
#include "maths/vector.h"
#include "gp/posterior/iterative/iterative_internal.h"
#include "gp/kernel/kernel_internal.h"

enum { MOST_POINTS = 16 }; /* solved for at once */

const RgIterativeOptions rg_iterative_defaults = {
  .rank = 400, .probes = 8, .tolerance = 1e-6, .max_iterations = 1000, .seed = 1};

/* ---- life ---------------------------------------------------------------------------------- */

PetscErrorCode rg_iterative_create(MPI_Comm comm, const RgKernel *kernel, double noise_variance,
                                   double mean, int n, const double *X, const double *y,
                                   const RgIterativeOptions *options, RgIterative **gp)
{
  RgIterative *g;

  PetscFunctionBeginUser;
  PetscCheck(noise_variance > 0 && n >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "noise variance %g and %d data; both must be positive", noise_variance, n);
  PetscCheck(options->tolerance > 0 && options->probes >= 1 && options->rank >= 0, comm,
             PETSC_ERR_ARG_OUTOFRANGE, "tolerance %g, %d probes, rank %d", options->tolerance,
             options->probes, options->rank);
  PetscCall(PetscNew(&g));
  g->kernel = kernel;
  g->noise_variance = noise_variance;
  g->mean = mean;
  g->n = n;
  g->X = X;
  g->y = y;
  g->options = *options;
  PetscCallMPI(MPI_Comm_dup(comm, &g->comm));
  PetscCallMPI(MPI_Comm_size(g->comm, &g->ranks));
  PetscCallMPI(MPI_Comm_rank(g->comm, &g->rank));
  PetscCall(PetscMalloc1(g->ranks + 1, &g->first));
  for (int r = 0; r <= g->ranks; r++) g->first[r] = (int)((int64_t)n * r / g->ranks);
  g->rows = g->first[g->rank + 1] - g->first[g->rank];
  PetscCall(PetscMalloc1((size_t)n * rg_kernel_n_columns(kernel), &g->scaled));
  rg_kernel_scale_points(kernel, n, X, g->scaled);
  PetscCall(rg_iterative_build_preconditioner(g));
  *gp = g;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_destroy(RgIterative **gp)
{
  RgIterative *g = *gp;

  PetscFunctionBeginUser;
  if (!g) PetscFunctionReturn(0);
  PetscCall(PetscFree(g->first));
  PetscCall(PetscFree(g->scaled));
  PetscCall(PetscFree(g->alpha));
  PetscCall(PetscFree(g->L));
  PetscCall(PetscFree(g->M));
  PetscCall(PetscFree(g->curvature));
  PetscCall(PetscFree(g->product));
  PetscCallMPI(MPI_Comm_free(&g->comm));
  PetscCall(PetscFree(*gp));
  PetscFunctionReturn(0);
}

/* ---- mean and variance --------------------------------------------------------------------- */

PetscErrorCode rg_iterative_solve(RgIterative *gp, RgIterativeReport *report)
{
  const int first = gp->first[gp->rank];
  double *b, *u;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(gp->rows, &b, gp->rows, &u));
  for (int i = 0; i < gp->rows; i++) b[i] = gp->y[first + i] - gp->mean;
  PetscCall(rg_iterative_solve_stack(gp, 1, b, u, report));
  if (!gp->alpha) PetscCall(PetscMalloc1(gp->n, &gp->alpha));
  PetscCall(rg_iterative_gather(gp, 1, u, gp->alpha));
  PetscCall(PetscFree2(b, u));
  PetscFunctionReturn(0);
}

/* Every rank adds over its rows. */
PetscErrorCode rg_iterative_mean(RgIterative *gp, int m, const double *Z, double *mean)
{
  const int first = gp->first[gp->rank], dim = gp->kernel->dim, most = 256;
  double *K;

  PetscFunctionBeginUser;
  if (!gp->alpha) PetscCall(rg_iterative_solve(gp, NULL));
  PetscCall(PetscArrayzero(mean, m));
  PetscCall(PetscMalloc1((size_t)most * most, &K));
  for (int i = 0; i < gp->rows; i += most)
    for (int j = 0; j < m; j += most) {
      const int rows = PetscMin(most, gp->rows - i), columns = PetscMin(most, m - j);
      PetscCall(rg_kernel_cross(gp->kernel, rows, gp->X + (size_t)(first + i) * dim, columns,
                                Z + (size_t)j * dim, K));
      cblas_dgemv(CblasRowMajor, CblasTrans, rows, columns, 1.0, K, columns, gp->alpha + first + i,
                  1, 1.0, mean + j, 1);
    }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mean, m, MPI_DOUBLE, MPI_SUM, gp->comm));
  for (int j = 0; j < m; j++) mean[j] += gp->mean;
  PetscCall(PetscFree(K));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_variance(RgIterative *gp, int m, const double *Z, double *variance,
                                     RgIterativeReport *report)
{
  const int dim = gp->kernel->dim, rows = gp->rows;
  const double *mine = gp->X + (size_t)gp->first[gp->rank] * dim;
  RgIterativeReport part = {0}, worst = {.converged = true};
  double *B, *U;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((size_t)rows * MOST_POINTS, &B, (size_t)rows * MOST_POINTS, &U));
  for (int j = 0; j < m; j += MOST_POINTS) {
    const int s = PetscMin(MOST_POINTS, m - j);
    PetscCall(rg_kernel_cross(gp->kernel, rows, mine, s, Z + (size_t)j * dim, B));
    PetscCall(rg_iterative_solve_stack(gp, s, B, U, &part));
    for (int k = 0; k < s; k++) variance[j + k] = cblas_ddot(rows, B + k, s, U + k, s);
    worst.converged = worst.converged && part.converged;
    worst.iterations = PetscMax(worst.iterations, part.iterations);
    worst.residual = PetscMax(worst.residual, part.residual);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, variance, m, MPI_DOUBLE, MPI_SUM, gp->comm));
  for (int j = 0; j < m; j++)
    variance[j] = PetscMax(rg_kernel_diagonal(gp->kernel) - variance[j], 0.0);
  if (report) *report = worst;
  PetscCall(PetscFree2(B, U));
  PetscFunctionReturn(0);
}

/* ---- log determinant ----------------------------------------------------------------------- */

/* B: this rank's rows of probes with covariance L L' + noise I, the preconditioner's. */
static PetscErrorCode draw_probes(const RgIterative *gp, int s, double *B)
{
  const RgStream stream = rg_stream(gp->options.seed, "iterative", 0, "probes", 0);
  const int first = gp->first[gp->rank], r = gp->columns;
  double *normals, *sum;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(gp->n + r, &normals, PetscMax(gp->rows, 1), &sum));
  for (int k = 0; k < s; k++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)k);
    rg_vector_normals(&random, (size_t)(gp->n + r), normals);
    for (int i = 0; i < gp->rows; i++) sum[i] = sqrt(gp->noise_variance) * normals[first + i];
    if (r && gp->rows)
      cblas_dgemv(CblasColMajor, CblasNoTrans, gp->rows, r, 1.0, gp->L, gp->rows, normals + gp->n,
                  1, 1.0, sum, 1);
    for (int i = 0; i < gp->rows; i++) B[(size_t)i * s + k] = sum[i];
  }
  PetscCall(PetscFree2(normals, sum));
  PetscFunctionReturn(0);
}

/* First two moments of log(eigenvalue) under the spectral measure of the preconditioned matrix, by
   Gauss quadrature: eigenvalues and first components of the Lanczos matrix, which the coefficients
   of conjugate gradients make. */
static PetscErrorCode quadrature(const RgIterative *gp, double moments[2])
{
  const int n = gp->n_curvature;
  double *diagonal, *off, *vectors, before = 0.0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(n, &diagonal, n, &off, (size_t)n * n, &vectors));
  for (int k = 0; k < n; k++) {
    const double inverse = gp->curvature[k] / gp->product[k]; /* 1/step length */
    diagonal[k] = inverse + before;
    if (k + 1 < n) {
      const double ratio = gp->product[k + 1] / gp->product[k];
      off[k] = sqrt(ratio) * inverse;
      before = ratio * inverse;
    }
  }
  const int info = LAPACKE_dstev(LAPACK_COL_MAJOR, 'V', n, diagonal, off, vectors, PetscMax(n, 1));
  PetscCheck(info == 0, gp->comm, PETSC_ERR_LIB, "dstev returned %d", info);
  moments[0] = moments[1] = 0.0;
  for (int k = 0; k < n; k++) {
    const double weight = vectors[(size_t)k * n] * vectors[(size_t)k * n];
    const double logarithm = log(PetscMax(diagonal[k], 1e-300));
    moments[0] += weight * logarithm;
    moments[1] += weight * logarithm * logarithm;
  }
  PetscCall(PetscFree3(diagonal, off, vectors));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_log_determinant(RgIterative *gp, double *value, double *error,
                                            RgIterativeReport *report)
{
  const int s = gp->options.probes;
  double *B, *U, moments[2] = {0};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((size_t)gp->rows * s, &B, (size_t)gp->rows * s, &U));
  PetscCall(draw_probes(gp, s, B));
  PetscCall(rg_iterative_solve_stack(gp, s, B, U, report));
  PetscCall(PetscFree2(B, U));
  PetscCall(quadrature(gp, moments));
  *value = gp->log_det + gp->n * moments[0];
  *error = sqrt(2.0 * gp->n * moments[1] / s);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_log_likelihood(RgIterative *gp, double *value, double *error)
{
  double log_det, fit = 0.0;

  PetscFunctionBeginUser;
  if (!gp->alpha) PetscCall(rg_iterative_solve(gp, NULL));
  PetscCall(rg_iterative_log_determinant(gp, &log_det, error, NULL));
  for (int i = 0; i < gp->n; i++) fit += (gp->y[i] - gp->mean) * gp->alpha[i];
  *value = -0.5 * (fit + log_det) - gp->n * 0.91893853320467274178; /* log(2 pi)/2 */
  *error *= 0.5;
  PetscFunctionReturn(0);
}
