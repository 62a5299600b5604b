/* Posterior variance without a solve per point: the variance that remains when only the outputs
   along the columns of a basis B are known,
   k(z, z) - T(z)' (B'AB)^-1 T(z),   A = K + noise I,   T(z) = B' k(X, z).
   It is never below the exact variance, and reaches it as the basis grows. The basis is S, the
   nearly orthonormalised columns of the preconditioner, and one unit vector per later datum, so
   that new data are conditioned on exactly. */
#include <math.h>

#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/iterative/iterative_internal.h"
#include "maths/blas.h"

enum { CHUNK = 128, TILE = 256 }; /* columns of the basis, and points, per block */

static PetscErrorCode reserve(RgIterative *gp, int size)
{
  const size_t room = (size_t)size;
  double *G;

  PetscFunctionBeginUser;
  if (size <= gp->basis_room) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(room * room, &G));
  for (int j = 0; j < gp->basis; j++)
    PetscCall(PetscArraycpy(G + (size_t)j * room + j,
                            gp->G + (size_t)j * (size_t)gp->basis_room + j, gp->basis - j));
  PetscCall(PetscFree(gp->G));
  gp->G = G;
  gp->basis_room = size;
  PetscFunctionReturn(0);
}

/* G (lower triangle of the first `columns`) = S' A S, a chunk of columns at a time. */
static PetscErrorCode project_matrix(RgIterative *gp)
{
  const int rows = gp->rows, r = gp->columns;
  double *mine, *all, *product, *part;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4((size_t)rows * CHUNK, &mine, (size_t)gp->n * CHUNK, &all,
                         (size_t)rows * CHUNK, &product, (size_t)r * CHUNK, &part));
  for (int c = 0; c < r; c += CHUNK) {
    const int s = PetscMin(CHUNK, r - c);
    for (int k = 0; k < s; k++)
      for (int i = 0; i < rows; i++)
        mine[(size_t)i * s + k] = gp->S[(size_t)(c + k) * (size_t)rows + i];
    PetscCall(rg_iterative_gather(gp, s, mine, all));
    PetscCall(rg_iterative_multiply(gp, s, all, product));
    PetscCall(PetscArrayzero(part, (size_t)r * s));
    if (rows)
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, s, rows, 1.0, gp->S, rows, product,
                  s, 0.0, part, s);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, part, r * s, MPI_DOUBLE, MPI_SUM, gp->comm));
    for (int k = 0; k < s; k++)
      for (int i = c + k; i < r; i++)
        gp->G[(size_t)(c + k) * (size_t)gp->basis_room + i] = part[(size_t)i * s + k];
  }
  PetscCall(PetscFree4(mine, all, product, part));
  PetscFunctionReturn(0);
}

/* The basis for the present data. The amount added to the diagonal covers the rounding of the
   product; it can only enlarge the variance. */
static PetscErrorCode build(RgIterative *gp)
{
  const int rows = gp->rows, r = gp->columns;
  const double diagonal = rg_kernel_diagonal(gp->kernel);

  PetscFunctionBeginUser;
  PetscCall(PetscFree(gp->S));
  gp->basis = 0;
  gp->kept.has_new_base = true;
  gp->n_base = gp->n;
  gp->rows_base = rows;
  gp->cached = 0;
  PetscCall(PetscMalloc1((size_t)rows * r, &gp->S));
  for (int k = 0; k < r; k++)
    PetscCall(PetscArraycpy(gp->S + (size_t)k * rows, gp->L + (size_t)k * gp->ld, rows));
  if (rows && r)
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, r, 1.0,
                gp->M, r, gp->S, rows);
  PetscCall(reserve(gp, r + RG_ITERATIVE_LATER));
  PetscCall(project_matrix(gp));
  for (int k = 0; k < r; k++)
    gp->G[(size_t)k * (size_t)(gp->basis_room + 1)] +=
      100 * PETSC_MACHINE_EPSILON * gp->n * diagonal;
  const int info =
    r ? (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, gp->G, gp->basis_room) : 0;
  PetscCheck(info == 0, gp->comm, PETSC_ERR_FP, "the projected matrix is not positive definite");
  gp->basis = r;
  PetscFunctionReturn(0);
}

/* V (size x m, V[k*m + j]) = G^-1 T(z_j) for the first `size` vectors of the basis, m <= TILE.
   Adds k(z, X) alpha over all data to mean (NULL: not wanted). */
static PetscErrorCode project(RgIterative *gp, int size, int m, const double *Z, double *V,
                              double *mean)
{
  const int r = gp->columns, rows = gp->rows, dim = gp->kernel->dim, later = size - r;
  const double *mine = gp->X + (size_t)gp->first[gp->rank] * dim;
  double *K;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)rows * m, &K));
  PetscCall(PetscArrayzero(V, (size_t)r * m));
  PetscCall(rg_kernel_cross(gp->kernel, rows, mine, m, Z, K));
  if (gp->rows_base && r)
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, m, gp->rows_base, 1.0, gp->S,
                gp->rows_base, K, m, 0.0, V, m);
  if (mean) {
    PetscCall(PetscArrayzero(mean, m));
    if (rows)
      cblas_dgemv(CblasRowMajor, CblasTrans, rows, m, 1.0, K, m, gp->alpha + gp->first[gp->rank], 1,
                  0.0, mean, 1);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mean, m, MPI_DOUBLE, MPI_SUM, gp->comm));
    for (int j = 0; j < m; j++) mean[j] += gp->mean;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, V, r * m, MPI_DOUBLE, MPI_SUM, gp->comm));
  PetscCall(
    rg_kernel_cross(gp->kernel, later, gp->X + (size_t)gp->n_base * dim, m, Z, V + (size_t)r * m));
  if (size)
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, size, 1.0,
                gp->G, gp->basis_room, V, m);
  PetscCall(PetscFree(K));
  PetscFunctionReturn(0);
}

/* Append unit vectors for the data that arrived since, one by one. Rebuild everything when they
   exceed the reserved room. */
static PetscErrorCode update(RgIterative *gp)
{
  const int told = gp->pending ? gp->kept.n : gp->n;
  double *row;

  PetscFunctionBeginUser;
  if (!gp->S || told - gp->n_base > RG_ITERATIVE_LATER) PetscCall(build(gp));
  PetscCall(reserve(gp, gp->columns + gp->n - gp->n_base)); /* pending points may need more */
  PetscCall(PetscMalloc1(gp->basis_room, &row));
  for (int i = gp->n_base + gp->basis - gp->columns; i < gp->n; i++) {
    const int size = gp->basis;
    double square = rg_kernel_diagonal(gp->kernel) + gp->noise_variance;
    PetscCall(project(gp, size, 1, gp->X + (size_t)i * gp->kernel->dim, row, NULL));
    for (int k = 0; k < size; k++) {
      gp->G[(size_t)k * gp->basis_room + size] = row[k];
      square -= row[k] * row[k];
    }
    gp->G[(size_t)size * gp->basis_room + size] = sqrt(PetscMax(square, 0.5 * gp->noise_variance));
    gp->basis++;
    gp->cached = 0;
  }
  PetscCall(PetscFree(row));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_predict(RgIterative *gp, int m, const double *Z, double *mean,
                                    double *variance)
{
  const double diagonal = rg_kernel_diagonal(gp->kernel);
  const size_t dim = (size_t)gp->kernel->dim;

  PetscFunctionBeginUser;
  if (!gp->alpha) PetscCall(rg_iterative_solve(gp, NULL));
  PetscCall(update(gp));
  PetscCall(PetscFree2(gp->cached_V, gp->cached_Z));
  PetscCall(PetscMalloc2((size_t)gp->basis * TILE, &gp->cached_V, TILE * dim, &gp->cached_Z));
  for (int j = 0; j < m; j += TILE) {
    const int width = PetscMin(TILE, m - j);
    PetscCall(project(gp, gp->basis, width, Z + j * dim, gp->cached_V, mean + j));
    for (int k = 0; k < width; k++) variance[j + k] = diagonal;
    for (int b = 0; b < gp->basis; b++) {
      const double *v = gp->cached_V + (size_t)b * width;
      for (int k = 0; k < width; k++) variance[j + k] -= v[k] * v[k];
    }
    for (int k = 0; k < width; k++) variance[j + k] = PetscMax(variance[j + k], 0.0);
  }
  gp->cached = m <= TILE ? m : 0;
  if (gp->cached) PetscCall(PetscArraycpy(gp->cached_Z, Z, (size_t)m * dim));
  PetscFunctionReturn(0);
}

/* weight (rows x m): the factor that the gradient of a tile contracts with the kernel's slopes,
   mean_bar alpha' - 2 variance_bar B G^-T V. Overwrites V. */
static void weigh(const RgIterative *gp, int m, const double *mean_bar, const double *variance_bar,
                  double *V, double *weight)
{
  const int rows = gp->rows, base = gp->rows_base, r = gp->columns;
  const double *alpha = gp->alpha + gp->first[gp->rank];

  for (int i = 0; i < rows; i++)
    for (int j = 0; j < m; j++) weight[(size_t)i * m + j] = alpha[i] * mean_bar[j];
  if (!V) return;
  if (gp->basis)
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, m, gp->basis,
                1.0, gp->G, gp->basis_room, V, m);
  for (int b = 0; b < gp->basis; b++)
    for (int j = 0; j < m; j++) V[(size_t)b * m + j] *= -2.0 * variance_bar[j];
  if (base && r)
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, base, m, r, 1.0, gp->S, base, V, m, 1.0,
                weight, m);
  for (int k = 0; k < (rows - base) * m; k++) weight[(size_t)base * m + k] += V[(size_t)r * m + k];
}

PetscErrorCode rg_iterative_gradient(RgIterative *gp, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar, double *G)
{
  const size_t dim = (size_t)gp->kernel->dim;
  const double *mine = gp->X + (size_t)gp->first[gp->rank] * dim;
  double *V, *weight;

  PetscFunctionBeginUser;
  if (!gp->alpha) PetscCall(rg_iterative_solve(gp, NULL));
  if (variance_bar) PetscCall(update(gp));
  PetscCall(
    PetscMalloc2((size_t)PetscMax(gp->basis, 1) * TILE, &V, (size_t)gp->rows * TILE, &weight));
  for (int j = 0; j < m; j += TILE) {
    const int width = PetscMin(TILE, m - j);
    PetscBool same = PETSC_FALSE;
    if (gp->cached == m) PetscCall(PetscArraycmp(gp->cached_Z, Z, (size_t)m * dim, &same));
    if (variance_bar && same) PetscCall(PetscArraycpy(V, gp->cached_V, (size_t)gp->basis * width));
    else if (variance_bar) PetscCall(project(gp, gp->basis, width, Z + j * dim, V, NULL));
    weigh(gp, width, mean_bar + j, variance_bar ? variance_bar + j : NULL, variance_bar ? V : NULL,
          weight);
    PetscCall(rg_kernel_cross_gradient(gp->kernel, gp->rows, mine, width, Z + j * dim, weight,
                                       G + j * dim));
  }
  PetscCallMPI(
    MPI_Allreduce(MPI_IN_PLACE, G, (int)((size_t)m * dim), MPI_DOUBLE, MPI_SUM, gp->comm));
  PetscCall(PetscFree2(V, weight));
  PetscFunctionReturn(0);
}
