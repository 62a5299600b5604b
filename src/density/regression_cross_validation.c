/* Cross-validated bandwidths (boke 2.3): for pictures of single estimates, not for the methods. */
#include "density/regression.h"

#include <math.h>

static double squared_distance(const RgRegression *r, int i, int j)
{
  double sum = 0.0;

  for (int k = 0; k < r->dim; k++) {
    double difference = r->x[k * r->ld + i] - r->x[k * r->ld + j];
    sum += difference * difference;
  }
  return sum;
}

/* Smallest squared distance from point i to another one. */
static double nearest_other(const RgRegression *r, int i)
{
  double nearest = INFINITY;

  for (int j = 0; j < r->n; j++)
    if (j != i) nearest = fmin(nearest, squared_distance(r, i, j));
  return nearest;
}

/* Weight of a point at squared distance r2, Gaussian relative to the nearest. */
static double relative_weight(const RgRegression *r, double h, double r2, double nearest)
{
  if (r->kernel == RG_SMOOTHING_GAUSSIAN) return exp((nearest - r2) / (2.0 * h * h));
  return rg_smoothing_value(r->kernel, r2 / (h * h));
}

static double left_out_mean(const RgRegression *r, double h, int i)
{
  double mass = 0.0, moment = 0.0, count = 0.0, sum = 0.0, nearest = nearest_other(r, i);

  for (int j = 0; j < r->n; j++) {
    if (j == i) continue;
    double r2 = squared_distance(r, i, j), weight = relative_weight(r, h, r2, nearest);
    mass += weight;
    moment += weight * r->y[j];
    if (r2 > nearest) continue;
    count += 1.0;
    sum += r->y[j];
  }
  return mass > 0.0 ? moment / mass : sum / count;
}

double rg_regression_cross_validation(const RgRegression *regression, double h)
{
  double sum = 0.0;

  for (int i = 0; i < regression->n; i++) {
    double error = regression->y[i] - left_out_mean(regression, h, i);
    sum += error * error;
  }
  return sum / regression->n;
}

double rg_density_cross_validation(const RgRegression *regression, double h)
{
  double sum = 0.0;

  for (int i = 0; i < regression->n; i++) {
    double nearest = nearest_other(regression, i), mass = 0.0;
    for (int j = 0; j < regression->n; j++)
      if (j != i) mass += exp((nearest - squared_distance(regression, i, j)) / (2.0 * h * h));
    sum += log(mass) - nearest / (2.0 * h * h);
  }
  return sum - regression->n * log((regression->n - 1) * h * sqrt(2.0 * M_PI));
}
