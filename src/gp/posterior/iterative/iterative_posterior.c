/* Posterior mean, variance and log determinant without the kernel matrix. */
#include <math.h>

#include "maths/blas.h"
#include "base/grow.h"
#include "maths/vector.h"
#include "gp/posterior/iterative/iterative_internal.h"
#include "gp/kernel/kernel_internal.h"

enum { MOST_POINTS = 16 }; /* right-hand sides per solve */

const RgIterativeOptions rg_iterative_defaults = {
  .rank = 400, .probes = 8, .tolerance = 1e-6, .max_iterations = 1000, .seed = 1};

/* ---- life ---------------------------------------------------------------------------------- */

static PetscErrorCode append_data(RgIterative *gp, int m, const double *X, const double *y)
{
  const size_t n = (size_t)gp->n, dim = (size_t)gp->kernel->dim;
  const size_t columns = (size_t)rg_kernel_n_columns(gp->kernel);

  if (gp->n + m > gp->capacity) {
    gp->capacity = gp->n + m + (gp->n ? RG_ITERATIVE_LATER : 0);
    const size_t bytes = (size_t)gp->capacity * sizeof(double);
    PetscCall(PetscRealloc(bytes * dim, &gp->X));
    PetscCall(PetscRealloc(bytes, &gp->y));
    PetscCall(PetscRealloc(bytes * columns, &gp->scaled));
  }
  PetscCall(PetscArraycpy(gp->X + n * dim, X, (size_t)m * dim));
  PetscCall(PetscArraycpy(gp->y + n, y, m));
  rg_kernel_scale_points(gp->kernel, m, X, gp->scaled + n * columns);
  gp->n += m;
  return 0;
}

/* Distribute the rows in equal shares, and build the preconditioner for them. */
static PetscErrorCode distribute(RgIterative *gp)
{
  for (int r = 0; r <= gp->ranks; r++) gp->first[r] = (int)((int64_t)gp->n * r / gp->ranks);
  gp->rows = gp->first[gp->rank + 1] - gp->first[gp->rank];
  PetscCall(PetscFree(gp->S));
  PetscCall(rg_iterative_build_preconditioner(gp));
  gp->n_built = gp->n;
  return 0;
}

PetscErrorCode rg_iterative_create(MPI_Comm comm, const RgKernel *kernel, double noise_variance,
                                   double mean, const RgData *data,
                                   const RgIterativeOptions *options, RgIterative **gp)
{
  RgIterative *g;

  PetscCheck(noise_variance > 0 && data->n >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "noise variance %g and %d data; both must be positive", noise_variance, data->n);
  PetscCheck(options->tolerance > 0 && options->probes >= 1 && options->rank >= 0, comm,
             PETSC_ERR_ARG_OUTOFRANGE, "tolerance %g, %d probes, rank %d", options->tolerance,
             options->probes, options->rank);
  PetscCall(PetscNew(&g));
  PetscCall(rg_kernel_copy(kernel, &g->own));
  g->kernel = &g->own;
  g->noise_variance = noise_variance;
  g->mean = mean;
  g->options = *options;
  g->rank_wanted = options->rank;
  PetscCallMPI(MPI_Comm_dup(comm, &g->comm));
  PetscCallMPI(MPI_Comm_size(g->comm, &g->ranks));
  PetscCallMPI(MPI_Comm_rank(g->comm, &g->rank));
  PetscCall(PetscMalloc1(g->ranks + 1, &g->first));
  PetscCall(append_data(g, data->n, data->X, data->y));
  PetscCall(distribute(g));
  *gp = g;
  return 0;
}

static PetscErrorCode forget_kept(RgIterative *gp)
{
  PetscCall(RG_FREE(&gp->kept.alpha, &gp->kept.gram, &gp->kept.M));
  gp->pending = false;
  return 0;
}

PetscErrorCode rg_iterative_destroy(RgIterative **gp)
{
  RgIterative *g = *gp;

  if (!g) return 0;
  PetscCall(forget_kept(g));
  PetscCall(RG_FREE(&g->first, &g->X, &g->y, &g->scaled, &g->S, &g->G, &g->alpha, &g->L,
                    &g->curvature, &g->product));
  PetscCall(rg_kernel_destroy(&g->own));
  PetscCall(PetscFree2(g->cached_V, g->cached_Z));
  PetscCall(PetscFree4(g->pivots, g->T, g->gram, g->M));
  PetscCallMPI(MPI_Comm_free(&g->comm));
  return PetscFree(*gp);
}

PetscErrorCode rg_iterative_extend(RgIterative *gp, int m, const double *X, const double *y)
{
  const int n = gp->n;

  PetscCall(append_data(gp, m, X, y));
  if (gp->alpha) {
    PetscCall(PetscRealloc((size_t)gp->n * sizeof(double), &gp->alpha));
    PetscCall(PetscArrayzero(gp->alpha + n, m));
  }
  if (gp->n - gp->n_built > RG_ITERATIVE_LATER && !gp->pending) {
    PetscCall(distribute(gp));
  } else {
    gp->first[gp->ranks] = gp->n;
    PetscCall(rg_iterative_extend_preconditioner(gp, m));
  }
  return 0;
}

PetscErrorCode rg_iterative_keep(RgIterative *gp)
{
  const size_t square = (size_t)gp->columns * (size_t)gp->columns;
  RgIterativeKept *kept = &gp->kept;

  PetscCall(forget_kept(gp));
  *kept =
    (RgIterativeKept){.n = gp->n, .rows = gp->rows, .basis = gp->basis, .log_det = gp->log_det};
  PetscCall(PetscMalloc1(square, &kept->gram));
  PetscCall(PetscMalloc1(square, &kept->M));
  PetscCall(PetscArraycpy(kept->gram, gp->gram, square));
  PetscCall(PetscArraycpy(kept->M, gp->M, square));
  if (gp->alpha) {
    PetscCall(PetscMalloc1(gp->n, &kept->alpha));
    PetscCall(PetscArraycpy(kept->alpha, gp->alpha, gp->n));
  }
  gp->pending = true;
  return 0;
}

PetscErrorCode rg_iterative_restore(RgIterative *gp)
{
  const size_t square = (size_t)gp->columns * (size_t)gp->columns;
  RgIterativeKept *kept = &gp->kept;

  PetscCheck(gp->pending, gp->comm, PETSC_ERR_ARG_WRONGSTATE, "no state was kept");
  gp->n = gp->first[gp->ranks] = kept->n;
  gp->rows = kept->rows;
  gp->log_det = kept->log_det;
  PetscCall(PetscArraycpy(gp->gram, kept->gram, square));
  PetscCall(PetscArraycpy(gp->M, kept->M, square));
  PetscCall(PetscFree(gp->alpha));
  gp->alpha = kept->alpha;
  kept->alpha = NULL;
  gp->basis = kept->basis;
  gp->cached = 0;
  if (kept->has_new_base) PetscCall(PetscFree(gp->S));
  return forget_kept(gp);
}

PetscErrorCode rg_iterative_set_outputs(RgIterative *gp, double mean, const double *y)
{
  gp->mean = mean;
  return PetscArraycpy(gp->y, y, gp->n);
}

/* ---- mean and variance --------------------------------------------------------------------- */

PetscErrorCode rg_iterative_solve(RgIterative *gp, RgIterativeReport *report)
{
  const int first = gp->first[gp->rank];
  double *b, *u;

  PetscCall(PetscMalloc2(gp->rows, &b, gp->rows, &u));
  for (int i = 0; i < gp->rows; i++) b[i] = gp->y[first + i] - gp->mean;
  const bool guess = gp->alpha != NULL; /* the weights belong to fewer data or to other outputs */
  if (guess) PetscCall(PetscArraycpy(u, gp->alpha + first, gp->rows));
  else PetscCall(PetscMalloc1(gp->n, &gp->alpha));
  PetscCall(rg_iterative_solve_stack(gp, 1, b, guess, u, report));
  PetscCall(rg_iterative_gather(gp, 1, u, gp->alpha));
  return PetscFree2(b, u);
}

/* Every rank adds up its rows. */
PetscErrorCode rg_iterative_mean(RgIterative *gp, int m, const double *Z, double *mean)
{
  const int first = gp->first[gp->rank], dim = gp->kernel->dim, most = 256;
  double *K;

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
  return PetscFree(K);
}

PetscErrorCode rg_iterative_solve_many(RgIterative *gp, int m, double *B, RgIterativeReport *report)
{
  const int first = gp->first[gp->rank], rows = gp->rows;
  double *mine, *solution, *all;

  *report = (RgIterativeReport){.converged = true};
  PetscCall(PetscMalloc3((size_t)rows * MOST_POINTS, &mine, (size_t)rows * MOST_POINTS, &solution,
                         (size_t)gp->n * MOST_POINTS, &all));
  for (int j = 0; j < m; j += MOST_POINTS) {
    const int s = PetscMin(MOST_POINTS, m - j);
    RgIterativeReport part;
    for (int i = 0; i < rows; i++)
      for (int k = 0; k < s; k++)
        mine[(size_t)i * s + k] = B[(size_t)(first + i) * (size_t)m + j + k];
    PetscCall(rg_iterative_solve_stack(gp, s, mine, false, solution, &part));
    report->converged = report->converged && part.converged;
    report->iterations = PetscMax(report->iterations, part.iterations);
    report->residual = PetscMax(report->residual, part.residual);
    PetscCall(rg_iterative_gather(gp, s, solution, all));
    for (int i = 0; i < gp->n; i++)
      for (int k = 0; k < s; k++) B[(size_t)i * (size_t)m + j + k] = all[(size_t)i * s + k];
  }
  return PetscFree3(mine, solution, all);
}

/* ---- log determinant ----------------------------------------------------------------------- */

/* B: this rank's rows of probes whose covariance L L' + noise I is that of the preconditioner. */
static PetscErrorCode draw_probes(const RgIterative *gp, int s, double *B)
{
  const RgStream stream = rg_stream(gp->options.seed, "iterative", 0, "probes", 0);
  const int first = gp->first[gp->rank], r = gp->columns;
  double *normals, *sum;

  PetscCall(PetscMalloc2(gp->n + r, &normals, PetscMax(gp->rows, 1), &sum));
  for (int k = 0; k < s; k++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)k);
    rg_vector_normals(&random, (size_t)(gp->n + r), normals);
    for (int i = 0; i < gp->rows; i++) sum[i] = sqrt(gp->noise_variance) * normals[first + i];
    if (r && gp->rows)
      cblas_dgemv(CblasColMajor, CblasNoTrans, gp->rows, r, 1.0, gp->L, gp->ld, normals + gp->n, 1,
                  1.0, sum, 1);
    for (int i = 0; i < gp->rows; i++) B[(size_t)i * s + k] = sum[i];
  }
  return PetscFree2(normals, sum);
}

/* First two moments of log(eigenvalue) under the spectral measure of the preconditioned matrix,
   by Gauss quadrature: eigenvalues and first components of the Lanczos matrix that the
   coefficients of conjugate gradients define. */
static PetscErrorCode quadrature(const RgIterative *gp, double moments[2])
{
  const int n = gp->n_curvature;
  double *diagonal, *off, *vectors, before = 0.0;

  PetscCheck(gp->n_product >= n, gp->comm, PETSC_ERR_SUP,
             "the log determinant needs the preconditioner of its own: no -gp_pc_type");
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
  return PetscFree3(diagonal, off, vectors);
}

PetscErrorCode rg_iterative_log_determinant(RgIterative *gp, double *value, double *error,
                                            RgIterativeReport *report)
{
  const int s = gp->options.probes;
  double *B, *U, moments[2] = {0};

  PetscCall(PetscMalloc2((size_t)gp->rows * s, &B, (size_t)gp->rows * s, &U));
  PetscCall(draw_probes(gp, s, B));
  PetscCall(rg_iterative_solve_stack(gp, s, B, false, U, report));
  PetscCall(PetscFree2(B, U));
  PetscCall(quadrature(gp, moments));
  *value = gp->log_det + gp->n * moments[0];
  *error = sqrt(2.0 * gp->n * moments[1] / s);
  return 0;
}
