/* The trend of a kernel: values, gradients, the posterior against explicit basis functions, a
   quadratic function that few data determine. */
#include "gp_support.h"

#include "gp/model/fit.h"
#include "gp/model/model.h"
#include "gp/model/surrogate.h"

enum { DIM = 3, N = 14, M = 3 };

static RgKernel trend_kernel(void)
{
  const double length_scale[DIM] = {0.3, 0.5, 0.9};
  RgKernel kernel;
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, length_scale, 1.3, &kernel));
  RG_OK(rg_kernel_set_trend(&kernel));
  kernel.trend[0] = 0.7;
  kernel.trend[1] = 2.5;
  return kernel;
}

/* A second implementation of the stationary part and the trend. */
static double value(const RgKernel *kernel, const double *x, const double *z)
{
  RgKernel plain = *kernel;
  double s = 0, k;
  plain.trend = NULL;
  RG_OK(rg_kernel_cross(&plain, 1, x, 1, z, &k));
  for (int j = 0; j < DIM; j++) s += 4 * (x[j] - 0.5) * (z[j] - 0.5) / DIM;
  return k + kernel->trend[0] * s + kernel->trend[1] * s * s;
}

RG_TEST(values_and_copies)
{
  enum { MANY = 37 };
  double X[DIM * MANY], y[MANY], K[MANY * MANY], theta[6], again[6], largest = 0;
  const double corner[DIM] = {1, 0, 1};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = trend_kernel(), copy;
  support_smooth_data(MANY, X, y);
  RG_OK(rg_kernel_copy(&kernel, &copy));
  rg_kernel_get_theta(&kernel, theta);
  assert_int_equal(rg_kernel_theta_size(&kernel), 6);
  RG_CLOSE(theta[5], log(2.5), 1e-15);
  support_set_theta(&copy, theta);
  rg_kernel_get_theta(&copy, again);
  for (int p = 0; p < 6; p++) RG_CLOSE(again[p], theta[p], 1e-15);
  RG_OK(rg_kernel_matrix(&copy, MANY, X, K));
  for (int i = 0; i < MANY; i++) {
    for (int j = 0; j < MANY; j++)
      RG_CLOSE(K[i * MANY + j], value(&kernel, X + i * DIM, X + j * DIM), 1e-13);
    RG_CLOSE(rg_kernel_variance_at(&kernel, X + i * DIM), K[i * MANY + i], 1e-13);
    largest = fmax(largest, K[i * MANY + i]);
  }
  assert_true(largest < rg_kernel_largest_variance(&kernel));
  RG_CLOSE(rg_kernel_largest_variance(&kernel), value(&kernel, corner, corner), 1e-13);
}

/* Mean and variance by NumPy from the basis functions u_i and u_i u_j, u = 2 x - 1, of a Gaussian
   process whose kernel has no trend: equations 2.41 and 2.42 of Rasmussen and Williams (2006), with
   coefficients of variance v_1/dim, v_2/dim^2 for squares, 2 v_2/dim^2 for products; noise variance
   0.02, mean 0.1. */
static const double points[DIM * M] = {0.05, 0.9, 0.4, 0.5, 0.5, 0.5, 1, 0, 1};
static const double means[M] = {1.3523707627821366, 0.9493917977723538, -0.906308850558764};
static const double variances[M] = {0.7653255824480272, 0.07030686241737508, 1.4750745048364897};

static void check_basis_functions(RgPosterior *posterior)
{
  double mean[M], variance[M];

  support_predict(posterior, M, points, mean, variance);
  support_same(M, mean, means, 1e-12);
  support_same(M, variance, variances, 1e-12);
}

RG_TEST(posterior_agrees_with_basis_functions)
{
  double X[DIM * N], y[N];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = trend_kernel();
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  RG_NO_FAILURE(failure);
  support_smooth_data(N, X, y);
  support_fill(&kernel, 0.02, 0.1, N, X, y, &posterior);
  check_basis_functions(&posterior);
  RG_OK(rg_posterior_set(&posterior, NULL, 0.02, 0.1, N - 2, X, y, &failure));
  for (int i = N - 2; i < N; i++)
    RG_OK(rg_posterior_append(&posterior, X + i * DIM, y[i], &failure));
  check_basis_functions(&posterior);
  assert_true(posterior.jitter == 0);
}

RG_TEST(prediction_gradient)
{
  const double mean_bar[M] = {0.7, -1.2, 0.4}, variance_bar[M] = {-0.3, 2.0, 0.9}, h = 1e-5;
  double X[DIM * N], y[N], Z[DIM * M], mean[M], variance[M], G[DIM * M], sum[2];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = trend_kernel();
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {0};
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;
  support_smooth_data(N, X, y);
  memcpy(Z, points, sizeof Z);
  support_fill(&kernel, 0.02, 0.1, N, X, y, &posterior);
  RG_OK(rg_posterior_predict(&posterior, M, Z, mean, variance, &work));
  RG_OK(rg_posterior_gradient(&posterior, M, Z, mean_bar, variance_bar, &work, G));
  for (int i = 0; i < DIM * M; i++) {
    for (int side = 0; side < 2; side++) {
      Z[i] = points[i] + (side ? h : -h);
      support_predict(&posterior, M, Z, mean, variance);
      const int j = i / DIM;
      sum[side] = mean_bar[j] * mean[j] + variance_bar[j] * variance[j];
    }
    Z[i] = points[i];
    RG_CLOSE(G[i], (sum[1] - sum[0]) / (2 * h), 1e-8);
  }
}

/* An inclined bowl in four dimensions: 15 coefficients. */
static double bowl(const double *x)
{
  double value = 3 - x[0] + 0.5 * x[3];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j <= i; j++) value -= (1 + i + 2 * j) * (x[i] - 0.3) * (x[j] - 0.6);
  return 1000 * value;
}

/* The largest error of the posterior mean at 50 points, in standard deviations of the outputs, of a
   model of 24 data. */
static double largest_error(const char *mean_kind)
{
  enum { DATA = 24, TESTED = 50 };
  const double lower[4] = {0, 0, 0, 0}, upper[4] = {1, 1, 1, 1};
  double X[4 * (DATA + TESTED)], mean[TESTED], sd[TESTED], largest = 0;
  RgSurrogateOptions options = {0};
  RgDiagnostics diagnostics = {0};
  RG_OWNED(rg_domain_destroy) RgDomain domain = {0};
  RgHistory history;
  RG_NO_FAILURE(failure);
  RgModel model;
  const RgParam *entry;
  const RgStream stream = rg_stream(1, "test", 0, "trend", 5);
  RG_OK(rg_space_box(&domain.design, 4, lower, upper));
  RG_OK(rg_params_defaults(rg_surrogate_params, &options));
  RG_OK(rg_params_set(rg_surrogate_params, &options, "mean", 1, &mean_kind, (RgPlace){0},
                      &diagnostics, &entry));
  RG_OK(rg_history_create(&domain, DATA, &history));
  history.n_initial = DATA;
  support_points(3, DATA + TESTED, 4, X);
  for (int i = 0; i < DATA; i++)
    RG_OK(rg_history_append(&history, X + 4 * i, -1, NULL, -1, bowl(X + 4 * i)));
  RG_OK(rg_model_create(&domain, &options, false, 0, DATA, &stream, NULL, &model));
  RG_OK(rg_model_update(&model, &history, &failure));
  assert_true(model.report.refitted);
  RG_OK(rg_model_predict(&model, TESTED, X + 4 * DATA, mean, sd));
  for (int i = 0; i < TESTED; i++)
    largest = fmax(largest, fabs(mean[i] - rg_model_units(&model, bowl(X + 4 * (DATA + i)))));
  RG_OK(rg_model_destroy(&model));
  RG_OK(rg_history_destroy(&history));
  RG_OK(rg_params_clear(rg_surrogate_params, &options));
  return largest;
}

RG_TEST(quadratic_function_is_learned)
{
  assert_true(largest_error("quadratic") < 0.01);
  assert_true(largest_error("constant") > 0.1);
}
