/* The fill distance of points in the unit cube. */
#include "regret/fill_distance.h"

#include <math.h>

#include "acquisition/ranking.h"
#include "maths/blas.h"
#include "maths/design.h"

#define STARTS 20
#define STEP_MIN 1e-9

/* Make the evaluation points: unscrambled Sobol points, and the corners. */
static PetscErrorCode make_grid(RgFill *fill)
{
  const int sobol = fill->dim <= 3 ? 1 << 14 : 1 << 16, corners = 1 << fill->dim;
  double *points;

  fill->m = sobol + corners;
  PetscCall(PetscMalloc2((size_t)fill->m * fill->dim, &fill->grid, fill->m, &fill->nearest));
  PetscCall(PetscMalloc1((size_t)sobol * fill->dim, &points));
  PetscCall(rg_sobol_points(sobol, fill->dim, points));
  for (int i = 0; i < fill->m; i++)
    for (int k = 0; k < fill->dim; k++)
      fill->grid[(size_t)k * fill->m + i] =
        i < sobol ? points[(size_t)i * fill->dim + k] : (i - sobol) >> k & 1;
  return PetscFree(points);
}

/* Remove all points of the design. */
static void reset(RgFill *fill)
{
  fill->n = 0;
  for (int i = 0; i < fill->m; i++) fill->nearest[i] = INFINITY;
}

PetscErrorCode rg_fill_create(int dim, int capacity, RgFill *fill)
{
  PetscCheck(dim >= 1 && dim <= RG_FILL_MAX_DIM, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "fill distance in %d dimensions, at most %d", dim, RG_FILL_MAX_DIM);
  *fill = (RgFill){.dim = dim, .capacity = capacity};
  PetscCall(PetscMalloc1((size_t)capacity * dim, &fill->points));
  if (dim > 1) PetscCall(make_grid(fill));
  reset(fill);
  return 0;
}

PetscErrorCode rg_fill_destroy(RgFill *fill)
{
  PetscCall(PetscFree(fill->points));
  return PetscFree2(fill->grid, fill->nearest);
}

PetscErrorCode rg_fill_append(RgFill *fill, const double *x)
{
  enum { BLOCK = 512 };
  double r2[BLOCK];

  PetscCheck(fill->n < fill->capacity, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "more than %d points",
             fill->capacity);
  PetscCall(PetscArraycpy(fill->points + (size_t)fill->n * fill->dim, x, fill->dim));
  fill->n++;
  for (int begin = 0; begin < fill->m; begin += BLOCK) {
    const int count = PetscMin(BLOCK, fill->m - begin);
    for (int i = 0; i < count; i++) r2[i] = 0;
    for (int k = 0; k < fill->dim; k++) {
      const double *column = fill->grid + (size_t)k * fill->m + begin;
      for (int i = 0; i < count; i++) r2[i] += (column[i] - x[k]) * (column[i] - x[k]);
    }
    for (int i = 0; i < count; i++)
      fill->nearest[begin + i] =
        r2[i] < fill->nearest[begin + i] ? r2[i] : fill->nearest[begin + i];
  }
  return 0;
}

static double squared_distance(const RgFill *fill, const double *x)
{
  double least = INFINITY;

  for (int i = 0; i < fill->n; i++)
    least = fmin(least, rg_squared_distance(fill->dim, x, fill->points + (size_t)i * fill->dim));
  return least;
}

/* Improve x by a compass search. Returns the largest squared distance. */
static double polish(const RgFill *fill, double *x, double value)
{
  double step = 0.5 * pow(fill->m, -1.0 / fill->dim);

  while (step > STEP_MIN) {
    bool better = false;
    for (int k = 0; k < 2 * fill->dim && !better; k++) {
      const double old = x[k / 2];
      x[k / 2] = fmin(fmax(old + (k % 2 ? step : -step), 0), 1);
      double there = squared_distance(fill, x);
      better = there > value;
      if (better) value = there;
      else x[k / 2] = old;
    }
    if (!better) step *= 0.5;
  }
  return value;
}

/* In one dimension: half the largest gap, or the distance to an end. */
static double gaps(const RgFill *fill)
{
  double *x, largest;

  if (PetscMalloc1(fill->n, &x)) return NAN;
  for (int i = 0; i < fill->n; i++) x[i] = fill->points[i];
  if (PetscSortReal(fill->n, x)) return NAN;
  largest = fmax(x[0], 1 - x[fill->n - 1]);
  for (int i = 1; i < fill->n; i++) largest = fmax(largest, 0.5 * (x[i] - x[i - 1]));
  if (PetscFree(x)) return NAN;
  return largest;
}

double rg_fill_distance(const RgFill *fill)
{
  int best[STARTS], count = 0;
  double x[RG_FILL_MAX_DIM], largest = 0;

  if (fill->dim == 1) return gaps(fill);
  for (int i = 0; i < fill->m; i++)
    count = rg_ranking_insert(fill->nearest, i, count, STARTS, best);
  for (int k = 0; k < count; k++) {
    for (int j = 0; j < fill->dim; j++) x[j] = fill->grid[(size_t)j * fill->m + best[k]];
    largest = fmax(largest, polish(fill, x, fill->nearest[best[k]]));
  }
  return sqrt(largest);
}

PetscErrorCode rg_fill_of_queries(RgAlgorithm *algorithm, const RgHistory *history,
                                  double *distance)
{
  const RgAlgorithmClass *class = algorithm->class;
  const int dim = history->dim, n = history->n;
  double *points;
  RgFill fill;

  PetscCall(rg_fill_create(dim, n, &fill));
  PetscCall(PetscMalloc1((size_t)n * dim, &points));
  PetscCall(PetscArraycpy(points, history->x, (size_t)n * dim));
  for (int row = 0; row < n; row++) {
    const bool fresh = class->traits & RG_HYPERCUBE && row >= history->n_initial;
    if (fresh) {
      RgRandom random = rg_algorithm_stream_at(algorithm, "fresh", row + 1);
      PetscCall(rg_design_latin_hypercube(&random, row + 1, dim, points));
      reset(&fill);
    }
    for (int i = fresh ? 0 : row; i <= row; i++)
      PetscCall(rg_fill_append(&fill, points + (size_t)i * dim));
    distance[row] = rg_fill_distance(&fill);
  }
  PetscCall(PetscFree(points));
  return rg_fill_destroy(&fill);
}

double rg_fill_covering_bound(double n, int dim)
{
  const double half = 0.5 * dim, volume = exp(half * log(M_PI) - lgamma(half + 1));

  return pow(n * volume, -1.0 / dim);
}
