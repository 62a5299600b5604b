/* The methods of the BOKE study (arXiv:2502.06178), one query at a time: values computed
   independently. */
#include "algorithm_bench.h"

#include "acquisition/ball.h"
#include "acquisition/confidence.h"
#include "acquisition/local_search.h"
#include "acquisition/regression_search.h"
#include "algorithm/smoother.h"
#include "maths/design.h"

static const double d1_x[] = {0.1, 0.4, 0.45, 0.9}, d1_y[] = {0.2, -0.5, 0.7, 0.1};
static const double d2_x[] = {0.2, 0.3, 0.7, 0.8, 0.5, 0.1, 0.2, 0.3}, d2_y[] = {1, 2, -1, 1.4};

#define AT(...) ((const double[]){__VA_ARGS__})

/* ---- widths --------------------------------------------------------------------------------- */

RG_TEST(test_beta)
{
  RG_CLOSE(rg_ikr_ucb_beta_general(1, 0.1, 1, 0.1), 0.0837315951317, 1e-12);
  RG_CLOSE(rg_ikr_ucb_beta_general(5, 0.1, 1, 0.1), 0.148109111629, 1e-12);
  RG_CLOSE(rg_ikr_ucb_beta_general(10, 0.1, 1, 0.1), 0.175834998851, 1e-12);
  RG_CLOSE(rg_ikr_ucb_beta_general(100, 0.1, 1, 0.1), 0.267938402571, 1e-12);
  RG_CLOSE(rg_ikr_ucb_beta_finite(1, 0.1, 1), 0, 0);
  RG_CLOSE(rg_ikr_ucb_beta_finite(5, 0.1, 1), 0.0643775164974, 1e-12);
  RG_CLOSE(rg_ikr_ucb_beta_finite(10, 0.1, 1), 0.0921034037198, 1e-12);
  RG_CLOSE(rg_ikr_ucb_beta_finite(100, 0.1, 1), 0.18420680744, 1e-12);
  RG_CLOSE(rg_ikr_ucb_beta_finite(4, 0.5, 1), 1.38629436112, 1e-11);
}

/* ---- acquisition values --------------------------------------------------------------------- */

typedef struct {
  RgRegression regression;
  RgRegressionSearch search;
} Bound;

static void bound_make(RgSmoothing kernel, int dim, int n, const double *x, const double *y,
                       double h, double beta, Bound *bound)
{
  memset(bound, 0, sizeof *bound);
  RG_OK(rg_regression_create(kernel, dim, n, &bound->regression));
  for (int i = 0; i < n; i++) RG_OK(rg_regression_append(&bound->regression, x + i * dim, y[i]));
  bound->search = (RgRegressionSearch){.regression = &bound->regression,
                                       .goal = RG_REGRESSION_UCB,
                                       .h = h,
                                       .deviation = 1,
                                       .width = sqrt(beta)};
}

static double bound_value(Bound *bound, const double *x, double *gradient)
{
  double value;

  RG_OK(rg_regression_value(&bound->search, 1, x, &value, NULL));
  if (gradient) RG_OK(rg_regression_value(&bound->search, 1, x, &value, gradient));
  return value;
}

/* O2, O3. */
RG_TEST(test_bound)
{
  Bound bound;
  double g[2], beta = rg_ikr_ucb_beta_general(4, 0.1, 1, 0.1);

  bound_make(RG_SMOOTHING_GAUSSIAN, 1, 4, d1_x, d1_y, 0.15, 0.2, &bound);
  RG_CLOSE(bound_value(&bound, AT(0.3), g), 0.390148914245, 1e-11);
  RG_CLOSE(g[0], -0.311554855259, 1e-11);
  RG_OK(rg_regression_destroy(&bound.regression));

  bound_make(RG_SMOOTHING_EPANECHNIKOV, 1, 4, d1_x, d1_y, 0.16, 0.2, &bound);
  RG_CLOSE(bound_value(&bound, AT(0.3), NULL), 0.222186433418, 1e-11);
  RG_OK(rg_regression_destroy(&bound.regression));

  bound_make(RG_SMOOTHING_UNIFORM, 1, 4, d1_x, d1_y, 0.16, 0.2, &bound);
  RG_CLOSE(bound_value(&bound, AT(0.3), NULL), 0.416227766017, 1e-11);
  RG_OK(rg_regression_destroy(&bound.regression));

  RG_CLOSE(beta, 0.139183369576, 1e-12);
  bound_make(RG_SMOOTHING_GAUSSIAN, 2, 4, d2_x, d2_y, 0.25, beta, &bound);
  RG_CLOSE(bound_value(&bound, AT(0.4, 0.5), g), 1.25754311463, 1e-11);
  RG_CLOSE(g[0], -0.104891510557, 1e-11);
  RG_CLOSE(g[1], 2.69037520226, 1e-11);
  RG_OK(rg_regression_destroy(&bound.regression));
}

/* O2d in logarithms. They rank points as the values do, where both exist. */
RG_TEST(test_logarithm)
{
  Bound bound;
  double X[64], value[64], logarithm[64], g[64], below, above;

  bound_make(RG_SMOOTHING_GAUSSIAN, 1, 4, d1_x, d1_y, 0.01, 0.2, &bound);
  bound.search.scaled = true;
  bound.search.scale = RG_REGRESSION_LOGARITHM;
  RG_CLOSE(bound_value(&bound, AT(0.65), NULL), 99.1952810438, 1e-11);
  for (int i = 0; i < 64; i++) X[i] = (i + 0.5) / 64;
  RG_OK(rg_regression_value(&bound.search, 64, X, logarithm, g));
  bound.search.scale = RG_REGRESSION_PLAIN;
  RG_OK(rg_regression_value(&bound.search, 64, X, value, NULL));
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      if (value[i] > 0 && value[i] > value[j] * (1 + 1e-9))
        assert_true(logarithm[i] > logarithm[j]);
  bound.search.scale = RG_REGRESSION_LOGARITHM;
  for (int i = 0; i < 64; i++) {
    below = bound_value(&bound, AT(X[i] - 1e-7), NULL);
    above = bound_value(&bound, AT(X[i] + 1e-7), NULL);
    RG_CLOSE(g[i], (above - below) / 2e-7, 1e-5);
  }
  RG_OK(rg_regression_destroy(&bound.regression));
  /* chosen by itself where W^(-1/2) would overflow */
  bound_make(RG_SMOOTHING_GAUSSIAN, 1, 4, d1_x, d1_y, 0.001, 0.2, &bound);
  RG_OK(rg_regression_value(&bound.search, 64, X, value, NULL));
  assert_int_equal(bound.search.scale, RG_REGRESSION_LOGARITHM);
  RG_OK(rg_regression_destroy(&bound.regression));
}

/* ---- projection, O15 ------------------------------------------------------------------------ */

RG_TEST(test_projection)
{
  double x[2] = {1.4, 0.9};

  rg_ball_project(&(RgBall){2, AT(0.8, 0.5), 0.3}, x);
  RG_CLOSE(x[0], 1, 1e-15);
  RG_CLOSE(x[1], 0.72360679775, 1e-11);
  RgStream stream = rg_stream(1, "ball", 0, "points", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  for (int trial = 0; trial < 200; trial++) {
    double c[4], z[4], p[4], other[4], radius = rg_random_uniform(&random);
    rg_random_uniforms(&random, 4, c);
    for (int j = 0; j < 4; j++) p[j] = z[j] = c[j] + 1.5 * rg_random_normal(&random);
    rg_ball_project(&(RgBall){4, c, radius}, p);
    for (int k = 0; k < 20; k++) { /* (z - p).(q - p) <= 0 for all q of the set */
      double product = 0, norm = 0;
      for (int j = 0; j < 4; j++) other[j] = c[j] + rg_random_normal(&random);
      rg_ball_project(&(RgBall){4, c, radius}, other);
      for (int j = 0; j < 4; j++) {
        product += (z[j] - p[j]) * (other[j] - p[j]);
        norm += (p[j] - c[j]) * (p[j] - c[j]);
        assert_true(p[j] >= 0 && p[j] <= 1);
      }
      assert_true(product <= 1e-12);
      assert_true(sqrt(norm) <= radius * (1 + 1e-12));
    }
  }
}

/* ---- methods -------------------------------------------------------------------------------- */

/* A method on [0,1]^dim, or on a set of points, with data; settings: name, value, ..., NULL. */
static void bench_make(const char *name, const char *const *settings, int dim, int size,
                       const double *points, Bench *bench)
{
  const double lower[4] = {0}, upper[4] = {1, 1, 1, 1};

  memset(bench, 0, sizeof *bench);
  bench_class(bench, name);
  for (int i = 0; settings && settings[i]; i += 2) bench_set(bench, settings[i], settings[i + 1]);
  if (size) RG_OK(rg_space_set(&bench->domain.design, dim, size, points, lower, upper));
  else RG_OK(rg_space_box(&bench->domain.design, dim, lower, upper));
}

static void bench_start(Bench *bench, int n, const double *x, const double *y, const int *index)
{
  bench_create(bench,
               (RgSetup){.noise_variance = NAN,
                         .n_initial = n,
                         .n_iterations = 40,
                         .stream = rg_stream(1, "test", 0, "algorithm", 1)},
               n + 40);
  bench->history.n_initial = n;
  for (int i = 0; i < n; i++)
    RG_OK(rg_history_append(&bench->history, x + i * bench->history.dim, index ? index[i] : -1,
                            NULL, -1, y ? y[i] : 0));
}

/* O7: scores, selection, the new point, and when it is made. */
RG_TEST(test_kr_ucb)
{
  const char *const repeat[] = {
    "bandwidth", "fixed",  "bandwidth_constant", "0.15",  "exploration", "0.3",
    "outputs",   "native", "widening",           "false", NULL};
  const char *const widen[] = {"bandwidth", "fixed",       "bandwidth_constant",
                               "0.15",      "exploration", "0.3",
                               "outputs",   "native",      "alpha",
                               "1",         NULL};
  Bench bench;

  bench_make("kr_ucb", repeat, 1, 0, NULL, &bench);
  bench_start(&bench, 4, d1_x, d1_y, NULL);
  bench_ask(&bench, 1);
  assert_true(bench.query.x[0] == 0.1);
  RG_CLOSE(bench.extra[RG_SMOOTHER_CONFIDENCE], 0.165991640387, 1e-12);
  RG_CLOSE(bench.extra[RG_SMOOTHER_ACQUISITION], 0.520244623158, 1e-12);
  RG_CLOSE(bench.extra[RG_SMOOTHER_LOG_WEIGHT], log(1.20106447769), 1e-11);
  RG_CLOSE(bench.extra[RG_SMOOTHER_CHOICE], 1, 0);
  bench_end(&bench);

  bench_make("kr_ucb", widen, 1, 0, NULL, &bench);
  bench_start(&bench, 4, d1_x, d1_y, NULL);
  bench_ask(&bench, 1);
  RG_CLOSE(bench.query.x[0], 0, 1e-9);
  RG_CLOSE(bench.extra[RG_SMOOTHER_LOG_WEIGHT], -0.173863131781, 1e-8);
  RG_CLOSE(bench.extra[RG_SMOOTHER_CHOICE], 0, 0);
  bench_end(&bench);
}

/* `bandwidth: cv` is the fixed bandwidth that cross-validation finds about the rule of Scott. */
RG_TEST(test_cross_validated_bandwidth)
{
  const char *settings[] = {"bandwidth", "cv", "outputs", "native", NULL};
  const char *same[] = {"bandwidth", "fixed", "bandwidth_constant", "", "outputs", "native", NULL};
  double x[10], y[10], h, expected[2], scott;
  char number[32];
  Bench bench;

  for (int i = 0; i < 10; i++) x[i] = (i + 0.5) / 10, y[i] = sin(7 * x[i]);
  scott = rg_bandwidth(RG_BANDWIDTH_SCOTT, 0.1, 10, 1);
  RG_OK(rg_bandwidth_cross_validated(RG_SMOOTHING_GAUSSIAN, 10, 1, x, y, scott, &h));
  assert_true(fabs(h - scott) > 0.01);
  snprintf(number, sizeof(number), "%.17g", h);
  same[3] = number;
  for (int k = 0; k < 2; k++) {
    bench_make("kr_ucb", k ? settings : same, 1, 0, NULL, &bench);
    bench_start(&bench, 10, x, y, NULL);
    bench_ask(&bench, 1);
    if (k) RG_CLOSE(bench.extra[RG_SMOOTHER_ACQUISITION], expected[0], 0);
    if (k) RG_CLOSE(bench.extra[RG_SMOOTHER_LOG_WEIGHT], expected[1], 0);
    expected[0] = bench.extra[RG_SMOOTHER_ACQUISITION];
    expected[1] = bench.extra[RG_SMOOTHER_LOG_WEIGHT];
    bench_end(&bench);
  }
}

RG_TEST(test_widening)
{
  double x[10], y[10];
  RG_OWNED(bench_end) Bench bench;

  for (int i = 0; i < 10; i++) x[i] = (i + 0.5) / 10, y[i] = sin(7 * x[i]);
  bench_make("kr_ucb", NULL, 1, 0, NULL, &bench);
  bench_start(&bench, 10, x, y, NULL);
  for (int t = 1; t <= 4; t++) { /* from 10, 11, 12 and 13 points; 13^0.9 = 10.06 */
    bool repeated = false;
    bench_ask(&bench, t);
    for (int i = 0; i < bench.history.n; i++)
      repeated = repeated || !memcmp(&bench.history.x[i], bench.x, sizeof(double));
    assert_int_equal(repeated, t < 4);
    RG_CLOSE(bench.extra[RG_SMOOTHER_CHOICE], t < 4, 0);
    bench_tell(&bench, sin(7 * bench.x[0]));
  }
}

/* O9c. */
RG_TEST(test_exploration)
{
  const char *const fixed[] = {"bandwidth", "fixed", "bandwidth_constant", "0.1", NULL};
  const double two[] = {0.2, 0.55}, three[] = {0, 0.37, 1};
  Bench bench;

  bench_make("density_exploration", fixed, 1, 0, NULL, &bench);
  bench_start(&bench, 2, two, NULL, NULL);
  bench_ask(&bench, 1);
  RG_CLOSE(bench.x[0], 1, 1e-12);
  RG_CLOSE(bench.extra[RG_SMOOTHER_LOG_WEIGHT], -10.125 + log1p(exp(-21.875)), 1e-11);
  bench_end(&bench);

  bench_make("density_exploration", fixed, 1, 0, NULL, &bench);
  bench_start(&bench, 3, three, NULL, NULL);
  bench_ask(&bench, 1);
  RG_CLOSE(bench.x[0], 0.685, 1e-5);
  RG_CLOSE(bench.extra[RG_SMOOTHER_LOG_WEIGHT], -4.26810281, 1e-8);
  bench_end(&bench);

  bench_make("variance_exploration", NULL, 1, 0, NULL, &bench);
  set_in(rg_surrogate_params, &bench.surrogate, "kernel", "gaussian");
  set_in(rg_surrogate_params, &bench.surrogate, "length_scale", "0.2");
  set_in(rg_surrogate_params, &bench.surrogate, "fit", "fixed");
  set_in(rg_surrogate_params, &bench.surrogate, "standardise", "false");
  set_in(rg_surrogate_params, &bench.surrogate, "noise_variance", "1e-8");
  bench_start(&bench, 3, three, NULL, NULL);
  bench_ask(&bench, 1);
  double mean, sd;
  RG_CLOSE(bench.x[0], 0.6861042, 1e-5);
  RG_OK(rg_model_predict(bench.class->model(&bench.algorithm), 1, bench.x, &mean, &sd));
  RG_CLOSE(sd * sd, 0.831314881, 1e-8);
  bench_end(&bench);
}

/* O13: arms, ties to the lowest index; with a narrow kernel the rule is UCB1. */
RG_TEST(test_arms)
{
  const char *const settings[] = {
    "bandwidth", "fixed",  "bandwidth_constant", "1e-3", "outputs", "native",
    "beta",      "finite", "noise_deviation",    "0.5",  NULL};
  const double arms[] = {0, 0.5, 1}, x[] = {0, 0.5, 0.5, 1}, y[] = {0.2, 0.6, 0.4, 0.3};
  const int index[] = {0, 1, 1, 2};
  Bench bench;

  bench_make("boke", settings, 1, 3, arms, &bench);
  bench_start(&bench, 4, x, y, index);
  bench_ask(&bench, 1);
  assert_int_equal(bench.query.index, 2);
  RG_CLOSE(bench.extra[RG_SMOOTHER_ACQUISITION], 1.47741002252, 1e-11);
  RG_CLOSE(bench.extra[RG_SMOOTHER_CONFIDENCE], 1.38629436112, 1e-11);
  bench_end(&bench);
  /* After one arm, the other arms follow, the farthest first, although W underflows there. */
  bench_make("boke", settings, 1, 3, arms, &bench);
  bench_start(&bench, 1, x, y, index);
  bench.history.n = 1;
  set_in(bench.class->params, bench.options, "beta", "general");
  bench_ask(&bench, 1);
  assert_int_equal(bench.query.index, 2);
  bench_tell(&bench, -5);
  bench_ask(&bench, 2);
  assert_int_equal(bench.query.index, 1);
  bench_end(&bench);
}

/* A compact kernel: where no weight reaches, the point farthest from the data. */
RG_TEST(test_compact)
{
  const char *const settings[] = {"smoothing",          "epanechnikov", "bandwidth", "fixed",
                                  "bandwidth_constant", "0.1",          NULL};
  RG_OWNED(bench_end) Bench bench;

  bench_make("boke", settings, 1, 0, NULL, &bench);
  bench_start(&bench, 2, AT(0.2, 0.5), AT(1, 2), NULL);
  bench_ask(&bench, 1);
  RG_CLOSE(bench.x[0], 1, 1e-12);
  assert_true(bench.extra[RG_SMOOTHER_LOG_WEIGHT] == -INFINITY);
}

/* BOKE+ with p = 1 is BOKE, bit for bit; with another p it differs. */
RG_TEST(test_boke_plus)
{
  const char *const settings[][3] = {{NULL}, {"p", "1", NULL}, {"p", "0.5", NULL}};
  double queries[3][20];

  for (int k = 0; k < 3; k++) {
    RG_OWNED(bench_end) Bench bench;
    bench_make(k ? "boke_plus" : "boke", settings[k], 2, 0, NULL, &bench);
    bench.maximiser.raw_samples = 128;
    bench_start(&bench, 4, d2_x, d2_y, NULL);
    for (int t = 1; t <= 10; t++) {
      bench_ask(&bench, t);
      memcpy(queries[k] + 2 * (t - 1), bench.x, 2 * sizeof(double));
      bench_tell(&bench, sin(5 * bench.x[0]) * bench.x[1]);
    }
  }
  assert_memory_equal(queries[0], queries[1], sizeof queries[0]);
  assert_memory_not_equal(queries[0], queries[2], sizeof queries[0]);
}

/* Asks for query t with the default search, except for `local_search` and `starts`; returns the
   bound there. */
static double bound_at_query(Bench *bench, int t, int local_search, int starts)
{
  RG_OK(rg_params_defaults(rg_maximiser_params, &bench->maximiser));
  bench->maximiser.local_search = local_search;
  bench->maximiser.restarts = starts;
  bench_ask(bench, t);
  return bench->extra[RG_SMOOTHER_ACQUISITION];
}

/* Starts and raw points grow up to 25 inputs. Beyond, they have no more coordinates than there. */
RG_TEST(a_search_in_many_inputs_has_no_more_to_do)
{
  for (int dim = 1; dim <= 3000; dim++) {
    RgMaximiserOptions own = {.max_iterations = 1},
                       large = {.raw_samples = 1 << 20, .restarts = 1 << 18};
    large.max_iterations = 1;
    assert_true(rg_regression_widen(dim, &own) && rg_regression_widen(dim, &large));
    if (dim <= 25) assert_true(own.restarts == 100 * dim && own.raw_samples == 500 * dim);
    else assert_true(own.restarts <= 62500 / dim && own.raw_samples <= 312500 / dim);
    assert_true(large.restarts == 1 << 18 && large.raw_samples == 1 << 20);
  }
}

/* The default search comes within 1% of the best of 1,000 starts; ten starts do not. The designs
   are from searches with ten starts. */
RG_TEST(test_search)
{
  static const struct {
    const char *name;
    Setting settings[2];
  } problems[] = {{"hartmann3", {{0}}}, {"sphere", {{"dim", "6"}}}, {"sprinkler", {{0}}}};

  for (int k = 0; k < 3; k++) {
    RG_OWNED(bench_end)
    Bench bench = {.instance = instance_make(problems[k].name, problems[k].settings, 1, 0)};
    const RgSpace *space = &bench.instance.problem.domain.design;
    const RgStream stream = rg_stream(1, "test", 0, "design", k);
    RgRandom random = rg_stream_at(&stream, 0);
    double x[30 * 8], native[8], best, found, of_ten;
    int missed = 0, missed_by_ten = 0;

    bench_class(&bench, "boke");
    RG_OK(rg_design_latin_hypercube(&random, 30, space->dim, x));
    bench_start(&bench, 30, x, NULL, NULL);
    for (int i = 0; i < 30; i++) {
      rg_space_to_native(space, x + i * space->dim, native);
      bench.history.y[i] = value_at(&bench.instance.problem, native);
    }
    for (int t = 1; t <= 40; t++) {
      if (t % 8 == 0) {
        found = bound_at_query(&bench, t, RG_LOCAL_SEARCH_BATCHED, 50);
        best = bound_at_query(&bench, t, RG_LOCAL_SEARCH_LBFGSB, 1000);
        missed += found < 0.99 * best;
      }
      of_ten = bound_at_query(&bench, t, RG_LOCAL_SEARCH_LBFGSB, 10);
      if (t % 8 == 0) missed_by_ten += of_ten < 0.99 * best;
      rg_space_to_native(space, bench.x, native);
      bench_tell(&bench, value_at(&bench.instance.problem, native));
    }
    assert_int_equal(missed, 0);
    assert_true(missed_by_ten > 0);
  }
}

/* One point per stratum and coordinate. */
RG_TEST(test_latin_hypercube)
{
  int seen[2][40] = {{0}};
  RG_OWNED(bench_end) Bench bench;

  bench_make("latin_hypercube", NULL, 2, 0, NULL, &bench);
  bench_start(&bench, 1, AT(0.5, 0.5), NULL, NULL);
  for (int t = 1; t <= 40; t++) {
    bench_ask(&bench, t);
    for (int j = 0; j < 2; j++) seen[j][(int)(40 * bench.x[j])]++;
    bench_tell(&bench, 0);
  }
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < 40; i++) assert_int_equal(seen[j][i], 1);
}
