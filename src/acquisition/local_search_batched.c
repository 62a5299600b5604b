/* All starts in lockstep: a quasi-Newton trust-region method in the box, dense BFGS per start.

   Every start keeps its best point, the gradient there, and a positive definite model B of the
   negative Hessian. A round proposes for each start the maximiser of its quadratic model in the
   intersection of unit cube and trust region (box_quadratic.c), evaluates all proposals in one
   batch, and learns from each of them, accepted or not: B by a damped BFGS update (Powell 1978),
   the radius from the ratio of actual to predicted improvement (Nocedal and Wright 2006, algorithm
   4.1), shrinking by cubic interpolation.

   The trust region is a box in scaled coordinates x_j * scale_j, where scale_j is the root mean
   square over all starts of the derivative along j: it stands for 1 / (length scale of input j).
   The same scale preconditions the first model.

   The batch shrinks: a start stops when it has converged, when it has merged with a better one, or
   when it has fallen so far behind that its model, trusted generously, can't reach the best. */
#include "acquisition/local_search.h"

#include <math.h>
#include <string.h>

#define ACCEPT      1e-4 /* of the predicted improvement: the proposal becomes the new point */
#define GOOD        0.75 /* the radius may grow */
#define POOR        0.25 /* the radius shrinks */
#define RADIUS_MIN  1e-9
#define RADIUS_MAX  1.0
#define SCALE_MIN   0.05 /* smallest scale, relative to the largest */

typedef struct {
  double *x, *gradient; /* dim: best point so far */
  double *B;            /* dim x dim: model of the negative Hessian */
  double *step;         /* dim: proposal - x */
  double  value, gain;  /* at x; predicted improvement of the proposal */
  double  radius;       /* trust region, scaled coordinates */
  int     updates;      /* of B */
  bool    active;
} Start;

typedef struct {
  int     dim, m, n; /* starts, proposals of this round */
  double  tolerance;
  Start  *starts;
  int    *id;        /* n: start of each proposal */
  double *scale;     /* dim */
  double *X, *F, *G; /* m x dim, m, m x dim: batch */
  double *lower, *upper, *change, *work;
  double *block; /* storage of all arrays */
} Search;

static double dot(int n, const double *a, const double *b)
{
  double sum = 0.0;

  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static PetscErrorCode search_create(const RgMaximiserOptions *options, int dim, int m, double *x,
                                    Search *search)
{
  size_t d = (size_t)dim, count = (size_t)m;

  PetscFunctionBeginUser;
  memset(search, 0, sizeof *search);
  search->dim = dim;
  search->m = m;
  search->tolerance = options->tolerance;
  PetscCall(PetscCalloc1(count, &search->starts));
  PetscCall(PetscMalloc1(count, &search->id));
  PetscCall(PetscCalloc1(count * (d * d + 4 * d + 1) + d * (d + 7), &search->block));
  double *next = search->block;
  for (int i = 0; i < m; i++) {
    Start *start = &search->starts[i];
    start->x = x + i * d;
    start->gradient = next;
    start->step = next + d;
    start->B = next + 2 * d;
    next += d * d + 2 * d;
  }
  search->X = next;
  search->G = search->X + count * d;
  search->F = search->G + count * d;
  search->scale = search->F + count;
  search->lower = search->scale + d;
  search->upper = search->lower + d;
  search->change = search->upper + d;
  search->work = search->change + d;
  PetscFunctionReturn(0);
}

static PetscErrorCode search_destroy(Search *search)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(search->starts));
  PetscCall(PetscFree(search->id));
  PetscCall(PetscFree(search->block));
  PetscFunctionReturn(0);
}

static bool all_finite(double value, int n, const double *gradient)
{
  double sum = value;

  for (int i = 0; i < n; i++) sum += gradient[i];
  return isfinite(sum);
}

/* scale_j = root mean square derivative along j, relative to the largest. */
static void set_scale(Search *search)
{
  double largest = 0.0;

  for (int j = 0; j < search->dim; j++) {
    double sum = 0.0;
    for (int i = 0; i < search->m; i++) {
      if (search->starts[i].active)
        sum += search->starts[i].gradient[j] * search->starts[i].gradient[j];
    }
    search->scale[j] = sqrt(sum);
    largest = fmax(largest, search->scale[j]);
  }
  for (int j = 0; j < search->dim; j++)
    search->scale[j] = largest > 0.0 ? fmax(search->scale[j] / largest, SCALE_MIN) : 1.0;
}

/* First model: c diag(scale^2), c such that the step just fills the trust region. */
static void first_model(const Search *search, double radius, Start *start)
{
  double steepest = 0.0;

  start->radius = radius;
  for (int j = 0; j < search->dim; j++)
    steepest = fmax(steepest, fabs(start->gradient[j]) / search->scale[j]);
  for (int j = 0; j < search->dim; j++)
    start->B[j * search->dim + j] =
      fmax(steepest, 1e-300) / radius * search->scale[j] * search->scale[j];
}

/* Round 0: values and gradients at the starts. */
static PetscErrorCode evaluate_starts(Search *search, const double *value, double radius,
                                      RgBatchFunction function, void *context)
{
  int dim = search->dim;

  PetscFunctionBeginUser;
  for (int i = 0; i < search->m; i++) {
    if (isfinite(value[i])) search->id[search->n++] = i;
    search->starts[i].value = value[i];
  }
  for (int k = 0; k < search->n; k++)
    memcpy(search->X + (size_t)k * dim, search->starts[search->id[k]].x, dim * sizeof(double));
  if (search->n) PetscCall(function(context, search->n, search->X, search->F, search->G));
  for (int k = 0; k < search->n; k++) {
    Start        *start = &search->starts[search->id[k]];
    const double *gradient = search->G + (size_t)k * dim;
    start->active = all_finite(search->F[k], dim, gradient);
    if (!start->active) continue;
    start->value = search->F[k];
    memcpy(start->gradient, gradient, dim * sizeof(double));
  }
  set_scale(search);
  for (int i = 0; i < search->m; i++) first_model(search, radius, &search->starts[i]);
  PetscFunctionReturn(0);
}

/* Step to the maximiser of the model in trust region and cube. */
static void propose(Search *search, Start *start)
{
  int dim = search->dim;

  for (int j = 0; j < dim; j++) {
    double reach = start->radius / search->scale[j];
    search->lower[j] = fmax(-start->x[j], -reach);
    search->upper[j] = fmin(1.0 - start->x[j], reach);
  }
  start->gain = rg_box_quadratic(dim, start->gradient, start->B, search->lower, search->upper,
                                 start->step, search->work);
}

static double scaled_length(const Search *search, const double *step)
{
  double length = 0.0;

  for (int j = 0; j < search->dim; j++)
    length = fmax(length, fabs(step[j]) * search->scale[j]);
  return length;
}

/* Before the first update, c diag(scale^2) gets its size from the pair (s, y): c = |y|^2/(s'y). */
static void size_model(const Search *search, Start *start, const double *y, double sy)
{
  int    dim = search->dim;
  double yy = 0.0;

  for (int j = 0; j < dim; j++) yy += y[j] * y[j] / (search->scale[j] * search->scale[j]);
  for (int j = 0; j < dim; j++)
    start->B[j * dim + j] = yy / sy * search->scale[j] * search->scale[j];
}

/* Damped BFGS: y = gradient(x) - gradient(x + s) is moved towards B s until s'y >= 0.2 s'Bs. */
static void update_model(Search *search, Start *start, const double *gradient)
{
  int           dim = search->dim;
  const double *s = start->step;
  double       *y = search->change, *Bs = search->work, *B = start->B;

  for (int j = 0; j < dim; j++) y[j] = start->gradient[j] - gradient[j];
  double sy = dot(dim, s, y);
  if (!start->updates && sy > 0.0) size_model(search, start, y, sy);
  for (int j = 0; j < dim; j++) Bs[j] = dot(dim, B + (size_t)j * dim, s);
  double sBs = dot(dim, s, Bs);
  if (!(sBs > 0.0)) return;
  if (sy < 0.2 * sBs) {
    double theta = 0.8 * sBs / (sBs - sy);
    for (int j = 0; j < dim; j++) y[j] = theta * y[j] + (1.0 - theta) * Bs[j];
    sy = 0.2 * sBs;
  }
  for (int j = 0; j < dim; j++) {
    for (int k = 0; k < dim; k++)
      B[j * dim + k] += y[j] * y[k] / sy - Bs[j] * Bs[k] / sBs;
  }
  start->updates++;
}

/* Maximiser in (0,1] of the cubic through values and slopes at both ends of a step; 0.5 without. */
static double interpolate(double value0, double slope0, double value1, double slope1)
{
  double d = slope0 + slope1 - 3.0 * (value1 - value0), root = d * d - slope0 * slope1;

  if (!(root >= 0.0)) return 0.5;
  root = sqrt(root);
  double t = 1.0 - (slope1 - root - d) / (slope1 - slope0 - 2.0 * root);
  return t > 0.0 && t <= 1.0 ? t : 0.5;
}

/* Learn from the proposal of a start. */
static void absorb(Search *search, Start *start, const double *x, double value,
                   const double *gradient)
{
  int    dim = search->dim;
  double length = scaled_length(search, start->step);

  if (!all_finite(value, dim, gradient)) {
    start->radius = 0.25 * length;
    return;
  }
  double ratio = (value - start->value) / start->gain;
  if (ratio < POOR) {
    double t = interpolate(start->value, dot(dim, start->step, start->gradient), value,
                           dot(dim, start->step, gradient));
    start->radius = fmin(fmax(t, 0.1), 0.5) * length;
  } else if (ratio > GOOD && length > 0.8 * start->radius) {
    start->radius = fmin(2.5 * start->radius, RADIUS_MAX);
  }
  update_model(search, start, gradient);
  if (ratio < ACCEPT) return;
  start->value = value;
  memcpy(start->x, x, dim * sizeof(double));
  memcpy(start->gradient, gradient, dim * sizeof(double));
}

static void prune(Search *search);

PetscErrorCode rg_local_search_batched(const RgMaximiserOptions *options, int dim, int m, double *x,
                                       double *value, RgBatchFunction function, void *context)
{
  Search search;

  PetscFunctionBeginUser;
  PetscCall(search_create(options, dim, m, x, &search));
  PetscCall(evaluate_starts(&search, value, 0.05, function, context));
  for (int round = 0; round < options->max_iterations; round++) {
    for (int i = 0; i < m; i++) {
      if (search.starts[i].active) propose(&search, &search.starts[i]);
    }
    prune(&search);
    search.n = 0;
    for (int i = 0; i < m; i++) {
      Start *start = &search.starts[i];
      if (!start->active) continue;
      double *proposal = search.X + (size_t)search.n * dim;
      for (int j = 0; j < dim; j++)
        proposal[j] = fmin(fmax(start->x[j] + start->step[j], 0.0), 1.0);
      search.id[search.n++] = i;
    }
    if (!search.n) break;
    PetscCall(function(context, search.n, search.X, search.F, search.G));
    for (int k = 0; k < search.n; k++)
      absorb(&search, &search.starts[search.id[k]], search.X + (size_t)k * dim, search.F[k],
             search.G + (size_t)k * dim);
  }
  for (int i = 0; i < m; i++) value[i] = search.starts[i].value;
  PetscCall(search_destroy(&search));
  PetscFunctionReturn(0);
}

/* Stop the starts that have nothing left to find. */
static void prune(Search *search)
{
  double best = -INFINITY;

  for (int i = 0; i < search->m; i++) best = fmax(best, search->starts[i].value);
  for (int i = 0; i < search->m; i++) {
    Start *start = &search->starts[i];
    if (!start->active) continue;
    double unit = fmax(1.0, fabs(start->value));
    if (start->gain <= search->tolerance * unit || start->radius < RADIUS_MIN)
      start->active = false;
  }
}
