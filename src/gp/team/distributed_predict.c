/* Predictions of the distributed posterior, in batches small enough to keep a rank's part of
   L^-1 k(X, Z) at O(n * block). */
#include "gp/team/distributed_internal.h"

#include <string.h>

#include "maths/blas.h"

static int batch_size(const RgDistributed *p)
{
  return p->grid.block * p->grid.columns;
}

/* Global index of a local candidate of the batch, in its columns. */
static int candidate(const RgDistributed *p, int local)
{
  return rg_cyclic_global(local, p->V.column_block, p->grid.column, p->grid.columns);
}

static int local_candidates(const RgDistributed *p, int m)
{
  return rg_cyclic_count(m, p->V.column_block, p->grid.column, p->grid.columns);
}

static int local_rows(const RgDistributed *p)
{
  return rg_cyclic_count(p->n, p->V.row_block, p->grid.row, p->grid.rows);
}

/* V for n data and m candidates, every process column with an equal part of them. */
static PetscErrorCode lay_out_batch(RgDistributed *p, int m)
{
  const int columns = p->grid.columns, part = (m + columns - 1) / columns;

  PetscFunctionBeginUser;
  if (p->V.grid && p->V.rows == p->n && p->V.column_block == part && p->V.columns == m)
    PetscFunctionReturn(0);
  p->m_kept = 0; /* freeing V also forgets its contents */
  PetscCall(rg_block_matrix_destroy(&p->V));
  PetscCall(rg_block_matrix_create(&p->grid, p->n, m, p->grid.block, part, &p->V));
  PetscFunctionReturn(0);
}

/* V = k(X, Z), multiplied by L^-1 if `whiten`. */
static PetscErrorCode fill_batch(RgDistributed *p, int m, const double *Z, bool whiten)
{
  const size_t size = (size_t)m * p->kernel.dim;

  PetscFunctionBeginUser;
  if (whiten && p->m_kept == m && p->n_kept == p->n &&
      !memcmp(Z, p->Z_kept, size * sizeof *Z)) /* the same bits on every rank */
    PetscFunctionReturn(0);
  PetscCall(lay_out_batch(p, m));
  PetscCall(rg_block_matrix_cross(&p->kernel, p->n, p->X, m, Z, &p->V));
  p->m_kept = 0;
  if (!whiten) PetscFunctionReturn(0);
  PetscCall(rg_block_matrix_solve(&p->L, false, p->n, m, &p->V));
  if (m > p->kept_capacity) {
    PetscCall(PetscFree(p->Z_kept));
    PetscCall(PetscMalloc1(size, &p->Z_kept));
    p->kept_capacity = m;
  }
  PetscCall(PetscArraycpy(p->Z_kept, Z, size));
  p->m_kept = m;
  p->n_kept = p->n;
  PetscFunctionReturn(0);
}

/* out (n): the entries of a replicated vector in this rank's rows. */
static void take_rows(const RgDistributed *p, const double *vector, double *out)
{
  rg_block_matrix_rows(&p->V, 0, p->n, 1, vector, out);
}

static PetscErrorCode predict_batch(RgDistributed *p, int m, const double *Z, double *mean,
                                    double *variance)
{
  const double diagonal = rg_kernel_diagonal(&p->kernel);
  double *weight, *sums; /* sums: means, then squared norms */

  PetscFunctionBeginUser;
  PetscCall(fill_batch(p, m, Z, variance != NULL));
  const int rows = local_rows(p);
  PetscCall(PetscMalloc1(PetscMax(rows, 1), &weight));
  PetscCall(PetscCalloc1(2 * (size_t)m, &sums));
  take_rows(p, variance ? p->beta : p->alpha, weight);
  for (int j = 0; j < local_candidates(p, m); j++) {
    const double *v = p->V.a + (size_t)j * p->V.ld;
    const int at = candidate(p, j);
    sums[at] = cblas_ddot(rows, v, 1, weight, 1);
    if (variance) sums[m + at] = cblas_ddot(rows, v, 1, v, 1);
  }
  PetscCall(rg_grid_sum(&p->grid, (size_t)m * (variance ? 2 : 1), sums));
  for (int j = 0; j < m; j++) {
    mean[j] = p->mean + sums[j];
    if (variance) variance[j] = PetscMax(diagonal - sums[m + j], 0.0);
  }
  PetscCall(PetscFree(weight));
  PetscCall(PetscFree(sums));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_predict(RgDistributed *p, int m, const double *Z, double *mean,
                                      double *variance)
{
  const int batch = batch_size(p);

  PetscFunctionBeginUser;
  if (p->n == 0) {
    for (int j = 0; j < m; j++) mean[j] = p->mean;
    for (int j = 0; variance && j < m; j++) variance[j] = rg_kernel_diagonal(&p->kernel);
    PetscFunctionReturn(0);
  }
  if (!variance) PetscCall(rg_distributed_make_alpha(p));
  for (int j = 0; j < m; j += batch)
    PetscCall(predict_batch(p, PetscMin(batch, m - j), Z + (size_t)j * p->kernel.dim, mean + j,
                            variance ? variance + j : NULL));
  PetscFunctionReturn(0);
}

/* U := beta p' + V q, columns of this rank. */
static void combine(const RgDistributed *p, int m, const double *weight, const double *mean_bar,
                    const double *variance_bar, RgBlockMatrix *U)
{
  const int rows = local_rows(p);
  for (int j = 0; j < local_candidates(p, m); j++) {
    const double *v = p->V.a + (size_t)j * p->V.ld;
    const double a = mean_bar[candidate(p, j)], b = -2.0 * variance_bar[candidate(p, j)];
    double *u = U->a + (size_t)j * U->ld;
    for (int i = 0; i < rows; i++) u[i] = weight[i] * a + v[i] * b;
  }
}

/* G += the contraction of U with the kernel's gradient, over this rank's part. */
static PetscErrorCode contract(const RgDistributed *p, int m, const double *Z,
                               const RgBlockMatrix *U, const double *alpha, const double *mean_bar,
                               double *G)
{
  const int rows = local_rows(p), count = local_candidates(p, m), dim = p->kernel.dim;
  double *points, *targets, *weights, *part;

  PetscFunctionBeginUser;
  if (rows == 0 || count == 0) PetscFunctionReturn(0);
  PetscCall(PetscMalloc4((size_t)rows * dim, &points, (size_t)count * dim, &targets,
                         (size_t)rows * count, &weights, (size_t)count * dim, &part));
  rg_block_matrix_rows(&p->V, 0, p->n, dim, p->X, points);
  for (int j = 0; j < count; j++) {
    const int at = candidate(p, j);
    PetscCall(PetscArraycpy(targets + (size_t)j * dim, Z + (size_t)at * dim, dim));
    for (int i = 0; i < rows; i++)
      weights[(size_t)i * count + j] = U ? U->a[(size_t)j * U->ld + i] : alpha[i] * mean_bar[at];
  }
  PetscCall(rg_kernel_cross_gradient(&p->kernel, rows, points, count, targets, weights, part));
  for (int j = 0; j < count; j++)
    PetscCall(PetscArraycpy(G + (size_t)candidate(p, j) * dim, part + (size_t)j * dim, dim));
  PetscCall(PetscFree4(points, targets, weights, part));
  PetscFunctionReturn(0);
}

static PetscErrorCode gradient_batch(RgDistributed *p, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar, double *G)
{
  RgBlockMatrix U = {0};
  double *weight;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(G, (size_t)m * p->kernel.dim));
  if (variance_bar) PetscCall(fill_batch(p, m, Z, true));
  else PetscCall(lay_out_batch(p, m));
  PetscCall(PetscMalloc1(PetscMax(local_rows(p), 1), &weight));
  take_rows(p, variance_bar ? p->beta : p->alpha, weight);
  if (variance_bar) {
    PetscCall(rg_block_matrix_create(&p->grid, p->n, m, p->grid.block, p->V.column_block, &U));
    combine(p, m, weight, mean_bar, variance_bar, &U);
    PetscCall(rg_block_matrix_solve(&p->L, true, p->n, m, &U));
  }
  PetscCall(contract(p, m, Z, U.grid ? &U : NULL, weight, mean_bar, G));
  PetscCall(rg_grid_sum(&p->grid, (size_t)m * p->kernel.dim, G));
  PetscCall(PetscFree(weight));
  PetscCall(rg_block_matrix_destroy(&U));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_distributed_gradient(RgDistributed *p, int m, const double *Z,
                                       const double *mean_bar, const double *variance_bar,
                                       double *G)
{
  const int batch = batch_size(p), dim = p->kernel.dim;

  PetscFunctionBeginUser;
  if (p->n == 0) {
    PetscCall(PetscArrayzero(G, (size_t)m * dim));
    PetscFunctionReturn(0);
  }
  if (!variance_bar) PetscCall(rg_distributed_make_alpha(p));
  for (int j = 0; j < m; j += batch)
    PetscCall(gradient_batch(p, PetscMin(batch, m - j), Z + (size_t)j * dim, mean_bar + j,
                             variance_bar ? variance_bar + j : NULL, G + (size_t)j * dim));
  PetscFunctionReturn(0);
}
