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

/* A fit of a kernel over DIM inputs to n data; later fits overwrite. */
typedef struct {
  RgKernel kernel;
  RgFitOptions options;
  double X[DIM * 200], y[200], noise, mean, value;
  RgData data;
  int evaluations;
} Fit;

static RgKernel isotropic_or_ard(RgKernelFamily family, bool ard)
{
  const double length_scale[DIM] = {0.3, 0.5, 0.9};
  RgKernel kernel;
  RG_OK(rg_kernel_create(family, DIM, ard, length_scale, 1.3, &kernel));
  return kernel;
}

/* Takes the kernel. */
static void begin(RgKernel kernel, int n, double noise, Fit *f)
{
  *f = (Fit){.kernel = kernel, .options = full, .noise = noise, .data = {n, f->X, f->y}};
  support_smooth_data(n, f->X, f->y);
}

static void end(Fit *f)
{
  RG_OK(rg_kernel_destroy(&f->kernel));
}

static void fit(Fit *f, RgRandom *random)
{
  RG_OK(rg_fit(&f->kernel, &f->noise, &f->mean, &f->data, &f->options, random, &f->value,
               &f->evaluations));
}

static double objective(const Fit *f, double noise, double mean, double *gradient)
{
  double value;
  RG_OK(rg_fit_objective(&f->kernel, noise, mean, &f->data, &f->options, &value, gradient));
  return value;
}

static double length_scale(const Fit *f, int j)
{
  return f->kernel.terms[0].factors[0].length_scale[j];
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
  double gradient[16], theta[16] = {0};
  const double h = 1e-5;
  const int size = rg_kernel_theta_size(&kernel);
  RG_OWNED(end) Fit f;
  begin(kernel, 17, 0.02, &f);
  f.options = *options;
  objective(&f, f.noise, 0.1, gradient);
  rg_kernel_get_theta(&kernel, theta);
  for (int p = 0; p < size + options->learn_noise; p++) {
    double at[2];
    for (int side = 0; side < 2; side++) {
      const double step = side ? h : -h, keep = theta[p];
      if (p < size) theta[p] += step;
      support_set_theta(&f.kernel, theta);
      at[side] = objective(&f, f.noise * (p < size ? 1 : exp(step)), 0.1, NULL);
      theta[p] = keep;
    }
    support_set_theta(&f.kernel, theta);
    RG_CLOSE(gradient[p], (at[1] - at[0]) / (2 * h), 1e-7);
  }
}

RG_TEST(test_gradient)
{
  const int group[DIM] = {0, 1, 0};
  const double scales[DIM] = {0.4, 0.7, 0.5}, variance[2] = {0.8, 1.7};
  RgFitOptions plain = full, kept = full;
  plain.length_scale = plain.variance = plain.noise = (RgPrior){0};
  plain.learn_noise = false;
  kept.fix_variance = true;
  const RgFitOptions *options[3] = {&full, &plain, &kept};
  for (int k = 0; k < RG_KERNEL_FAMILIES * 3 * 2; k++) {
    const RgKernelFamily family = (RgKernelFamily)(k / 6);
    const RgFitOptions *o = options[k / 2 % 3];
    const bool ard = k % 2;
    RgKernel product, additive;
    check_gradient(isotropic_or_ard(family, ard), o);
    RG_OK(rg_kernel_create_product(family, DIM, 2, group, ard, scales, 1.2, &product));
    check_gradient(product, o);
    RG_OK(rg_kernel_create_additive(family, DIM, 2, group, ard, scales, variance, &additive));
    check_gradient(additive, o);
    RgKernel warped = isotropic_or_ard(family, ard), trend = isotropic_or_ard(family, ard);
    RG_OK(rg_kernel_set_warp(&warped));
    for (int j = 0; j < 2 * DIM; j++) warped.warp[j] = 0.6 + 0.3 * j;
    check_gradient(warped, o);
    RG_OK(rg_kernel_set_trend(&trend));
    trend.trend[1] = 2.5;
    check_gradient(trend, o);
  }
}

/* Optima found by scipy.optimize.minimize (L-BFGS-B, ftol 1e-15, gtol 1e-9, numerical gradient,
   same box) from length scales 0.3 and variance 1, best of 12 starts; Gamma(3,6), Gamma(2,0.15) and
   Gamma(1.1,0.05) priors on length scales, variance and noise. */
RG_TEST(test_scipy)
{
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
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    const double start[DIM] = {0.3, 0.3, 0.3};
    RgKernel kernel;
    RG_OWNED(end) Fit f;
    RG_OK(rg_kernel_create(expected[i].family, DIM, true, start, 1.0, &kernel));
    begin(kernel, 24, expected[i].learn_noise ? 1e-2 : 1e-4, &f);
    f.options.variance = (RgPrior){RG_PRIOR_GAMMA, 2.0, 0.15};
    f.options.learn_noise = expected[i].learn_noise;
    fit(&f, NULL);
    RG_CLOSE(f.value, expected[i].value, 1e-10);
    for (int j = 0; j < DIM; j++) RG_CLOSE(length_scale(&f, j), expected[i].optimum[j], 2e-5);
    RG_CLOSE(f.kernel.terms[0].variance, expected[i].optimum[3], 2e-5);
    RG_CLOSE(f.noise / expected[i].optimum[4], 1.0, 1e-4);
    assert_true(f.evaluations > 3 && f.evaluations < 60);
    assert_true(f.mean == 0.0);
  }
}

/* With other starts, no point drawn at random from the box is better. */
RG_TEST(test_beats_random)
{
  RgStream stream = rg_stream(7, "test", 0, "fit", 3);
  RgRandom random = rg_stream_at(&stream, 0), other = rg_stream_at(&stream, 1);
  RG_OWNED(end) Fit f;
  begin(isotropic_or_ard(RG_KERNEL_MATERN52, true), 20, 0.1, &f);
  f.options.starts = 5;
  for (int i = 0; i < 20; i++) f.y[i] += 0.2 * rg_random_normal(&other);
  fit(&f, &random);
  assert_true(f.evaluations > 6);
  for (int trial = 0; trial < 200; trial++) {
    double theta[4];
    for (int j = 0; j < 3; j++) theta[j] = log(1e-2) + log(1e3) * rg_random_uniform(&other);
    theta[3] = log(1e-2) + log(1e4) * rg_random_uniform(&other);
    double v = exp(log(1e-6) + log(1e6) * rg_random_uniform(&other));
    support_set_theta(&f.kernel, theta);
    assert_true(objective(&f, v, f.mean, NULL) <= f.value);
  }
}

/* 200 data drawn from a known process: the fit finds its hyperparameters roughly, from a bad
   start. */
RG_TEST(test_planted)
{
  enum { N = 200 };
  const double planted[DIM] = {0.2, 0.5, 1.5}, start[DIM] = {1.0, 1.0, 1.0};
  const double planted_variance = 2.0, planted_noise = 0.01;
  static double K[N * N];
  double z[N];
  RgStream stream = rg_stream(11, "test", 0, "planted", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  RG_OWNED(rg_kernel_destroy) RgKernel truth;
  RgKernel kernel;
  RG_OWNED(end) Fit f;
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, start, 1.0, &kernel));
  begin(kernel, N, 0.5, &f);
  f.options.length_scale = f.options.variance = f.options.noise = (RgPrior){0};
  rg_random_uniforms(&random, DIM * N, f.X);
  RG_OK(rg_kernel_create(RG_KERNEL_MATERN52, DIM, true, planted, planted_variance, &truth));
  RG_OK(rg_kernel_matrix(&truth, N, f.X, K));
  for (int i = 0; i < N; i++) K[i * (N + 1)] += planted_noise;
  assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', N, K, N), 0);
  rg_random_normals(&random, N, z);
  for (int i = 0; i < N; i++) {
    f.y[i] = 0.0;
    for (int j = 0; j <= i; j++) f.y[i] += K[i * N + j] * z[j];
  }
  fit(&f, NULL);
  for (int j = 0; j < DIM; j++) assert_true(fabs(log(length_scale(&f, j) / planted[j])) < log(1.6));
  assert_true(fabs(log(f.kernel.terms[0].variance / planted_variance)) < log(2.5));
  assert_true(fabs(log(f.noise / planted_noise)) < log(1.6));
}

/* A function of sqrt(x) is smooth in warped inputs: the fit finds a warp that bends likewise, and is
   more likely than without. */
RG_TEST(test_warp)
{
  double value[2];
  for (int warps = 0; warps < 2; warps++) {
    const RgStream stream = rg_stream(1, "test", 0, "warp", 0);
    RgRandom random = rg_stream_at(&stream, 0);
    RG_OWNED(end) Fit f;
    begin(isotropic_or_ard(RG_KERNEL_GAUSSIAN, true), 40, 1e-6, &f);
    for (int i = 0; i < 40; i++) f.y[i] = sin(14 * sqrt(f.X[DIM * i])) + 0.1 * f.X[DIM * i + 1];
    f.options.starts = 5;
    if (warps) RG_OK(rg_kernel_set_warp(&f.kernel));
    fit(&f, &random);
    if (warps) assert_true(f.kernel.warp[0] < 0.75 && fabs(log(f.kernel.warp[1])) < 0.7);
    value[warps] = f.value;
  }
  assert_true(value[1] > value[0] + 5);
}

/* With a constant mean the optimum is stationary in the mean too, and better than any other mean.
 */
RG_TEST(test_mean)
{
  RG_OWNED(end) Fit f;
  begin(isotropic_or_ard(RG_KERNEL_MATERN32, true), 15, 0.1, &f);
  f.options.learn_mean = true;
  for (int i = 0; i < 15; i++) f.y[i] += 3.0;
  fit(&f, NULL);
  assert_true(f.mean > 2.0 && f.mean < 4.5);
  const double at = objective(&f, f.noise, f.mean, NULL);
  const double high = objective(&f, f.noise, f.mean + 1e-3, NULL);
  RG_CLOSE(at, f.value, 1e-12);
  RG_CLOSE(high, objective(&f, f.noise, f.mean - 1e-3, NULL), 1e-9);
  assert_true(at > high);
}

RG_TEST(test_kept_variance_and_bounds)
{
  RG_OWNED(end) Fit f;
  begin(isotropic_or_ard(RG_KERNEL_MATERN52, true), 12, 3e-4, &f);
  f.options.fix_variance = true;
  f.options.learn_noise = false;
  f.options.length_scale_lower = 0.45;
  f.options.length_scale_upper = 0.6;
  f.kernel.terms[0].variance = 0.7;
  fit(&f, NULL);
  assert_true(f.kernel.terms[0].variance == 0.7);
  assert_true(f.noise == 3e-4);
  RgFitOptions without = f.options;
  without.variance = (RgPrior){0};
  assert_true(rg_fit_log_prior(&f.kernel, f.noise, &f.options) ==
              rg_fit_log_prior(&f.kernel, f.noise, &without));
  for (int j = 0; j < DIM; j++)
    assert_true(length_scale(&f, j) > 0.45 * (1 - 1e-14) &&
                length_scale(&f, j) < 0.6 * (1 + 1e-14));
}

/* Two equal points without noise: no factorisation succeeds, everything stays as it was. */
RG_TEST(test_failure)
{
  const double X[2 * DIM] = {0.1, 0.2, 0.3, 0.1, 0.2, 0.3}, y[2] = {1.0, -1.0};
  double gradient[4];
  RgStream stream = rg_stream(1, "test", 0, "failure", 1);
  RgRandom random = rg_stream_at(&stream, 0);
  RG_OWNED(end) Fit f;
  begin(isotropic_or_ard(RG_KERNEL_GAUSSIAN, true), 2, 0.0, &f);
  f.data = (RgData){2, X, y};
  f.options.fix_variance = true;
  f.options.learn_noise = false;
  f.options.starts = 2;
  f.kernel.terms[0].variance = 1.0;
  f.mean = 0.25;
  assert_true(objective(&f, 0.0, 0.0, gradient) == -INFINITY);
  fit(&f, &random);
  assert_true(f.value == -INFINITY);
  assert_int_equal(f.evaluations, 3);
  assert_true(length_scale(&f, 0) == 0.3 && length_scale(&f, 2) == 0.9);
  assert_true(f.noise == 0.0 && f.mean == 0.25);
}

/* Scratch that has seen other sizes gives the same bits as fresh scratch. */
RG_TEST(test_bits)
{
  double theta[2][4];
  Fit fits[2];
  RgFitReport report[2], other;
  RgStream stream = rg_stream(5, "test", 0, "bits", 1);
  RG_OWNED(rg_fit_work_destroy) RgFitWork work = {0};
  for (int round = 0; round < 2; round++) {
    RgRandom random = rg_stream_at(&stream, 9);
    Fit *f = &fits[round];
    RG_OWNED(end) Fit small;
    begin(isotropic_or_ard(RG_KERNEL_MATERN52, true), 30, 0.1, f);
    begin(isotropic_or_ard(RG_KERNEL_GAUSSIAN, false), 5, 0.1, &small);
    f->options.starts = small.options.starts = 2;
    RG_OK(rg_fit_with(&work, &f->kernel, &f->noise, &f->mean, &f->data, &f->options, &random,
                      &report[round]));
    rg_kernel_get_theta(&f->kernel, theta[round]);
    end(f);
    RG_OK(rg_fit_with(&work, &small.kernel, &small.noise, &small.mean, &small.data, &small.options,
                      &random, &other));
  }
  assert_memory_equal(theta[0], theta[1], sizeof theta[0]);
  assert_memory_equal(&report[0].value, &report[1].value, sizeof report[0].value);
  assert_memory_equal(&fits[0].noise, &fits[1].noise, sizeof fits[0].noise);
  assert_int_equal(report[0].evaluations, report[1].evaluations);
}
