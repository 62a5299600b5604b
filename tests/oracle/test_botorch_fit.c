/* The two generations of BoTorch priors: sbo_kde oracles O4 and O14, wdrbo oracle O13. */
#include "test_main.h"

#include "fit_support.h"

static const RgFitOptions botorch2023 = {
  .length_scale = {RG_PRIOR_GAMMA, 3.0, 6.0},
  .variance = {RG_PRIOR_GAMMA, 2.0, 0.15},
  .noise = {RG_PRIOR_GAMMA, 1.1, 0.05},
  .length_scale_lower = 1e-3,
  .length_scale_upper = 1e3,
  .variance_lower = 1e-4,
  .variance_upper = 1e4,
  .learn_noise = true,
  .noise_lower = 1e-4,
  .noise_upper = 1e2,
  .learn_mean = true,
  .max_iterations = 2000,
  .tolerance = 1e-12,
};

/* Mean 0, deviation (divisor n-1) 1. */
static void standardise(int n, const double *y, double *z)
{
  double mean = 0.0, square = 0.0;
  for (int i = 0; i < n; i++) mean += y[i] / n;
  for (int i = 0; i < n; i++) square += (y[i] - mean) * (y[i] - mean) / (n - 1);
  for (int i = 0; i < n; i++) z[i] = (y[i] - mean) / sqrt(square);
}

RG_TEST(test_sbo_o4)
{
  const double X[12] = {0.10, 0.42, 0.35, 0.56, 0.50, 0.48, 0.65, 0.61, 0.80, 0.50, 0.95, 0.39};
  const double y[6] = {0.20, 0.90, 1.40, 1.10, 0.30, -0.50}, length_scale[2] = {0.3, 0.4};
  double z[6], value, gradient[4];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  standardise(6, y, z);
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, 2, true, length_scale, 1.5, &kernel));
  RG_OK(rg_fit_objective(&kernel, 0.01, 0.1, &(RgData){6, X, z}, &botorch2023, &value, gradient));
  RG_CLOSE(rg_fit_log_prior(&kernel, 0.01, &botorch2023), -6.3964895580637, 1e-12);
  RG_CLOSE(value, -6.8119738348137 - 6.3964895580637, 1e-12);
  RG_CLOSE(value / 6, -2.2014105654796, 1e-12);
}

RG_TEST(test_sbo_o14)
{
  enum { N = 12 };
  double X[2 * N], y[N], z[N], value, mean = 0.0, noise = 2.0, gradient[4];
  const double start[2] = {log(2.0), log(2.0)};
  int evaluations;
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  for (int i = 0; i < N; i++) {
    double whole;
    X[2 * i] = modf((i + 1) * 0.7548776662466927, &whole);
    X[2 * i + 1] = modf((i + 1) * 0.5698402909980532, &whole);
    y[i] = sin(6.0 * X[2 * i]) + X[2 * i + 1] * X[2 * i + 1];
  }
  standardise(N, y, z);
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, 2, true, start, log(2.0), &kernel));
  RG_OK(rg_fit_objective(&kernel, noise, mean, &(RgData){N, X, z}, &botorch2023, &value, gradient));
  RG_CLOSE(value / N, -2.2045815393292, 1e-12);
  RG_OK(
    rg_fit(&kernel, &noise, &mean, &(RgData){N, X, z}, &botorch2023, NULL, &value, &evaluations));
  RG_CLOSE(value / N, -1.20720728043, 1e-10);
  const RgKernelTerm *term = kernel.terms;
  RG_CLOSE(term->factors[0].length_scale[0], 0.35666467024948, 1e-5);
  RG_CLOSE(term->factors[0].length_scale[1], 1.1012953804548, 1e-5);
  RG_CLOSE(term->variance, 1.2647282544878, 1e-5);
  RG_CLOSE(noise, 0.00078060009766014, 1e-7);
  RG_CLOSE(mean, -0.01102073041511, 1e-5);
}

RG_TEST(test_wdrbo_o13)
{
  const RgFitOptions botorch2024 = {
    .length_scale = {RG_PRIOR_LOGNORMAL, sqrt(2.0) + 0.5 * log(2.0), sqrt(3.0)},
    .noise = {RG_PRIOR_LOGNORMAL, -4.0, 1.0},
    .learn_noise = true,
    .fix_variance = true,
  };
  RG_CLOSE(rg_prior_mode(&botorch2024.length_scale, 0.0), 0.28961209717006, 1e-13);
  RG_CLOSE(rg_prior_mode(&botorch2024.noise, 0.0), 0.0067379469990855, 1e-13);
  RG_CLOSE(rg_prior_log_density(&botorch2024.noise, 0.01), 3.503116175779, 1e-12);
  RG_CLOSE(rg_prior_log_density(&botorch2024.length_scale, 0.3), -1.7292388069638, 1e-12);
  RG_CLOSE(rg_prior_log_density(&botorch2024.length_scale, 0.5), -1.7787297822657, 1e-12);

  const double X[8] = {0.1, 0.3, 0.4, 0.7, 0.8, 0.2, 0.6, 0.9}, y[4] = {0.2, 0.9, -0.1, 0.5};
  const double length_scale[2] = {0.3, 0.5};
  double z[4], value, gradient[4];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel;
  standardise(4, y, z);
  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, true, length_scale, 1.0, &kernel));
  RG_OK(rg_fit_objective(&kernel, 0.01, 0.0, &(RgData){4, X, z}, &botorch2024, &value, gradient));
  RG_CLOSE(value - rg_fit_log_prior(&kernel, 0.01, &botorch2024), -6.090263091496, 1e-12);
  RG_CLOSE(value / 4, -1.5237788762366, 1e-12);
}
