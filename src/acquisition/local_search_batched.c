/* All starts in lockstep: a quasi-Newton trust-region method in the box, dense BFGS per start, or
   limited memory with many inputs (local_search_model.c).

   Every start keeps its best point, the gradient there, and a positive definite model B of the
   negative Hessian. A round proposes for each start the maximiser of its quadratic model in the
   intersection of unit cube and trust region (local_search_model.c), evaluates all proposals in
   one batch, and learns from each of them, accepted or not: B by a damped BFGS update (Powell
   1978), the radius from the ratio of actual to predicted gain (Nocedal and Wright 2006, algorithm
   4.1), shrinking by cubic interpolation.

   The trust region is a box in scaled coordinates x_j * scale_j, where scale_j is the root mean
   square over all starts of the derivative along j: it stands for 1 / (length scale of input j).
   The same scale preconditions the first model.

   The batch shrinks. A start stops when it has converged, when the best one is out of its reach
   (many times the gain it predicts), or when a better one is about to arrive at the same point. */
#include "acquisition/local_search.h"
#include "base/grow.h"
#include "base/poll.h"

#include <math.h>
#include <string.h>

#define ACCEPT 1e-4  /* share of the predicted gain from which the proposal becomes the new point */
#define GOOD 0.75    /* share of the predicted gain from which the radius may grow */
#define POOR 0.25    /* share of the predicted gain below which the radius shrinks */
#define GROW 4.0     /* growth factor of the radius */
#define SPACINGS 2.0 /* first radius, in mean distances between raw points */
#define RADIUS_MIN 1e-9
#define RADIUS_MAX 1.0
#define SCALE_MIN 0.05   /* smallest scale, relative to the largest scale */
#define FLAT 1e-5        /* largest steepness of a converged start, relative to |a| */
#define REACH_FIRST 10.0 /* predicted gains that a start may still make in the first round */
#define REACH_GROW 2.0   /* factor of this number in every further round */
#define REACH_LAST 100.0 /* upper limit of this number */
#define SAME_TARGET 0.5  /* targets closer than this count as equal, in steps towards them */
#define SAME_HILL 0.3    /* scaled distance beyond which starts are not compared */

typedef struct {
  double *x, *gradient; /* dim: best point so far */
  double *B;            /* dim x dim: model of the negative Hessian; room of `pairs` instead: */
  RgLimitedModel pairs; /* with many inputs */
  double *step;         /* dim: proposal - x */
  double value, gain;   /* at x; predicted gain of the proposal */
  double radius;        /* radius of the trust region, in scaled coordinates */
  double length;        /* length of the step, in scaled coordinates */
  bool sized;           /* whether the last round updated B */
} Start;

typedef struct {
  int dim, m, n; /* number of starts, and of active starts */
  bool limited;  /* whether models have limited memory */
  double tolerance, first_radius;
  Start *starts;
  int *id;           /* n: the active starts, best first value first */
  double *scale;     /* dim */
  double *X, *F, *G; /* m x dim, m, m x dim: points, values and gradients of a batch */
  double *lower, *upper, *change, *work;
  double *block; /* one allocation for all arrays */
} Search;

static inline double larger(double a, double b)
{
  return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
  return a < b ? a : b;
}

static double dot(int n, const double *a, const double *b)
{
  double sum = 0.0;

  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* ---- state ---------------------------------------------------------------------------------- */

static PetscErrorCode search_create(const RgMaximiserOptions *options, int dim, int m, double *x,
                                    Search *search)
{
  size_t d = (size_t)dim, count = (size_t)m;
  const bool limited = dim > RG_SEARCH_DENSE_MAX;
  const size_t model = limited ? 2 * RG_SEARCH_MEMORY * d : d * d;
  const size_t scratch = limited ? (RG_SEARCH_MEMORY + 1) * d : d * (d + 3);

  memset(search, 0, sizeof *search);
  search->dim = dim;
  search->m = m;
  search->limited = limited;
  search->tolerance = options->tolerance;
  search->first_radius = smaller(SPACINGS * pow(options->raw_samples, -1.0 / dim), RADIUS_MAX);
  PetscCall(PetscCalloc1(count, &search->starts));
  PetscCall(PetscMalloc1(count, &search->id));
  PetscCall(PetscMalloc1(count * (model + 4 * d + 1) + 4 * d + scratch, &search->block));
  double *next = search->block;
  for (int i = 0; i < m; i++) {
    Start *start = &search->starts[i];
    start->x = x + i * d;
    start->gradient = next;
    start->step = next + d;
    start->B = next + 2 * d;
    if (limited) rg_limited_begin(dim, start->B, &start->pairs);
    next += model + 2 * d;
  }
  search->X = next;
  search->G = search->X + count * d;
  search->F = search->G + count * d;
  search->scale = search->F + count;
  search->lower = search->scale + d;
  search->upper = search->lower + d;
  search->change = search->upper + d;
  search->work = search->change + d;
  return 0;
}

/* ---- round 0: values and gradients at the starts -------------------------------------------- */

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
    for (int k = 0; k < search->n; k++) {
      double g = search->starts[search->id[k]].gradient[j];
      sum += g * g;
    }
    search->scale[j] = sqrt(sum);
    largest = larger(largest, search->scale[j]);
  }
  for (int j = 0; j < search->dim; j++)
    search->scale[j] = largest > 0.0 ? larger(search->scale[j] / largest, SCALE_MIN) : 1.0;
}

/* Largest slope per scaled length along one coordinate that the cube leaves free. */
static double steepness(const Search *search, const Start *start)
{
  double steepest = 0.0;

  for (int j = 0; j < search->dim; j++) {
    double g = start->gradient[j], x = start->x[j];
    if ((x > 0.0 || g > 0.0) && (x < 1.0 || g < 0.0))
      steepest = larger(steepest, fabs(g) / search->scale[j]);
  }
  return steepest;
}

/* First model: c diag(scale^2), with c such that the step just fills the trust region. */
static void first_model(const Search *search, Start *start)
{
  double c = larger(steepness(search, start), 1e-300) / search->first_radius;

  start->radius = search->first_radius;
  start->pairs.size = c;
  if (search->limited) return;
  memset(start->B, 0, sizeof(double) * search->dim * search->dim);
  for (int j = 0; j < search->dim; j++)
    start->B[j * search->dim + j] = c * search->scale[j] * search->scale[j];
}

/* Starts without a finite value never become active. */
static PetscErrorCode begin(Search *search, const double *value, RgBatchFunction function,
                            void *closure)
{
  int dim = search->dim, finite = 0;

  for (int i = 0; i < search->m; i++) {
    Start *start = &search->starts[i];
    start->value = value[i];
    if (!isfinite(value[i])) continue;
    memcpy(search->X + (size_t)search->n * dim, start->x, dim * sizeof(double));
    search->id[search->n++] = i;
  }
  if (search->n) PetscCall(function(closure, search->n, search->X, search->F, search->G));
  for (int k = 0; k < search->n; k++) {
    Start *start = &search->starts[search->id[k]];
    const double *gradient = search->G + (size_t)k * dim;
    if (!all_finite(search->F[k], dim, gradient)) continue;
    start->value = search->F[k];
    memcpy(start->gradient, gradient, dim * sizeof(double));
    search->id[finite++] = search->id[k];
  }
  search->n = finite;
  set_scale(search);
  for (int k = 0; k < search->n; k++) first_model(search, &search->starts[search->id[k]]);
  return 0;
}

/* ---- one round ------------------------------------------------------------------------------ */

/* Propose a step to the maximiser of the model within trust region and cube. */
static void propose(Search *search, Start *start)
{
  int dim = search->dim;

  for (int j = 0; j < dim && !search->limited; j++) {
    double reach = start->radius / search->scale[j];
    search->lower[j] = larger(-start->x[j], -reach);
    search->upper[j] = smaller(1.0 - start->x[j], reach);
  }
  if (search->limited)
    start->gain = rg_limited_step(&start->pairs, dim, start->x, start->gradient, search->scale,
                                  start->radius, start->step, search->work);
  else
    start->gain = rg_box_quadratic(dim, start->gradient, start->B, search->lower, search->upper,
                                   start->step, search->work);
  start->length = 0.0;
  for (int j = 0; j < dim; j++)
    start->length = larger(start->length, fabs(start->step[j]) * search->scale[j]);
}

/* Keep the starts that have neither converged nor fallen behind. */
static void drop_finished(Search *search, int round)
{
  double best = -INFINITY;
  double reach = smaller(REACH_FIRST * pow(REACH_GROW, round), REACH_LAST);
  int kept = 0;

  for (int i = 0; i < search->m; i++) best = larger(best, search->starts[i].value);
  for (int k = 0; k < search->n; k++) {
    Start *start = &search->starts[search->id[k]];
    double unit = larger(1.0, fabs(start->value));
    if (start->value + reach * start->gain < best || start->radius < RADIUS_MIN) continue;
    if (start->gain <= search->tolerance * unit && steepness(search, start) <= FLAT * unit)
      continue;
    search->id[kept++] = search->id[k];
  }
  search->n = kept;
}

/* An evaluation has corrected the model, and its maximum lies within the trust region. */
static bool sees_target(const Start *start)
{
  return start->sized && start->length < 0.99 * start->radius;
}

/* Both starts see their maximum, the two maxima are close, and their values are nearly equal. */
static bool same_target(const Search *search, const Start *i, const Start *j)
{
  double tolerance = SAME_TARGET * larger(i->length, j->length);

  for (int k = 0; k < search->dim; k++) {
    double apart = i->x[k] - j->x[k], targets = apart + i->step[k] - j->step[k];
    if (fabs(targets) * search->scale[k] > tolerance) return false;
    if (fabs(apart) * search->scale[k] > SAME_HILL) return false;
  }
  return true;
}

/* Among starts with the same target keep the best, and among equal ones the first. */
static void drop_merged(Search *search)
{
  int kept = 0;

  for (int k = 0; k < search->n; k++) {
    Start *start = &search->starts[search->id[k]];
    bool merged = false;
    for (int l = 0; l < search->n && sees_target(start) && !merged; l++) {
      const Start *other = &search->starts[search->id[l]];
      if (other->value < start->value || (other->value == start->value && l >= k)) continue;
      merged = sees_target(other) && same_target(search, other, start);
    }
    search->starts[search->id[k]].length = merged ? INFINITY : start->length;
  }
  for (int k = 0; k < search->n; k++)
    if (isfinite(search->starts[search->id[k]].length)) search->id[kept++] = search->id[k];
  search->n = kept;
}

/* Damped BFGS: y = gradient(x) - gradient(x + s) is moved towards B s until s'y >= 0.2 s'Bs. */
static void update_model(Search *search, Start *start, const double *gradient)
{
  int dim = search->dim;
  const double *s = start->step;
  double *y = search->change, *Bs = search->work, *B = start->B;

  for (int j = 0; j < dim; j++) y[j] = start->gradient[j] - gradient[j];
  double sy = dot(dim, s, y);
  if (!start->sized && sy > 0.0) {
    /* the pair (s, y) sets the size of c diag(scale^2): c = |y|^2/(s'y) */
    double yy = 0.0;
    for (int j = 0; j < dim; j++) yy += y[j] * y[j] / (search->scale[j] * search->scale[j]);
    for (int j = 0; j < dim; j++)
      start->B[j * dim + j] = yy / sy * search->scale[j] * search->scale[j];
  }
  for (int j = 0; j < dim; j++) Bs[j] = dot(dim, B + (size_t)j * dim, s);
  double sBs = dot(dim, s, Bs);
  if (!(sBs > 0.0)) return;
  if (sy < 0.2 * sBs) {
    double theta = 0.8 * sBs / (sBs - sy);
    for (int j = 0; j < dim; j++) y[j] = theta * y[j] + (1.0 - theta) * Bs[j];
    sy = 0.2 * sBs;
  }
  for (int j = 0; j < dim; j++) {
    double yj = y[j] / sy, bj = Bs[j] / sBs;
    for (int k = 0; k < dim; k++) B[j * dim + k] += yj * y[k] - bj * Bs[k];
  }
  start->sized = true;
}

/* Maximiser in (0,1] of the cubic through values and slopes at both ends of a step; 0.5 if there
   is no such maximiser. */
static double interpolate(double value0, double slope0, double value1, double slope1)
{
  double d = slope0 + slope1 - 3.0 * (value1 - value0), root = d * d - slope0 * slope1;

  if (!(root >= 0.0)) return 0.5;
  root = sqrt(root);
  double t = 1.0 - (slope1 - root - d) / (slope1 - slope0 - 2.0 * root);
  return t > 0.0 && t <= 1.0 ? t : 0.5;
}

/* Update a start from the result of its proposal. */
static void absorb(Search *search, Start *start, const double *x, double value,
                   const double *gradient)
{
  int dim = search->dim;

  if (!all_finite(value, dim, gradient)) {
    start->radius = 0.25 * start->length;
    return;
  }
  double ratio = (value - start->value) / start->gain;
  if (ratio < POOR) {
    double t = interpolate(start->value, dot(dim, start->step, start->gradient), value,
                           dot(dim, start->step, gradient));
    start->radius = smaller(larger(t, 0.1), 0.5) * start->length;
  } else if (ratio > GOOD && start->length > 0.8 * start->radius) {
    start->radius = smaller(GROW * start->radius, RADIUS_MAX);
  }
  if (search->limited) {
    rg_limited_learn(&start->pairs, dim, start->step, start->gradient, gradient);
    start->sized = true;
  } else {
    update_model(search, start, gradient);
  }
  if (ratio < ACCEPT) return;
  start->value = value;
  memcpy(start->x, x, dim * sizeof(double));
  memcpy(start->gradient, gradient, dim * sizeof(double));
}

PetscErrorCode rg_local_search_batched(const RgMaximiserOptions *options, int dim, int m, double *x,
                                       double *value, RgBatchFunction function, void *closure)
{
  Search search;

  PetscCall(search_create(options, dim, m, x, &search));
  PetscCall(begin(&search, value, function, closure));
  for (int round = 0; round < options->max_iterations; round++) {
    for (int k = 0; k < search.n; k++) propose(&search, &search.starts[search.id[k]]);
    drop_finished(&search, round);
    drop_merged(&search);
    if (!search.n) break;
    for (int k = 0; k < search.n; k++) {
      const Start *start = &search.starts[search.id[k]];
      double *proposal = search.X + (size_t)k * dim;
      for (int j = 0; j < dim; j++)
        proposal[j] = smaller(larger(start->x[j] + start->step[j], 0.0), 1.0);
    }
    PetscCall(rg_poll());
    PetscCall(function(closure, search.n, search.X, search.F, search.G));
    for (int k = 0; k < search.n; k++)
      absorb(&search, &search.starts[search.id[k]], search.X + (size_t)k * dim, search.F[k],
             search.G + (size_t)k * dim);
  }
  for (int i = 0; i < m; i++) value[i] = search.starts[i].value;
  return RG_FREE(&search.starts, &search.id, &search.block);
}
