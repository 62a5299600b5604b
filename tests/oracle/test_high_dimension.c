/* Options for many inputs against NumPy and SciPy: the spherical linear kernel by its explicit
   features, the start of a fit at c sqrt(d), the law of local points. */
#include "fit_support.h"
#include "gp_support.h"

#include "gp/model/model.h"
#include "gp/model/surrogate.h"
#include "regatta/acquire.h"

enum { DIM = 3, N = 14, M = 3 };

/* ---- the kernel -------------------------------------------------------------------------------- */

/* l = (0.3, 0.5, 0.9), odds of a and b 0.7 and 2.5, variance 1.3 */
static RgKernel sphere_kernel(void)
{
  const double length_scale[DIM] = {0.3, 0.5, 0.9};
  RgKernel kernel;

  RG_OK(rg_kernel_create(RG_KERNEL_SPHERICAL_LINEAR, DIM, true, length_scale, 1.3, &kernel));
  kernel.terms[0].factors[0].odds[0] = 0.7;
  kernel.terms[0].factors[0].odds[1] = 2.5;
  return kernel;
}

static void make_data(double *X, double *y)
{
  const double step[DIM] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703};

  for (int i = 0; i < N; i++) {
    double *x = X + DIM * i, whole;
    for (int j = 0; j < DIM; j++) x[j] = modf((i + 1) * step[j], &whole);
    y[i] = sin(5.0 * x[0]) + x[1] * x[1] - 0.3 * cos(7.0 * x[2]);
  }
}

static const double points[DIM * M] = {0.05, 0.9, 0.4, 0.5, 0.5, 0.5, 1, 0, 1};

/* By NumPy from the features sqrt(1.3) (sqrt(b) P, sqrt(1 - b)). */
RG_TEST(kernel_agrees_with_features)
{
  const double expected[3 * M] = {-0.2818197640352596, 0.5077008687694682, 0.8542714209671973,
                                  -0.3168060142199636, 0.8676928692877836, 0.5781562128314407,
                                  0.01034481624647773, 0.6096043709152242, 0.6078144583516797};
  double X[DIM * N], y[N], K[3 * M];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = sphere_kernel();

  make_data(X, y);
  RG_OK(rg_kernel_cross(&kernel, 3, X, M, points, K));
  for (int i = 0; i < 3 * M; i++) RG_CLOSE(K[i], expected[i], 1e-14);
}

/* Bayesian regression on the five features, noise variance 0.02, mean 0.1: no kernel matrix. */
RG_TEST(posterior_agrees_with_regression)
{
  const double means[M] = {0.5893819195114798, 1.197898773273124, -0.9372974386222669};
  const double variances[M] = {0.00906378197667968, 0.00822975544036768, 0.00979114677185382};
  double X[DIM * N], y[N], mean[M], variance[M];
  RG_OWNED(rg_prediction_destroy) RgPrediction work = {.values_only = true};
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = sphere_kernel();
  RgFailure failure = {0};
  RG_OWNED(rg_posterior_destroy) RgPosterior posterior;

  make_data(X, y);
  RG_OK(rg_posterior_create(&kernel, 0.02, 0.1, N, &posterior));
  RG_OK(rg_posterior_set(&posterior, NULL, 0.02, 0.1, N, X, y, &failure));
  RG_OK(rg_posterior_predict(&posterior, M, points, mean, variance, &work));
  for (int j = 0; j < M; j++) RG_CLOSE(mean[j], means[j], 1e-12);
  for (int j = 0; j < M; j++) RG_CLOSE(variance[j], variances[j], 1e-11);
  assert_true(!failure.failed && posterior.jitter == 0);
}

/* The log density of SciPy's multivariate_normal, and its differences by the logarithms of l, the
   odds, the variance and the noise variance. */
RG_TEST(likelihood_and_gradient_agree)
{
  const double slope[] = {-26.3937883005075,  31.55444519859903,   -5.160656898095084,
                          0.9719660498059094, 0.07077367136313721, -1.4864275672105502,
                          29.55432051874851};
  const RgFitOptions options = {.learn_noise = true, .noise_lower = 1e-6, .noise_upper = 1};
  double X[DIM * N], y[N], value, gradient[7];
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = sphere_kernel();

  make_data(X, y);
  assert_int_equal(rg_kernel_theta_size(&kernel), 6);
  RG_OK(rg_fit_objective(&kernel, 0.02, 0.1, &(RgData){N, X, y}, &options, &value, gradient));
  RG_CLOSE(value, -32.8558918009981, 1e-12);
  for (int p = 0; p < 7; p++) RG_CLOSE(gradient[p], slope[p], 1e-8);
}

/* ---- the start of the fit ---------------------------------------------------------------------- */

enum { MANY = 60, FEW = 12 };

static void options_with(int n, const char *const pairs[][2], RgSurrogateOptions *options)
{
  RgDiagnostics found = {0};
  const RgParam *entry;

  memset(options, 0, sizeof *options);
  RG_OK(rg_params_defaults(rg_surrogate_params, options));
  for (int i = 0; i < n; i++)
    RG_OK(rg_params_set(rg_surrogate_params, options, pairs[i][0], 1, &pairs[i][1], (RgPlace){0},
                        &found, &entry));
  assert_int_equal(found.n, 0);
}

static void many_inputs(double *X, double *y)
{
  double sum = 0, square = 0;

  for (int i = 0; i < FEW; i++) {
    double *x = X + (size_t)MANY * i, whole;
    for (int j = 0; j < MANY; j++) x[j] = modf((i + 1) * modf(sqrt(j + 2), &whole), &whole);
    y[i] = sin(3 * x[0]) + x[1] - x[2] * x[2];
    sum += y[i] / FEW;
  }
  for (int i = 0; i < FEW; i++) square += (y[i] - sum) * (y[i] - sum) / FEW;
  for (int i = 0; i < FEW; i++) y[i] = (y[i] - sum) / sqrt(square);
}

/* Log likelihood and two of its slopes where a fit of d = 60 inputs starts, by SciPy: 12 points,
   noise variance 0.01. At the usual length scale 0.3 the slopes vanish (arXiv:2402.02746). */
RG_TEST(fits_start_where_the_likelihood_has_a_slope)
{
  const struct {
    const char *kernel, *factor;
    double value, slope[2], norm;
  } rows[] = {
    {"matern52", "1", -58.9095578486238, {-0.7661681200732554, -7.540906589375733}, 19.461421},
    {"matern52", "0.1", -17.0103100183954, {-0.000559976519258, -0.02460944979801}, 0.067749934},
    {"gaussian", "1", -83.994901711863, {-0.9703636336575746, -11.193674502287601}, 28.862131},
    {"matern52", "auto", -17.0275393799817, {3.8823200e-6, 4.7175651e-7}, 5.0017407e-5},
  };
  double X[FEW * MANY], y[FEW];

  many_inputs(X, y);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    const char *const pairs[][2] = {
      {"kernel", rows[r].kernel}, {"fit", "ml"}, {"length_scale_factor", rows[r].factor}};
    double value, gradient[MANY + 2], norm = 0;
    RgSurrogateOptions options;
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;

    options_with(3, pairs, &options);
    const RgFitOptions fit = rg_surrogate_fit_options(&options, MANY, false);
    assert_int_equal(fit.length_scale.family, RG_PRIOR_NONE);
    RG_CLOSE(fit.length_scale_upper, rows[r].factor[0] == 'a' ? 10 : 10 * sqrt(3), 1e-15);
    RG_OK(rg_surrogate_kernel(&options, MANY, &kernel));
    RG_OK(rg_fit_objective(&kernel, 0.01, 0, &(RgData){FEW, X, y}, &fit, &value, gradient));
    RG_CLOSE(value, rows[r].value, 1e-12);
    for (int j = 0; j < MANY; j++) norm += gradient[j] * gradient[j];
    for (int j = 0; j < 2; j++)
      assert_true(fabs(gradient[j] - rows[r].slope[j]) < 1e-6 * rows[r].norm);
    RG_CLOSE(sqrt(norm), rows[r].norm, 1e-5);
    RG_OK(rg_params_clear(rg_surrogate_params, &options));
  }
}

/* The likelihood is steep at sqrt(d). A whole first step may leap to length scales so short that no
   two points are related, where slopes vanish: the first step changes a logarithm by 0.1. */
RG_TEST(the_first_step_from_there_is_short)
{
  const char *const pairs[][2] = {{"fit", "ml"}, {"length_scale_factor", "1"}};
  double X[FEW * MANY], y[FEW], value, noise = 1e-8, mean = 0;
  RgSurrogateOptions options;
  int evaluations;

  many_inputs(X, y);
  options_with(2, pairs, &options);
  for (int limited = 0; limited < 2; limited++) {
    RgFitOptions fit = rg_surrogate_fit_options(&options, MANY, false);
    double theta[MANY + 1], start[MANY + 1], largest = 0;
    RG_OWNED(rg_kernel_destroy) RgKernel kernel;

    fit.starts = 0;
    fit.max_evaluations = 2; /* the start, and the first step */
    if (!limited) fit.first_step = 0;
    RG_OK(rg_surrogate_kernel(&options, MANY, &kernel));
    rg_kernel_get_theta(&kernel, start);
    RG_OK(rg_fit(&kernel, &noise, &mean, &(RgData){FEW, X, y}, &fit, NULL, &value, &evaluations));
    rg_kernel_get_theta(&kernel, theta);
    for (int p = 0; p <= MANY; p++) largest = fmax(largest, fabs(theta[p] - start[p]));
    assert_int_equal(evaluations, 2 + limited);
    if (limited) RG_CLOSE(largest, 0.1, 1e-10);
    else assert_true(largest > 0.5);
  }
  RG_OK(rg_params_clear(rg_surrogate_params, &options));
}

/* ---- local points ------------------------------------------------------------------------------ */

/* A count of `hits` in n draws with probability p, to five deviations. */
static void assert_share(double hits, double n, double p)
{
  if (fabs(hits - n * p) > 5 * sqrt(n * p * (1 - p)) + 1)
    fail_msg("%g of %g draws, expected %g", hits, n, n * p);
}

/* Each point copies one of the two best of 40 inputs, alike often. One coordinate always moves, the
   others with probability 20/d. Probabilities of the moved ones by scipy.stats.truncnorm. */
RG_TEST(local_points_have_the_law)
{
  enum { DRAWS = 4000, INPUTS = 100, ROWS = 40 };
  const double below[] = {0.02, 0.1, 0.45, 0.6}, at[] = {0.03, 0.5};
  const double p[2][4] = {{0.126367, 0.608417, 0.999978, 1}, {1e-6, 3.1e-5, 0.308537, 0.841345}};
  const RgStream stream = rg_stream(1, "test", 0, "local", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  double x[ROWS * INPUTS], y[ROWS], *X, counts[2][5] = {{0}}, most = 0, square = 0, moved = 0;
  RgMaximiserOptions options = {0};

  RG_OK(rg_params_defaults(rg_maximiser_params, &options));
  RG_OK(PetscMalloc1((size_t)DRAWS * INPUTS, &X));
  for (int i = 0; i < ROWS; i++) {
    y[i] = i % 37; /* 35 and 36 are the largest */
    for (int j = 0; j < INPUTS; j++) x[i * INPUTS + j] = i == 36 ? at[0] : i == 35 ? at[1] : 0.77;
  }
  const RgHistory history = {.n = ROWS, .dim = INPUTS, .x = x, .y = y};
  RG_OK(rg_local_points(&options, &history, &random, DRAWS, X));
  for (int i = 0; i < DRAWS; i++) {
    const double *z = X + (size_t)i * INPUTS;
    int same[2] = {0};
    for (int j = 0; j < INPUTS; j++)
      for (int b = 0; b < 2; b++) same[b] += z[j] == at[b];
    const int base = same[1] > same[0], own = INPUTS - same[base];
    assert_true(own >= 1 && own < INPUTS);
    most += base;
    moved += own;
    square += own * own;
    for (int j = 0; j < INPUTS; j++) {
      if (z[j] == at[base]) continue;
      assert_true(z[j] >= 0 && z[j] <= 1);
      counts[base][4]++;
      for (int q = 0; q < 4; q++) counts[base][q] += z[j] < below[q];
    }
  }
  assert_share(most, DRAWS, 0.5);
  assert_share(moved - DRAWS, (double)DRAWS * (INPUTS - 1), 0.2); /* 1 + binomial(99, 0.2) */
  RG_CLOSE(square / DRAWS - pow(moved / DRAWS, 2), 99 * 0.2 * 0.8, 0.1);
  for (int b = 0; b < 2; b++)
    for (int q = 0; q < 4; q++) assert_share(counts[b][q], counts[b][4], p[b][q]);
  RG_OK(PetscFree(X));
}
