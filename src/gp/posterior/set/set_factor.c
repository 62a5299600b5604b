/* The factor of the prior of a finite set, and products and draws with it. */
#include "gp/posterior/set/set_factor.h"
#include "base/grow.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/set/set_posterior.h"
#include "maths/blas.h"
#include "maths/vector.h"

#include <string.h>

/* Coordinates of every point: design index slowest, context index fastest. */
static PetscErrorCode join_points(const RgDomain *domain, RgSetPrior *prior)
{
  const RgSpace *design = &domain->design, *context = &domain->context;
  int n_contexts = context->dim ? context->size : 1;
  double *point;

  prior->size = design->size * n_contexts;
  prior->design_dim = design->dim;
  prior->n_contexts = n_contexts;
  PetscCall(PetscMalloc1((size_t)prior->size * (design->dim + context->dim), &prior->points));
  point = prior->points;
  for (int i = 0; i < design->size; i++) {
    for (int j = 0; j < n_contexts; j++) {
      PetscCall(PetscArraycpy(point, design->points + (size_t)i * design->dim, design->dim));
      point += design->dim;
      if (context->dim) {
        PetscCall(PetscArraycpy(point, context->points + (size_t)j * context->dim, context->dim));
        point += context->dim;
      }
    }
  }
  return 0;
}

/* The axes of the joint grid, design first. */
static PetscErrorCode join_axes(const RgDomain *domain, RgSetPrior *prior)
{
  const RgSpace *parts[2] = {&domain->design, &domain->context};
  int total = 0, *levels;
  double *axes;

  prior->n_axes = domain->design.dim + domain->context.dim;
  for (int p = 0; p < 2; p++)
    for (int k = 0; k < parts[p]->dim; k++) total += parts[p]->levels[k];
  PetscCall(PetscMalloc1(prior->n_axes, &prior->levels));
  PetscCall(PetscMalloc1(total, &prior->axes));
  levels = prior->levels;
  axes = prior->axes;
  for (int p = 0; p < 2; p++) {
    const double *from = parts[p]->axes;
    for (int k = 0; k < parts[p]->dim; k++) {
      *levels++ = parts[p]->levels[k];
      PetscCall(PetscArraycpy(axes, from, parts[p]->levels[k]));
      axes += parts[p]->levels[k];
      from += parts[p]->levels[k];
    }
  }
  return 0;
}

PetscErrorCode rg_set_prior_create(const RgDomain *domain, const RgKernel *kernel,
                                   RgSetPrior *prior)
{
  PetscCheck(rg_space_is_finite(&domain->design) &&
               (domain->context.dim == 0 || rg_space_is_finite(&domain->context)),
             PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The domain is not finite");
  PetscCall(PetscMemzero(prior, sizeof *prior));
  PetscCall(join_points(domain, prior));
  if (domain->design.kind == RG_SPACE_GRID &&
      (domain->context.dim == 0 || domain->context.kind == RG_SPACE_GRID))
    PetscCall(join_axes(domain, prior));
  PetscCall(rg_kernel_copy(kernel, &prior->kernel));
  prior->padded = rg_pad(prior->size);
  return rg_set_prior_set_kernel(prior, kernel);
}

PetscErrorCode rg_set_prior_destroy(RgSetPrior *prior)
{
  PetscCall(rg_kernel_destroy(&prior->kernel));
  return RG_FREE(&prior->points, &prior->levels, &prior->axes, &prior->tables, &prior->scaled,
                 &prior->work);
}

/* Entries of the tables of one term. */
static size_t tables_size(const RgSetPrior *prior)
{
  size_t size = 0;

  for (int a = 0; a < prior->n_axes; a++) size += (size_t)prior->levels[a] * prior->levels[a];
  return size;
}

/* The tables of one term: correlations of every axis, multiplied over the factors that use it. */
static PetscErrorCode term_tables(const RgSetPrior *prior, const RgKernelTerm *term, double *table)
{
  const double *axis = prior->axes;

  for (int a = 0; a < prior->n_axes; a++) {
    const size_t n = (size_t)prior->levels[a];
    double variance = a ? 1.0 : term->variance;
    RgKernel restricted;
    PetscCall(rg_kernel_restrict(term, a, variance, &restricted));
    if (restricted.n_terms) {
      PetscCall(rg_kernel_matrix(&restricted, (int)n, axis, table));
      PetscCall(rg_kernel_destroy(&restricted));
    } else {
      for (size_t i = 0; i < n * n; i++) table[i] = variance;
    }
    axis += n;
    table += n * n;
  }
  return 0;
}

PetscErrorCode rg_set_prior_set_kernel(RgSetPrior *prior, const RgKernel *kernel)
{
  PetscCall(rg_kernel_assign(kernel, &prior->kernel));
  PetscCall(RG_FREE(&prior->tables, &prior->scaled, &prior->work));
  prior->factors = prior->n_axes > 0 && rg_kernel_factors_over_inputs(&prior->kernel);
  if (prior->factors) {
    const size_t size = tables_size(prior);
    PetscCall(PetscMalloc1(size * kernel->n_terms, &prior->tables));
    PetscCall(PetscMalloc1(2 * (size_t)prior->size, &prior->work));
    for (int t = 0; t < kernel->n_terms; t++)
      PetscCall(term_tables(prior, &prior->kernel.terms[t], prior->tables + t * size));
  } else {
    size_t columns = (size_t)rg_kernel_n_columns(kernel), padded = (size_t)prior->padded;
    PetscCall(PetscMalloc1(columns * padded, &prior->scaled));
    PetscCall(
      PetscMalloc1(padded + columns + rg_kernel_tile_scratch(kernel, prior->padded), &prior->work));
    rg_kernel_scale_tile(&prior->kernel, prior->size, prior->points, prior->padded, prior->scaled);
  }
  return 0;
}

/* out (n x m) = a (n) times b (m), or added to it. */
static void outer(int n, const double *a, int m, const double *b, bool add, double *restrict out)
{
  for (int i = 0; i < n; i++, out += m) {
    double ai = a[i];
    if (add)
      for (int j = 0; j < m; j++) out[j] += ai * b[j];
    else
      for (int j = 0; j < m; j++) out[j] = ai * b[j];
  }
}

/* Product of one table row per axis, from the fastest axis outwards. */
static void term_row(const RgSetPrior *prior, int index, const double *end, bool add, double *row)
{
  const double *product = NULL;
  int length = 1;

  for (int a = prior->n_axes - 1; a >= 0; a--) {
    int n = prior->levels[a];
    const double *table = end - (size_t)n * n + (size_t)(index % n) * n;
    double one = 1.0, *out;
    if (!product && a > 0) {
      product = table;
    } else {
      out = a == 0 ? row : prior->work + (a % 2 ? prior->size : 0);
      outer(n, table, length, product ? product : &one, a == 0 && add, out);
      product = out;
    }
    length *= n;
    index /= n;
    end -= (size_t)n * n;
  }
}

void rg_set_prior_row(const RgSetPrior *prior, int index, double *row)
{
  const int columns = rg_kernel_n_columns(&prior->kernel);
  double *padded = prior->work, *point = padded + prior->padded;

  for (int t = 0; prior->factors && t < prior->kernel.n_terms; t++)
    term_row(prior, index, prior->tables + (size_t)(t + 1) * tables_size(prior), t > 0, row);
  if (prior->factors) return;
  /* One tile of one row, as wide as the set. */
  for (int c = 0; c < columns; c++) point[c] = prior->scaled[(size_t)c * prior->padded + index];
  rg_kernel_tile(rg_tile_ops(), &prior->kernel, 1, point, prior->scaled, prior->padded, padded,
                 NULL, 0, point + columns);
  memcpy(row, padded, (size_t)prior->size * sizeof *row);
}

#define ROWS_PER_BLOCK 32 /* kernel rows per block */

PetscErrorCode rg_set_factor_destroy(RgSetFactor *factor)
{
  PetscCall(RG_FREE(&factor->L, &factor->work));
  return PetscMemzero(factor, sizeof *factor);
}

/* Cholesky factor of K (n x n, both triangles) in L (column-major, lower), with growing jitter. */
static PetscErrorCode factor_matrix(int n, const double *K, double *L, double *jitter,
                                    RgFailure *failure)
{
  for (double added = 0.0; added <= 1.001e-4; added = added > 0.0 ? 10.0 * added : 1e-10) {
    if (K != L) PetscCall(PetscArraycpy(L, K, (size_t)n * n));
    for (int i = 0; i < n; i++) L[(size_t)i * n + i] *= 1.0 + added;
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, L, n) == 0) {
      *jitter = PetscMax(*jitter, added);
      return 0;
    }
  }
  rg_failure_set(failure, "Cholesky factorisation of the prior on %d points failed", n);
  return 0;
}

/* Factor of the table of one axis, row-major. A constant table (the term doesn't depend on this
   coordinate) is v 1 1', whose factor is one column. */
static PetscErrorCode factor_table(size_t n, const double *table, double *L, double *jitter,
                                   RgFailure *failure)
{
  bool constant = true;

  for (size_t i = 1; i < n * n; i++) constant = constant && table[i] == table[0];
  if (constant) {
    PetscCall(PetscArrayzero(L, n * n));
    for (size_t i = 0; i < n; i++) L[i * n] = PetscSqrtReal(table[0]);
    return 0;
  }
  PetscCall(factor_matrix((int)n, table, L, jitter, failure));
  /* From column-major to row-major; tables are symmetric, L is not. */
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) L[i * n + j] = L[j * n + i];
  return 0;
}

static PetscErrorCode factor_grid(RgSetFactor *factor, RgFailure *failure)
{
  const RgSetPrior *prior = factor->prior;
  const double *table = prior->tables;
  double *L;

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
  return 0;
}

PetscErrorCode rg_set_factor_update(RgSetFactor *factor, const RgSetPrior *prior,
                                    RgFailure *failure)
{
  const size_t size = (size_t)prior->size * prior->size;
  double *K;

  factor->prior = prior;
  factor->jitter = 0.0;
  if (prior->factors) return factor_grid(factor, failure);
  PetscCall(rg_room(size, size, &factor->L_room, &factor->L));
  PetscCall(PetscMalloc1(size, &K));
  PetscCall(rg_kernel_matrix(&prior->kernel, prior->size, prior->points, K));
  PetscCall(factor_matrix(prior->size, K, factor->L, &factor->jitter, failure));
  return PetscFree(K);
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

/* Room for the tiles of any axis and one more F; *G points to the second. */
static PetscErrorCode reserve_work(RgSetFactor *factor, int count, double **G)
{
  const RgSetPrior *prior = factor->prior;
  int most = 1;

  for (int a = 0; a < prior->n_axes; a++) most = PetscMax(most, prior->levels[a]);
  const size_t tiles = 2 * (size_t)most * RG_VECTOR_TILE;
  const size_t size = tiles + (size_t)prior->size * count + 8;
  PetscCall(rg_room(size, size, &factor->work_room, &factor->work));
  factor->tiles = rg_align(factor->work);
  *G = factor->tiles + tiles;
  return 0;
}

PetscErrorCode rg_set_factor_draw(RgSetFactor *factor, int count, RgRandom *random, double *F)
{
  const RgSetPrior *prior = factor->prior;
  const int size = prior->size;
  const size_t entries = (size_t)size * count;
  double *G = NULL;

  if (prior->factors) PetscCall(reserve_work(factor, count, &G));
  for (int t = 0; prior->factors && t < prior->kernel.n_terms; t++) {
    double *out = t ? G : F;
    rg_vector_normals(random, entries, out);
    multiply_term(prior, count, factor->L + t * tables_size(prior), true, factor->tiles, out);
    if (t) cblas_daxpy((int)entries, 1.0, G, 1, F, 1);
  }
  if (prior->factors) return 0;
  rg_vector_normals(random, entries, F);
  cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, count, size, 1.0,
              factor->L, size, F, count);
  return 0;
}

PetscErrorCode rg_set_factor_covariance(RgSetFactor *factor, int count, int n, const int *index,
                                        const double *rows, double *F)
{
  const RgSetPrior *prior = factor->prior;
  const int size = prior->size, dim = prior->kernel.dim;
  const size_t entries = (size_t)size * count;
  double *X, *K, *G = NULL;

  if (prior->factors) PetscCall(reserve_work(factor, count, &G));
  for (int t = 0; prior->factors && t < prior->kernel.n_terms; t++) {
    double *out = t ? G : F;
    PetscCall(PetscArrayzero(out, entries));
    for (int l = 0; l < n; l++)
      for (int s = 0; s < count; s++)
        out[(size_t)index[l] * count + s] += rows[(size_t)l * count + s];
    multiply_term(prior, count, prior->tables + t * tables_size(prior), false, factor->tiles, out);
    if (t) cblas_daxpy((int)entries, 1.0, G, 1, F, 1);
  }
  if (prior->factors) return 0;
  PetscCall(PetscArrayzero(F, entries));
  PetscCall(PetscMalloc2(ROWS_PER_BLOCK * dim, &X, (size_t)ROWS_PER_BLOCK * size, &K));
  for (int l = 0; l < n; l += ROWS_PER_BLOCK) {
    int width = PetscMin(ROWS_PER_BLOCK, n - l);
    for (int r = 0; r < width; r++)
      PetscCall(PetscArraycpy(X + r * dim, prior->points + (size_t)index[l + r] * dim, dim));
    PetscCall(rg_kernel_cross(&prior->kernel, width, X, size, prior->points, K));
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, count, size, width, 1.0,
                rows + (size_t)l * count, count, K, size, 1.0, F, count);
  }
  return PetscFree2(X, K);
}
