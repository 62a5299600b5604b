/* rrgp_ucb 8, O3 and O9: posterior and acquisitions on the 2D grid after six observations; sample
   paths that follow a posterior; Lemma 3.1. */
#include "algorithm_bench.h"

#include <lapacke.h>

#include "algorithm/robust.h"
#include "gp/path/set_path.h"

enum { SIDE = 50, DATA = 6 };

static const int data_x[DATA] = {5, 20, 33, 44, 12, 27}, data_w[DATA] = {7, 30, 12, 44, 40, 25};

static double native(int i)
{
  return -5.0 + 10.0 * i / 49.0;
}

static double y_of(int i)
{
  const double x = native(data_x[i]), w = native(data_w[i]);

  return sin(1.3 * x) * cos(0.7 * w) + 0.2 * x;
}

static bool standardised; /* whether the model of the next bench standardises outputs */

static void bench_make(const char *measure, const char *name, const Setting *settings, Bench *bench)
{
  static const Setting model[] = {{"kernel", "gaussian"},  {"ard", "false"},
                                  {"length_scale", "0.1"}, {"noise_variance", "1e-6"},
                                  {"fit", "fixed"},        {"standardise", "false"},
                                  {"mean", "zero"}};
  const Setting problem[] = {{"measure", measure}, {NULL, NULL}};
  const RgDomain *domain;

  memset(bench, 0, sizeof *bench);
  bench->instance = instance_make("gp_path_context", problem, 1, 0);
  domain = &bench->instance.problem.domain;
  bench_class(bench, name);
  for (int k = 0; k < 7; k++)
    set_in(rg_surrogate_params, &bench->surrogate, model[k][0], model[k][1]);
  bench->surrogate.standardise = standardised;
  for (int k = 0; settings && settings[k][0]; k++) bench_set(bench, settings[k][0], settings[k][1]);
  bench_create(bench,
               (RgSetup){.noise_variance = NAN,
                         .n_initial = 1,
                         .n_iterations = 20,
                         .stream = rg_stream(1, "gp_path_context", 0, "algorithm", 0)},
               20);
  bench->history.n_initial = 1;
  for (int i = 0; i < DATA; i++)
    RG_OK(rg_history_append(&bench->history, domain->design.points + data_x[i], data_x[i],
                            domain->context.points + data_w[i], data_w[i], y_of(i)));
}

static const RgRobust *updated(Bench *bench)
{
  RgRobust *state = bench->algorithm.state;
  RgFailure failure = {0};

  RG_OK(rg_model_update(&state->model, &bench->history, &failure));
  assert_false(failure.failed);
  return state;
}

RG_TEST(posterior)
{
  static const struct {
    int x, w;
    double mean, variance;
  } expected[] = {{6, 8, -1.4516618317, 0.0799245722103},
                  {21, 29, -0.672732189231, 0.0610823838976},
                  {25, 25, 0.498615485129, 0.127915132624},
                  {0, 0, -0.324111856763, 0.954134870026}};
  RG_OWNED(bench_end) Bench bench;

  RG_CLOSE(y_of(0), -1.51340042166, 1e-11);
  RG_CLOSE(y_of(5), 0.716163983494, 1e-11);
  bench_make("expectation", "rrgp_ucb", NULL, &bench);
  const RgSetPosterior *set = updated(&bench)->model.posterior.set;
  for (int k = 0; k < 4; k++) {
    const int at = expected[k].x * SIDE + expected[k].w;
    RG_CLOSE(set->mean[at], expected[k].mean, 1e-10);
    RG_CLOSE(set->variance[at], expected[k].variance, 1e-10);
  }
}

static double best_of(int n, const double *value)
{
  double best = value[0];

  for (int i = 1; i < n; i++) best = fmax(best, value[i]);
  return best;
}

/* At squared width beta (0: 2 log N + 1): the largest bounds, with ties of the upper one; x-hat, its value and the
   width of its interval; the choice and its width. NaN, -1: not given. */
RG_TEST(acquisitions)
{
  static const struct {
    const char *measure;
    double squared, lower, upper;
    int tied, best;
    double value, best_width;
    int x, w;
    double width;
  } rows[] = {
    {"expectation", 9, -2.28862703349, 3.11419419679, 1, 44, 0.353207425958, 5.2836689189, 49, 0,
     5.81285308475},
    {"ptr(0.5)", 9, 0.06, 1, 34, 42, 0.26, 1, 0, 25, 1},
    {"expectation - mad", 9, -7.61784808271, 3.11419419679, 1, 35, 0.09842292875, 10.8419814474, 49,
     0, 11.9048389454},
    {"cvar(0.3)", 9, -2.89737493483, 3.00073584552, 1, 35, 0.0658928844171, 5.1261356813, 47, 25,
     5.99994497265},
    {"expectation", 0, -3.23987003398, 4.16070863488, 1, 44, NAN, NAN, -1, -1, NAN},
    {"expectation - mad", 0, -10.3875332807, 4.16070863488, 1, 35, NAN, NAN, -1, -1, NAN}};

  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const double beta = rows[k].squared > 0 ? rows[k].squared : 2 * log(2500) + 1;
    RG_OWNED(bench_end) Bench bench;
    int best, tied = 0;

    bench_make(rows[k].measure, "rrgp_ucb", NULL, &bench);
    const RgRobust *robust = updated(&bench);
    RG_OK(rg_robust_ucb_step(&bench.algorithm, 6, &bench.history, beta, true, &bench.query));
    const double top = best_of(SIDE, robust->upper);
    RG_CLOSE(best_of(SIDE, robust->lower), rows[k].lower, 1e-10);
    RG_CLOSE(top, rows[k].upper, 1e-10);
    for (int i = 0; i < SIDE; i++) tied += robust->upper[i] >= top - 1e-12;
    assert_int_equal(tied, rows[k].tied);
    assert_true(robust->upper[(int)bench.extra[RG_ROBUST_TOP]] >= top - 1e-12);
    RG_OK(rg_robust_best(&bench.algorithm, 6, &bench.history, &best));
    assert_int_equal(best, rows[k].best);
    if (isnan(rows[k].value)) continue;
    RG_CLOSE(robust->value[best], rows[k].value, 1e-10);
    RG_CLOSE(robust->upper[best] - robust->lower[best], rows[k].best_width, 1e-10);
    assert_int_equal(bench.query.index, rows[k].x);
    assert_int_equal(bench.query.context_index, rows[k].w);
    RG_CLOSE(bench.extra[RG_ROBUST_WIDTH], rows[k].width, 1e-10);
  }
}

/* log det (I + K/noise)/2, one pivot after the other. */
RG_TEST(information_gain)
{
  double gain = 0;

  for (int n = 0; n < DATA; n++) {
    RG_OWNED(bench_end) Bench bench;
    bench_make("expectation", "rrgp_ucb", NULL, &bench);
    bench.history.n = n;
    const int at = data_x[n] * SIDE + data_w[n];
    gain += 0.5 * log1p(updated(&bench)->model.posterior.set->variance[at] / 1e-6);
  }
  RG_CLOSE(gain, 41.4223912054, 1e-10);
}

/* Measures use native units, even if the model standardises outputs. */
RG_TEST(native_units)
{
  RG_OWNED(bench_end) Bench bench;
  RG_OWNED(rg_measure_destroy) RgMeasure ptr;
  RgText mistake = {0};
  double *native, F[SIDE];
  const int size = SIDE * SIDE;
  RgQuery best = {.x = (double[1]){0}, .c = (double[1]){0}};
  RgFailure failure = {0};

  standardised = true;
  bench_make("ptr(0.5)", "rrgp_ucb", NULL, &bench);
  standardised = false;
  const RgRobust *robust = updated(&bench);
  const double *mean = robust->model.posterior.set->mean;
  assert_true(fabs(robust->model.scale - 1) > 0.04 && fabs(robust->model.shift) > 0.05);
  RG_OK(PetscMalloc1(size, &native));
  for (int i = 0; i < size; i++) native[i] = robust->model.shift + robust->model.scale * mean[i];
  RG_OK(rg_measure_parse("ptr(0.5)", &ptr, &mistake));
  RG_OK(rg_measure_value(&ptr, SIDE, SIDE, native, NULL, F));
  RG_OK(bench.algorithm.class->recommend(&bench.algorithm, 5, &bench.history, &best, &failure));
  assert_int_equal(best.index, rg_argmax(SIDE, F, NULL));
  for (int i = 0; i < SIDE; i++) RG_CLOSE(robust->value[i], F[i], 1e-12);
  RG_OK(rg_algorithm_ask(&bench.algorithm, 6, &bench.history, &bench.query, &failure));
  const double width = sqrt(bench.extra[RG_ROBUST_CONFIDENCE]) * robust->model.scale;
  const double *variance = robust->model.posterior.set->variance;
  for (int i = 0; i < SIDE; i++) {
    double p = 0;
    for (int j = 0; j < SIDE; j++)
      p += (native[i * SIDE + j] + width * sqrt(variance[i * SIDE + j]) >= 0.5) / (double)SIDE;
    RG_CLOSE(robust->upper[i], p, 1e-12);
  }
  const size_t at = (size_t)bench.query.index * SIDE + bench.query.context_index;
  RG_CLOSE(bench.extra[RG_ROBUST_LARGEST_SD], sqrt(variance[at]) * robust->model.scale, 1e-9);
  RG_OK(PetscFree(native));
}

static void choose(const char *name, const Setting *settings, int x, int w, double value)
{
  RG_OWNED(bench_end) Bench bench;
  RgFailure failure = {0};

  bench_make("ptr(0.5)", name, settings, &bench);
  RG_OK(rg_algorithm_ask(&bench.algorithm, 6, &bench.history, &bench.query, &failure));
  assert_false(failure.failed);
  assert_int_equal(bench.query.index, x);
  assert_int_equal(bench.query.context_index, w);
  RG_CLOSE(bench.extra[RG_ROBUST_ACQUISITION], value, 1e-10);
}

RG_TEST(other_methods)
{
  static const Setting any[] = {{"any_measure", "true"}, {NULL, NULL}};
  static const Setting fixed[] = {{"confidence", "fixed"}, {NULL, NULL}};

  choose("bq", any, 44, 26, log(0.169487879547));
  choose("bpt_ucb", NULL, 40, 38, 4.49664386202);
  choose("bpt_ucb", fixed, 39, 38, 1.81392591156);
}

/* ---- sample paths ------------------------------------------------------------------------ */

/* The recursion against the batch formula, for the same draws and the same virtual noises. */
RG_TEST(paths_follow_the_posterior)
{
  enum { PATHS = 3, N = SIDE * SIDE };
  const RgStream stream = rg_stream(7, "test", 0, "paths", 0);
  const double noise = 1e-3, scale = 0.1;
  RG_OWNED(instance_free) Instance instance = instance_make("gp_path_context", NULL, 1, 0);
  RG_OWNED(rg_kernel_destroy) RgKernel kernel = {0};
  RgSetPosterior *with, *without;
  RgSetSamples paths, priors;
  RgFailure failure = {0};
  double K[DATA * DATA], z[2 * DATA], *cross, e[PATHS][DATA];

  RG_OK(rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &scale, 1.0, &kernel));
  RG_OK(rg_set_posterior_create(&instance.problem.domain, &kernel, noise, 0.5, 10, &with));
  RG_OK(rg_set_posterior_create(&instance.problem.domain, &kernel, noise, 0.5, 10, &without));
  RG_OK(rg_set_samples_create(with, PATHS, &stream, &paths));
  RG_OK(rg_set_samples_create(without, PATHS, &stream, &priors));
  for (int i = 0; i < DATA; i++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)i + 1);
    const int at = data_x[i] * SIDE + data_w[i];
    for (int s = 0; s < PATHS; s++) e[s][i] = sqrt(noise) * rg_random_normal(&random);
    RG_OK(rg_set_posterior_append(with, at, y_of(i), &failure));
    memcpy(z + 2 * i, with->prior.points + 2 * (size_t)at, 2 * sizeof *z);
  }
  RG_OK(PetscMalloc1(DATA * N, &cross));
  RG_OK(rg_kernel_cross(&kernel, DATA, z, N, with->prior.points, cross));
  for (int s = 0; s < PATHS; s++) {
    double weight[DATA], worst = 0;
    const double *prior = priors.path + (size_t)s * N, *path = paths.path + (size_t)s * N;
    RG_OK(rg_kernel_matrix(&kernel, DATA, z, K));
    for (int i = 0; i < DATA; i++) {
      K[i * DATA + i] += noise;
      weight[i] = y_of(i) - e[s][i] - prior[data_x[i] * SIDE + data_w[i]];
    }
    assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', DATA, 1, K, DATA, weight, 1), 0);
    for (int j = 0; j < N; j++) {
      double value = prior[j];
      for (int i = 0; i < DATA; i++) value += cross[(size_t)i * N + j] * weight[i];
      worst = fmax(worst, fabs(value - path[j]));
    }
    if (worst > 1e-11) fail_msg("path %d is off by %g", s, worst);
  }
  RG_OK(PetscFree(cross));
  RG_OK(rg_set_posterior_destroy(&with));
  RG_OK(rg_set_posterior_destroy(&without));
  RG_OK(rg_set_samples_destroy(&paths));
  RG_OK(rg_set_samples_destroy(&priors));
}

/* Sampled bounds enclose rho of every path. The best index is a query; for the expectation it is
   the last one. */
RG_TEST(sampled_bounds_and_best_index)
{
  static const Setting settings[] = {
    {"bounds", "sampled"}, {"paths", "30"}, {"index_paths", "20"}, {NULL, NULL}};
  static const char *const measures[] = {"sd", "expectation"};
  Bench bench;
  RgFailure failure = {0};

  for (int m = 0; m < 2; m++) {
    bench_make(measures[m], "rrgp_ucb", settings, &bench);
    const RgRobust *robust = bench.algorithm.state;
    for (int t = 1; t <= 6; t++) { /* the history as it was before query t */
      bench.history.n = t;
      RG_OK(rg_algorithm_ask(&bench.algorithm, t, &bench.history, &bench.query, &failure));
      assert_false(failure.failed);
      assert_true(bench.extra[RG_ROBUST_LARGEST_SD + 1] >= 1 &&
                  bench.extra[RG_ROBUST_LARGEST_SD + 1] <= t);
      if (m == 1) assert_true(bench.extra[RG_ROBUST_LARGEST_SD + 1] == t);
      for (int i = 0; i < SIDE; i++) assert_true(robust->lower[i] < robust->upper[i]);
      assert_true(isnan(bench.extra[RG_ROBUST_CONFIDENCE]));
    }
    bench_end(&bench);
  }
}

/* A measure that is finite nowhere is a failure; one that is finite somewhere is not. */
RG_TEST(infinite_measures)
{
  static const char *const measures[] = {"exp(1e9 + expectation)", "exp(1000 * expectation)"};

  for (int m = 0; m < 2; m++) {
    const Setting settings[] = {
      {"measure", measures[m]}, {"index_paths", "2"}, {"ties", "random"}, {NULL, NULL}};
    RG_OWNED(bench_end) Bench bench;
    RgFailure failure = {0};
    bench_make("expectation", "rrgp_ucb", settings, &bench);
    RG_OK(rg_algorithm_ask(&bench.algorithm, 1, &bench.history, &bench.query, &failure));
    assert_true(failure.failed == (m == 0));
  }
}

/* ---- Lemma 3.1 --------------------------------------------------------------------------- */

/* With a single context the point chosen attains the largest upper bound. */
RG_TEST(one_context)
{
  static const char *const measures[] = {"expectation", "worst", "best", "cvar(0.3)", "var(0.5)"};
  const RgStream stream = rg_stream(3, "test", 0, "lemma", 0);
  const double p = 1.0;

  for (int k = 0; k < 500; k++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)k);
    RG_OWNED(rg_measure_destroy) RgMeasure measure;
    RgText mistake = {0};
    double mean[20], variance[20], lower[20], upper[20], value[20];
    const double width = 3 * rg_random_uniform(&random);
    for (int i = 0; i < 20; i++) {
      mean[i] = rg_random_normal(&random);
      variance[i] = rg_random_uniform(&random);
    }
    RG_OK(rg_measure_parse(measures[k % 5], &measure, &mistake));
    RG_OK(rg_measure_credible_bounds(&measure, &(RgCredible){20, 1, mean, variance, width}, &p,
                                     lower, upper));
    RG_OK(rg_measure_value(&measure, 20, 1, mean, &p, value));
    int top = rg_argmax(20, upper, NULL), best = rg_argmax(20, value, NULL);
    if (upper[best] - lower[best] > upper[top] - lower[top]) top = best;
    RG_CLOSE(upper[top], best_of(20, upper), 1e-14);
  }
}
