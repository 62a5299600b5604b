/* Penalties on points in flight: slopes of the posterior mean, factors, their product with the
   acquisition function. */
#include "acquisition/penalty.h"

#include "gp/model/pending.h"
#include "maths/blas.h"
#include "maths/normal.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { RAW_MOST = 256, STARTS_MOST = 4, ITERATIONS_MOST = 30 };

#define STEP 1e-4     /* step of finite differences of gradients, unit cube */
#define NO_SLOPE 1e-7 /* a smaller slope is replaced by SLOPE */
#define SLOPE 10      /* De Ath et al. (2021) take this slope */

bool rg_penalty_is_due(const RgModel *model, const RgHistory *history)
{
  const RgPendingOptions *options = rg_model_pending_options(model);

  return options && options->rule == RG_PENDING_PENALISE && history->pending.n > 0;
}

/* ---- the slope of the mean ------------------------------------------------------------------ */

typedef struct {
  RgPosterior *posterior;
  RgPrediction work;
  double *lower, *width; /* dim: the box */
} Slope;

/* Compute gradients of the mean at m points of the unit cube. */
static PetscErrorCode gradients(Slope *slope, int m, const double *X, double *G)
{
  double *mean, *ones;

  PetscCall(PetscMalloc2(m, &mean, m, &ones));
  for (int i = 0; i < m; i++) ones[i] = 1;
  PetscCall(rg_posterior_predict(slope->posterior, m, X, mean, NULL, &slope->work));
  PetscCall(rg_posterior_gradient(slope->posterior, m, X, ones, NULL, &slope->work, G));
  return PetscFree2(mean, ones);
}

static double length(int dim, const double *v)
{
  double squares = 0;

  for (int j = 0; j < dim; j++) squares += v[j] * v[j];
  return sqrt(squares);
}

/* d|g|/dx = H g/|g|, by the difference of g along g/|g|. */
static PetscErrorCode second_order(Slope *slope, int m, const double *X, const double *G, double *H)
{
  const int dim = slope->posterior->kernel.dim;
  const size_t size = (size_t)m * (size_t)dim;
  double *at, *ends;

  PetscCall(PetscMalloc2(2 * size, &at, 2 * size, &ends));
  for (int i = 0; i < m; i++) {
    const double norm = length(dim, G + (size_t)i * dim);
    for (int j = 0; j < dim; j++) {
      const size_t k = (size_t)i * dim + j;
      const double step = norm > 0 ? STEP * G[k] / norm : 0;
      at[k] = X[k] + step;
      at[size + k] = X[k] - step;
    }
  }
  PetscCall(gradients(slope, 2 * m, at, ends));
  for (size_t k = 0; k < size; k++) H[k] = (ends[k] - ends[size + k]) / (2 * STEP);
  return PetscFree2(at, ends);
}

/* The slope at points of the box, which are given as points of the unit cube. */
static PetscErrorCode slope_in_box(void *closure, int m, const double *U, double *value,
                                   double *gradient)
{
  Slope *slope = closure;
  const int dim = slope->posterior->kernel.dim;
  double *X, *G;

  PetscCall(PetscMalloc2((size_t)m * dim, &X, (size_t)m * dim, &G));
  for (int i = 0; i < m * dim; i++) X[i] = slope->lower[i % dim] + slope->width[i % dim] * U[i];
  PetscCall(gradients(slope, m, X, G));
  for (int i = 0; i < m; i++) value[i] = length(dim, G + (size_t)i * dim);
  if (gradient) {
    PetscCall(second_order(slope, m, X, G, gradient));
    for (int i = 0; i < m * dim; i++) gradient[i] *= slope->width[i % dim];
  }
  return PetscFree2(X, G);
}

static PetscErrorCode largest_slope(Slope *slope, const RgSearch *search, RgRandom *random,
                                    double *largest, RgFailure *failure)
{
  const int dim = slope->posterior->kernel.dim;
  RgMaximiserOptions options = *search->options;
  double *x;

  options.raw_samples = PetscMin(options.raw_samples, RAW_MOST);
  options.restarts = PetscMin(options.restarts, STARTS_MOST);
  options.max_iterations = PetscMin(options.max_iterations, ITERATIONS_MOST);
  const RgSearch own = {.options = &options, .random = random};
  PetscCall(PetscMalloc1(dim, &x));
  PetscCall(rg_maximise_box(&own, dim, slope_in_box, slope, x, largest, failure));
  PetscCall(PetscFree(x));
  if (*largest < NO_SLOPE) *largest = SLOPE;
  return 0;
}

/* Find L of every point in flight: one for all, or one in a box around each that the cube clips. */
static PetscErrorCode find_slopes(RgPenalty *penalty, RgPosterior *posterior,
                                  const RgSearch *search, RgRandom *random, RgFailure *failure)
{
  const bool local = penalty->options.lipschitz == RG_LIPSCHITZ_LOCAL;
  Slope slope = {.posterior = posterior};
  double least, most;

  PetscCall(PetscMalloc2(penalty->dim, &slope.lower, penalty->dim, &slope.width));
  for (int i = 0; i < penalty->n && !failure->failed; i++) {
    for (int j = 0; j < penalty->dim; j++) {
      const double x = penalty->x[(size_t)i * penalty->dim + j];
      if (local) rg_kernel_scale_range(&posterior->kernel, j, &least, &most);
      const double half = local ? penalty->options.box * most : 1;
      slope.lower[j] = fmax(x - half, 0);
      slope.width[j] = fmin(x + half, 1) - slope.lower[j];
    }
    if (!local && i) penalty->slope[i] = penalty->slope[0];
    else PetscCall(largest_slope(&slope, search, random, &penalty->slope[i], failure));
  }
  PetscCall(rg_prediction_destroy(&slope.work));
  return PetscFree2(slope.lower, slope.width);
}

/* ---- life ---------------------------------------------------------------------------------- */

/* Create the posterior of the same data on the cube, for a model of a finite design. */
static PetscErrorCode posterior_on_cube(const RgModel *model, const RgHistory *history,
                                        RgPosterior *posterior, RgFailure *failure)
{
  double *y;

  PetscCall(PetscMalloc1(history->n, &y));
  for (int i = 0; i < history->n; i++) y[i] = rg_model_units(model, history->y[i]);
  PetscCall(rg_posterior_create(&model->kernel, model->noise_variance, model->mean,
                                PetscMax(history->n, 1), posterior));
  PetscCall(rg_posterior_set(posterior, NULL, model->noise_variance, model->mean, history->n,
                             history->x, y, failure));
  return PetscFree(y);
}

PetscErrorCode rg_penalty_create(RgModel *model, const RgSearch *search, RgPenalty *penalty,
                                 RgFailure *failure)
{
  const RgHistory *history = search->history;
  const bool finite = rg_space_is_finite(&model->domain->design);
  RgRandom random = rg_model_pending_random(model, history, "lipschitz");
  RgPosterior own = {0}, *posterior = &model->posterior;
  RgPrediction work = {0};

  *penalty = (RgPenalty){.n = history->pending.n,
                         .dim = history->dim,
                         .x = history->pending.x,
                         .best = model->mean,
                         .options = *rg_model_pending_options(model)};
  for (int i = 0; i < history->n; i++) {
    const double y = rg_model_units(model, history->y[i]);
    penalty->best = i ? fmax(penalty->best, y) : y;
  }
  PetscCall(PetscMalloc3(penalty->n, &penalty->mean, penalty->n, &penalty->sd, penalty->n,
                         &penalty->slope));
  if (finite) PetscCall(posterior_on_cube(model, history, &own, failure));
  if (finite) posterior = &own;
  if (!failure->failed) {
    PetscCall(
      rg_posterior_predict(posterior, penalty->n, penalty->x, penalty->mean, penalty->sd, &work));
    for (int i = 0; i < penalty->n; i++) penalty->sd[i] = sqrt(penalty->sd[i]);
    PetscCall(find_slopes(penalty, posterior, search, &random, failure));
  }
  PetscCall(rg_prediction_destroy(&work));
  if (finite) PetscCall(rg_posterior_destroy(&own));
  return 0;
}

PetscErrorCode rg_penalty_destroy(RgPenalty *penalty)
{
  return PetscFree3(penalty->mean, penalty->sd, penalty->slope);
}

/* ---- factors ------------------------------------------------------------------------------- */

/* Return log Phi((L d - (M - mu))/sd) and its derivative by d. */
static double soft(const RgPenalty *penalty, int i, double d, double *slope)
{
  const double margin = penalty->slope[i] * d - (penalty->best - penalty->mean[i]);

  *slope = 0;
  if (penalty->sd[i] == 0) return margin >= 0 ? 0 : -INFINITY;
  const double z = margin / penalty->sd[i];
  *slope = rg_normal_hazard(z) * penalty->slope[i] / penalty->sd[i];
  return rg_normal_log_cdf(z);
}

/* Return the logarithm of (s^-5 + 1)^(-1/5), and its derivative by log s. */
static double cone(double log_s, double *slope)
{
  const double fifth = exp(5 * log_s);

  *slope = 1 / (1 + fifth);
  return log_s > 0 ? -log1p(exp(-5 * log_s)) / 5 : log_s - log1p(fifth) / 5;
}

/* r of the hard penaliser. The released program takes no absolute value; where its radius is
   negative, only the product of two such radii counts. */
static double radius(const RgPenalty *penalty, int i)
{
  const double gap = penalty->best - penalty->mean[i];
  const bool released = penalty->options.clip == RG_CLIP_PRODUCT;

  return fabs((released ? gap : fabs(gap)) + penalty->sd[i]) / penalty->slope[i];
}

/* Add a multiple of d|x - x_i|/dx. */
static void add_direction(int dim, const double *x, const double *centre, double weight,
                          double *gradient)
{
  for (int j = 0; gradient && j < dim; j++) gradient[j] += weight * (x[j] - centre[j]);
}

/* Return the sum of the logarithms of the factors at x, each cone clipped at 1. */
static double each(const RgPenalty *penalty, const double *x, double *gradient)
{
  double sum = 0, slope;

  for (int i = 0; i < penalty->n; i++) {
    const double *centre = penalty->x + (size_t)i * penalty->dim;
    const double d = sqrt(rg_squared_distance(penalty->dim, x, centre));
    if (penalty->options.penaliser == RG_PENALISER_SOFT) {
      sum += soft(penalty, i, d, &slope);
    } else {
      sum += cone(log(d / radius(penalty, i)), &slope);
      slope /= d;
    }
    if (d > 0) add_direction(penalty->dim, x, centre, slope / d, gradient);
  }
  return sum;
}

/* Like `each`, but the product of all cones is clipped once. */
static double together(const RgPenalty *penalty, const double *x, double *gradient)
{
  double log_s = 0, slope;

  for (int i = 0; i < penalty->n; i++) {
    const double *centre = penalty->x + (size_t)i * penalty->dim;
    log_s += log(sqrt(rg_squared_distance(penalty->dim, x, centre)) / radius(penalty, i));
  }
  const double value = cone(log_s, &slope);
  for (int i = 0; i < penalty->n; i++) {
    const double *centre = penalty->x + (size_t)i * penalty->dim;
    const double d = sqrt(rg_squared_distance(penalty->dim, x, centre));
    if (d > 0) add_direction(penalty->dim, x, centre, slope / (d * d), gradient);
  }
  return value;
}

/* Return log log(1 + e^a), and its derivative. */
static double log_softplus(double a, double *slope)
{
  const double softplus = a > 0 ? a + log1p(exp(-a)) : log1p(exp(a));

  if (a < -30) { /* softplus = e^a */
    *slope = 1;
    return a;
  }
  *slope = 1 / ((1 + exp(-a)) * softplus);
  return log(softplus);
}

/* The logarithm of the factor that stands for a value a, and its derivative. A positive function
   that has underflowed counts as the least positive number. */
static double log_form(RgForm form, double a, double *slope)
{
  *slope = 1;
  switch (form) {
  case RG_FORM_ANY: return log_softplus(a, slope);
  case RG_FORM_LOGARITHM: return a;
  case RG_FORM_POSITIVE: *slope = a > DBL_MIN ? 1 / a : 0; return log(fmax(a, DBL_MIN));
  case RG_FORM_NORMAL: *slope = rg_normal_hazard(a); return rg_normal_log_cdf(a);
  }
  return a;
}

void rg_penalty_apply(const RgPenalty *penalty, RgForm form, int m, const double *X, double *value,
                      double *gradient)
{
  const int dim = penalty->dim;
  const bool product =
    penalty->options.penaliser == RG_PENALISER_HARD && penalty->options.clip == RG_CLIP_PRODUCT;

  for (int i = 0; i < m; i++) {
    double *row = gradient ? gradient + (size_t)i * dim : NULL, slope;
    const double *x = X + (size_t)i * dim;
    value[i] = log_form(form, value[i], &slope);
    for (int j = 0; row && j < dim; j++) row[j] *= slope;
    value[i] += product ? together(penalty, x, row) : each(penalty, x, row);
  }
}
