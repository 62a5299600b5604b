/* Fit objective and its maximisation: gradients against differences for every kernel, the optimum
   against SciPy and random search, planted hyperparameters, profiled mean, failure, bits. */
#include "gp_support.h"

#include "maths/blas.h"
#include "fit_support.h"

enum { DIM = 3 };

static const RgFitOptions full = {
  .length_scale = {RG_PRIOR_GAMMA, 3.0, 6.0},
  .variance = {RG_PRIOR_LOGNORMAL, 0.2, 1.5},
  .noise = {RG_PRIOR_GAMMA, 1.1, 0.05},
  .warp = {RG_PRIOR_LOGNORMAL, 0.25, 0.5},
  .trend = {RG_PRIOR_LOGNORMAL, 2.0, 2.0},
  .warp_lower = 0.1,
  .warp_upper = 10,
  .length_scale_lower = 1e-2,
  .length_scale_upper = 10.0,
  .variance_lower = 1e-2,
  .variance_upper = 1e2,
  .learn_noise = true,
  .noise_lower = 1e-6,
  .noise_upper = 1.0,
  .max_iterations = 1000,
  .tolerance = 1e-12,
};

/* n points of the unit cube (an additive recurrence) and a smooth function on them. */
static void make_data(int n, double *X, double *y)
{
  const double step[DIM] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};
  for (int i = 0; i < n; i++) {
    double *x = X + DIM * i, whole;
    for (int j = 0; j < DIM; j++) x[j] = modf((i + 1) * step[j], &whole);
    y[i] = sin(5.0 * x[0]) + x[1] * x[1] - 0.3 * cos(7.0 * x[2]);
  }
}

static RgKernel isotropic_or_ard(RgKernelFamily family, bool ard)
{
  const double length_scale[DIM] = {0.3, 0.5, 0.9};
  RgKernel kernel;
  RG_OK(rg_kernel_create(family, DIM, ard, length_scale, 1.3, &kernel));
  return kernel;
}

RG_TEST(test_prior)
{
  const RgPrior none = {0}, gamma = {RG_PRIOR_GAMMA, 3.0, 6.0};
  const RgPrior lognormal = {RG_PRIOR_LOGNORMAL, -1.0, 0.5};
  RG_CLOSE(rg_prior_log_density(&none, 0.7), 0.0, 0.0);
  RG_CLOSE(rg_prior_log_gradient(&none, 0.7), 0.0, 0.0);
  RG_CLOSE(rg_prior_mode(&none, 0.7), 0.7, 0.0);
  /* scipy.stats.gamma(3, scale=1/6).logpdf(0.4), lognorm(0.5, scale=exp(-1)).logpdf(0.4) */
  RG_CLOSE(rg_prior_log_density(&gamma, 0.4), 0.44954976337590935, 1e-13);
  RG_CLOSE(rg_prior_log_density(&lognormal, 0.4), 0.6764848960890983, 1e-13);
  RG_CLOSE(rg_prior_mode(&gamma, 0.0), 1.0 / 3.0, 1e-15);
  RG_CLOSE(rg_prior_mode(&lognormal, 0.0), exp(-1.25), 1e-15);
  RG_CLOSE(rg_prior_mode(&(RgPrior){RG_PRIOR_GAMMA, 0.5, 1.0}, 9.0), 9.0, 0.0);
  const RgPrior *priors[2] = {&gamma, &lognormal};
  for (int i = 0; i < 2; i++) {
    double h = 1e-5, high = rg_prior_log_density(priors[i], 0.4 * exp(h));
    double low = rg_prior_log_density(priors[i], 0.4 * exp(-h));
    RG_CLOSE(rg_prior_log_gradient(priors[i], 0.4), (high - low) / (2 * h), 1e-8);
    RG_CLOSE(rg_prior_log_gradient(priors[i], rg_prior_mode(priors[i], 0.0)), 0.0, 1e-14);
  }
}

/* Central differences of the objective in every logarithm. Takes the kernel. */
static void check_gradient(RgKernel kernel, const RgFitOptions *options)
{
  enum { N = 17 };
  double X[DIM * N], y[N], gradient[16], theta[16], value, high, low, noise = 0.02;
  const double h = 1e-5;
  const int size = rg_kernel_theta_size(&kernel);
  make_data(N, X, y);
  RG_OK(rg_fit_objective(&kernel, noise, 0.1, &(RgData){N, X, y}, options, &value, gradient));
  rg_kernel_get_theta(&kernel, theta);
  for (int p = 0; p < size; p++) {
    double keep = theta[p];
    theta[p] = keep + h;
    support_set_theta(&kernel, theta);
    RG_OK(rg_fit_objective(&kernel, noise, 0.1, &(RgData){N, X, y}, options, &high, NULL));
    theta[p] = keep - h;
    support_set_theta(&kernel, theta);
    RG_OK(rg_fit_objective(&kernel, noise, 0.1, &(RgData){N, X, y}, options, &low, NULL));
    theta[p] = keep;
    RG_CLOSE(gradient[p], (high - low) / (2 * h), 1e-7);
  }
  support_set_theta(&kernel, theta);
  if (options->learn_noise) {
    RG_OK(rg_fit_objective(&kernel, noise * exp(h), 0.1, &(RgData){N, X, y}, options, &high, NULL));
    RG_OK(rg_fit_objective(&kernel, noise * exp(-h), 0.1, &(RgData){N, X, y}, options, &low, NULL));
    RG_CLOSE(gradient[size], (high - low) / (2 * h), 1e-7);
  }
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(test_gradient)
{
  const int group[DIM] = {0, 1, 0};
  const double length_scale[DIM] = {0.4, 0.7, 0.5}, variance[2] = {0.8, 1.7};
  RgFitOptions plain = full, kept = full;
  plain.length_scale = plain.variance = plain.noise = (RgPrior){0};
  plain.learn_noise = false;
  kept.fix_variance = true;
  const RgFitOptions *options[3] = {&full, &plain, &kept};
  for (int family = 0; family < RG_KERNEL_FAMILIES; family++) {
    for (int o = 0; o < 3; o++) {
      for (int ard = 0; ard < 2; ard++) {
        RgKernel product, additive;
        check_gradient(isotropic_or_ard((RgKernelFamily)family, ard), options[o]);
        RG_OK(rg_kernel_create_product((RgKernelFamily)family, DIM, 2, group, ard, length_scale,
                                       1.2, &product));
        check_gradient(product, options[o]);
        RG_OK(rg_kernel_create_additive((RgKernelFamily)family, DIM, 2, group, ard, length_scale,
                                        variance, &additive));
        check_gradient(additive, options[o]);
        RgKernel warped = isotropic_or_ard((RgKernelFamily)family, ard);
        RG_OK(rg_kernel_set_warp(&warped));
        for (int j = 0; j < 2 * DIM; j++) warped.warp[j] = 0.6 + 0.3 * j;
        check_gradient(warped, options[o]);
        RgKernel trend = isotropic_or_ard((RgKernelFamily)family, ard);
        RG_OK(rg_kernel_set_trend(&trend));
        trend.trend[1] = 2.5;
        check_gradient(trend, options[o]);
      }
    }
  }
}

/* Optima found by scipy.optimize.minimize (L-BFGS-B, ftol 1e-15, gtol 1e-9, numerical gradient,
   same box) from length scales 0.3 and variance 1, best of 12 starts; Gamma(3,6), Gamma(2,0.15) and
   Gamma(1.1,0.05) priors on length scales, variance and noise. */
RG_TEST(test_scipy)
{
  enum { N = 24 };
  const struct {
    RgKernelFamily family;
    bool learn_noise;
    double value, optimum[5];
  } expected[] = {
    {RG_KERNEL_GAUSSIAN,
     false,
     -8.823006549581134,
     {0.41331976830357847, 1.0723749235151332, 0.44228315452518197, 1.1377815149910764, 1e-4}},
    {RG_KERNEL_MATERN32,
     false,
     -14.738619584230378,
     {0.32866110303268037, 1.087199395013962, 0.5995370806166219, 0.4741543530015363, 1e-4}},
    {RG_KERNEL_MATERN52,
     false,
     -12.677655556756282,
     {0.3796495107039258, 1.1448614193963995, 0.5683100096712207, 0.6441409713776888, 1e-4}},
    {RG_KERNEL_MATERN52,
     true,
     -16.72743626241707,
     {0.37494627285350646, 1.1395833451295574, 0.5687167102042879, 0.6351365367732902,
      0.000782671377941177}},
  };
  double X[DIM * N], y[N];
  make_data(N, X, y);
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const double start[DIM] = {0.3, 0.3, 0.3};
    double value, mean = 0.0, noise = expected[i].learn_noise ? 1e-2 : 1e-4;
    int evaluations;
    RgKernel kernel;
    RgFitOptions options = full;
    options.variance = (RgPrior){RG_PRIOR_GAMMA, 2.0, 0.15};
    options.learn_noise = expected[i].learn_noise;
    RG_OK(rg_kernel_create(expected[i].family, DIM, true, start, 1.0, &kernel));
    RG_OK(rg_fit(&kernel, &noise, &mean, &(RgData){N, X, y}, &options, NULL, &value, &evaluations));
    RG_CLOSE(value, expected[i].value, 1e-10);
    for (int j = 0; j < DIM; j++)
      RG_CLOSE(kernel.terms[0].factors[0].length_scale[j], expected[i].optimum[j], 2e-5);
    RG_CLOSE(kernel.terms[0].variance, expected[i].optimum[3], 2e-5);
    RG_CLOSE(noise / expected[i].optimum[4], 1.0, 1e-4);
    assert_true(evaluations > 3 && evaluations < 60);
    assert_true(mean == 0.0);
    RG_OK(rg_kernel_destroy(&kernel));
  }
}

/* With other starts, no point drawn at random from the box is better. */
RG_TEST(test_beats_random)
{
  enum { N = 20 };
  double X[DIM * N], y[N], best, mean = 0.0, noise = 0.1;
  int evaluations;
  RgStream stream = rg_stream(7, "test", 0, "fit", 3);
  RgRandom random = rg_stream_at(&stream, 0), other = rg_stream_at(&stream, 1);
  RgKernel kernel = isotropic_or_ard(RG_KERNEL_MATERN52, true);
  RgFitOptions options = full;
  options.starts = 5;
  make_data(N, X, y);
  for (int i = 0; i < N; i++) y[i] += 0.2 * rg_random_normal(&other);
  RG_OK(rg_fit(&kernel, &noise, &mean, &(RgData){N, X, y}, &options, &random, &best, &evaluations));
  assert_true(evaluations > 6);
  for (int trial = 0; trial < 200; trial++) {
    double theta[4], value;
    for (int j = 0; j < 3; j++) theta[j] = log(1e-2) + log(1e3) * rg_random_uniform(&other);
    theta[3] = log(1e-2) + log(1e4) * rg_random_uniform(&other);
    double v = exp(log(1e-6) + log(1e6) * rg_random_uniform(&other));
    support_set_theta(&kernel, theta);
    RG_OK(rg_fit_objective(&kernel, v, mean, &(RgData){N, X, y}, &options, &value, NULL));
    assert_true(value <= best);
  }
  RG_OK(rg_kernel_destroy(&kernel));
}

/* 200 data drawn from a known process: the fit finds its hyperparameters roughly, from a bad
   start. */
RG_TEST(test_planted)
{
  enum { N = 200 };
  const double planted[DIM] = {0.2, 0.5, 1.5}, start[DIM] = {1.0, 1.0, 1.0};
  const double planted_variance = 2.0, planted_noise = 0.01;
  double *K, X[DIM * N], z[N], y[N], value, mean = 0.0, noise = 0.5;
  int evaluations;
  RgStream stream = rg_stream(11, "test", 0, "planted", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  RgKernel truth, kernel;
  RgFitOptions likelihood = full;
  likelihood.length_scale = likelihood.variance = likelihood.noise = (RgPrior){0};
  RG_OK(PetscMalloc1(N * N, &K));
  rg_random_uniforms(&random, DIM * N, X);
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, planted, planted_variance, &truth));
  RG_OK(rg_kernel_matrix(&truth, N, X, K));
  for (int i = 0; i < N; i++) K[i * (N + 1)] += planted_noise;
  assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', N, K, N), 0);
  rg_random_normals(&random, N, z);
  for (int i = 0; i < N; i++) {
    y[i] = 0.0;
    for (int j = 0; j <= i; j++) y[i] += K[i * N + j] * z[j];
  }
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, start, 1.0, &kernel));
  RG_OK(
    rg_fit(&kernel, &noise, &mean, &(RgData){N, X, y}, &likelihood, NULL, &value, &evaluations));
  for (int j = 0; j < DIM; j++)
    assert_true(fabs(log(kernel.terms[0].factors[0].length_scale[j] / planted[j])) < log(1.6));
  assert_true(fabs(log(kernel.terms[0].variance / planted_variance)) < log(2.5));
  assert_true(fabs(log(noise / planted_noise)) < log(1.6));
  RG_OK(rg_kernel_destroy(&kernel));
  RG_OK(rg_kernel_destroy(&truth));
  RG_OK(PetscFree(K));
}

/* With a constant mean the optimum is stationary in the mean too, and better than any other mean.
 */
/* A function of sqrt(x) is smooth in warped inputs: the fit finds a warp that bends likewise, and is
   more likely than without. */
RG_TEST(test_warp)
{
  enum { N = 40 };
  double X[DIM * N], y[N], value[2], noise = 1e-6, mean = 0;
  int evaluations;

  make_data(N, X, y);
  for (int i = 0; i < N; i++) y[i] = sin(14 * sqrt(X[DIM * i])) + 0.1 * X[DIM * i + 1];
  for (int warps = 0; warps < 2; warps++) {
    RgKernel kernel = isotropic_or_ard(RG_KERNEL_GAUSSIAN, true);
    RgFitOptions options = full;
    const RgStream stream = rg_stream(1, "test", 0, "warp", 0);
    RgRandom random = rg_stream_at(&stream, 0);
    options.starts = 5;
    if (warps) RG_OK(rg_kernel_set_warp(&kernel));
    RG_OK(rg_fit(&kernel, &noise, &mean, &(RgData){N, X, y}, &options, &random, &value[warps],
                 &evaluations));
    if (warps) assert_true(kernel.warp[0] < 0.75 && fabs(log(kernel.warp[1])) < 0.7);
    RG_OK(rg_kernel_destroy(&kernel));
  }
  assert_true(value[1] > value[0] + 5);
}

RG_TEST(test_mean)
{
  enum { N = 15 };
  double X[DIM * N], y[N], value, mean = 0.0, noise = 0.1, at, high, low;
  int evaluations;
  RgKernel kernel = isotropic_or_ard(RG_KERNEL_MATERN32, true);
  RgFitOptions options = full;
  options.learn_mean = true;
  make_data(N, X, y);
  for (int i = 0; i < N; i++) y[i] += 3.0;
  RG_OK(rg_fit(&kernel, &noise, &mean, &(RgData){N, X, y}, &options, NULL, &value, &evaluations));
  assert_true(mean > 2.0 && mean < 4.5);
  RG_OK(rg_fit_objective(&kernel, noise, mean, &(RgData){N, X, y}, &options, &at, NULL));
  RG_OK(rg_fit_objective(&kernel, noise, mean + 1e-3, &(RgData){N, X, y}, &options, &high, NULL));
  RG_OK(rg_fit_objective(&kernel, noise, mean - 1e-3, &(RgData){N, X, y}, &options, &low, NULL));
  RG_CLOSE(at, value, 1e-12);
  RG_CLOSE(high, low, 1e-9);
  assert_true(at > high);
  RG_OK(rg_kernel_destroy(&kernel));
}

RG_TEST(test_kept_variance_and_bounds)
{
  enum { N = 12 };
  double X[DIM * N], y[N], value, mean = 0.0, noise = 3e-4;
  int evaluations;
  RgKernel kernel = isotropic_or_ard(RG_KERNEL_MATERN52, true);
  RgFitOptions options = full;
  options.fix_variance = true;
  options.learn_noise = false;
  options.length_scale_lower = 0.45;
  options.length_scale_upper = 0.6;
  kernel.terms[0].variance = 0.7;
  make_data(N, X, y);
  RG_OK(rg_fit(&kernel, &noise, &mean, &(RgData){N, X, y}, &options, NULL, &value, &evaluations));
  assert_true(kernel.terms[0].variance == 0.7);
  assert_true(noise == 3e-4);
  RgFitOptions without = options;
  without.variance = (RgPrior){0};
  assert_true(rg_fit_log_prior(&kernel, noise, &options) ==
              rg_fit_log_prior(&kernel, noise, &without));
  for (int j = 0; j < DIM; j++) {
    double length_scale = kernel.terms[0].factors[0].length_scale[j];
    assert_true(length_scale > 0.45 * (1 - 1e-14) && length_scale < 0.6 * (1 + 1e-14));
  }
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Two equal points without noise: no factorisation succeeds, everything stays as it was. */
RG_TEST(test_failure)
{
  const double X[2 * DIM] = {0.1, 0.2, 0.3, 0.1, 0.2, 0.3}, y[2] = {1.0, -1.0};
  double value, gradient[4], mean = 0.25, noise = 0.0;
  int evaluations;
  RgStream stream = rg_stream(1, "test", 0, "failure", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  RgKernel kernel = isotropic_or_ard(RG_KERNEL_GAUSSIAN, true);
  RgFitOptions options = full;
  options.fix_variance = true;
  options.learn_noise = false;
  options.starts = 2;
  kernel.terms[0].variance = 1.0;
  RG_OK(rg_fit_objective(&kernel, 0.0, 0.0, &(RgData){2, X, y}, &options, &value, gradient));
  assert_true(value == -INFINITY);
  RG_OK(
    rg_fit(&kernel, &noise, &mean, &(RgData){2, X, y}, &options, &random, &value, &evaluations));
  assert_true(value == -INFINITY);
  assert_int_equal(evaluations, 3);
  assert_true(kernel.terms[0].factors[0].length_scale[0] == 0.3);
  assert_true(kernel.terms[0].factors[0].length_scale[2] == 0.9);
  assert_true(noise == 0.0 && mean == 0.25);
  RG_OK(rg_kernel_destroy(&kernel));
}

/* Scratch that has seen other sizes gives the same bits as fresh scratch. */
RG_TEST(test_bits)
{
  enum { N = 30 };
  double X[DIM * N], y[N], mean[2] = {0.0, 0.0}, noise[2] = {0.1, 0.1}, theta[2][4];
  RgFitReport report[2], other;
  RgStream stream = rg_stream(5, "test", 0, "bits", 1);
  RgFitWork work = {0};
  RgFitOptions options = full;
  options.starts = 2;
  make_data(N, X, y);
  for (int round = 0; round < 2; round++) {
    RgRandom random = rg_stream_at(&stream, 9);
    RgKernel kernel = isotropic_or_ard(RG_KERNEL_MATERN52, true);
    RG_OK(rg_fit_with(&work, &kernel, &noise[round], &mean[round], &(RgData){N, X, y}, &options,
                      &random, &report[round]));
    rg_kernel_get_theta(&kernel, theta[round]);
    RG_OK(rg_kernel_destroy(&kernel));
    RgKernel small = isotropic_or_ard(RG_KERNEL_GAUSSIAN, false);
    double m = 0.0, s = 0.1;
    RG_OK(rg_fit_with(&work, &small, &s, &m, &(RgData){5, X, y}, &options, &random, &other));
    RG_OK(rg_kernel_destroy(&small));
  }
  RG_OK(rg_fit_work_destroy(&work));
  assert_memory_equal(theta[0], theta[1], sizeof theta[0]);
  assert_memory_equal(&report[0].value, &report[1].value, sizeof report[0].value);
  assert_memory_equal(&noise[0], &noise[1], sizeof noise[0]);
  assert_int_equal(report[0].evaluations, report[1].evaluations);
}
