/* The models of the batched local search and the steps that they propose: a dense quadratic one
   over a box, and one of limited memory for many inputs. */
#include "acquisition/local_search.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* ---- a quadratic model over a box ----------------------------------------------------------- */

enum { FREE = 0, AT_LOWER = -1, AT_UPPER = 1 };

/* Solve A u = b in place by A = L D L' (A n x n symmetric positive definite, row-major, destroyed;
   u in b). False when A is not positive definite. */
static bool factor_solve(int n, double *A, double *b)
{
  for (int i = 0; i < n; i++) {
    double *row = A + (size_t)i * n, pivot = row[i];
    for (int j = 0; j < i; j++) {
      double sum = row[j]; /* L_ij D_j, then L_ij */
      for (int k = 0; k < j; k++) sum -= row[k] * A[j * n + k];
      row[j] = sum;
    }
    for (int j = 0; j < i; j++) {
      double scaled = row[j] * A[j * n + j];
      pivot -= row[j] * scaled;
      b[i] -= scaled * b[j];
      row[j] = scaled;
    }
    if (!(pivot > 0.0)) return false;
    row[i] = 1.0 / pivot;
  }
  for (int i = 0; i < n; i++) b[i] *= A[i * n + i];
  for (int i = n - 1; i >= 0; i--)
    for (int k = i + 1; k < n; k++) b[i] -= A[k * n + i] * b[k];
  return true;
}

/* Step of the free coordinates, given the fixed ones, from B_FF p_F = g_F - B_FA p_A; written to
   `target`. */
static bool free_step(int dim, const double *g, const double *B, const int *state,
                      const double *step, double *target, double *work)
{
  int n = 0, row = 0;
  double *A = work, *b = work + (size_t)dim * dim;

  for (int i = 0; i < dim; i++) n += state[i] == FREE;
  for (int i = 0; i < dim; i++) {
    if (state[i] != FREE) continue;
    int column = 0;
    b[row] = g[i];
    for (int j = 0; j < dim; j++)
      if (state[j] == FREE) A[row * n + column++] = B[i * dim + j];
      else b[row] -= B[i * dim + j] * step[j];
    row++;
  }
  if (!factor_solve(n, A, b)) return false;
  for (int i = dim - 1; i >= 0; i--) target[i] = state[i] == FREE ? b[--row] : step[i];
  return true;
}

/* Move towards `target` up to the first bound, and fix the coordinate that hits it. True if no
   coordinate does. */
static bool move(int dim, const double *lower, const double *upper, const double *target,
                 int *state, double *step)
{
  int hit = -1;
  double t = 1.0;

  for (int i = 0; i < dim; i++) {
    double bound = target[i] < step[i] ? lower[i] : upper[i];
    if (state[i] != FREE || (target[i] >= lower[i] && target[i] <= upper[i])) continue;
    double reach = (bound - step[i]) / (target[i] - step[i]);
    if (reach < t) {
      t = reach;
      hit = i;
    }
  }
  for (int i = 0; i < dim; i++)
    if (state[i] == FREE) step[i] += t * (target[i] - step[i]);
  if (hit < 0) return true;
  state[hit] = target[hit] < lower[hit] ? AT_LOWER : AT_UPPER;
  step[hit] = state[hit] == AT_LOWER ? lower[hit] : upper[hit];
  return false;
}

/* Free the fixed coordinate whose multiplier violates its sign most. False if all signs are
   right. */
static bool release(int dim, const double *g, const double *B, const double *step, int *state)
{
  int worst = -1;
  double most = 0.0;

  for (int i = 0; i < dim; i++) {
    if (state[i] == FREE) continue;
    double slope = g[i], scale = fabs(g[i]);
    for (int j = 0; j < dim; j++) slope -= B[i * dim + j] * step[j];
    double inward = state[i] == AT_LOWER ? slope : -slope;
    if (inward > most && inward > 1e-12 * scale) {
      most = inward;
      worst = i;
    }
  }
  if (worst >= 0) state[worst] = FREE;
  return worst >= 0;
}

double rg_box_quadratic(int dim, const double *g, const double *B, const double *lower,
                        const double *upper, double *step, double *work)
{
  double *target = work + (size_t)dim * (dim + 1), gain = 0.0;
  int *state = (int *)(target + dim);

  for (int i = 0; i < dim; i++) {
    step[i] = 0.0;
    state[i] = lower[i] >= 0.0 && g[i] <= 0.0 ? AT_LOWER : FREE;
    if (upper[i] <= 0.0 && g[i] >= 0.0) state[i] = AT_UPPER;
  }
  for (int change = 0; change < 4 * dim + 4; change++) {
    if (!free_step(dim, g, B, state, step, target, work)) break;
    if (move(dim, lower, upper, target, state, step) && !release(dim, g, B, step, state)) break;
  }
  for (int i = 0; i < dim; i++) {
    double curved = 0.0;
    for (int j = 0; j < dim; j++) curved += B[i * dim + j] * step[j];
    gain += step[i] * (g[i] - 0.5 * curved);
  }
  return gain;
}

/* ---- limited memory -------------------------------------------------------------------------

   The last pairs (s, y) of a step and the fall of the gradient along it. The step is the
   quasi-Newton direction of the coordinates that are not fixed at a face of the cube (two-metric
   projection, Bertsekas 1982), by the two-loop recursion (Nocedal 1980) with the pairs restricted
   to these coordinates. It ends at the trust region and bends along the faces. */

#define MEMORY RG_SEARCH_MEMORY
#define CURVED 1e-10 /* smallest s'y of a pair that counts, relative to |s||y| */

void rg_limited_begin(int dim, double *block, RgLimitedModel *model)
{
  model->n = model->next = 0;
  model->s = block;
  model->y = block + (size_t)MEMORY * dim;
}

/* The fall y of the gradient in the free coordinates, and the curvature s'y. sy is 0 where the pair
   does not count, since the function is not concave along it. */
static const double *free_fall(const RgLimitedModel *model, int dim, int n_fixed, const int *fixed,
                               int k, double *work, double *sy)
{
  const double *s = model->s + (size_t)k * dim, *y = model->y + (size_t)k * dim;

  if (n_fixed) {
    double *copy = work + (size_t)k * dim;
    memcpy(copy, y, dim * sizeof(double));
    for (int i = 0; i < n_fixed; i++) copy[fixed[i]] = 0.0;
    y = copy;
  }
  *sy = cblas_ddot(dim, s, 1, y, 1);
  const double sizes = cblas_ddot(dim, s, 1, s, 1) * cblas_ddot(dim, y, 1, y, 1);
  if (!(*sy > CURVED * sqrt(sizes))) *sy = 0.0;
  return y;
}

/* Direction of ascent p = H g in the free coordinates, 0 in the others. */
static void direction(const RgLimitedModel *model, int dim, const double *scale, int n_fixed,
                      const int *fixed, double *p, double *work)
{
  double sy[MEMORY], alpha[MEMORY], size = model->size;
  const double *y[MEMORY];
  bool sized = false;

  for (int age = 1; age <= model->n; age++) { /* newest first */
    const int k = (model->next - age + MEMORY) % MEMORY;
    y[k] = free_fall(model, dim, n_fixed, fixed, k, work, &sy[k]);
    if (sy[k] == 0.0) continue;
    if (!sized) {
      double yy = 0.0;
      for (int j = 0; j < dim; j++) yy += (y[k][j] / scale[j]) * (y[k][j] / scale[j]);
      size = yy / sy[k];
      sized = true;
    }
    alpha[k] = cblas_ddot(dim, model->s + (size_t)k * dim, 1, p, 1) / sy[k];
    cblas_daxpy(dim, -alpha[k], y[k], 1, p, 1);
  }
  for (int j = 0; j < dim; j++) p[j] /= size * scale[j] * scale[j];
  for (int age = model->n; age >= 1; age--) {
    const int k = (model->next - age + MEMORY) % MEMORY;
    if (sy[k] == 0.0) continue;
    const double beta = cblas_ddot(dim, y[k], 1, p, 1) / sy[k];
    cblas_daxpy(dim, alpha[k] - beta, model->s + (size_t)k * dim, 1, p, 1);
  }
  for (int i = 0; i < n_fixed; i++) p[fixed[i]] = 0.0;
}

/* Cut `step` to the trust region and to the cube. Returns the gain that the model predicts, where
   the faces take as much from the curvature along the step as from the slope; not positive: the
   step need not ascend. */
static double cut(int dim, const double *x, const double *g, const double *scale, double radius,
                  double *step)
{
  double length = 0.0, slope = 0.0;

  for (int j = 0; j < dim; j++) {
    const double scaled = fabs(step[j]) * scale[j];
    length = scaled > length ? scaled : length;
  }
  const double share = length > radius ? radius / length : 1.0;
  for (int j = 0; j < dim; j++) {
    const double move = share * step[j], lower = -x[j], upper = 1.0 - x[j];
    step[j] = move < lower ? lower : move > upper ? upper : move;
    slope += step[j] * g[j];
  }
  return (1.0 - 0.5 * share) * slope;
}

double rg_limited_step(RgLimitedModel *model, int dim, const double *x, const double *g,
                       const double *scale, double radius, double *step, double *work)
{
  int *fixed = (int *)(work + (size_t)MEMORY * dim), n_fixed = 0;
  double gain = 0.0;

  for (int j = 0; j < dim; j++) /* at a face, and the gradient points out */
    if ((x[j] <= 0.0 && g[j] <= 0.0) || (x[j] >= 1.0 && g[j] >= 0.0)) fixed[n_fixed++] = j;
  for (int attempt = 0; attempt < 2 && !(gain > 0.0); attempt++) {
    if (attempt) model->n = 0; /* the gradient itself always ascends */
    memcpy(step, g, dim * sizeof(double));
    for (int i = 0; i < n_fixed; i++) step[fixed[i]] = 0.0;
    direction(model, dim, scale, n_fixed, fixed, step, work);
    gain = cut(dim, x, g, scale, radius, step);
  }
  return gain;
}

void rg_limited_learn(RgLimitedModel *model, int dim, const double *step, const double *before,
                      const double *after)
{
  const size_t at = (size_t)model->next * dim;

  memcpy(model->s + at, step, dim * sizeof(double));
  for (int j = 0; j < dim; j++) model->y[at + j] = before[j] - after[j];
  model->next = (model->next + 1) % MEMORY;
  if (model->n < MEMORY) model->n++;
}
