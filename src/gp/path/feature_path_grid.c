/* Feature paths on product grids: the angle of a feature is a sum over coordinates, so that with
   the grid split into rows (leading coordinates) and columns (the others)

     g(row, column) = mean + sum_m Re(weight_m e^(i angle_m(row)) e^(i angle_m(column))),

   a product of two real matrices with 2 n inner columns and rows + columns cosines instead of
   rows * columns. Likewise in single precision for the screening of products of any two sets. */
#include "maths/blas.h"
#include "base/poll.h"
#include "maths/vector.h"
#include "gp/path/feature_path_internal.h"

#include <string.h>

/* The coordinates [first, first + dim) of a grid as a grid of their own. */
typedef struct {
  int first, dim, size;
  int stride; /* step between consecutive points, counted in points of the whole grid */
} Side;

/* The number of leading coordinates, at least one, for which rows + columns is smallest. */
static int best_split(const RgSpace *grid)
{
  int best = 1, rows = 1;

  for (int j = 0, least = grid->size + 2; j < grid->dim; j++) {
    rows *= grid->levels[j];
    if (rows + grid->size / rows >= least) continue;
    least = rows + grid->size / rows;
    best = j + 1;
  }
  return best;
}

/* T (size x 2n): weight cos, -weight sin of the angles for rows; cos, sin for columns. */
static void side_table(const RgFeaturePath *path, const RgSpace *grid, const Side *side,
                       const double *phase, const double *weight, double *T)
{
  const RgVectorOps *ops = rg_vector_ops();
  const size_t n = (size_t)path->n, dim = (size_t)grid->dim;

  for (int i = 0; i < side->size; i++, T += 2 * n) {
    const double *x = grid->points + (size_t)i * side->stride * dim + side->first;

    if (side->dim)
      ops->turns(side->dim, x, path->n, path->frequency + side->first * n, n, phase, T);
    else memcpy(T, phase, n * sizeof(double));
    ops->circle(path->n, T, T, T + n);
    if (!weight) continue;
    for (size_t m = 0; m < n; m++) {
      T[m] *= weight[m];
      T[n + m] *= -weight[m];
    }
  }
}

PetscErrorCode rg_feature_path_on_grid(const RgFeaturePath *path, const RgSpace *grid, int step,
                                       double *value)
{
  const size_t n = (size_t)path->n;
  const int split = best_split(grid);
  Side rows = {.dim = split, .size = 1}, columns = {.first = split, .stride = 1};
  double *A, *B, *G, *zero;

  PetscFunctionBeginUser;
  PetscCheck(grid->kind == RG_SPACE_GRID && grid->dim == path->dim && !path->posterior,
             PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "A path without an exact update on a product grid of its dimension is wanted");
  for (int j = 0; j < split; j++) rows.size *= grid->levels[j];
  columns.dim = grid->dim - split;
  columns.size = rows.stride = grid->size / rows.size;
  PetscCall(PetscMalloc3((size_t)rows.size * 2 * n, &A, (size_t)columns.size * 2 * n, &B,
                         (size_t)grid->size, &G));
  PetscCall(PetscCalloc1(n, &zero));
  side_table(path, grid, &rows, path->phase, path->weight, A);
  side_table(path, grid, &columns, zero, NULL, B);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows.size, columns.size, 2 * path->n, 1.0, A,
              2 * path->n, B, 2 * path->n, 0.0, G, columns.size);
  for (int i = 0; i < grid->size; i++) value[(size_t)i * step] = path->mean + G[i];
  PetscCall(PetscFree(zero));
  PetscCall(PetscFree3(A, B, G));
  PetscFunctionReturn(0);
}

/* T (size x 2 ld) in single precision: cos, sin. */
static void coarse_table(const RgFeaturePath *path, int first, int dim, int size, const double *x,
                         size_t ld, const float *phase, float *T)
{
  const float *W = path->coarse + (size_t)first * ld;

  for (int i = 0; i < size; i++, x += dim, T += 2 * ld) {
    rg_vector_ops()->coarse_circle(dim, x, (int)ld, W, ld, phase, T, T + ld);
  }
}

/* out = weight cos, -weight sin. */
static void weigh_table(int size, size_t ld, const float *T, const float *weight, float *out)
{
  for (int i = 0; i < size; i++, T += 2 * ld, out += 2 * ld) {
    for (size_t m = 0; m < ld; m++) {
      out[m] = weight[m] * T[m];
      out[ld + m] = -weight[m] * T[ld + m];
    }
  }
}

PetscErrorCode rg_feature_path_screen_weights(RgFeaturePath *path, const RgPointProduct *product,
                                              int count, const double *weight, int m, double *value)
{
  const int split = product->split, rows = product->rows, columns = product->columns;
  const size_t n = (size_t)path->n, ld = rg_feature_path_make_coarse(path);
  const size_t R = (size_t)rows, C = (size_t)columns;
  const float *phase = path->coarse + (size_t)path->rows * ld, *kept = phase + 2 * ld;
  float *zero, *weights, *A, *B, *weighed;
  double *G;

  PetscFunctionBeginUser;
  PetscCheck(split > 0 && split < path->dim && m <= rows * columns, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "%d points of %d rows in %d and %d columns in %d dimensions",
             m, rows, split, columns, path->dim - split);
  PetscCheck(!path->point, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "tables of a path with choices or a warp");
  PetscCall(rg_feature_path_reserve(path, R * C + ld + (2 * R + C) * ld));
  G = path->large_work;
  zero = (float *)(G + R * C);
  weights = zero + ld;
  A = weights + ld;
  B = A + 2 * R * ld;
  weighed = B + 2 * C * ld;
  for (size_t l = 0; l < 2 * ld; l++) zero[l] = 0.0f; /* also clears `weights` */
  coarse_table(path, 0, split, rows, product->X, ld, phase, A);
  PetscCall(rg_poll());
  coarse_table(path, split, path->dim - split, columns, product->Y, ld, zero, B);
  for (int s = 0; s < count; s++, weight += n, value += m) {
    PetscCall(rg_poll());
    for (size_t l = 0; l < n; l++) weights[l] = kept[l] * (float)weight[l];
    weigh_table(rows, ld, A, weights, weighed);
    rg_vector_ops()->coarse_products(rows, columns, 2 * (int)ld, weighed, B, G);
    for (int i = 0; i < m; i++) value[i] = path->mean + G[i];
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_feature_path_screen_product(RgFeaturePath *path, const RgPointProduct *product,
                                              int m, const double *Z, double *value)
{
  PetscFunctionBeginUser;
  PetscCall(rg_feature_path_screen_weights(path, product, 1, path->weight, m, value));
  PetscCall(rg_feature_path_add_updates(path, m, Z, value, NULL));
  PetscFunctionReturn(0);
}
