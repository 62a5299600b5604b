/* Gaussian processes without the kernel matrix: preconditioner, conjugate gradients, predictions,
   and the log determinant.

   Conjugate gradients solve stacks of right-hand sides: a stack of s systems with one matrix is one
   system with a block-diagonal matrix. Its Krylov polynomial serves all of them, and an entry of
   the kernel, which costs more than a few products, is computed once for the stack. */
#include "gp/posterior/iterative/iterative.h"
#include "base/grow.h"
#include "gp/kernel/kernel_internal.h"
#include "maths/blas.h"
#include "maths/vector.h"

#include <math.h>
#include <petscksp.h>

enum { MOST_POINTS = 16 }; /* right-hand sides per solve */

const RgIterativeOptions rg_iterative_defaults = {
  .rank = 400, .probes = 8, .tolerance = 1e-6, .max_iterations = 1000, .seed = 1};

/* A copy of the state that pending points change. */
typedef struct {
  int n, rows, basis;
  double log_det;
  double *alpha;     /* n; NULL: not solved for then */
  double *gram, *M;  /* columns x columns */
  bool has_new_base; /* the projection was rebuilt since */
} Kept;

/* A stack is s vectors of n entries, row by row: V[i*s + k]. Each rank holds its own rows of it. */
struct RgIterative {
  MPI_Comm comm; /* a duplicate, owned */
  int ranks, rank;
  RgKernel own;           /* owned */
  const RgKernel *kernel; /* the operator */
  double noise_variance, mean;
  /* Numbers of data, of data that fit, and of data when the preconditioner was built. */
  int n, capacity, n_built;
  double *X, *y; /* owned */
  RgIterativeOptions options;
  int rank_wanted; /* options of the preconditioner; options.rank: at most n */
  int *first;      /* ranks + 1: rows of each rank */
  int rows;        /* number of rows of this rank */
  double *scaled;  /* n x columns: data divided by the length scales */
  double *alpha;   /* n, on every rank; NULL until solved for */
  /* Preconditioner L L' + noise I */
  int columns;    /* columns of L: fewer than requested when no residual is left */
  int ld;         /* rows of L on this rank */
  double *L;      /* rows x columns, column-major */
  double *pivots; /* columns x dim: the pivots */
  double *T;      /* columns x columns, lower: rows of L at the pivots */
  double *gram;   /* columns x columns: noise I + L'L */
  double *M;      /* columns x columns: Cholesky factor of noise I + L'L */
  double log_det; /* work vectors of the preconditioner */
  /* Coefficients of the last iteration: p'Ap and r'z of every step. */
  int s; /* number of vectors in the stack */
  int n_curvature, n_product;
  double *curvature, *product;
  /* The projection: S of the data up to n_base, rows_base of them here;
     the factor of the projected matrix; the last prediction of one tile. */
  int n_base, rows_base, basis, basis_room, cached;
  double *S, *G, *cached_V, *cached_Z;
  bool pending; /* the last data are pending points */
  Kept kept;
};

/* Number of new data after which the preconditioner and the projection are rebuilt. */
enum { LATER = 128 };

/* Size of a matrix tile: data by rows of this rank. */
enum { DATA = 256, WIDTH = 128 };

/* Gather all rows of a stack from the rows of each rank. */
static PetscErrorCode gather(const RgIterative *gp, int s, const double *mine, double *all)
{
  int *counts, *starts;

  PetscCall(PetscMalloc2(gp->ranks, &counts, gp->ranks, &starts));
  for (int r = 0; r < gp->ranks; r++) {
    starts[r] = gp->first[r] * s;
    counts[r] = (gp->first[r + 1] - gp->first[r]) * s;
  }
  PetscCallMPI(
    MPI_Allgatherv(mine, gp->rows * s, MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, gp->comm));
  return PetscFree2(counts, starts);
}

/* Y (this rank's rows of a stack) = (K + noise I) V; V: all n rows. */
static PetscErrorCode multiply(const RgIterative *gp, int s, const double *V, double *Y)
{
  const RgTileOps *ops = rg_tile_ops();
  const RgKernel *kernel = gp->kernel;
  const int columns = rg_kernel_n_columns(kernel), first = gp->first[gp->rank];
  double *value, *B, *sum, *scratch;

  PetscCall(PetscMalloc4(DATA * WIDTH, &value, WIDTH * columns, &B, (size_t)WIDTH * s, &sum,
                         rg_kernel_tile_scratch(kernel, WIDTH), &scratch));
  for (int j = 0; j < gp->rows; j += WIDTH) {
    const int count = PetscMin(WIDTH, gp->rows - j), width = rg_pad(count);
    rg_kernel_scale_tile(kernel, count, gp->X + (size_t)(first + j) * kernel->dim, width, B);
    PetscCall(PetscArrayzero(sum, (size_t)WIDTH * s));
    for (int i = 0; i < gp->n; i += DATA) {
      const int data = PetscMin(DATA, gp->n - i);
      const double *v = V + (size_t)i * s;
      rg_kernel_tile(ops, kernel, data, gp->scaled + (size_t)i * columns, B, width, value, NULL, 0,
                     scratch);
      if (s == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, data, width, 1.0, value, width, v, 1, 1.0, sum, 1);
      else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, width, s, data, 1.0, value, width, v,
                    s, 1.0, sum, s);
    }
    for (int k = 0; k < count * s; k++)
      Y[(size_t)j * s + k] = sum[k] + gp->noise_variance * V[(size_t)(first + j) * s + k];
  }
  return PetscFree4(value, B, sum, scratch);
}

/* ---- pivoted Cholesky ------------------------------------------------------------------------ */

typedef struct {
  double value;
  int index;
} Pivot;

/* The row of largest remaining variance (the lowest index among equals), and its row of L so
   far. */
static PetscErrorCode choose_pivot(const RgIterative *gp, int k, const double *left, Pivot *pivot,
                                   double *row)
{
  const int first = gp->first[gp->rank];
  Pivot mine = {-1.0, gp->n};
  int owner = 0;

  for (int i = 0; i < gp->rows; i++)
    if (left[i] > mine.value) mine = (Pivot){left[i], first + i};
  PetscCallMPI(MPI_Allreduce(&mine, pivot, 1, MPI_DOUBLE_INT, MPI_MAXLOC, gp->comm));
  while (gp->first[owner + 1] <= pivot->index) owner++;
  if (owner == gp->rank)
    for (int c = 0; c < k; c++) row[c] = gp->L[(size_t)c * gp->ld + (size_t)(pivot->index - first)];
  PetscCallMPI(MPI_Bcast(row, k, MPI_DOUBLE, owner, gp->comm));
  return 0;
}

static PetscErrorCode factor(RgIterative *gp, double *left, double *row)
{
  const int rows = gp->rows, dim = gp->kernel->dim;
  const double *mine = gp->X + (size_t)gp->first[gp->rank] * dim;
  const double enough = 1e-12 * rg_kernel_diagonal(gp->kernel);

  for (int i = 0; i < rows; i++) left[i] = rg_kernel_diagonal(gp->kernel);
  for (int k = 0; k < gp->options.rank; k++) {
    double *column = gp->L + (size_t)k * gp->ld;
    Pivot pivot;
    PetscCall(choose_pivot(gp, k, left, &pivot, row));
    if (pivot.value <= enough) break;
    PetscCall(
      rg_kernel_cross(gp->kernel, 1, gp->X + (size_t)pivot.index * dim, rows, mine, column));
    if (k && rows)
      cblas_dgemv(CblasColMajor, CblasNoTrans, rows, k, -1.0, gp->L, gp->ld, row, 1, 1.0, column,
                  1);
    const double root = sqrt(pivot.value);
    PetscCall(PetscArraycpy(gp->pivots + (size_t)k * dim, gp->X + (size_t)pivot.index * dim, dim));
    for (int c = 0; c < k; c++) gp->T[(size_t)c * gp->options.rank + k] = row[c];
    gp->T[(size_t)k * (gp->options.rank + 1)] = root;
    for (int i = 0; i < rows; i++) {
      column[i] /= root;
      left[i] = PetscMax(left[i] - column[i] * column[i], 0.0);
    }
    gp->columns = k + 1;
  }
  return 0;
}

/* M, the factor of noise I + L'L, and the determinant, from the Gram matrix. */
static PetscErrorCode factor_gram(RgIterative *gp)
{
  const int r = gp->columns;

  gp->log_det = (gp->n - r) * log(gp->noise_variance);
  if (r == 0) return 0;
  PetscCall(PetscArraycpy(gp->M, gp->gram, (size_t)r * r));
  const int info = (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, gp->M, r);
  PetscCheck(info == 0, gp->comm, PETSC_ERR_FP, "the preconditioner is not positive definite");
  for (int k = 0; k < r; k++) gp->log_det += 2 * log(gp->M[(size_t)k * (r + 1)]);
  return 0;
}

static PetscErrorCode build_preconditioner(RgIterative *gp)
{
  const int rows = gp->rows, most = PetscMin(gp->rank_wanted, gp->n);
  double *left, *row;

  gp->options.rank = most;
  gp->columns = 0;
  gp->ld = rows;
  PetscCall(PetscFree(gp->L));
  PetscCall(PetscFree4(gp->pivots, gp->T, gp->gram, gp->M));
  PetscCall(PetscMalloc1((size_t)rows * most, &gp->L));
  PetscCall(PetscMalloc4((size_t)most * gp->kernel->dim, &gp->pivots, (size_t)most * most, &gp->T,
                         (size_t)most * most, &gp->gram, (size_t)most * most, &gp->M));
  PetscCall(PetscMalloc2(rows, &left, most, &row));
  PetscCall(factor(gp, left, row));
  PetscCall(PetscFree2(left, row));
  const int r = gp->columns;
  PetscCall(PetscArrayzero(gp->gram, (size_t)r * r));
  if (rows && r)
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, r, rows, 1.0, gp->L, gp->ld, 0.0, gp->gram,
                r);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, gp->gram, r * r, MPI_DOUBLE, MPI_SUM, gp->comm));
  for (int k = 0; k < r; k++) gp->gram[(size_t)k * (r + 1)] += gp->noise_variance;
  return factor_gram(gp);
}

/* Extend the preconditioner by m data, the last ones of X. The pivots stay. */
static PetscErrorCode extend_preconditioner(RgIterative *gp, int m)
{
  const int r = gp->columns, dim = gp->kernel->dim, last = gp->rank == gp->ranks - 1;
  const size_t rows = (size_t)gp->rows, wide = rows + (size_t)m;
  double *row, *L;

  if (last) {
    PetscCall(PetscMalloc1(wide * r, &L));
    for (int k = 0; k < r; k++)
      PetscCall(PetscArraycpy(L + k * wide, gp->L + (size_t)k * gp->ld, rows));
    PetscCall(PetscFree(gp->L));
    gp->L = L;
    gp->ld = (int)wide;
  }
  PetscCall(PetscMalloc1(r, &row));
  for (int i = 0; i < m; i++) {
    const double *x = gp->X + (size_t)(gp->n - m + i) * dim;
    PetscCall(rg_kernel_cross(gp->kernel, 1, x, r, gp->pivots, row));
    if (r) {
      cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, gp->T, gp->options.rank,
                  row, 1);
      cblas_dsyr(CblasColMajor, CblasLower, r, 1.0, row, 1, gp->gram, r);
    }
    for (int k = 0; last && k < r; k++) gp->L[(size_t)k * gp->ld + gp->rows + i] = row[k];
  }
  PetscCall(PetscFree(row));
  if (last) gp->rows += m;
  return factor_gram(gp);
}

/* ---- conjugate gradients --------------------------------------------------------------------- */

static PetscErrorCode apply_matrix(Mat matrix, Vec in, Vec out)
{
  RgIterative *gp;
  const PetscScalar *mine;
  PetscScalar *result, curvature;
  double *all;

  PetscCall(MatShellGetContext(matrix, &gp));
  PetscCall(PetscMalloc1((size_t)gp->n * gp->s, &all));
  PetscCall(VecGetArrayRead(in, &mine));
  PetscCall(gather(gp, gp->s, mine, all));
  PetscCall(VecRestoreArrayRead(in, &mine));
  PetscCall(VecGetArray(out, &result));
  PetscCall(multiply(gp, gp->s, all, result));
  PetscCall(VecRestoreArray(out, &result));
  PetscCall(PetscFree(all));
  PetscCall(VecDot(in, out, &curvature));
  PetscCall(RG_GROW(gp->n_curvature, gp->curvature));
  gp->curvature[gp->n_curvature++] = curvature;
  return 0;
}

/* (noise I + L L')^-1 = (I - L (noise I + L'L)^-1 L') / noise */
static PetscErrorCode apply_preconditioner(PC pc, Vec in, Vec out)
{
  RgIterative *gp;
  const PetscScalar *residual;
  PetscScalar *result, product;
  double *T, *transposed;

  PetscCall(PCShellGetContext(pc, &gp));
  PetscCall(VecGetArrayRead(in, &residual));
  PetscCall(VecGetArray(out, &result));
  const int rows = gp->rows, r = gp->columns, s = gp->s;
  PetscCall(PetscArraycpy(result, residual, (size_t)rows * s));
  if (r) {
    PetscCall(PetscCalloc2((size_t)r * s, &T, (size_t)r * s, &transposed));
    if (rows)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, s, r, rows, 1.0, residual, s, gp->L,
                  gp->ld, 0.0, T, s);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, T, r * s, MPI_DOUBLE, MPI_SUM, gp->comm));
    for (int k = 0; k < r; k++)
      for (int j = 0; j < s; j++) transposed[(size_t)j * r + k] = T[(size_t)k * s + j];
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', r, s, gp->M, r, transposed, r);
    for (int k = 0; k < r; k++)
      for (int j = 0; j < s; j++) T[(size_t)k * s + j] = transposed[(size_t)j * r + k];
    if (rows)
      cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, s, rows, r, -1.0, T, s, gp->L, gp->ld,
                  1.0, result, s);
    PetscCall(PetscFree2(T, transposed));
  }
  for (size_t i = 0; i < (size_t)rows * (size_t)s; i++) result[i] /= gp->noise_variance;
  PetscCall(VecRestoreArray(out, &result));
  PetscCall(VecRestoreArrayRead(in, &residual));
  PetscCall(VecDot(in, out, &product));
  PetscCall(RG_GROW(gp->n_product, gp->product));
  gp->product[gp->n_product++] = product;
  return 0;
}

/* All entries are equal; needed for -gp_pc_type jacobi and similar options. */
static PetscErrorCode get_diagonal(Mat matrix, Vec diagonal)
{
  RgIterative *gp;

  PetscCall(MatShellGetContext(matrix, &gp));
  return VecSet(diagonal, rg_kernel_diagonal(gp->kernel) + gp->noise_variance);
}

static PetscErrorCode solver_create(RgIterative *gp, Mat *matrix, KSP *ksp)
{
  const PetscInt local = gp->rows * gp->s, global = gp->n * gp->s;
  PC pc;

  PetscCall(MatCreateShell(gp->comm, local, local, global, global, gp, matrix));
  PetscCall(MatShellSetOperation(*matrix, MATOP_MULT, (void (*)(void))apply_matrix));
  PetscCall(MatShellSetOperation(*matrix, MATOP_GET_DIAGONAL, (void (*)(void))get_diagonal));
  PetscCall(KSPCreate(gp->comm, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "gp_"));
  PetscCall(KSPSetOperators(*ksp, *matrix, *matrix));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(
    KSPSetTolerances(*ksp, gp->options.tolerance, 0.0, PETSC_DEFAULT, gp->options.max_iterations));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, gp));
  PetscCall(PCShellSetApply(pc, apply_preconditioner));
  return KSPSetFromOptions(*ksp);
}

/* Solve for a stack. B and U: this rank's rows. guess: U holds an initial guess. Leaves
   curvature and product behind. */
static PetscErrorCode solve_stack(RgIterative *gp, int s, const double *B, bool guess, double *U,
                                  RgIterativeReport *report)
{
  const size_t local = (size_t)gp->rows * (size_t)s;
  Mat matrix;
  KSP ksp;
  Vec b, u;
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscReal residual, norm;
  const PetscScalar *solution;
  PetscScalar *right;

  gp->s = s;
  gp->n_curvature = gp->n_product = 0;
  PetscCall(solver_create(gp, &matrix, &ksp));
  PetscCall(MatCreateVecs(matrix, &u, &b));
  PetscCall(VecGetArray(b, &right));
  PetscCall(PetscArraycpy(right, B, local));
  PetscCall(VecRestoreArray(b, &right));
  if (guess) {
    PetscCall(VecGetArray(u, &right));
    PetscCall(PetscArraycpy(right, U, local));
    PetscCall(VecRestoreArray(u, &right));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  }
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(VecGetArrayRead(u, &solution));
  PetscCall(PetscArraycpy(U, solution, local));
  PetscCall(VecRestoreArrayRead(u, &solution));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetResidualNorm(ksp, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (report)
    *report = (RgIterativeReport){.converged = reason > 0,
                                  .iterations = (int)iterations,
                                  .residual = norm > 0 ? residual / norm : 0.0};
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(KSPDestroy(&ksp));
  return MatDestroy(&matrix);
}

/* ---- life ------------------------------------------------------------------------------------ */

static PetscErrorCode append_data(RgIterative *gp, int m, const double *X, const double *y)
{
  const size_t n = (size_t)gp->n, dim = (size_t)gp->kernel->dim;
  const size_t columns = (size_t)rg_kernel_n_columns(gp->kernel);

  if (gp->n + m > gp->capacity) {
    gp->capacity = gp->n + m + (gp->n ? LATER : 0);
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
  PetscCall(build_preconditioner(gp));
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
  if (gp->n - gp->n_built > LATER && !gp->pending) {
    PetscCall(distribute(gp));
  } else {
    gp->first[gp->ranks] = gp->n;
    PetscCall(extend_preconditioner(gp, m));
  }
  return 0;
}

PetscErrorCode rg_iterative_keep(RgIterative *gp)
{
  const size_t square = (size_t)gp->columns * (size_t)gp->columns;
  Kept *kept = &gp->kept;

  PetscCall(forget_kept(gp));
  *kept = (Kept){.n = gp->n, .rows = gp->rows, .basis = gp->basis, .log_det = gp->log_det};
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
  Kept *kept = &gp->kept;

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

/* ---- solves ---------------------------------------------------------------------------------- */

PetscErrorCode rg_iterative_solve(RgIterative *gp, RgIterativeReport *report)
{
  const int first = gp->first[gp->rank];
  double *b, *u;

  PetscCall(PetscMalloc2(gp->rows, &b, gp->rows, &u));
  for (int i = 0; i < gp->rows; i++) b[i] = gp->y[first + i] - gp->mean;
  const bool guess = gp->alpha != NULL; /* the weights belong to fewer data or to other outputs */
  if (guess) PetscCall(PetscArraycpy(u, gp->alpha + first, gp->rows));
  else PetscCall(PetscMalloc1(gp->n, &gp->alpha));
  PetscCall(solve_stack(gp, 1, b, guess, u, report));
  PetscCall(gather(gp, 1, u, gp->alpha));
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
    PetscCall(solve_stack(gp, s, mine, false, solution, &part));
    report->converged = report->converged && part.converged;
    report->iterations = PetscMax(report->iterations, part.iterations);
    report->residual = PetscMax(report->residual, part.residual);
    PetscCall(gather(gp, s, solution, all));
    for (int i = 0; i < gp->n; i++)
      for (int k = 0; k < s; k++) B[(size_t)i * (size_t)m + j + k] = all[(size_t)i * s + k];
  }
  return PetscFree3(mine, solution, all);
}

/* ---- predictions ----------------------------------------------------------------------------- */

enum { CHUNK = 128, TILE = 256 }; /* columns of the basis, and points, per block */

static PetscErrorCode reserve(RgIterative *gp, int size)
{
  const size_t room = (size_t)size;
  double *G;

  if (size <= gp->basis_room) return 0;
  PetscCall(PetscMalloc1(room * room, &G));
  for (int j = 0; j < gp->basis; j++)
    PetscCall(PetscArraycpy(G + (size_t)j * room + j,
                            gp->G + (size_t)j * (size_t)gp->basis_room + j, gp->basis - j));
  PetscCall(PetscFree(gp->G));
  gp->G = G;
  gp->basis_room = size;
  return 0;
}

/* G (lower triangle of the first `columns`) = S' A S, a chunk of columns at a time. */
static PetscErrorCode project_matrix(RgIterative *gp)
{
  const int rows = gp->rows, r = gp->columns;
  double *mine, *all, *product, *part;

  PetscCall(PetscMalloc4((size_t)rows * CHUNK, &mine, (size_t)gp->n * CHUNK, &all,
                         (size_t)rows * CHUNK, &product, (size_t)r * CHUNK, &part));
  for (int c = 0; c < r; c += CHUNK) {
    const int s = PetscMin(CHUNK, r - c);
    for (int k = 0; k < s; k++)
      for (int i = 0; i < rows; i++)
        mine[(size_t)i * s + k] = gp->S[(size_t)(c + k) * (size_t)rows + i];
    PetscCall(gather(gp, s, mine, all));
    PetscCall(multiply(gp, s, all, product));
    PetscCall(PetscArrayzero(part, (size_t)r * s));
    if (rows)
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, s, rows, 1.0, gp->S, rows, product,
                  s, 0.0, part, s);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, part, r * s, MPI_DOUBLE, MPI_SUM, gp->comm));
    for (int k = 0; k < s; k++)
      for (int i = c + k; i < r; i++)
        gp->G[(size_t)(c + k) * (size_t)gp->basis_room + i] = part[(size_t)i * s + k];
  }
  return PetscFree4(mine, all, product, part);
}

/* The basis for the present data. The amount added to the diagonal covers the rounding of the
   product; it can only enlarge the variance. */
static PetscErrorCode build(RgIterative *gp)
{
  const int rows = gp->rows, r = gp->columns;
  const double diagonal = rg_kernel_diagonal(gp->kernel);

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
  PetscCall(reserve(gp, r + LATER));
  PetscCall(project_matrix(gp));
  for (int k = 0; k < r; k++)
    gp->G[(size_t)k * (size_t)(gp->basis_room + 1)] +=
      100 * PETSC_MACHINE_EPSILON * gp->n * diagonal;
  const int info =
    r ? (int)LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, gp->G, gp->basis_room) : 0;
  PetscCheck(info == 0, gp->comm, PETSC_ERR_FP, "the projected matrix is not positive definite");
  gp->basis = r;
  return 0;
}

/* V (size x m, V[k*m + j]) = G^-1 T(z_j) for the first `size` vectors of the basis, m <= TILE.
   Adds k(z, X) alpha over all data to mean (NULL: not wanted). */
static PetscErrorCode project(RgIterative *gp, int size, int m, const double *Z, double *V,
                              double *mean)
{
  const int r = gp->columns, rows = gp->rows, dim = gp->kernel->dim, later = size - r;
  const double *mine = gp->X + (size_t)gp->first[gp->rank] * dim;
  double *K;

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
  return PetscFree(K);
}

/* Append unit vectors for the data that arrived since, one by one. Rebuild everything when they
   exceed the reserved room. */
static PetscErrorCode update(RgIterative *gp)
{
  const int told = gp->pending ? gp->kept.n : gp->n;
  double *row;

  if (!gp->S || told - gp->n_base > LATER) PetscCall(build(gp));
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
  return PetscFree(row);
}

PetscErrorCode rg_iterative_predict(RgIterative *gp, int m, const double *Z, double *mean,
                                    double *variance)
{
  const double diagonal = rg_kernel_diagonal(gp->kernel);
  const size_t dim = (size_t)gp->kernel->dim;

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
  return 0;
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
  return PetscFree2(V, weight);
}

/* ---- log determinant ------------------------------------------------------------------------- */

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
  PetscCall(solve_stack(gp, s, B, false, U, report));
  PetscCall(PetscFree2(B, U));
  PetscCall(quadrature(gp, moments));
  *value = gp->log_det + gp->n * moments[0];
  *error = sqrt(2.0 * gp->n * moments[1] / s);
  return 0;
}
