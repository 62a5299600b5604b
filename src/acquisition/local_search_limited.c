/* Limited-memory model of the batched local search, for many inputs: the last pairs (s, y) of a
   step and the fall of the gradient along it.

   The step is the quasi-Newton direction of the coordinates that are not held at a face of the cube
   (two-metric projection, Bertsekas 1982), by the two-loop recursion (Nocedal 1980) with the pairs
   restricted to these coordinates. It ends at the trust region and bends along the faces. */
#include "acquisition/local_search.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#define MEMORY RG_SEARCH_MEMORY
#define CURVED 1e-10 /* smallest s'y of a pair that counts, relative to |s||y| */

void rg_limited_begin(int dim, double *block, RgLimitedModel *model)
{
  model->n = model->next = 0;
  model->s = block;
  model->y = block + (size_t)MEMORY * dim;
}

/* Whether the cube holds a coordinate: it is at a face and the gradient points out. */
static inline bool is_held(double x, double gradient)
{
  return (x <= 0.0 && gradient <= 0.0) || (x >= 1.0 && gradient >= 0.0);
}

/* The fall y of the gradient in the free coordinates, and the curvature s'y. sy is 0 where the pair
   does not count, since the function is not concave along it. */
static const double *free_fall(const RgLimitedModel *model, int dim, int n_held, const int *hold,
                               int k, double *work, double *sy)
{
  const double *s = model->s + (size_t)k * dim, *y = model->y + (size_t)k * dim;

  if (n_held) {
    double *copy = work + (size_t)k * dim;
    memcpy(copy, y, dim * sizeof(double));
    for (int i = 0; i < n_held; i++) copy[hold[i]] = 0.0;
    y = copy;
  }
  *sy = cblas_ddot(dim, s, 1, y, 1);
  const double sizes = cblas_ddot(dim, s, 1, s, 1) * cblas_ddot(dim, y, 1, y, 1);
  if (!(*sy > CURVED * sqrt(sizes))) *sy = 0.0;
  return y;
}

/* Direction of ascent p = H g in the free coordinates, 0 in the others. */
static void direction(const RgLimitedModel *model, int dim, const double *scale, int n_held,
                      const int *hold, double *p, double *work)
{
  double sy[MEMORY], alpha[MEMORY], size = model->size;
  const double *y[MEMORY];
  bool sized = false;

  for (int age = 1; age <= model->n; age++) { /* newest first */
    const int k = (model->next - age + MEMORY) % MEMORY;
    y[k] = free_fall(model, dim, n_held, hold, k, work, &sy[k]);
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
  for (int i = 0; i < n_held; i++) p[hold[i]] = 0.0;
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
  int *hold = (int *)(work + (size_t)MEMORY * dim), n_held = 0;
  double gain = 0.0;

  for (int j = 0; j < dim; j++) {
    if (is_held(x[j], g[j])) hold[n_held++] = j;
  }
  for (int attempt = 0; attempt < 2 && !(gain > 0.0); attempt++) {
    if (attempt) model->n = 0; /* the gradient itself always ascends */
    memcpy(step, g, dim * sizeof(double));
    for (int i = 0; i < n_held; i++) step[hold[i]] = 0.0;
    direction(model, dim, scale, n_held, hold, step, work);
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
