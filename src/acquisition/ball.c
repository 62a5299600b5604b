/* Maximisation over the part of a ball that lies in the unit cube. */
#include "acquisition/ball.h"

#include "acquisition/ranking.h"
#include "base/poll.h"

#include <math.h>
#include <string.h>

#define MAX_ITERATIONS 100
#define TOLERANCE 1e-6  /* largest entry of the projected gradient step, relative to the radius */
#define SUFFICIENT 1e-4 /* share of the predicted linear gain that a step must reach */
#define STEP_MIN 1e-10
#define STEP_MAX 1e10

static double clip(double u)
{
  return fmin(fmax(u, 0.0), 1.0);
}

/* The projection is clip(c + (x - c)/s), s >= 1. Given the set of clipped coordinates, s follows
   from |.| = radius. Dropping coordinates from the clipped set only overestimates s, so s,
   starting without clipped coordinates, falls to its value in at most dim steps. */
void rg_ball_project(const RgBall *ball, double *x)
{
  const double *centre = ball->centre, radius = ball->radius;
  const int dim = ball->dim;
  double s = 1.0, next = 0.0;

  for (int j = 0; j < dim; j++) next += (x[j] - centre[j]) * (x[j] - centre[j]);
  next = fmax(sqrt(next) / radius, 1.0);
  for (int i = 0; i <= dim && next != s; i++) {
    double free = 0.0, clipped = 0.0;
    s = next;
    for (int j = 0; j < dim; j++) {
      double u = centre[j] + (x[j] - centre[j]) / s, d = clip(u) - centre[j];
      if (u == clip(u)) free += (x[j] - centre[j]) * (x[j] - centre[j]);
      else clipped += d * d;
    }
    if (free == 0.0) break;
    next = fmax(sqrt(free / fmax(radius * radius - clipped, 0.0)), 1.0);
    if (!(next < s)) break;
  }
  for (int j = 0; j < dim; j++) x[j] = clip(centre[j] + (x[j] - centre[j]) / s);
}

typedef struct {
  RgBall ball;
  int dim, m;           /* starts */
  double *x, *gradient; /* m x dim: points and gradients there */
  double *value;        /* m: values */
  double *spectral;     /* m: step length */
  double *step;         /* m x dim: projected step from x */
  double *fraction;     /* m: fraction of the step under trial; 0: the start is at rest */
  double *X, *G, *F;    /* scratch of a batch */
  int *id;
} Search;

/* The projected step of start i, first tried in full. A negligible step puts the start at rest. */
static void propose(Search *search, int i)
{
  const int dim = search->dim;
  const double *x = search->x + (size_t)i * dim, *g = search->gradient + (size_t)i * dim;
  double *step = search->step + (size_t)i * dim, largest = 0.0;

  for (int j = 0; j < dim; j++) step[j] = x[j] + search->spectral[i] * g[j];
  rg_ball_project(&search->ball, step);
  for (int j = 0; j < dim; j++) {
    step[j] -= x[j];
    largest = fmax(largest, fabs(step[j]));
  }
  search->fraction[i] = isfinite(largest) && largest > TOLERANCE * search->ball.radius ? 1.0 : 0.0;
}

/* Take x + fraction * step with its value and gradient, or shorten the step. */
static void update(Search *search, int i, const double *X, double value, const double *gradient)
{
  const int dim = search->dim;
  double *x = search->x + (size_t)i * dim, *g = search->gradient + (size_t)i * dim;
  double *step = search->step + (size_t)i * dim, slope = 0.0, ss = 0.0, sy = 0.0;

  for (int j = 0; j < dim; j++) slope += g[j] * step[j];
  if (!(value >= search->value[i] + SUFFICIENT * search->fraction[i] * slope)) {
    search->fraction[i] *= 0.3;
    if (search->fraction[i] < 1e-12) search->fraction[i] = 0.0;
    return;
  }
  for (int j = 0; j < dim; j++) {
    double s = X[j] - x[j];
    ss += s * s;
    sy -= s * (gradient[j] - g[j]);
  }
  memcpy(x, X, (size_t)dim * sizeof(double));
  memcpy(g, gradient, (size_t)dim * sizeof(double));
  search->value[i] = value;
  search->spectral[i] = sy > 0.0 ? fmin(fmax(ss / sy, STEP_MIN), STEP_MAX) : STEP_MAX;
  propose(search, i);
}

static PetscErrorCode ascend(Search *search, RgBatchFunction function, void *closure)
{
  const size_t dim = (size_t)search->dim;

  PetscCall(function(closure, search->m, search->x, search->value, search->gradient));
  for (int i = 0; i < search->m; i++) {
    double norm = 0.0;
    for (size_t j = 0; j < dim; j++) norm = fmax(norm, fabs(search->gradient[i * dim + j]));
    search->spectral[i] = norm > 0.0 ? search->ball.radius / norm : 1.0;
    propose(search, i);
  }
  for (int round = 0; round < MAX_ITERATIONS; round++) {
    int n = 0;
    for (int i = 0; i < search->m; i++) {
      if (search->fraction[i] == 0.0) continue;
      for (size_t j = 0; j < dim; j++)
        search->X[n * dim + j] =
          search->x[i * dim + j] + search->fraction[i] * search->step[i * dim + j];
      search->id[n++] = i;
    }
    if (n == 0) break;
    PetscCall(rg_poll());
    PetscCall(function(closure, n, search->X, search->F, search->G));
    for (int k = 0; k < n; k++)
      update(search, search->id[k], search->X + k * dim, search->F[k], search->G + k * dim);
  }
  return 0;
}

/* Draw uniform points of the ball and project them onto the cube. */
static void draw_points(const RgBall *ball, int n, RgRandom *random, double *points)
{
  const int dim = ball->dim;

  for (int i = 0; i < n; i++) {
    double *x = points + (size_t)i * dim, norm, length;
    rg_random_normals(random, (size_t)dim, x);
    norm = 0.0;
    for (int j = 0; j < dim; j++) norm += x[j] * x[j];
    length = ball->radius * pow(rg_random_uniform(random), 1.0 / dim) / sqrt(norm);
    for (int j = 0; j < dim; j++) x[j] = ball->centre[j] + length * x[j];
    rg_ball_project(ball, x);
  }
}

PetscErrorCode rg_maximise_ball(const RgSearch *with, const RgBall *ball, RgBatchFunction function,
                                void *closure, double *best_x, double *best_value,
                                RgFailure *failure)
{
  const int raw_points = with->options->raw_samples, starts = with->options->restarts;
  const int dim = ball->dim;
  double *points, *value;
  int *chosen, count = 0, best = 0;

  PetscCall(PetscMalloc3((size_t)raw_points * dim, &points, (size_t)raw_points, &value,
                         (size_t)starts, &chosen));
  draw_points(ball, raw_points, with->random, points);
  PetscCall(function(closure, raw_points, points, value, NULL));
  for (int i = 0; i < raw_points; i++)
    if (isfinite(value[i])) count = rg_ranking_insert(value, i, count, starts, chosen);
  if (count == 0) {
    rg_failure_set(failure, "the acquisition function is finite at none of %d points of a ball",
                   raw_points);
    return PetscFree3(points, value, chosen);
  }
  const size_t n = (size_t)count * dim;
  Search search = {.ball = *ball, .dim = dim, .m = count};
  PetscCall(PetscCalloc5(n, &search.x, n, &search.gradient, count, &search.value, count,
                         &search.spectral, n, &search.step));
  PetscCall(PetscCalloc5(count, &search.fraction, n, &search.X, n, &search.G, count, &search.F,
                         count, &search.id));
  for (int k = 0; k < count; k++)
    PetscCall(PetscArraycpy(search.x + (size_t)k * dim, points + (size_t)chosen[k] * dim, dim));
  PetscCall(ascend(&search, function, closure));
  for (int k = 1; k < count; k++)
    if (search.value[k] > search.value[best]) best = k;
  *best_value = search.value[best];
  PetscCall(PetscArraycpy(best_x, search.x + (size_t)best * dim, dim));
  PetscCall(PetscFree5(search.x, search.gradient, search.value, search.spectral, search.step));
  PetscCall(PetscFree5(search.fraction, search.X, search.G, search.F, search.id));
  return PetscFree3(points, value, chosen);
}
