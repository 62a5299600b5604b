/* Queries by kernel regression: upper confidence bound, exploitation, least density. */
#include "acquisition/regression_search.h"

#include "acquisition/local_search.h"
#include "maths/design.h"

#include <math.h>

#define OVERFLOW 300.0 /* from this log W^(-1/2) on, bounds are compared by their logarithms */
#define TIE 1e-12      /* values of m this close count as equal (boke 2.6) */
#define BELOW -1000.0  /* key of bounds that are not positive; all other keys are larger */
#define INTERIOR 8     /* one raw point in INTERIOR stays at its Sobol position */
#define RAW 500        /* smallest number of raw points per input */
#define STARTS 100     /* smallest number of starts of the local search per input */
#define MOST RG_SEARCH_DENSE_MAX /* inputs up to which both grow; then work is constant */

/* The state of W after the first batch: it is zero somewhere, or W^(-1/2) is about to overflow. */
static void choose_scale(RgRegressionSearch *search, int m, const double *log_weight)
{
  double least = INFINITY;

  for (int i = 0; i < m; i++) least = fmin(least, log_weight[i]);
  search->scaled = true;
  search->scale = RG_REGRESSION_PLAIN;
  if (search->goal == RG_REGRESSION_MEAN) return;
  if (least == -INFINITY) search->scale = RG_REGRESSION_DISTANCE;
  else if (search->goal == RG_REGRESSION_UCB && search->width > 0.0 && -0.5 * least > OVERFLOW)
    search->scale = RG_REGRESSION_LOGARITHM;
}

/* Values from m (in: value) and log W; with gradients dm (in: gradient) and d_log. n x dim. */
static void bound(const RgRegressionSearch *search, int m, int dim, const double *log_weight,
                  const double *d_log, double *value, double *gradient)
{
  for (int i = 0; i < m; i++) {
    double mean = (value[i] - search->shift) / search->deviation;
    double sd = search->width > 0.0 ? search->width * exp(-0.5 * log_weight[i]) : 0.0;
    double *g = gradient ? gradient + (size_t)i * dim : NULL;
    value[i] = mean + sd;
    for (int k = 0; g && k < dim; k++)
      g[k] = g[k] / search->deviation - 0.5 * sd * d_log[(size_t)i * dim + k];
  }
}

/* log(m + width W^(-1/2)) = log width - log W/2 + log1p(ratio), ratio = m W^(1/2)/width. */
static void log_bound(const RgRegressionSearch *search, int m, int dim, const double *log_weight,
                      const double *d_log, double *value, double *gradient)
{
  for (int i = 0; i < m; i++) {
    double mean = (value[i] - search->shift) / search->deviation;
    double inverse = exp(0.5 * log_weight[i]) / search->width, ratio = mean * inverse;
    double *g = gradient ? gradient + (size_t)i * dim : NULL;
    if (ratio > -1.0) {
      value[i] = log(search->width) - 0.5 * log_weight[i] + log1p(ratio);
      for (int k = 0; g && k < dim; k++)
        g[k] =
          (g[k] / search->deviation * inverse - 0.5 * d_log[(size_t)i * dim + k]) / (1.0 + ratio);
    } else {
      value[i] = BELOW + mean / (1.0 + fabs(mean));
      for (int k = 0; g && k < dim; k++)
        g[k] = g[k] / search->deviation / ((1.0 + fabs(mean)) * (1.0 + fabs(mean)));
    }
  }
}

static void exploitation(const RgRegressionSearch *search, int m, int dim, double *value,
                         double *gradient)
{
  for (int i = 0; i < m; i++) {
    double mean = (value[i] - search->shift) / search->deviation;
    double grid = TIE * fmax(1.0, fabs(mean));
    value[i] = grid * round(mean / grid);
    for (int k = 0; gradient && k < dim; k++) gradient[(size_t)i * dim + k] /= search->deviation;
  }
}

PetscErrorCode rg_regression_value(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  RgRegressionSearch *search = closure;
  const int dim = search->regression->dim;
  double *log_weight, *d_log = NULL;

  search->evaluations += m;
  if (search->scaled && search->scale == RG_REGRESSION_DISTANCE)
    return rg_regression_distance(search->regression, m, X, value, gradient);
  PetscCall(PetscMalloc1((size_t)m, &log_weight));
  if (gradient) PetscCall(PetscMalloc1((size_t)m * dim, &d_log));
  PetscCall(
    rg_regression_predict(search->regression, search->h, m, X, value, log_weight, gradient, d_log));
  if (!search->scaled) choose_scale(search, m, log_weight);
  if (search->scale == RG_REGRESSION_DISTANCE)
    PetscCall(rg_regression_distance(search->regression, m, X, value, gradient));
  else if (search->goal == RG_REGRESSION_SPACE) {
    for (int i = 0; i < m; i++) value[i] = -log_weight[i];
    for (size_t k = 0; gradient && k < (size_t)m * dim; k++) gradient[k] = -d_log[k];
  } else if (search->goal == RG_REGRESSION_MEAN) exploitation(search, m, dim, value, gradient);
  else if (search->scale == RG_REGRESSION_LOGARITHM)
    log_bound(search, m, dim, log_weight, d_log, value, gradient);
  else bound(search, m, dim, log_weight, d_log, value, gradient);
  PetscCall(PetscFree(log_weight));
  return PetscFree(d_log);
}

/* Sobol points. All but the first eighth move to faces of the cube: u becomes 3u - 1, clipped to
   [0,1]. -log W grows outwards from the data. So its maxima, and those of the bound, are corners
   of the data's Voronoi cells as the cube cuts them: hundreds of hills of nearly equal height,
   most of them on faces of various dimensions. */
static PetscErrorCode raw_points(void *closure, RgRandom *random, int n, double *X, double *value)
{
  const size_t dim = (size_t)((RgRegressionSearch *)closure)->regression->dim;

  PetscCall(rg_design_sobol(random, n, (int)dim, X));
  for (size_t k = dim * (size_t)(n / INTERIOR); k < dim * (size_t)n; k++)
    X[k] = fmin(fmax(3.0 * X[k] - 1.0, 0.0), 1.0);
  return rg_regression_value(closure, n, X, value, NULL);
}

bool rg_regression_widen(int dim, RgMaximiserOptions *options)
{
  if (options->max_iterations <= 0 || options->local_search != RG_LOCAL_SEARCH_BATCHED)
    return false;
  const int counted = dim > MOST ? MOST * MOST / dim : dim;
  options->raw_samples = PetscMax(options->raw_samples, RAW * counted);
  options->restarts = PetscMax(options->restarts, STARTS * counted);
  return true;
}

PetscErrorCode rg_regression_acquire(const RgDomain *domain, RgRegressionSearch *regression,
                                     const RgSearch *search, RgQuery *query, double *value,
                                     RgFailure *failure)
{
  const RgScreen faces = {
    .function = rg_regression_value, .closure = regression, .raw = raw_points};
  RgMaximiserOptions options = *search->options;
  RgSearch with = *search;
  const RgSpace *space = &domain->design;
  double mean, log_weight, unused, *values;

  with.options = &options;
  regression->scaled = false;
  if (regression->regression->kernel == RG_SMOOTHING_UNIFORM) options.max_iterations = 0;
  const bool lockstep = rg_regression_widen(space->dim, &options);
  if (rg_space_is_finite(space) && regression->goal != RG_REGRESSION_MEAN) {
    /* the scale depends on all points, but rg_acquire_with passes them in parts */
    PetscCall(PetscMalloc1((size_t)space->size, &values));
    PetscCall(rg_regression_value(regression, space->size, space->points, values, NULL));
    PetscCall(PetscFree(values));
  }
  PetscCall(rg_acquire_screened(domain, rg_regression_value, regression, lockstep ? &faces : NULL,
                                &with, query, &unused, failure));
  if (failure->failed) return 0;
  PetscCall(rg_regression_predict(regression->regression, regression->h, 1, query->x, &mean,
                                  &log_weight, NULL, NULL));
  mean = (mean - regression->shift) / regression->deviation;
  if (regression->goal == RG_REGRESSION_SPACE) *value = -log_weight;
  else if (regression->goal == RG_REGRESSION_MEAN || regression->width == 0.0) *value = mean;
  else *value = mean + regression->width * exp(-0.5 * log_weight);
  return 0;
}
