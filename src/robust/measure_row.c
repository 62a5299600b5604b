/* Bounds of a measure over the contexts of one design. */
#include "robust/measure_row.h"

#include <math.h>
#include <stdlib.h>

#define MASS 1e-12 /* tolerance of sums of probabilities */

static double expectation(int n, const double *f, const double *p)
{
  double sum = 0.0;

#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += p[i] * f[i];
  return sum;
}

static double least(int n, const double *f)
{
  double value = f[0];

#pragma omp simd reduction(min : value)
  for (int i = 0; i < n; i++) value = f[i] < value ? f[i] : value;
  return value;
}

static double largest(int n, const double *f)
{
  double value = f[0];

#pragma omp simd reduction(max : value)
  for (int i = 0; i < n; i++) value = f[i] > value ? f[i] : value;
  return value;
}

static double mass_above(int n, const double *f, const double *p, double threshold)
{
  double sum = 0.0;

#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; i++) sum += f[i] >= threshold ? p[i] : 0.0;
  return sum < 1.0 ? sum : 1.0;
}

/* ---- deviations -------------------------------------------------------------------------- */

/* f - E f lies between lc = l - E u and uc = u - E l. Its distance from 0 is at least
   min(|lc|,|uc|) - max(min(-lc, uc), 0), and at most max(|lc|,|uc|). */
static void absolute_deviation(const RgMeasureRow *row, double *lower, double *upper)
{
  const double *l = row->l, *u = row->u, *p = row->p;
  double el = expectation(row->n, l, p), eu = expectation(row->n, u, p), low = 0.0, up = 0.0;

#pragma omp simd reduction(+ : low, up)
  for (int i = 0; i < row->n; i++) {
    double lc = l[i] - eu, uc = u[i] - el, a = fabs(lc), b = fabs(uc);
    double inside = -lc < uc ? -lc : uc;

    inside = inside > 0.0 ? inside : 0.0;
    low += p[i] * ((a < b ? a : b) - inside);
    up += p[i] * (a > b ? a : b);
  }
  *lower = low;
  *upper = up;
}

static void squared_deviation(const RgMeasureRow *row, double *lower, double *upper)
{
  const double *l = row->l, *u = row->u, *p = row->p;
  double el = expectation(row->n, l, p), eu = expectation(row->n, u, p), low = 0.0, up = 0.0;

#pragma omp simd reduction(+ : low, up)
  for (int i = 0; i < row->n; i++) {
    double lc = l[i] - eu, uc = u[i] - el, a = lc * lc, b = uc * uc;
    double inside = -lc < uc ? -lc : uc;

    inside = inside > 0.0 ? inside : 0.0;
    low += p[i] * ((a < b ? a : b) - inside * inside);
    up += p[i] * (a > b ? a : b);
  }
  *lower = low > 0.0 ? low : 0.0;
  *upper = up;
}

/* ---- quantiles --------------------------------------------------------------------------- */

static double median3(double a, double b, double c)
{
  double low = a < b ? a : b, high = a < b ? b : a;

  return c < low ? low : (c > high ? high : c);
}

/* Keep the entries on one side of the pivot; returns how many. */
static int keep(int n, double *v, double *w, double pivot, bool below)
{
  int kept = 0;

  for (int i = 0; i < n; i++) {
    double vi = v[i], wi = w[i];

    v[kept] = vi;
    w[kept] = wi;
    kept += below ? vi < pivot : vi > pivot;
  }
  return kept;
}

/* Value at risk by weighted selection; *tail: integral of the value at risk from 0 to alpha. */
static double value_at_risk(const RgMeasureRow *row, const double *f, double alpha, double *tail)
{
  double *v = row->scratch, *w = row->scratch + row->n, pivot = f[0], mass = 0.0, sum = 0.0;
  int n = row->n;

  for (int i = 0; i < n; i++) {
    v[i] = f[i];
    w[i] = row->p[i];
  }
  while (n > 0) {
    double below = 0.0, below_sum = 0.0, equal = 0.0;

    pivot = median3(v[0], v[n / 2], v[n - 1]);
#pragma omp simd reduction(+ : below, below_sum, equal)
    for (int i = 0; i < n; i++) {
      below += v[i] < pivot ? w[i] : 0.0;
      below_sum += v[i] < pivot ? w[i] * v[i] : 0.0;
      equal += v[i] == pivot ? w[i] : 0.0;
    }
    if (mass + below >= alpha - MASS) {
      n = keep(n, v, w, pivot, true);
      continue;
    }
    mass += below;
    sum += below_sum;
    if (mass + equal >= alpha - MASS) break;
    mass += equal;
    sum += equal * pivot;
    n = keep(n, v, w, pivot, false);
  }
  *tail = sum + (alpha - mass) * pivot;
  return pivot;
}

static double conditional_value_at_risk(const RgMeasureRow *row, const double *f, double alpha)
{
  double tail;

  value_at_risk(row, f, alpha, &tail);
  return tail / alpha;
}

/* ---- distributionally robust ------------------------------------------------------------- */

typedef struct {
  double value, mass;
} Atom;

static int compare_atoms(const void *a, const void *b)
{
  double x = ((const Atom *)a)->value, y = ((const Atom *)b)->value;

  return (x > y) - (x < y);
}

/* Least expectation over probabilities within L1 distance `radius`: mass moves from the largest
   values to the smallest. */
static double ball_expectation(const RgMeasureRow *row, const double *f, double radius)
{
  Atom *atoms = (Atom *)row->scratch;
  double moved, sum = 0.0;

  for (int i = 0; i < row->n; i++) atoms[i] = (Atom){f[i], row->p[i]};
  qsort(atoms, (size_t)row->n, sizeof *atoms, compare_atoms);
  moved = fmin(0.5 * radius, 1.0 - atoms[0].mass);
  sum = moved * atoms[0].value;
  for (int i = row->n - 1; i >= 0; i--) {
    double taken = i > 0 ? fmin(moved, atoms[i].mass) : 0.0;

    moved -= taken;
    sum += (atoms[i].mass - taken) * atoms[i].value;
  }
  return sum;
}

static void robust(const RgMeasure *measure, const RgMeasureRow *row, double *lower, double *upper)
{
  RgMeasureRow other = *row;
  double low, up;

  if (measure->parameter > 0.0) {
    *lower = ball_expectation(row, row->l, measure->parameter);
    *upper = row->u == row->l ? *lower : ball_expectation(row, row->u, measure->parameter);
    return;
  }
  *lower = *upper = INFINITY;
  for (int k = measure->nominal ? -1 : 0; k < measure->n_pmfs; k++) {
    other.p = k < 0 ? row->p : measure->pmfs + (size_t)k * row->n;
    rg_measure_row(measure->parts, &other, &low, &up);
    *lower = fmin(*lower, low);
    *upper = fmin(*upper, up);
  }
}

/* ---- all --------------------------------------------------------------------------------- */

static void sum(const RgMeasure *measure, const RgMeasureRow *row, double *lower, double *upper)
{
  double low, up;

  *lower = *upper = measure->constant;
  for (int i = 0; i < measure->n_parts; i++) {
    double a = measure->coefficients[i];

    rg_measure_row(&measure->parts[i], row, &low, &up);
    *lower += a * (a < 0.0 ? up : low);
    *upper += a * (a < 0.0 ? low : up);
  }
}

static void map(const RgMeasure *measure, const RgMeasureRow *row, double *lower, double *upper)
{
  rg_measure_row(measure->parts, row, lower, upper);
  switch (measure->kind) {
  case RG_MEASURE_TANH:
    *lower = tanh(*lower);
    *upper = tanh(*upper);
    break;
  case RG_MEASURE_EXP:
    *lower = exp(*lower);
    *upper = exp(*upper);
    break;
  default:
    *lower = fmin(fmax(*lower, measure->parameter), measure->most);
    *upper = fmin(fmax(*upper, measure->parameter), measure->most);
  }
}

/* Measures that never decrease when f grows: apply the measure to l and to u. */
static double increasing(const RgMeasure *measure, const RgMeasureRow *row, const double *f)
{
  double tail;

  switch (measure->kind) {
  case RG_MEASURE_EXPECTATION: return expectation(row->n, f, row->p);
  case RG_MEASURE_WORST: return least(row->n, f);
  case RG_MEASURE_BEST: return largest(row->n, f);
  case RG_MEASURE_VAR: return value_at_risk(row, f, measure->parameter, &tail);
  case RG_MEASURE_CVAR: return conditional_value_at_risk(row, f, measure->parameter);
  default: return mass_above(row->n, f, row->p, measure->parameter);
  }
}

void rg_measure_row(const RgMeasure *measure, const RgMeasureRow *row, double *lower, double *upper)
{
  switch (measure->kind) {
  case RG_MEASURE_MAD: absolute_deviation(row, lower, upper); break;
  case RG_MEASURE_VARIANCE: squared_deviation(row, lower, upper); break;
  case RG_MEASURE_SD:
    squared_deviation(row, lower, upper);
    *lower = sqrt(*lower);
    *upper = sqrt(*upper);
    break;
  case RG_MEASURE_ROBUST: robust(measure, row, lower, upper); break;
  case RG_MEASURE_CLIP:
  case RG_MEASURE_TANH:
  case RG_MEASURE_EXP: map(measure, row, lower, upper); break;
  case RG_MEASURE_SUM: sum(measure, row, lower, upper); break;
  default:
    *lower = increasing(measure, row, row->l);
    *upper = row->u == row->l ? *lower : increasing(measure, row, row->u);
  }
}

void rg_measure_intervals(int n, const double *mean, const double *variance, double width,
                          double *l, double *u)
{
#pragma omp simd
  for (int i = 0; i < n; i++) {
    double half = width * sqrt(variance[i]);

    l[i] = mean[i] - half;
    u[i] = mean[i] + half;
  }
}
