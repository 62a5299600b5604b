/* Maximisation of the fit objective over the logarithms of the free hyperparameters in their box,
   by L-BFGS-B from the warm start and from log-uniform starts.

   The objective is divided by 1 + n/2, about the curvature of a log likelihood of n data in one
   logarithmic hyperparameter: the first unit step of L-BFGS-B is then near a Newton step and a
   tolerance means the same at every n. */
#include "gp/model/fit.h"
#include "base/poll.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/exact/exact.h"
#include "maths/blas.h"

#include <math.h>
#include <string.h>

static const double log_sqrt_2pi = 0.918938533204672741780329736406;

double rg_prior_log_density(const RgPrior *prior, double x)
{
  const double a = prior->a, b = prior->b;
  switch (prior->family) {
  case RG_PRIOR_GAMMA: return a * log(b) - lgamma(a) + (a - 1.0) * log(x) - b * x;
  case RG_PRIOR_LOGNORMAL: {
    double z = (log(x) - a) / b;
    return -log(x) - log(b) - log_sqrt_2pi - 0.5 * z * z;
  }
  case RG_PRIOR_NONE: break;
  }
  return 0.0;
}

double rg_prior_log_gradient(const RgPrior *prior, double x)
{
  const double a = prior->a, b = prior->b;
  switch (prior->family) {
  case RG_PRIOR_GAMMA: return a - 1.0 - b * x;
  case RG_PRIOR_LOGNORMAL: return -1.0 - (log(x) - a) / (b * b);
  case RG_PRIOR_NONE: break;
  }
  return 0.0;
}

double rg_prior_mode(const RgPrior *prior, double otherwise)
{
  const double a = prior->a, b = prior->b;
  switch (prior->family) {
  case RG_PRIOR_GAMMA: return a > 1.0 ? (a - 1.0) / b : otherwise;
  case RG_PRIOR_LOGNORMAL: return exp(a - b * b);
  case RG_PRIOR_NONE: break;
  }
  return otherwise;
}

static const double log_2pi = 1.83787706640934548356065947281;

/* Room for n data. Grows geometrically, because data arrive one at a time. */
static PetscErrorCode reserve(RgFitWork *work, int n)
{
  if (n > work->n) {
    size_t room = (size_t)rg_pad(PetscMax(n, 2 * work->n));
    PetscCall(PetscFree4(work->K, work->inverse, work->A, work->alpha));
    PetscCall(PetscMalloc4(room * room, &work->K, room * room, &work->inverse, room * room,
                           &work->A, 2 * room, &work->alpha));
    work->n = (int)room;
  }
  return 0;
}

PetscErrorCode rg_fit_work_destroy(RgFitWork *work)
{
  PetscCall(PetscFree4(work->K, work->inverse, work->A, work->alpha));
  PetscCall(PetscFree3(work->theta, work->free, work->at));
  memset(work, 0, sizeof *work);
  return 0;
}

/* K + v I = L L'. *log_det = log det; *positive is false when a pivot fails. As in the
   posterior, a squared pivot at rounding level fails too: the error of its logarithm would
   outweigh many data. */
static PetscErrorCode factorise(RgFitWork *work, const RgKernel *kernel, double noise_variance,
                                int n, const double *X, double *log_det, bool *positive)
{
  const int ld = rg_pad(n);
  const size_t stride = (size_t)ld + 1;
  const double smallest = n * PETSC_MACHINE_EPSILON * rg_kernel_largest_variance(kernel);
  double sum = 0.0;

  PetscCall(rg_kernel_lower(kernel, n, X, ld, work->K));
  for (int i = 0; i < n; i++) work->K[i * stride] += noise_variance;
  *positive = rg_factor_cholesky(n, work->K, ld) == 0;
  for (int i = 0; *positive && i < n; i++) {
    const double pivot = work->K[i * stride];
    *positive = pivot * pivot > smallest; /* also false for NaN */
    sum += log(pivot);
  }
  *log_det = 2.0 * sum;
  return 0;
}

/* alpha = (K + v I)^-1 (y - mean). With learn_mean, first set the mean to 1'K^-1 y / 1'K^-1 1. */
static void solve(RgFitWork *work, int n, const double *y, bool learn_mean, double *mean)
{
  double *alpha = work->alpha, *ones = work->alpha + n;
  if (learn_mean) {
    double wy = 0.0, w1 = 0.0;
    memcpy(alpha, y, (size_t)n * sizeof *y);
    for (int i = 0; i < n; i++) ones[i] = 1.0;
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, 2, work->K, rg_pad(n), alpha, n);
    for (int i = 0; i < n; i++) {
      wy += alpha[i];
      w1 += ones[i];
    }
    *mean = wy / w1;
    for (int i = 0; i < n; i++) alpha[i] -= *mean * ones[i];
  } else {
    for (int i = 0; i < n; i++) alpha[i] = y[i] - *mean;
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, 1, work->K, rg_pad(n), alpha, n);
  }
}

/* A = alpha alpha' - (K + v I)^-1, lower triangle; *trace of A. */
static PetscErrorCode contraction_matrix(RgFitWork *work, int n, double *trace)
{
  const double *alpha = work->alpha;

  rg_factor_invert(n, work->K, rg_pad(n), work->inverse);
  PetscCall(rg_factor_inverse_product(n, work->inverse, rg_pad(n), work->A));
  *trace = 0.0;
  for (int i = 0; i < n; i++) {
    double *row = work->A + (size_t)i * n;
    for (int j = 0; j <= i; j++) row[j] = alpha[i] * alpha[j] - row[j];
    *trace += row[i];
  }
  return 0;
}

static void add_prior(const RgPrior *prior, double x, double *sum, double **gradient)
{
  *sum += rg_prior_log_density(prior, x);
  if (*gradient) *(*gradient)++ += rg_prior_log_gradient(prior, x);
}

/* The sum of the log priors; what they add to a gradient (NULL: not wanted), in the order of theta.
   A fixed variance has no prior. */
static double add_priors(const RgKernel *kernel, double noise_variance, const RgFitOptions *options,
                         double *gradient)
{
  static const RgPrior none = {RG_PRIOR_NONE, 0, 0};
  const RgPrior *variance = options->fix_variance ? &none : &options->variance;
  double sum = 0.0;

  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    for (int f = 0; f < term->n_factors; f++) {
      for (int s = 0; s < term->factors[f].n_scales; s++)
        add_prior(&options->length_scale, term->factors[f].length_scale[s], &sum, &gradient);
      if (gradient) gradient += rg_kernel_n_odds(&term->factors[f]);
    }
    add_prior(variance, term->variance, &sum, &gradient);
  }
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++)
    add_prior(&options->warp, kernel->warp[j], &sum, &gradient);
  for (int j = 0; kernel->trend && j < 2; j++)
    add_prior(&options->trend, kernel->trend[j], &sum, &gradient);
  if (options->learn_noise) add_prior(&options->noise, noise_variance, &sum, &gradient);
  return sum;
}

double rg_fit_log_prior(const RgKernel *kernel, double noise_variance, const RgFitOptions *options)
{
  return add_priors(kernel, noise_variance, options, NULL);
}

/* The same computation by the team: one distributed matrix, freed afterwards. */
static PetscErrorCode objective_by_team(RgFitWork *work, const RgKernel *kernel,
                                        double noise_variance, double *mean, const RgData *data,
                                        const RgFitOptions *options, double *value,
                                        double *gradient)
{
  const int size = rg_kernel_theta_size(kernel);
  double *slope = NULL;

  if (gradient) PetscCall(PetscMalloc1(size + 1, &slope));
  PetscCall(rg_team_objective(work->team, kernel, noise_variance, options->learn_mean, mean, data,
                              value, slope));
  *value += rg_fit_log_prior(kernel, noise_variance, options);
  if (!isfinite(*value)) *value = -INFINITY;
  if (gradient && isfinite(*value)) {
    for (int p = 0; p < size + (options->learn_noise ? 1 : 0); p++) gradient[p] = slope[p];
    (void)add_priors(kernel, noise_variance, options, gradient);
  }
  return PetscFree(slope);
}

PetscErrorCode rg_fit_objective_with(RgFitWork *work, const RgKernel *kernel, double noise_variance,
                                     double *mean, const RgData *data, const RgFitOptions *options,
                                     double *value, double *gradient)
{
  const int n = data->n;
  bool positive = false;
  double log_det = 0.0, fit = 0.0;

  *value = -INFINITY;
  if (rg_team_takes(work->team, n))
    return objective_by_team(work, kernel, noise_variance, mean, data, options, value, gradient);
  PetscCall(reserve(work, n));
  PetscCall(factorise(work, kernel, noise_variance, n, data->X, &log_det, &positive));
  if (!positive) return 0;
  solve(work, n, data->y, options->learn_mean, mean);
  for (int i = 0; i < n; i++) fit += (data->y[i] - *mean) * work->alpha[i];
  double sum =
    -0.5 * (fit + log_det + n * log_2pi) + rg_fit_log_prior(kernel, noise_variance, options);
  if (!isfinite(sum)) return 0;
  *value = sum;
  if (!gradient) return 0;

  const int size = rg_kernel_theta_size(kernel);
  double trace = 0.0;
  PetscCall(contraction_matrix(work, n, &trace));
  PetscCall(rg_kernel_theta_gradient(kernel, n, data->X, work->A, gradient));
  for (int p = 0; p < size; p++) gradient[p] *= 0.5;
  if (options->learn_noise) gradient[size] = 0.5 * noise_variance * trace;
  (void)add_priors(kernel, noise_variance, options, gradient);
  return 0;
}

enum { MEMORY = 10 };
#define ODDS_MOST 1e3 /* and least odds are its inverse */

/* One fit. Arrays of `size`: hyperparameters of the kernel, then the noise variance. */
typedef struct {
  RgFitWork *work;
  RgKernel *kernel;
  const RgFitOptions *options;
  const RgData *data;
  int size, n_free, evaluations;
  double scale;                                 /* limits of the objective's search */
  double *value, *given;                        /* current trial values, not their logarithms */
  double *gradient;                             /* gradient of the objective by all logarithms */
  double *lower, *upper, *start, *slope, *best; /* n_free, logarithms */
  double best_value, best_mean;
} Fit;

/* ---- hyperparameters as one array ---------------------------------------------------------- */

/* One more hyperparameter; a fixed one keeps its value. */
static void add_hyperparameter(Fit *fit, double *at, bool fixed, double lower, double upper)
{
  const int i = fit->size++;

  fit->work->at[i] = at;
  fit->given[i] = fit->value[i] = *at;
  if (fixed) return;
  fit->work->free[fit->n_free] = i;
  fit->lower[fit->n_free] = log(lower);
  fit->upper[fit->n_free++] = log(upper);
}

static void set_values(const Fit *fit)
{
  for (int i = 0; i < fit->size; i++) *fit->work->at[i] = fit->value[i];
}

static PetscErrorCode fit_begin(Fit *fit, double *noise_variance)
{
  const RgFitOptions *o = fit->options;
  RgKernel *kernel = fit->kernel;
  RgFitWork *work = fit->work;
  double **part[] = {&fit->value, &fit->given, &fit->gradient, &fit->lower,
                     &fit->upper, &fit->start, &fit->slope,    &fit->best};
  const int parts = sizeof part / sizeof *part, room = rg_kernel_theta_size(kernel) + 1;

  if (room > work->theta_size) {
    PetscCall(PetscFree3(work->theta, work->free, work->at));
    PetscCall(PetscMalloc3((size_t)parts * room, &work->theta, room, &work->free, room, &work->at));
    work->theta_size = room;
  }
  for (int i = 0; i < parts; i++) *part[i] = work->theta + (size_t)i * room;
  for (int t = 0; t < kernel->n_terms; t++) {
    RgKernelTerm *term = &kernel->terms[t];
    for (int f = 0; f < term->n_factors; f++) {
      for (int s = 0; s < term->factors[f].n_scales; s++)
        add_hyperparameter(fit, &term->factors[f].length_scale[s], false, o->length_scale_lower,
                           o->length_scale_upper);
      for (int s = 0; s < rg_kernel_n_odds(&term->factors[f]); s++)
        add_hyperparameter(fit, &term->factors[f].odds[s], false, 1 / ODDS_MOST, ODDS_MOST);
    }
    add_hyperparameter(fit, &term->variance, o->fix_variance, o->variance_lower, o->variance_upper);
  }
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++)
    add_hyperparameter(fit, &kernel->warp[j], false, o->warp_lower, o->warp_upper);
  for (int j = 0; kernel->trend && j < 2; j++)
    add_hyperparameter(fit, &kernel->trend[j], false, o->trend_lower, o->trend_upper);
  add_hyperparameter(fit, noise_variance, !o->learn_noise, o->noise_lower, o->noise_upper);
  fit->scale = fit->data ? 1.0 / (1.0 + 0.5 * fit->data->n) : 1.0;
  fit->best_value = -INFINITY;
  return 0;
}

/* ---- search -------------------------------------------------------------------------------- */

/* Objective and slope at the free logarithms `x` in the form the search expects: scaled, to be
   minimised. */
static PetscErrorCode evaluate(Fit *fit, const double *x, double *mean, double *value)
{
  PetscCall(rg_poll());
  for (int k = 0; k < fit->n_free; k++) fit->value[fit->work->free[k]] = exp(x[k]);
  set_values(fit);
  memset(fit->gradient, 0, (size_t)fit->size * sizeof(double));
  PetscCall(rg_fit_objective_with(fit->work, fit->kernel, fit->value[fit->size - 1], mean,
                                  fit->data, fit->options, value, fit->gradient));
  fit->evaluations++;
  if (*value > fit->best_value) {
    fit->best_value = *value;
    fit->best_mean = *mean;
    memcpy(fit->best, x, (size_t)fit->n_free * sizeof *x);
  }
  for (int k = 0; k < fit->n_free; k++)
    fit->slope[k] = -fit->scale * fit->gradient[fit->work->free[k]];
  *value *= -fit->scale;
  return 0;
}

/* Run one start; *first: its initial objective. */
static PetscErrorCode search_from_start(Fit *fit, RgLbfgsb *search, double mean, double *first)
{
  const int most = fit->options->max_evaluations, before = fit->evaluations;
  RgLbfgsbStatus status;
  double value;

  PetscCall(rg_lbfgsb_begin(search, fit->start, &status));
  while (status == RG_LBFGSB_EVALUATE && (!most || fit->evaluations - before < most)) {
    PetscCall(evaluate(fit, search->x, &mean, &value));
    if (search->evaluations == 0) *first = -value / fit->scale;
    PetscCall(rg_lbfgsb_step(search, value, fit->slope, &status));
  }
  return 0;
}

static void draw_start(Fit *fit, RgRandom *random)
{
  for (int k = 0; k < fit->n_free; k++)
    fit->start[k] = fit->lower[k] + (fit->upper[k] - fit->lower[k]) * rg_random_uniform(random);
}

PetscErrorCode rg_fit_draw(RgFitWork *work, const RgFitOptions *options, RgRandom *random,
                           RgKernel *kernel, double *noise_variance)
{
  Fit fit = {.work = work, .kernel = kernel, .options = options};

  PetscCall(fit_begin(&fit, noise_variance));
  draw_start(&fit, random);
  for (int k = 0; k < fit.n_free; k++) fit.value[work->free[k]] = exp(fit.start[k]);
  set_values(&fit);
  return 0;
}

PetscErrorCode rg_fit_with(RgFitWork *work, RgKernel *kernel, double *noise_variance, double *mean,
                           const RgData *data, const RgFitOptions *options, RgRandom *random,
                           RgFitReport *report)
{
  Fit fit = {.work = work, .kernel = kernel, .options = options, .data = data};
  RgLbfgsb search;
  double first[2], value, start_mean = *mean, steepest = 0;

  PetscCheck(data->n >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "a fit needs data");
  PetscCall(fit_begin(&fit, noise_variance));
  for (int k = 0; k < fit.n_free; k++) fit.start[k] = log(fit.given[work->free[k]]);
  if (options->first_step > 0) {
    /* Scale the objective down where its slope at the start is so steep that a unit step would
       change a logarithm by more than this. */
    PetscCall(evaluate(&fit, fit.start, &start_mean, &value));
    for (int k = 0; k < fit.n_free; k++) steepest = fmax(steepest, fabs(fit.slope[k]));
    if (steepest > options->first_step) fit.scale *= options->first_step / steepest;
  }
  /* A start ends when an iteration gains less than the tolerance, or when the gradient promises
     less: at unit curvature in scaled units, a projected gradient g gains g^2/2 in each
     hyperparameter. */
  const double tolerance = options->tolerance * fit.scale;
  const RgLbfgsbLimits limits = {.factr = tolerance / PETSC_MACHINE_EPSILON,
                                 .pgtol = sqrt(2.0 * tolerance / fit.n_free),
                                 .max_iterations = options->max_iterations};
  PetscCall(rg_lbfgsb_create(fit.n_free, MEMORY, fit.lower, fit.upper, &limits, &search));
  PetscCall(search_from_start(&fit, &search, *mean, &first[0]));
  for (int s = 0; s < options->starts; s++) {
    draw_start(&fit, random);
    PetscCall(search_from_start(&fit, &search, *mean, &first[1]));
  }
  PetscCall(rg_lbfgsb_destroy(&search));

  *report = (RgFitReport){fit.best_value, first[0], fit.evaluations};
  memcpy(fit.value, fit.given, (size_t)fit.size * sizeof(double));
  if (isfinite(fit.best_value)) {
    for (int k = 0; k < fit.n_free; k++) fit.value[work->free[k]] = exp(fit.best[k]);
    *mean = fit.best_mean;
  }
  set_values(&fit);
  return 0;
}
