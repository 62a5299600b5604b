/* Log marginal likelihood plus log priors with its gradient from one factorisation (irgp_ucb 2.4):
   with A = alpha alpha' - (K + v I)^-1, dL/dtheta_p = 1/2 sum_ij A_ij dK_ij/dtheta_p. */
#include "gp/model/fit.h"

#include <math.h>
#include <string.h>

#include "maths/blas.h"
#include "gp/posterior/exact/factor.h"
#include "gp/kernel/kernel_internal.h"

static const double log_2pi = 1.83787706640934548356065947281;

/* Room for n data. Grows geometrically, because data arrive one at a time. */
static PetscErrorCode reserve(RgFitWork *work, int n)
{
  PetscFunctionBeginUser;
  if (n > work->n) {
    size_t room = (size_t)rg_pad(PetscMax(n, 2 * work->n));
    PetscCall(PetscFree4(work->K, work->inverse, work->A, work->alpha));
    PetscCall(PetscMalloc4(room * room, &work->K, room * room, &work->inverse, room * room,
                           &work->A, 2 * room, &work->alpha));
    work->n = (int)room;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_fit_work_destroy(RgFitWork *work)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree4(work->K, work->inverse, work->A, work->alpha));
  PetscCall(PetscFree2(work->theta, work->free));
  memset(work, 0, sizeof *work);
  PetscFunctionReturn(0);
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

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_lower(kernel, n, X, ld, work->K));
  for (int i = 0; i < n; i++) work->K[i * stride] += noise_variance;
  *positive = rg_factor_cholesky(n, work->K, ld) == 0;
  for (int i = 0; *positive && i < n; i++) {
    const double pivot = work->K[i * stride];
    *positive = pivot * pivot > smallest; /* also false for NaN */
    sum += log(pivot);
  }
  *log_det = 2.0 * sum;
  PetscFunctionReturn(0);
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

  PetscFunctionBeginUser;
  rg_factor_invert(n, work->K, rg_pad(n), work->inverse);
  PetscCall(rg_factor_inverse_product(n, work->inverse, rg_pad(n), work->A));
  *trace = 0.0;
  for (int i = 0; i < n; i++) {
    double *row = work->A + (size_t)i * n;
    for (int j = 0; j <= i; j++) row[j] = alpha[i] * alpha[j] - row[j];
    *trace += row[i];
  }
  PetscFunctionReturn(0);
}

/* In the order of theta. A fixed variance has no prior. */
static void add_prior_gradient(const RgKernel *kernel, double noise_variance,
                               const RgFitOptions *options, double *gradient)
{
  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    for (int f = 0; f < term->n_factors; f++) {
      for (int s = 0; s < term->factors[f].n_scales; s++)
        *gradient++ +=
          rg_prior_log_gradient(&options->length_scale, term->factors[f].length_scale[s]);
    }
    if (!options->fix_variance)
      *gradient += rg_prior_log_gradient(&options->variance, term->variance);
    gradient++;
  }
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++)
    *gradient++ += rg_prior_log_gradient(&options->warp, kernel->warp[j]);
  for (int j = 0; kernel->trend && j < 2; j++)
    *gradient++ += rg_prior_log_gradient(&options->trend, kernel->trend[j]);
  if (options->learn_noise) *gradient += rg_prior_log_gradient(&options->noise, noise_variance);
}

double rg_fit_log_prior(const RgKernel *kernel, double noise_variance, const RgFitOptions *options)
{
  double sum = 0.0;
  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    for (int f = 0; f < term->n_factors; f++) {
      for (int s = 0; s < term->factors[f].n_scales; s++)
        sum += rg_prior_log_density(&options->length_scale, term->factors[f].length_scale[s]);
    }
    if (!options->fix_variance) sum += rg_prior_log_density(&options->variance, term->variance);
  }
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++)
    sum += rg_prior_log_density(&options->warp, kernel->warp[j]);
  for (int j = 0; kernel->trend && j < 2; j++)
    sum += rg_prior_log_density(&options->trend, kernel->trend[j]);
  if (options->learn_noise) sum += rg_prior_log_density(&options->noise, noise_variance);
  return sum;
}

/* The same computation by the team: one distributed matrix, freed afterwards. */
static PetscErrorCode objective_by_team(RgFitWork *work, const RgKernel *kernel,
                                        double noise_variance, double *mean, const RgData *data,
                                        const RgFitOptions *options, double *value,
                                        double *gradient)
{
  const int size = rg_kernel_theta_size(kernel);
  double *slope = NULL;

  PetscFunctionBeginUser;
  if (gradient) PetscCall(PetscMalloc1(size + 1, &slope));
  PetscCall(rg_team_objective(work->team, kernel, noise_variance, options->learn_mean, mean, data,
                              value, slope));
  *value += rg_fit_log_prior(kernel, noise_variance, options);
  if (!isfinite(*value)) *value = -INFINITY;
  if (gradient && isfinite(*value)) {
    for (int p = 0; p < size + (options->learn_noise ? 1 : 0); p++) gradient[p] = slope[p];
    add_prior_gradient(kernel, noise_variance, options, gradient);
  }
  PetscCall(PetscFree(slope));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_fit_objective_with(RgFitWork *work, const RgKernel *kernel, double noise_variance,
                                     double *mean, const RgData *data, const RgFitOptions *options,
                                     double *value, double *gradient)
{
  const int n = data->n;
  bool positive = false;
  double log_det = 0.0, fit = 0.0;

  PetscFunctionBeginUser;
  *value = -INFINITY;
  if (rg_team_takes(work->team, n)) {
    PetscCall(
      objective_by_team(work, kernel, noise_variance, mean, data, options, value, gradient));
    PetscFunctionReturn(0);
  }
  PetscCall(reserve(work, n));
  PetscCall(factorise(work, kernel, noise_variance, n, data->X, &log_det, &positive));
  if (!positive) PetscFunctionReturn(0);
  solve(work, n, data->y, options->learn_mean, mean);
  for (int i = 0; i < n; i++) fit += (data->y[i] - *mean) * work->alpha[i];
  double sum =
    -0.5 * (fit + log_det + n * log_2pi) + rg_fit_log_prior(kernel, noise_variance, options);
  if (!isfinite(sum)) PetscFunctionReturn(0);
  *value = sum;
  if (!gradient) PetscFunctionReturn(0);

  const int size = rg_kernel_theta_size(kernel);
  double trace = 0.0;
  PetscCall(contraction_matrix(work, n, &trace));
  PetscCall(rg_kernel_theta_gradient(kernel, n, data->X, work->A, gradient));
  for (int p = 0; p < size; p++) gradient[p] *= 0.5;
  if (options->learn_noise) gradient[size] = 0.5 * noise_variance * trace;
  add_prior_gradient(kernel, noise_variance, options, gradient);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_fit_objective(const RgKernel *kernel, double noise_variance, double mean,
                                const RgData *data, const RgFitOptions *options, double *value,
                                double *gradient)
{
  RgFitWork work = {0};
  RgFitOptions given = *options;

  PetscFunctionBeginUser;
  given.learn_mean = false;
  PetscCall(
    rg_fit_objective_with(&work, kernel, noise_variance, &mean, data, &given, value, gradient));
  PetscCall(rg_fit_work_destroy(&work));
  PetscFunctionReturn(0);
}
