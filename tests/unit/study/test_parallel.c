/* Trials with several workers and a simulated clock: properties that they share with sequential
   trials, and properties of all trials. */
#include "study_text.h"

#include "study/trial/trial.h"
#include "trial_at.h"

#define COMMON "iterations: 12, initial_points: 4, noise_variance: 0.01"
#define CLOCK ", duration: halfnormal(1.2533141373155001)"

/* Run the first trial of a method in a study of branin with these settings. */
static void run(const char *settings, const char *method, RgRecord *record)
{
  bool stopped;

  const RgPlan *plan =
    plan_of("study: parallel\nseeds: 2\ncommon: {%s%s}\n"
            "problems: [{name: branin, maximiser: {raw_samples: 128, restarts: 2}}]\n"
            "algorithms: [%s]\n",
            COMMON, settings, method);
  const RgStudy *study = plan->study;
  const RgTrial trial = trial_at(plan, 0);
  RG_OK(rg_trial_run(study, &trial, NULL, record, &stopped));
  assert_false(stopped);
}

static double at(const RgRecord *record, int column, int row)
{
  return record->column[column][(size_t)row * rg_record_width(record, column)];
}

/* A column by submission, from 0. */
static void by_submission(const RgRecord *record, int column, double *values)
{
  for (int row = 0; row < record->n_rows; row++)
    values[(int)at(record, RG_COLUMN_SUBMISSION, row) - 1] = at(record, column, row);
}

/* One worker is today's trial, whatever the clock says. */
RG_TEST(one_worker_is_a_sequential_trial)
{
  static const char *const settings[] = {CLOCK, CLOCK ", release: sync, start: design",
                                         ", duration: point(0)",
                                         CLOCK ", initial_time: counted, pending: believer"};
  RgRecord plain = {0};

  run("", "ei", &plain);
  assert_null(strstr(plain.key, "workers"));
  for (int c = 0; c < 4; c++) {
    RgRecord timed = {0};
    run(settings[c], "ei", &timed);
    assert_non_null(strstr(timed.key, ";workers={workers=1,release=async"));
    for (int k = 0; k < RG_COLUMN_SUBMISSION; k++) {
      if (!rg_columns[k].result) continue;
      const size_t n = (size_t)plain.n_rows * rg_record_width(&plain, k);
      assert_memory_equal(plain.column[k], timed.column[k], n * sizeof(double));
    }
    assert_memory_equal(plain.extra[1], timed.extra[1], 16 * sizeof(double));
    assert_false(rg_values_any(plain.column[RG_COLUMN_SUBMISSION], 16));
    RG_OK(rg_record_destroy(&timed));
  }
  RG_OK(rg_record_destroy(&plain));
}

/* All methods, releases and numbers of workers meet the same durations and the same noise. */
RG_TEST(durations_and_noise_belong_to_submissions)
{
  static const char *const settings[] = {", workers: 1" CLOCK, ", workers: 4" CLOCK,
                                         ", workers: 4, release: sync" CLOCK,
                                         ", workers: 3, start: design, pending: liar_min" CLOCK};
  static const char *const methods[] = {"random", "ei", "ts", "gp_ucb"};
  double first[16], noise[16];

  for (int k = 0; k < 4; k++) {
    RgRecord record = {0};
    double durations[16], y[16], f[16];
    run(settings[k], methods[k], &record);
    assert_int_equal(record.n_rows, 16);
    by_submission(&record, RG_COLUMN_DURATION, durations);
    by_submission(&record, RG_COLUMN_Y, y);
    by_submission(&record, RG_COLUMN_F, f);
    for (int s = 0; s < 16; s++) {
      if (!k) noise[s] = y[s] - f[s];
      RG_CLOSE(y[s] - f[s], noise[s], 1e-12);
    }
    if (!k) memcpy(first, durations, sizeof first);
    assert_memory_equal(first + 4, durations + 4, 12 * sizeof(double));
    RG_OK(rg_record_destroy(&record));
  }
}

/* Every tick of every worker is idle or evaluates; rows stand in the order of telling. */
RG_TEST(the_clock_adds_up)
{
  static const char *const settings[] = {", workers: 4" CLOCK, ", workers: 5, release: sync" CLOCK,
                                         ", workers: 3, initial_time: counted" CLOCK,
                                         ", workers: 4, duration: \"exponential(1) * (1 + x1^2)\""};

  for (int k = 0; k < 4; k++) {
    RgRecord record = {0};
    double sum = 0, last = 0;
    run(settings[k], "random", &record);
    for (int row = 0; row < record.n_rows; row++) {
      if (isnan(at(&record, RG_COLUMN_WORKER, row))) continue;
      sum += at(&record, RG_COLUMN_DURATION, row);
      assert_true(at(&record, RG_COLUMN_TOLD, row) >= last);
      assert_true(at(&record, RG_COLUMN_TOLD, row) >= at(&record, RG_COLUMN_FINISHED, row));
      last = at(&record, RG_COLUMN_TOLD, row);
    }
    RG_CLOSE(sum + at(&record, RG_COLUMN_IDLE, record.n_rows - 1), record.workers * record.makespan,
             1e-12);
    RG_CLOSE(record.idle_share,
             at(&record, RG_COLUMN_IDLE, record.n_rows - 1) / record.workers / record.makespan,
             1e-12);
    RG_OK(rg_record_destroy(&record));
  }
}

/* A synchronous batch of a deterministic method that ignores its pending points has nearly equal
   points, up to the search; with a rule they differ. */
RG_TEST(pending_points_spread_a_batch)
{
  static const char *const rules[] = {"ignore", "believer", "liar_min", "liar_mean", "liar_max"};

  for (int k = 0; k < 5; k++) {
    RgRecord record = {0};
    char settings[200];
    int equal = 0;
    snprintf(settings, sizeof settings, ", workers: 4, release: sync, pending: %s", rules[k]);
    run(settings, "ei", &record);
    const double *x = record.column[RG_COLUMN_X];
    for (int row = 5; row < 8; row++)
      equal += fabs(x[2 * row] - x[8]) + fabs(x[2 * row + 1] - x[9]) < 0.05;
    assert_int_equal(equal, k ? 0 : 3);
    for (int row = 4; row < 16; row++)
      assert_int_equal(at(&record, RG_COLUMN_N_PENDING, row), row % 4);
    assert_true(isnan(record.makespan)); /* no duration, no clock */
    RG_OK(rg_record_destroy(&record));
  }
}

/* The last points of the design are the workers' first queries. */
RG_TEST(a_design_starts_the_workers)
{
  RgRecord ei = {0}, random = {0};

  run(", workers: 4, start: design" CLOCK, "ei", &ei);
  run(", workers: 4, start: design" CLOCK, "random", &random);
  double a[16], b[16];
  by_submission(&ei, RG_COLUMN_X, a);
  by_submission(&random, RG_COLUMN_X, b);
  assert_memory_equal(a, b, 8 * sizeof(double));
  assert_memory_not_equal(a + 8, b + 8, 8 * sizeof(double));
  by_submission(&ei, RG_COLUMN_POSTERIOR_SD, a);
  assert_true(isnan(a[7]) && !isnan(a[8]));
  RG_OK(rg_record_destroy(&ei));
  RG_OK(rg_record_destroy(&random));
}

/* Queries begin when the last initial point has started, before all of them are told; with batches,
   and with one worker, when all are told. */
RG_TEST(an_initial_design_overlaps_with_queries)
{
  static const char *const settings[] = {
    CLOCK ", workers: 3, initial_time: overlapped",
    CLOCK ", workers: 3, release: sync, initial_time: overlapped",
    CLOCK ", initial_time: overlapped", CLOCK ", initial_time: counted"};
  RgRecord record[4] = {0};

  for (int c = 0; c < 4; c++) {
    double dispatched[16], finished[16], last_start = 0, last_end = 0, first = INFINITY;
    run(settings[c], "ei", &record[c]);
    assert_int_equal(record[c].n_rows, 16);
    by_submission(&record[c], RG_COLUMN_DISPATCHED, dispatched);
    by_submission(&record[c], RG_COLUMN_FINISHED, finished);
    for (int s = 0; s < 4; s++) {
      last_start = fmax(last_start, dispatched[s]);
      last_end = fmax(last_end, finished[s]);
    }
    for (int s = 4; s < 16; s++) first = fmin(first, dispatched[s]);
    assert_true(first >= last_start);
    assert_int_equal(first < last_end, c == 0);
  }
  assert_string_equal(record[2].key, record[3].key);
  /* the first query comes after a fit to the finished evaluations */
  double fitted[16];
  by_submission(&record[0], RG_COLUMN_LOG_LIKELIHOOD, fitted);
  assert_false(isnan(fitted[4]));
  for (int c = 0; c < 4; c++) RG_OK(rg_record_destroy(&record[c]));
}

/* Workers that share a generation choose the points of one worker. */
RG_TEST(generations_are_those_of_one_worker)
{
  RgRecord one = {0};

  run("", "cma_es", &one);
  for (int workers = 2; workers <= 6; workers += workers == 3 ? 3 : 1) {
    char settings[80];
    RgRecord several = {0};
    snprintf(settings, sizeof settings, ", workers: %d, release: sync", workers);
    run(settings, "cma_es", &several);
    assert_int_equal(several.n_rows, one.n_rows);
    for (int row = 0; row < one.n_rows; row++)
      for (int j = 0; j < 2; j++)
        assert_true(several.column[RG_COLUMN_X][2 * row + j] ==
                    one.column[RG_COLUMN_X][2 * row + j]);
    RG_OK(rg_record_destroy(&several));
  }
  RG_OK(rg_record_destroy(&one));
}

RG_TEST(time_limits_and_deaths)
{
  RgRecord record = {0};

  run(", workers: 4, time: 2" CLOCK, "random", &record);
  assert_int_equal(record.status, RG_STATUS_COMPLETE);
  assert_true(record.n_rows < 16 && record.in_flight > 0);
  for (int row = 4; row < record.n_rows; row++)
    assert_true(at(&record, RG_COLUMN_FINISHED, row) <= 2);
  assert_false(isnan(at(&record, RG_COLUMN_SIMPLE_REGRET, record.n_rows - 1)));
  RG_OK(rg_record_destroy(&record));

  run(", workers: 4, crew: {death: exponential(2), repair: point(1)}" CLOCK, "random", &record);
  assert_int_equal(record.n_rows, 16);
  assert_true(record.lost > 0);
  int attempts = 0;
  for (int row = 4; row < 16; row++) attempts += (int)at(&record, RG_COLUMN_ATTEMPTS, row);
  assert_int_equal(attempts, 12 + record.lost);
  RG_OK(rg_record_destroy(&record));

  run(", workers: 4, on_failure: worst, crew: {time_limit: 1}" CLOCK, "random", &record);
  int failed = 0;
  for (int row = 4; row < 16; row++) {
    const bool cut = at(&record, RG_COLUMN_DURATION, row) == 1;
    assert_int_equal(isnan(at(&record, RG_COLUMN_Y, row)), cut);
    failed += cut;
  }
  assert_true(failed > 0 && failed < 12);
  RG_OK(rg_record_destroy(&record));

  run(", workers: 2, crew: {time_limit: 1}" CLOCK, "random", &record);
  assert_int_equal(record.status, RG_STATUS_FAILED);
  assert_non_null(strstr(record.message, "it takes longer than 'time_limit'"));
  RG_OK(rg_record_destroy(&record));

  run(", workers: 2, crew: {death: point(1)}, duration: point(2)", "random", &record);
  assert_string_equal(record.message, "evaluation 5: no worker is left");
  assert_int_equal(record.n_rows, 4);
  RG_OK(rg_record_destroy(&record));

  run(", workers: 2, duration: \"point(1) * (x1)\"", "random", &record); /* x1 >= -5 */
  assert_int_equal(record.status, RG_STATUS_FAILED);
  assert_non_null(strstr(record.message, "its duration is -"));
  RG_OK(rg_record_destroy(&record));
}

/* A forecast equals the makespan, idle time and losses that the trial records. A duration
   that depends on the design is that of a random one, and a factor without effect changes nothing.
   No trial has a forecast without a clock, or if it may fail. */
RG_TEST(a_forecast_is_what_the_clock_says)
{
  static const struct {
    const char *settings;
    bool known;
  } cases[] = {
    {CLOCK ", workers: 4", true},
    {CLOCK ", workers: 4, release: sync, start: design", true},
    {CLOCK ", workers: 3, initial_time: overlapped, thinking: {a: 0.1, b: 0.01, p: 1}", true},
    {CLOCK ", workers: 3, time: 4, crew: {death: exponential(3), repair: point(0.5)}", true},
    {CLOCK ", workers: 3, crew: {time_limit: 0.7}, on_failure: worst", true},
    {", workers: 3, duration: exponential(1) * (2 + 0 * x1)", true},
    {", workers: 3, duration: point(1) * (x1 - 20)", false}, /* x1 <= 10: no time */
    {", workers: 3, release: sync", false},
    {", workers: 3, duration: \"pareto(0.01, 1)\"", false}, /* beyond 10^12 units */
  };

  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    RgForecast forecast;
    RgRecord record = {0};
    bool known;
    const RgPlan *plan = plan_of(
      "study: parallel\nseeds: 2\ncommon: {%s%s}\nproblems: [branin]\nalgorithms: [random]\n",
      COMMON, cases[c].settings);
    const RgStudy *study = plan->study;
    const RgTrial trial = trial_at(plan, 1);
    RG_OK(rg_trial_forecast(study, &trial, NULL, &forecast, &known));
    assert_int_equal(known, cases[c].known);
    if (known) {
      bool stopped;
      RG_OK(rg_trial_run(study, &trial, NULL, &record, &stopped));
      assert_true(forecast.makespan == record.makespan);
      assert_true(forecast.idle_share == record.idle_share);
      assert_int_equal(forecast.n_rows, record.n_rows);
      assert_int_equal(forecast.lost, record.lost);
      RG_OK(rg_record_destroy(&record));
    }
  }
}

/* Random search asks for the designs that the forecast assumes, in distribution. */
RG_TEST(a_rough_forecast_is_right_on_average)
{
  RgForecast forecast;
  double sums[2] = {0};
  bool known, stopped;

  const RgPlan *plan =
    plan_of("study: rough\nseeds: 200\ncommon: {iterations: 12, initial_points: 4, workers: 3, "
            "duration: \"point(1) * (5 + x1)\"}\nproblems: [branin]\nalgorithms: [random]\n");
  const RgStudy *study = plan->study;
  for (int i = 0; i < plan->n; i++) {
    const RgTrial trial = trial_at(plan, i);
    RgRecord record = {0};
    RG_OK(rg_trial_forecast(study, &trial, NULL, &forecast, &known));
    RG_OK(rg_trial_run(study, &trial, NULL, &record, &stopped));
    assert_true(known && forecast.rough);
    sums[0] += forecast.makespan;
    sums[1] += record.makespan;
    RG_OK(rg_record_destroy(&record));
  }
  assert_true(fabs(sums[0] / sums[1] - 1) < 0.03);
}

/* With one worker or without a model, settings that say nothing make no cells. */
RG_TEST(sweeps_over_workers_have_no_repeated_cells)
{
  const RgPlan *plan =
    plan_of("study: sweep\ncommon: {iterations: 5, duration: exponential(1)}\nproblems: [branin]\n"
            "algorithms: [ei, random]\nsweep:\n  - {common.workers: [1, 4, 8]}\n"
            "  - {common.release: [sync, async]}\n  - {common.pending: [ignore, believer, {rule: "
            "liar_min}]}\n");
  const RgStudy *study = plan->study;
  assert_int_equal(study->n_cells, 1 + 2 * 2 * 3 + 1 + 2 * 2);
  assert_string_equal(study->cells[0].swept, "workers=1");
  assert_string_equal(study->cells[1].swept, "workers=4, release=sync, pending={rule=ignore}");
  assert_int_equal(study->cells[2].pending.rule, RG_PENDING_BELIEVER);
}

/* With one worker, an initial design that runs on it is told before the first query. An axis of
   several settings repeats a cell where all that differs needs several workers. */
RG_TEST(sweeps_over_starts_have_no_repeated_cells)
{
  const RgPlan *plan =
    plan_of("study: sweep\ncommon: {iterations: 5, duration: exponential(1)}\nproblems: [branin]\n"
            "algorithms: [random]\nsweep:\n  - {common.workers: [1, 3]}\n"
            "  - {common.initial_time: [free, counted, overlapped]}\n"
            "  - common.start: [ask, design, ask]\n    common.thinking.a: [0, 0, 0.5]\n");
  const RgStudy *study = plan->study;
  assert_int_equal(study->n_cells, 2 * 2 + 3 * 3);
  assert_string_equal(study->cells[3].swept, "workers=1, initial_time=counted, thinking.a=0.5");
}
