/* Points in flight: the rules that give them values, against an independent program in NumPy, and
   the promise that they leave no trace. */
#include "parallel_bench.h"

static const ParallelSetting believer[] = {{"rule", "believer"}, {0}};
static const ParallelSetting liar_min[] = {{"rule", "liar_min"}, {0}};
static const ParallelSetting liar_mean[] = {{"rule", "liar_mean"}, {0}};
static const ParallelSetting liar_max[] = {{"rule", "liar_max"}, {0}};
static const ParallelSetting width2[] = {{"beta", "fixed"}, {"value", "4"}, {0}};
static const ParallelSetting width3[] = {{"beta", "fixed"}, {"value", "9"}, {0}};

#define BATCH(...) 4, ((const int[]){__VA_ARGS__})

/* GP-BUCB is GP-UCB that believes the mean. */
RG_TEST(batches_of_four)
{
  parallel_batch("gp_ucb", width2, believer, BATCH(6, 11, 8, 8));
  parallel_batch("gp_ucb", width3, believer, BATCH(6, 20, 11, 8));
  parallel_batch("gp_ucb", width2, NULL, BATCH(6, 6, 6, 6));
  parallel_batch("ei", NULL, believer, BATCH(7, 8, 9, 8));
  parallel_batch("ei", NULL, liar_min, BATCH(7, 11, 0, 20));
  parallel_batch("ei", NULL, liar_mean, BATCH(7, 11, 0, 20));
  parallel_batch("ei", NULL, liar_max, BATCH(7, 8, 8, 8));
  parallel_batch("ei", NULL, NULL, BATCH(7, 7, 7, 7));
}

/* Deviation and mean with believed points at 0.2 and 0.6. */
static void check_hallucination(RgModel *model, const RgHistory *history)
{
  static const double z[] = {0, 0.3, 0.55, 1};
  static const double before[] = {0.4646972125, 0.4696962013, 0.3795952009, 0.7895119439};
  static const double with[] = {0.3208897583, 0.1519418865, 0.0931455662, 0.7121906533};
  static const double means[] = {0.1413496367, 0.8487647694, 0.6965873624, -0.3594760408};
  double mean[4], sd[4];
  RgFailure failure = {0};

  RG_OK(rg_model_append_pending(model, history, RG_PENDING_BELIEVER, &failure));
  RG_OK(rg_model_predict(model, 4, z, mean, sd));
  for (int i = 0; i < 4; i++) {
    RG_CLOSE(mean[i], means[i], 1e-9);
    RG_CLOSE(sd[i], with[i], 1e-9);
  }
  RG_OK(rg_model_remove_pending(model));
  RG_OK(rg_model_predict(model, 4, z, mean, sd));
  for (int i = 0; i < 4; i++) {
    RG_CLOSE(mean[i], means[i], 1e-9);
    RG_CLOSE(sd[i], before[i], 1e-9);
  }
  assert_false(failure.failed);
}

RG_TEST(believing_the_mean_keeps_it)
{
  RG_OWNED(parallel_close) Parallel p;
  const double x[] = {0.2, 0.6};

  parallel_open(&p, "gp_ucb", false, 1, width2, NULL);
  parallel_ask(&p, 1);
  RgModel *model = p.bench.class->model(&p.bench.algorithm);
  p.bench.history.pending = (RgPending){.n = 2, .x = x};
  check_hallucination(model, &p.bench.history);
}

/* The random believer draws the observations at 0.2 and 0.6 from their joint posterior, whose mean
   and covariance a program in NumPy computed. Four standard errors of 20,000 draws, which see the
   noise in the variance. */
static void check_draws(bool grid)
{
  enum { DRAWS = 20000 };
  static const double x[] = {0.2, 0.6}, mean[] = {0.5555712317969662, 0.4580019987894062};
  static const double C[] = {0.16118995721151286, -0.08771715499682378, 0.23061452156131912};
  static const int index[] = {4, 12};
  double sum[2] = {0}, square[3] = {0};
  RgFailure failure = {0};
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "gp_ucb", grid, 2, width2, NULL);
  parallel_ask(&p, 1);
  RgModel *model = p.bench.class->model(&p.bench.algorithm);
  RgHistory *history = &p.bench.history;
  history->pending = (RgPending){.n = 2, .x = x, .index = grid ? index : NULL};
  const int told = history->n;
  for (int i = 0; i < DRAWS; i++) {
    history->n = told + i; /* chooses the random numbers alone */
    RG_OK(rg_model_append_pending(model, history, RG_PENDING_RANDOM_BELIEVER, &failure));
    const double *y = rg_model_pending(model).y, a = y[0] - mean[0], b = y[1] - mean[1];
    sum[0] += a / DRAWS, sum[1] += b / DRAWS;
    square[0] += a * a / DRAWS, square[1] += a * b / DRAWS, square[2] += b * b / DRAWS;
    RG_OK(rg_model_remove_pending(model));
  }
  history->n = told;
  assert_false(failure.failed);
  for (int k = 0; k < 2; k++) RG_CLOSE(sum[k], 0, 4 * sqrt(C[2 * k] / DRAWS));
  for (int k = 0; k < 3; k++)
    RG_CLOSE(square[k], C[k],
             4 * sqrt((k == 1 ? C[0] * C[2] + C[1] * C[1] : 2 * C[k] * C[k]) / DRAWS));
}

RG_TEST(random_believer)
{
  check_draws(false);
  check_draws(true);
}

/* Improvement counts from the values of points in flight, or not. */
RG_TEST(incumbents)
{
  static const ParallelSetting told[] = {{"rule", "believer"}, {"incumbent", "told"}, {0}};
  static const ParallelSetting of_means[] = {{"incumbent", "best_mean"}, {0}};
  double tau[2];

  for (int k = 0; k < 2; k++) {
    RG_OWNED(parallel_close) Parallel p;
    parallel_open(&p, "ei", true, 2, of_means, k ? told : believer);
    parallel_ask(&p, 1);
    p.index[0] = 8; /* the largest mean of the grid */
    p.x[0] = 0.4;
    parallel_ask(&p, 2);
    tau[k] = p.bench.query.extra[0];
  }
  assert_true(tau[0] > tau[1] + 0.005);
}

/* The model of a method that fits, with and without points in flight at its asks. */
static void trace(const char *name, bool grid, const ParallelSetting *rules, double *out)
{
  static const ParallelSetting fits[] = {
    {"fit", "map"}, {"mean", "auto"}, {"standardise", "yes"}, {0}};
  const double points[] = {0.15, 0.7, 0.95};
  const int index[] = {3, 14, 19};
  RG_OWNED(parallel_close) Parallel p;
  double mean[PARALLEL_GRID], sd[PARALLEL_GRID], z[PARALLEL_GRID];

  parallel_open_with(&p, name, grid, 4, NULL, rules, fits);
  RgHistory *history = &p.bench.history;
  for (int i = 0; i < PARALLEL_GRID; i++) z[i] = i / 20.0;
  for (int t = 1; t <= 9; t++) {
    const int told = (t * 8 + 1) % PARALLEL_GRID;
    if (rules) history->pending = (RgPending){.n = 3, .x = points, .index = index};
    bench_ask(&p.bench, t);
    history->pending = (RgPending){0};
    RgModel *model = p.bench.class->model(&p.bench.algorithm);
    const double *means = rg_posterior_means(&model->posterior);
    if (means) {
      memcpy(mean, means, sizeof mean);
      memcpy(sd, rg_posterior_variances(&model->posterior), sizeof sd);
    } else {
      RG_OK(rg_model_predict(model, PARALLEL_GRID, z, mean, sd));
    }
    memcpy(out, mean, sizeof mean);
    memcpy(out + PARALLEL_GRID, sd, sizeof sd);
    out += 2 * PARALLEL_GRID;
    RG_OK(rg_history_append(history, &z[told], grid ? told : -1, NULL, -1, sin(7 * z[told])));
  }
}

RG_TEST(points_in_flight_leave_no_trace)
{
  static const ParallelSetting *const rules[] = {believer, liar_min, liar_max};
  static double out[2][9 * 2 * PARALLEL_GRID];

  for (int grid = 0; grid < 2; grid++) {
    trace("ei", grid, NULL, out[0]);
    for (int k = 0; k < 3; k++) {
      trace("ei", grid, rules[k], out[1]);
      assert_memory_equal(out[0], out[1], sizeof out[0]);
    }
  }
}

/* Paths hold the values of points in flight, on a box and on a set: without noise a path goes through
   them. */
RG_TEST(paths_go_through_believed_points)
{
  static const ParallelSetting few[] = {{"paths", "pathwise"}, {0}};

  for (int grid = 0; grid < 2; grid++) {
    double spread[2] = {0};
    for (int k = 0; k < 2; k++) {
      for (int t = 1; t <= 40; t++) {
        RG_OWNED(parallel_close) Parallel p;
        parallel_open(&p, "ts", grid, 2, few, k ? believer : NULL);
        p.x[0] = 0.3;
        p.index[0] = 6;
        p.bench.history.pending = (RgPending){.n = 1, .x = p.x, .index = p.index};
        parallel_ask(&p, t);
        spread[k] += fabs(p.x[1] - 0.3) < 0.051;
      }
    }
    /* Less doubt at 0.3, so fewer paths have their maximum there. */
    assert_true(spread[1] < spread[0]);
  }
}

/* A point that may be queried once is excluded while it is in flight. */
RG_TEST(points_in_flight_are_excluded)
{
  RG_OWNED(parallel_close) Parallel p;

  parallel_open(&p, "ei", true, 4, NULL, NULL);
  p.domain.without_replacement = true;
  for (int t = 1; t <= 4; t++) {
    parallel_ask(&p, t);
    for (int i = 0; i < t - 1; i++) assert_int_not_equal(p.index[i], p.bench.query.index);
  }
}

/* Rules and parameters that contradict each other. */
RG_TEST(options_are_checked)
{
  const struct {
    ParallelSetting settings[3];
    int rule, penaliser;
    const char *said;
  } cases[] = {
    {{{"rule", "penalise"}}, RG_PENDING_PENALISE, RG_PENALISER_HARD, NULL},
    {{{"penalise", "soft"}}, RG_PENDING_PENALISE, RG_PENALISER_SOFT, NULL},
    {{{"rule", "believer"}}, RG_PENDING_BELIEVER, RG_PENALISER_NONE, NULL},
    {{{"rule", "believer"}, {"penalise", "hard"}}, 0, 0, "and rule is 'believer'"},
    {{{"lipschitz", "local"}}, 0, 0, "go with 'penalise'"},
  };

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RgPendingOptions options;
    RgDiagnostics diagnostics = {0};
    RG_OK(rg_params_defaults(rg_pending_params, &options));
    parallel_set(rg_pending_params, &options, cases[k].settings);
    RG_OK(rg_pending_check(&options, (RgPlace){0}, &diagnostics));
    assert_int_equal(diagnostics.n > 0, cases[k].said != NULL);
    if (cases[k].said) assert_non_null(strstr(diagnostics.list[0].message, cases[k].said));
    if (cases[k].said) continue;
    assert_int_equal(options.rule, cases[k].rule);
    assert_int_equal(options.penaliser, cases[k].penaliser);
  }
}
