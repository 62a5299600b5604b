/* Local search for functions with kinks, such as a least or a steepest of many smooth values.

   Quasi-Newton steps crawl along a kink, because one gradient says nothing of the other side. Every
   start therefore keeps a bundle of planes, one for each of its last points: value and gradient
   there. A round maximises the least of the planes minus |step|^2/(2 t) from the best point (a
   proximal bundle method: Lemarechal 1978; Makela 2002 for functions that are not concave). A step
   that gains little leaves a plane behind, so that the next one sees the kink. */
#include "acquisition/local_search.h"
#include "base/poll.h"

#include <math.h>
#include <string.h>

#define ROUNDS 40
#define FIRST_STEP 5e-3 /* length of the first step, unit cube */
#define GAIN 1e-6       /* a start ends where it expects less, relative to max(1, |a|), */
#define SHORT 1e-9      /* or a shorter step */
#define GOOD 0.5        /* share of the expected gain from which t grows, and */
#define POOR 0.1        /* below which it shrinks */
#define GROW 2.0
#define SHRINK 0.6
#define PAIRS 50 /* exchanges of weight between two planes, for each plane */

/* Planes of all starts have `most` places each, of which `next` - 1 was filled last. */
typedef struct {
  int n, next;
  double t, gain;
  double *x;                   /* dim: best point, borrowed */
  double *at, *slope, *height; /* most x dim, most x dim, most */
  bool active;
} Bundle;

typedef struct {
  int dim, most;
  double *error, *weight, *ascent; /* most, most, dim */
  double *planes;                  /* room for those of all starts */
  char *fixed;                     /* dim: coordinates that the cube holds */
} Work;

static void add_plane(const Work *work, const double *x, double value, const double *gradient,
                      Bundle *bundle)
{
  const int dim = work->dim, place = bundle->next++ % work->most;

  memcpy(bundle->at + (size_t)place * dim, x, dim * sizeof(double));
  memcpy(bundle->slope + (size_t)place * dim, gradient, dim * sizeof(double));
  bundle->height[place] = value;
  bundle->n = PetscMin(bundle->next, work->most);
}

/* How far each plane is from the best value at the best point. A plane below it belongs to a
   function that is not concave, and counts as if it were as far above. */
static void find_errors(const Work *work, const Bundle *bundle, double value)
{
  const int dim = work->dim;

  for (int i = 0; i < bundle->n; i++) {
    double plane = bundle->height[i];
    for (int j = 0; j < dim; j++)
      plane += bundle->slope[i * dim + j] * (bundle->x[j] - bundle->at[i * dim + j]);
    work->error[i] = fabs(plane - value);
  }
}

/* Move weight from the plane with the largest derivative of the dual to that with the least one.
   Returns false at the optimum. */
static bool exchange(const Work *work, const Bundle *bundle)
{
  const int dim = work->dim;
  int low = 0, high = -1;
  double least = INFINITY, most = -INFINITY, curvature = 0;

  for (int i = 0; i < bundle->n; i++) {
    double derivative = work->error[i];
    for (int j = 0; j < dim; j++)
      if (!work->fixed[j]) derivative += bundle->t * work->ascent[j] * bundle->slope[i * dim + j];
    if (derivative < least) least = derivative, low = i;
    if (work->weight[i] > 0 && derivative > most) most = derivative, high = i;
  }
  if (high < 0 || !(most - least > 1e-12 * fabs(most))) return false;
  const double *up = bundle->slope + (size_t)low * dim, *down = bundle->slope + (size_t)high * dim;
  for (int j = 0; j < dim; j++)
    if (!work->fixed[j]) curvature += bundle->t * (up[j] - down[j]) * (up[j] - down[j]);
  const double moved =
    curvature * work->weight[high] > most - least ? (most - least) / curvature : work->weight[high];
  work->weight[low] += moved;
  work->weight[high] -= moved;
  for (int j = 0; j < dim; j++)
    if (!work->fixed[j]) work->ascent[j] += moved * (up[j] - down[j]);
  return true;
}

/* The direction `ascent`, by the dual: minimise weight'error + t/2 |weight'slopes|^2 over weights
   that sum to 1. */
static void find_ascent(const Work *work, const Bundle *bundle)
{
  int best = 0;

  for (int i = 1; i < bundle->n; i++)
    if (work->error[i] < work->error[best]) best = i;
  memset(work->weight, 0, bundle->n * sizeof(double));
  work->weight[best] = 1;
  for (int j = 0; j < work->dim; j++)
    work->ascent[j] = work->fixed[j] ? 0 : bundle->slope[best * work->dim + j];
  for (int k = 0; k < PAIRS * bundle->n && exchange(work, bundle);) k++;
}

/* The next point of a start. A coordinate whose ascent leaves the cube stays. Returns false where
   the start ends. */
static bool propose(const Work *work, Bundle *bundle, double value, double *x)
{
  bool leaves = true;
  double square = 0;

  find_errors(work, bundle, value);
  memset(work->fixed, 0, work->dim);
  while (leaves) {
    leaves = false;
    find_ascent(work, bundle);
    for (int j = 0; j < work->dim; j++) {
      const double at = bundle->x[j], ascent = work->ascent[j];
      if (work->fixed[j] || !((at <= 0 && ascent < 0) || (at >= 1 && ascent > 0))) continue;
      work->fixed[j] = 1;
      leaves = true;
    }
  }
  bundle->gain = 0;
  for (int i = 0; i < bundle->n; i++) bundle->gain += work->weight[i] * work->error[i];
  for (int j = 0; j < work->dim; j++) {
    square += work->ascent[j] * work->ascent[j];
    x[j] = fmin(fmax(bundle->x[j] + bundle->t * work->ascent[j], 0), 1);
  }
  bundle->gain += bundle->t * square;
  return bundle->gain > GAIN * fmax(1, fabs(value)) && bundle->t * sqrt(square) > SHORT;
}

static void absorb(const Work *work, const double *x, double found, const double *gradient,
                   Bundle *bundle, double *value)
{
  const double rise = found - *value;
  double sum = found;

  for (int j = 0; j < work->dim; j++) sum += gradient[j];
  if (isfinite(sum)) add_plane(work, x, found, gradient, bundle);
  if (isfinite(sum) && rise > 0) {
    memcpy(bundle->x, x, work->dim * sizeof(double));
    *value = found;
  }
  if (isfinite(sum) && rise > GOOD * bundle->gain) bundle->t *= GROW;
  else if (!(rise >= POOR * bundle->gain)) bundle->t *= SHRINK;
}

/* First planes, at the starts: values F and gradients G at x. A start without a finite value or
   gradient stays where it is. */
static void begin(const Work *work, int m, double *x, double *value, const double *F,
                  const double *G, Bundle *bundles)
{
  const size_t dim = (size_t)work->dim;

  for (int i = 0; i < m; i++) {
    Bundle *bundle = &bundles[i];
    double square = 0;
    bundle->at = work->planes + i * work->most * (2 * dim + 1);
    bundle->slope = bundle->at + work->most * dim;
    bundle->height = bundle->slope + work->most * dim;
    bundle->x = x + i * dim;
    for (size_t j = 0; j < dim; j++) square += G[i * dim + j] * G[i * dim + j];
    bundle->active = isfinite(F[i]) && isfinite(square);
    if (!bundle->active) continue;
    value[i] = F[i];
    bundle->t = square > 0 ? FIRST_STEP / sqrt(square) : 1;
    add_plane(work, bundle->x, F[i], G + i * dim, bundle);
  }
}

PetscErrorCode rg_local_search_bundle(const RgMaximiserOptions *options, int dim, int m, double *x,
                                      double *value, RgBatchFunction function, void *closure)
{
  const size_t d = (size_t)dim, count = (size_t)m;
  Work work = {.dim = dim, .most = 3 * dim + 6};
  double *X, *F, *G;
  Bundle *bundles;
  int *id;

  if (!m) return 0;
  PetscCall(PetscCalloc1(count, &bundles));
  PetscCall(PetscMalloc4(count * d, &X, count, &F, count * d, &G, count, &id));
  PetscCall(PetscMalloc5(work.most, &work.error, work.most, &work.weight, d, &work.ascent, d,
                         &work.fixed, count * work.most * (2 * d + 1), &work.planes));
  PetscCall(function(closure, m, x, F, G));
  begin(&work, m, x, value, F, G, bundles);
  for (int round = 0; round < PetscMin(options->max_iterations, ROUNDS); round++) {
    int n = 0;
    for (int i = 0; i < m; i++) {
      if (!bundles[i].active) continue;
      bundles[i].active = propose(&work, &bundles[i], value[i], X + n * d);
      if (bundles[i].active) id[n++] = i;
    }
    if (!n) break;
    PetscCall(rg_poll());
    PetscCall(function(closure, n, X, F, G));
    for (int k = 0; k < n; k++)
      absorb(&work, X + k * d, F[k], G + k * d, &bundles[id[k]], &value[id[k]]);
  }
  PetscCall(PetscFree(bundles));
  PetscCall(PetscFree4(X, F, G, id));
  return PetscFree5(work.error, work.weight, work.ascent, work.fixed, work.planes);
}
