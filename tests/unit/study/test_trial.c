/* The trial loop: common random numbers, crossed designs, failures as results, stopping. */
#include "study_text.h"

#include "study/trial/trial.h"
#include "trial_at.h"

static const char text[] = "study: trial\n"
                           "seeds: [3, 4]\n"
                           "instances: 2\n"
                           "common: {iterations: 6, initial_points: 5, noise_variance: 0.01}\n"
                           "problems:\n"
                           "  - {name: gp_path, dim: 2, levels: 6, length_scale: 0.3}\n"
                           "  - {name: branin, maximiser: {raw_samples: 32, restarts: 2}}\n"
                           "algorithms: [random, ei, irgp_ucb]\n";

static const RgPlan *plan;

/* The trial of (problem, algorithm, instance, seed). */
static RgTrial find(const char *problem, const char *algorithm, uint64_t instance, uint64_t seed)
{
  if (!plan) plan = plan_of(text);
  for (int i = 0; i < plan->n; i++) {
    const RgTrial t = trial_at(plan, i);
    const RgCell *cell = &plan->study->cells[t.cell];
    if (!strcmp(cell->problem->name, problem) && !strcmp(cell->algorithm->name, algorithm) &&
        t.instance == instance && t.seed == seed)
      return t;
  }
  fail_msg("no trial of %s with %s", problem, algorithm);
  return (RgTrial){0};
}

static void run(RgTrial trial, RgRecord *record)
{
  bool stopped;

  RG_OK(rg_trial_run(plan->study, &trial, NULL, record, &stopped));
  assert_false(stopped);
}

static void same_rows(const RgRecord *a, const RgRecord *b, int column, int rows)
{
  size_t bytes = sizeof(double) * (size_t)rows * rg_record_width(a, column);
  assert_memory_equal(a->column[column], b->column[column], bytes);
}

RG_TEST(common_random_numbers)
{
  RgRecord a = {0}, b = {0};

  run(find("branin", "random", 0, 3), &a);
  run(find("branin", "ei", 0, 3), &b);
  same_rows(&a, &b, RG_COLUMN_X, 5);
  same_rows(&a, &b, RG_COLUMN_Y, 5);
  for (int row = 5; row < 11; row++) { /* the same noise at other points */
    double noise_a = a.column[RG_COLUMN_Y][row] - a.column[RG_COLUMN_F][row];
    double noise_b = b.column[RG_COLUMN_Y][row] - b.column[RG_COLUMN_F][row];
    RG_CLOSE(noise_a, noise_b, 1e-12);
    assert_true(fabs(noise_a) > 0 && fabs(noise_a) < 1);
  }
  RG_OK(rg_record_destroy(&a));
  RG_OK(rg_record_destroy(&b));
}

RG_TEST(instances_and_seeds_are_crossed)
{
  RgRecord a = {0}, b = {0}, c = {0};

  run(find("gp_path", "random", 0, 3), &a);
  run(find("gp_path", "random", 1, 3), &b);
  run(find("gp_path", "random", 0, 4), &c);
  same_rows(&a, &b, RG_COLUMN_X, 5); /* another function, the same initial design */
  assert_true(a.optimum != b.optimum && a.optimum == c.optimum);
  assert_memory_not_equal(a.column[RG_COLUMN_X], c.column[RG_COLUMN_X], 5 * 2 * sizeof(double));
  RG_OK(rg_record_destroy(&a));
  RG_OK(rg_record_destroy(&b));
  RG_OK(rg_record_destroy(&c));
}

RG_TEST(record_is_complete_and_repeatable)
{
  RgRecord a = {0}, b = {0};
  uint64_t sum_a[2], sum_b[2];

  run(find("gp_path", "irgp_ucb", 1, 4), &a);
  run(find("gp_path", "irgp_ucb", 1, 4), &b);
  RG_OK(rg_record_checksum(&a, sum_a));
  RG_OK(rg_record_checksum(&b, sum_b));
  assert_memory_equal(sum_a, sum_b, sizeof(sum_a));
  assert_int_equal(a.status, RG_STATUS_COMPLETE);
  assert_int_equal(a.n_rows, 11);

  double simple = INFINITY, sum = 0, gain = 0;
  for (int row = 0; row < a.n_rows; row++) {
    double regret = a.column[RG_COLUMN_INSTANTANEOUS_REGRET][row];
    RG_CLOSE(regret, a.optimum - a.column[RG_COLUMN_F][row], 1e-14);
    simple = fmin(simple, regret);
    RG_CLOSE(a.column[RG_COLUMN_SIMPLE_REGRET][row], simple, 1e-14);
    if (row < a.n_initial) continue;
    sum += regret;
    RG_CLOSE(a.column[RG_COLUMN_CUMULATIVE_REGRET][row], sum, 1e-13);
    double noise = a.column[RG_COLUMN_MODEL_NOISE][row], sd = a.column[RG_COLUMN_POSTERIOR_SD][row];
    assert_true(noise > 0 && sd > 0);
    assert_true(a.column[RG_COLUMN_INFORMATION_GAIN][row] > gain);
    gain = a.column[RG_COLUMN_INFORMATION_GAIN][row];
  }
  assert_true(isnan(a.column[RG_COLUMN_CUMULATIVE_REGRET][0]));
  RG_OK(rg_record_destroy(&a));
  RG_OK(rg_record_destroy(&b));
}

/* ---- failures and stops ------------------------------------------------------------------------ */

static int calls;

/* Run a trial whose problem and method have these functions (NULL: their own). */
static void run_broken(const char *problem, const char *algorithm, RgOnFailure on_failure,
                       PetscErrorCode (*evaluate)(RgProblem *, int, const RgPoint *, double *,
                                                  RgFailure *),
                       PetscErrorCode (*recommend)(RgAlgorithm *, int, const RgHistory *, RgQuery *,
                                                   RgFailure *),
                       RgRecord *record)
{
  const RgTrial trial = find(problem, algorithm, 0, 3);
  RgCell *cell = &plan->study->cells[trial.cell], sound = *cell;
  RgProblemClass broken = *cell->problem;
  RgAlgorithmClass curious = *cell->algorithm;

  if (evaluate) broken.evaluate = evaluate;
  if (evaluate) broken.objective = NULL;
  if (recommend) curious.recommend = recommend;
  cell->problem = &broken;
  cell->algorithm = &curious;
  cell->on_failure = on_failure;
  calls = 0;
  run(trial, record);
  cell->problem = sound.problem;
  cell->algorithm = sound.algorithm;
  cell->on_failure = sound.on_failure;
}

/* Branin that gives no number at its eighth evaluation. */
static PetscErrorCode breaks_down(RgProblem *problem, int m, const RgPoint *points, double *f,
                                  RgFailure *failure)
{
  (void)problem;
  (void)points;
  for (int i = 0; i < m; i++) {
    f[i] = -1.0;
    if (++calls == 8) {
      f[i] = NAN;
      rg_failure_set(failure, "the black box is on fire");
    }
  }
  return 0;
}

RG_TEST(a_failure_is_a_result)
{
  RgRecord record = {0};

  run_broken("branin", "ei", (RgOnFailure){0}, breaks_down, NULL, &record);
  assert_int_equal(record.status, RG_STATUS_FAILED);
  assert_int_equal(record.n_rows, 7);
  assert_int_equal(calls, 8); /* F is f, so regret evaluates nothing again */
  assert_non_null(strstr(record.message, "evaluation 8"));
  assert_non_null(strstr(record.message, "the black box is on fire"));
  RG_OK(rg_record_destroy(&record));
}

static const double *extra_of(const RgRecord *record, const char *name)
{
  for (int i = 0; i < record->n_extra; i++)
    if (!strcmp(record->extra_name[i], name)) return record->extra[i];
  fail_msg("no column %s", name);
  return NULL;
}

/* On any problem, the trial goes on with on_failure, and its rows say what happened. */
RG_TEST(a_failure_may_be_data)
{
  static const RgFailureRule rules[] = {RG_FAILURE_PENALTY, RG_FAILURE_WORST,
                                        RG_FAILURE_INFEASIBLE};

  for (int k = 0; k < 3; k++) {
    RgRecord record = {0};
    run_broken("branin", "ei", (RgOnFailure){rules[k], -5}, breaks_down, NULL, &record);
    assert_int_equal(record.status, RG_STATUS_COMPLETE);
    assert_int_equal(record.n_rows, 11);
    for (int row = 0; row < 11; row++) {
      const bool failed = row == 7;
      assert_true(isnan(record.column[RG_COLUMN_F][row]) == failed);
      assert_true(isnan(record.column[RG_COLUMN_Y][row]) == failed);
      assert_true(isnan(record.column[RG_COLUMN_OBJECTIVE][row]) == failed);
      assert_true(extra_of(&record, "failed")[row] == failed);
      assert_true(extra_of(&record, "feasible")[row] == !failed);
      assert_true(isfinite(record.column[RG_COLUMN_SIMPLE_REGRET][row]));
    }
    RG_OK(rg_record_destroy(&record));
  }
}

/* Recommends the first evaluation until it fails. */
static PetscErrorCode recommends_twice(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                       RgQuery *recommendation, RgFailure *failure)
{
  (void)algorithm;
  recommendation->index = history->index[0];
  memcpy(recommendation->x, history->x, (size_t)history->dim * sizeof(double));
  if (t == 2) rg_failure_set(failure, "nothing to recommend");
  return 0;
}

static int n_compared;

/* The newest evaluation counts as the least feasible observation so far, if it failed. */
static PetscErrorCode compares_with_least(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                          RgQuery *recommendation, RgFailure *failure)
{
  double least = INFINITY;

  for (int i = 0; i < history->n; i++)
    if (history->feasible[i]) least = fmin(least, history->observed[i]);
  for (int i = t ? history->n - 1 : 0; i < history->n; i++) {
    if (history->feasible[i]) continue;
    n_compared++;
    if (history->y[i] != least)
      rg_failure_set(failure, "row %d: %g, not %g", i, history->y[i], least);
  }
  return recommends_twice(algorithm, 0, history, recommendation, failure);
}

/* Each third evaluation fails. */
static PetscErrorCode breaks_down_often(RgProblem *problem, int m, const RgPoint *points, double *f,
                                        RgFailure *failure)
{
  (void)problem;
  (void)points;
  for (int i = 0; i < m; i++) {
    f[i] = 7 * ++calls % 5 - 10;
    if (calls % 3) continue;
    f[i] = NAN;
    rg_failure_set(failure, "the black box is on fire");
  }
  return 0;
}

RG_TEST(a_failure_counts_as_the_least_value)
{
  RgRecord record = {0};

  n_compared = 0;
  run_broken("branin", "random", (RgOnFailure){RG_FAILURE_WORST, 0}, breaks_down_often,
             compares_with_least, &record);
  assert_string_equal(record.message, "");
  assert_int_equal(record.status, RG_STATUS_COMPLETE);
  assert_true(n_compared > 2);
  RG_OK(rg_record_destroy(&record));
}

/* On finite designs and boxes. */
RG_TEST(a_recommendation_may_fail)
{
  static const char *const problems[] = {"gp_path", "branin"};

  for (int k = 0; k < 2; k++) {
    RgRecord record = {0};
    run_broken(problems[k], "random", (RgOnFailure){0}, NULL, recommends_twice, &record);
    assert_int_equal(record.status, RG_STATUS_FAILED);
    assert_non_null(strstr(record.message, "nothing to recommend"));
    assert_int_equal(record.n_rows, 7);
    for (int row = 0; row < 7; row++)
      assert_true(isfinite(record.column[RG_COLUMN_SIMPLE_REGRET][row]));
    RG_OK(rg_record_destroy(&record));
  }
}

static bool stop_at_third(void *closure)
{
  int *asked = closure;
  return ++*asked == 3;
}

RG_TEST(stopping_leaves_no_record)
{
  RgRecord record = {0};
  bool stopped;
  int asked = 0;
  const RgTrial trial = find("branin", "random", 0, 3);
  RgTrialServices host = {.stop = stop_at_third, .stop_closure = &asked};

  RG_OK(rg_trial_run(plan->study, &trial, &host, &record, &stopped));
  assert_true(stopped);
  assert_int_equal(asked, 3);
  assert_null(record.key);
}
