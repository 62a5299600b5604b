/* The factor of the prior of a finite set, and products and draws with it. */
#include "gp/posterior/set/set_factor.h"
#include "base/grow.h"
#include "maths/blas.h"
#include "base/room.h"
#include "maths/vector.h"
#include "gp/posterior/set/grid_rows.h"

#include <string.h>

#define ROWS_PER_BLOCK 32 /* kernel rows per block */

PetscErrorCode rg_set_factor_destroy(RgSetFactor *factor)
{
  PetscFunctionBeginUser;
  PetscCall(RG_FREE(&factor->L, &factor->work));
  PetscCall(PetscMemzero(factor, sizeof *factor));
  PetscFunctionReturn(0);
}

/* Cholesky factor of K (n x n, both triangles) in L (column-major, lower), with growing jitter. */
static PetscErrorCode factor_matrix(int n, const double *K, double *L, double *jitter,
                                    RgFailure *failure)
{
  PetscFunctionBeginUser;
  for (double added = 0.0; added <= 1.001e-4; added = added > 0.0 ? 10.0 * added : 1e-10) {
    if (K != L) PetscCall(PetscArraycpy(L, K, (size_t)n * n));
    for (int i = 0; i < n; i++) L[(size_t)i * n + i] *= 1.0 + added;
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, L, n) == 0) {
      *jitter = PetscMax(*jitter, added);
      PetscFunctionReturn(0);
    }
  }
  rg_failure_set(failure, "Cholesky factorisation of the prior on %d points failed", n);
  PetscFunctionReturn(0);
}

/* Factor of the table of one axis, row-major. A constant table (the term doesn't depend on this
   coordinate) is v 1 1', whose factor is one column. */
static PetscErrorCode factor_table(size_t n, const double *table, double *L, double *jitter,
                                   RgFailure *failure)
{
  bool constant = true;

  PetscFunctionBeginUser;
  for (size_t i = 1; i < n * n; i++) constant = constant && table[i] == table[0];
  if (constant) {
    PetscCall(PetscArrayzero(L, n * n));
    for (size_t i = 0; i < n; i++) L[i * n] = PetscSqrtReal(table[0]);
    PetscFunctionReturn(0);
  }
  PetscCall(factor_matrix((int)n, table, L, jitter, failure));
  /* From column-major to row-major; tables are symmetric, L is not. */
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) L[i * n + j] = L[j * n + i];
  }
  PetscFunctionReturn(0);
}

static size_t tables_size(const RgSetPrior *prior)
{
  size_t size = 0;

  for (int a = 0; a < prior->n_axes; a++) size += (size_t)prior->levels[a] * prior->levels[a];
  return size;
}

static PetscErrorCode factor_grid(RgSetFactor *factor, RgFailure *failure)
{
  const RgSetPrior *prior = factor->prior;
  const double *table = prior->tables;
  double *L;

  PetscFunctionBeginUser;
  const size_t tables = prior->kernel.n_terms * tables_size(prior);
  PetscCall(rg_room(tables, tables, &factor->L_room, &factor->L));
  L = factor->L;
  for (int t = 0; t < prior->kernel.n_terms; t++) {
    for (int a = 0; a < prior->n_axes; a++) {
      const size_t n = (size_t)prior->levels[a];

      PetscCall(factor_table(n, table, L, &factor->jitter, failure));
      table += n * n;
      L += n * n;
    }
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode factor_dense(RgSetFactor *factor, RgFailure *failure)
{
  const RgSetPrior *prior = factor->prior;
  size_t size = (size_t)prior->size * prior->size;
  double *K;

  PetscFunctionBeginUser;
  PetscCall(rg_room(size, size, &factor->L_room, &factor->L));
  PetscCall(PetscMalloc1(size, &K));
  PetscCall(rg_kernel_matrix(&prior->kernel, prior->size, prior->points, K));
  PetscCall(factor_matrix(prior->size, K, factor->L, &factor->jitter, failure));
  PetscCall(PetscFree(K));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_factor_update(RgSetFactor *factor, const RgSetPrior *prior,
                                    RgFailure *failure)
{
  PetscFunctionBeginUser;
  factor->prior = prior;
  factor->jitter = 0.0;
  if (prior->factors) {
    PetscCall(factor_grid(factor, failure));
  } else {
    PetscCall(factor_dense(factor, failure));
  }
  PetscFunctionReturn(0);
}

/* F <- (A_1 (x) A_2 (x) ...) F for one term, whose matrices start at A. */
static void multiply_term(const RgSetPrior *prior, int count, const double *A, bool lower,
                          double *scratch, double *F)
{
  int before = 1;
  size_t after = (size_t)prior->size * count;

  for (int a = 0; a < prior->n_axes; a++) {
    int n = prior->levels[a];

    after /= (size_t)n;
    rg_grid_multiply(before, n, after, A, lower, F, scratch);
    A += (size_t)n * n;
    before *= n;
  }
}

/* Number of doubles that the tiles of any axis need. */
static size_t tile_size(const RgSetPrior *prior)
{
  int most = 1;

  for (int a = 0; a < prior->n_axes; a++) most = PetscMax(most, prior->levels[a]);
  return 2 * (size_t)most * RG_VECTOR_TILE;
}

/* Room for tiles and one more F; *G points to the second. */
static PetscErrorCode reserve_work(RgSetFactor *factor, int count, double **G)
{
  const size_t tiles = tile_size(factor->prior);
  const size_t size = tiles + (size_t)factor->prior->size * count + 8;

  PetscFunctionBeginUser;
  PetscCall(rg_room(size, size, &factor->work_room, &factor->work));
  factor->tiles = factor->work + (64 - (uintptr_t)factor->work % 64) / sizeof(double) % 8;
  *G = factor->tiles + tiles;
  PetscFunctionReturn(0);
}

static PetscErrorCode draw_grid(RgSetFactor *factor, int count, RgRandom *random, double *F)
{
  const RgSetPrior *prior = factor->prior;
  size_t size = (size_t)prior->size * count, step = tables_size(prior);
  double *G = NULL;

  PetscFunctionBeginUser;
  PetscCall(reserve_work(factor, count, &G));
  for (int t = 0; t < prior->kernel.n_terms; t++) {
    double *out = t ? G : F;

    rg_vector_normals(random, size, out);
    multiply_term(prior, count, factor->L + t * step, true, factor->tiles, out);
    if (t) cblas_daxpy((int)size, 1.0, G, 1, F, 1);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_factor_draw(RgSetFactor *factor, int count, RgRandom *random, double *F)
{
  int size = factor->prior->size;

  PetscFunctionBeginUser;
  if (factor->prior->factors) {
    PetscCall(draw_grid(factor, count, random, F));
    PetscFunctionReturn(0);
  }
  rg_vector_normals(random, (size_t)size * count, F);
  cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, count, size, 1.0,
              factor->L, size, F, count);
  PetscFunctionReturn(0);
}

static void scatter(int count, int n, const int *index, const double *rows, double *F)
{
  for (int l = 0; l < n; l++) {
    double *out = F + (size_t)index[l] * count;

    for (int s = 0; s < count; s++) out[s] += rows[(size_t)l * count + s];
  }
}

static PetscErrorCode covariance_grid(RgSetFactor *factor, int count, int n, const int *index,
                                      const double *rows, double *F)
{
  const RgSetPrior *prior = factor->prior;
  size_t size = (size_t)prior->size * count, step = tables_size(prior);
  double *G = NULL;

  PetscFunctionBeginUser;
  PetscCall(reserve_work(factor, count, &G));
  for (int t = 0; t < prior->kernel.n_terms; t++) {
    double *out = t ? G : F;

    PetscCall(PetscArrayzero(out, size));
    scatter(count, n, index, rows, out);
    multiply_term(prior, count, prior->tables + t * step, false, factor->tiles, out);
    if (t) cblas_daxpy((int)size, 1.0, G, 1, F, 1);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode covariance_dense(RgSetFactor *factor, int count, int n, const int *index,
                                       const double *rows, double *F)
{
  const RgSetPrior *prior = factor->prior;
  int size = prior->size, dim = prior->kernel.dim;
  double *X, *K;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(F, (size_t)size * count));
  PetscCall(PetscMalloc2(ROWS_PER_BLOCK * dim, &X, (size_t)ROWS_PER_BLOCK * size, &K));
  for (int l = 0; l < n; l += ROWS_PER_BLOCK) {
    int width = PetscMin(ROWS_PER_BLOCK, n - l);

    for (int r = 0; r < width; r++) {
      PetscCall(PetscArraycpy(X + r * dim, prior->points + (size_t)index[l + r] * dim, dim));
    }
    PetscCall(rg_kernel_cross(&prior->kernel, width, X, size, prior->points, K));
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, count, size, width, 1.0,
                rows + (size_t)l * count, count, K, size, 1.0, F, count);
  }
  PetscCall(PetscFree2(X, K));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_factor_covariance(RgSetFactor *factor, int count, int n, const int *index,
                                        const double *rows, double *F)
{
  PetscFunctionBeginUser;
  if (factor->prior->factors) {
    PetscCall(covariance_grid(factor, count, n, index, rows, F));
  } else {
    PetscCall(covariance_dense(factor, count, n, index, rows, F));
  }
  PetscFunctionReturn(0);
}
