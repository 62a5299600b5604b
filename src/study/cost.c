#include "study/cost.h"

#include <math.h>

/* Measured on one AVX-512 core with OpenBLAS; seconds per unit of the formula in cost.h. */
static const struct {
  double trial;     /* start and record of a trial */
  double iteration; /* the loop itself */
  double update;    /* one point of a finite domain, per datum */
  double kernel;    /* one kernel value, per input */
  double solve;     /* one pair of data in the prediction at one point */
  double start;     /* bookkeeping of one start of the search, per round */
  double factor;    /* one cubed datum in a likelihood with gradient */
} unit = {1e-3, 1e-5, 4e-10, 2e-10, 5e-11, 5e-6, 2e-10};

/* Rounds a local search takes on average, and likelihood evaluations per start of a fit. */
static const double search_rounds = 20, fit_evaluations = 25;

/* Resident set of the process before it holds any trial. */
static const double process_bytes = 60e6;

/* sum of t^p over t = a .. b-1, by the integral. */
static double power_sum(double a, double b, int p)
{
  return (pow(b, p + 1) - pow(a, p + 1)) / (p + 1);
}

/* Number of points a finite domain has for the model; 0 on a box. */
static double finite_points(const RgCell *cell)
{
  if (!cell->size_x || (cell->dim_c && !cell->size_c)) return 0;
  return (double)cell->size_x * (cell->size_c ? cell->size_c : 1);
}

static double model_seconds(const RgCell *cell, double n0, double n)
{
  const double inputs = cell->dim_x + cell->dim_c, points = finite_points(cell);
  const double t1 = power_sum(n0, n, 1), t2 = power_sum(n0, n, 2), t3 = power_sum(n0, n, 3);
  const bool fitted = cell->surrogate.fit != RG_FIT_FIXED;
  const double refits = fitted ? 1.0 / cell->surrogate.refit_every : 0; /* per iteration */
  const double starts = 1 + cell->surrogate.fit_starts;
  double seconds =
      refits * starts * fit_evaluations * (unit.factor * t3 + unit.kernel * inputs * t2);

  if (points > 0) return seconds + unit.update * points * (t1 + refits * t2 / 2);
  const double rounds = cell->maximiser.max_iterations < search_rounds
                            ? cell->maximiser.max_iterations
                            : search_rounds;
  const double local = 2 * rounds * cell->maximiser.restarts; /* value and gradient */
  seconds += (cell->maximiser.raw_samples + local) * (unit.kernel * inputs * t1 + unit.solve * t2);
  return seconds + unit.start * local * (n - n0);
}

static double model_bytes(const RgCell *cell, double n)
{
  const double inputs = cell->dim_x + cell->dim_c, points = finite_points(cell);
  const double batch = fmax(cell->maximiser.raw_samples, cell->maximiser.restarts);
  const double factors = cell->surrogate.fit != RG_FIT_FIXED ? 4 : 2;

  if (points > 0) return 8 * (points * (n + 4 + inputs) + factors * n * n);
  return 8 * (factors * n * n + 2 * n * batch + batch * inputs * 2 + n * inputs);
}

void rg_cost_estimate(const RgCell *cell, double *seconds, double *bytes)
{
  const double n0 = cell->run.initial_points, n = n0 + cell->run.iterations;

  *seconds = unit.trial + unit.iteration * n;
  *bytes = process_bytes + 8 * n * (32 + 2 * cell->dim_x + cell->dim_c) +
           8.0 * cell->size_x * cell->dim_x;
  if (!cell->algorithm->uses_model) return;
  *seconds += model_seconds(cell, n0, n);
  *bytes += model_bytes(cell, n);
}
