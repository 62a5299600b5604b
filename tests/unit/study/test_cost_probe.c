/* The cost of trials from short probes, methods that are programs, and the time left of a run. */
#include <math.h>

#include "base/clock.h"
#include "study/plan/cost.h"
#include "study/run/probe.h"
#include "study/record/record.h"
#include "study/schedule/calibration.h"
#include "study_text.h"

static RgStudy study;
static RgPlan plan;

static void make(const char *text)
{
  parse_study(text, &study);
  RG_OK(rg_plan_fill(&study, &plan));
}

static void forget(void)
{
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}

/* Every pair of a method and a problem is timed once. A pair with a finished trial is not timed. */
RG_TEST(one_cell_of_each_pair_is_timed)
{
  RgCalibration clock;

  make("study: t\ncommon: {iterations: 6}\nproblems: [branin, sphere]\n"
       "algorithms: [{name: gp_ucb, label: G, beta: fixed}, random]\nsweep: [{algorithms.G.value: "
       "[1, 2, 3]}]\n");
  assert_int_equal(study.n_cells, 8);
  RG_OK(rg_calibration_create(&study, &clock));
  for (int c = 0; c < study.n_cells; c++)
    if (!strcmp(study.cells[c].problem_label, "sphere") &&
        !strcmp(study.cells[c].algorithm->name, "random"))
      rg_calibration_add(&clock, c, 7);
  RG_OK(rg_probe_costs(&plan, NULL, &clock));
  assert_int_equal(clock.n_probes, 3);
  RG_OK(rg_calibration_apply(&clock, &plan));
  for (int c = 0; c < study.n_cells; c++) {
    const bool known = !strcmp(study.cells[c].problem_label, "sphere") &&
                       !strcmp(study.cells[c].algorithm->name, "random");
    assert_int_equal(plan.cells[c].cost == 7, known);
    assert_true(plan.cells[c].cost > 0 && plan.cells[c].cost < 60);
  }
  RG_OK(rg_calibration_destroy(&clock));
  forget();
}

static double roughly;

/* The estimate for a trial of ten evaluations of a costly problem, which ends after `stop` seconds
   of them; also the nominal one. */
static double costly_estimate(void (*cost)(const void *options, RgProblemCost *cost),
                              PetscErrorCode (*evaluate)(RgProblem *problem, int m,
                                                         const RgPoint *points, double *f,
                                                         RgFailure *failure),
                              double stop)
{
  RgCalibration clock;

  make("study: t\ncommon: {iterations: 6, initial_points: 4}\nproblems: [branin]\nalgorithms: "
       "[random]\n");
  study.cells[0].run.stop_seconds = stop;
  RgProblemClass costly = *study.cells[0].problem;
  costly.traits |= RG_PROBLEM_COSTLY;
  costly.cost = cost;
  costly.evaluate = evaluate;
  study.cells[0].problem = &costly;
  RG_OK(rg_calibration_create(&study, &clock));
  RG_OK(rg_probe_costs(&plan, NULL, &clock));
  assert_int_equal(clock.n_probes, 1);
  const double seconds = clock.cells[0].seconds;
  roughly = rg_cost_nominal(&study.cells[0]);
  RG_OK(rg_calibration_destroy(&clock));
  forget();
  return seconds;
}

static void three_seconds(const void *options, RgProblemCost *cost)
{
  (void)options;
  cost->evaluation = 3;
}

static PetscErrorCode never(RgProblem *problem, int m, const RgPoint *points, double *f,
                            RgFailure *failure)
{
  (void)problem, (void)m, (void)points, (void)f, (void)failure;
  return PETSC_ERR_ORDER;
}

/* A costly problem is not evaluated: its declared time counts, up to the end by `stop`. */
RG_TEST(costly_problems_are_not_evaluated)
{
  static const struct {
    double stop, seconds;
  } cases[] = {{NAN, 30}, {1000, 30}, {20, 21}, {5, 12}}; /* at least the initial design */

  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const double seconds = costly_estimate(three_seconds, never, cases[c].stop);
    assert_true(seconds >= cases[c].seconds && seconds < cases[c].seconds + 2);
    assert_true(roughly >= cases[c].seconds && roughly < cases[c].seconds + 2);
  }
}

static int n_evaluated;

static void a_guess(const void *options, RgProblemCost *cost)
{
  (void)options;
  cost->evaluation = 1000;
  cost->undeclared = true;
}

static void a_long_guess(const void *options, RgProblemCost *cost)
{
  a_guess(options, cost);
  cost->may_be_long = true;
}

static PetscErrorCode takes_time(RgProblem *problem, int m, const RgPoint *points, double *f,
                                 RgFailure *failure)
{
  (void)problem, (void)points, (void)failure;
  n_evaluated += m;
  PetscCall(PetscSleep(0.05 * m));
  for (int i = 0; i < m; i++) f[i] = 0;
  return 0;
}

/* If nobody declares how long an evaluation takes, two evaluations are timed. */
RG_TEST(an_undeclared_duration_is_measured)
{
  const double seconds = costly_estimate(a_guess, takes_time, NAN);

  assert_int_equal(n_evaluated, 2);
  assert_true(seconds >= 0.5 && seconds < 5000); /* the guess makes 10,000 */
}

/* Two methods on one problem share the two evaluations; a problem whose evaluations may be long is
   not evaluated at all. Both is said before. */
static void check_calls(bool may_be_long, const char *says, int n_calls)
{
  RgCalibration clock;
  RgText text = {0};

  make("study: t\ncommon: {iterations: 3, initial_points: 3}\nproblems: [branin]\nalgorithms: "
       "[random, cma_es]\n");
  RgProblemClass costly = *study.cells[0].problem;
  costly.traits |= RG_PROBLEM_COSTLY;
  costly.cost = may_be_long ? a_long_guess : a_guess;
  costly.evaluate = takes_time;
  study.cells[0].problem = study.cells[1].problem = &costly;
  n_evaluated = 0;
  RG_OK(rg_calibration_create(&study, &clock));
  RG_OK(rg_probe_calls(&plan, &clock, &text));
  assert_non_null(strstr(text.data, says));
  assert_ptr_equal(strchr(text.data, '\n') + 1, text.data + text.length); /* one line */
  RG_OK(rg_probe_costs(&plan, NULL, &clock));
  assert_int_equal(n_evaluated, n_calls);
  assert_int_equal(clock.n_probes, 2);
  RG_OK(rg_text_clear(&text));
  RG_OK(rg_calibration_destroy(&clock));
  forget();
}

RG_TEST(evaluations_of_a_probe_are_announced_and_shared)
{
  check_calls(false, "'branin' is evaluated twice", 2);
  check_calls(true, "'branin' is not evaluated", 0);
}

static void burn(double seconds)
{
  const double until = rg_cpu_seconds() + seconds;

  while (rg_cpu_seconds() < until)
    ;
}

/* 6e-7 n^2 seconds for evaluation n. */
static PetscErrorCode growing(RgProblem *problem, int m, const RgPoint *points, double *f,
                              RgFailure *failure)
{
  (void)points, (void)failure;
  burn(6e-7 * pow(problem->task.evaluation, 2));
  for (int i = 0; i < m; i++) f[i] = 0;
  return 0;
}

/* The cost of a long trial grows with its data: its beginning would be too cheap. */
RG_TEST(the_end_of_a_trial_is_rehearsed)
{
  double seconds, sum = 0;

  make("study: t\ncommon: {iterations: 200, initial_points: 4}\nproblems: [branin]\nalgorithms: "
       "[random]\n");
  RgProblemClass slow = *study.cells[0].problem;
  slow.evaluate = growing;
  study.cells[0].problem = &slow;
  RG_OK(rg_rehearse(&study, &study.cells[0], 0, &seconds));
  for (int n = 1; n <= 204; n++) sum += 6e-7 * n * n;
  assert_true(seconds > 0.9 * sum && seconds < 1.15 * sum);
  forget();
}

static const RgAlgorithmClass *sampler;
static double sum_of_seeds;

/* A query takes 0.01 seconds. */
static PetscErrorCode ask_slowly(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                 RgQuery *query, RgFailure *failure)
{
  burn(0.01);
  return sampler->ask(algorithm, t, history, query, failure);
}

/* Probe a study of two seeds; the number of probes. */
static int count_probes(int iterations)
{
  RgCalibration clock;
  char text[200];

  snprintf(text, sizeof(text),
           "study: t\nseeds: 2\ncommon: {iterations: %d}\nproblems: [branin]\nalgorithms: "
           "[random]\n",
           iterations);
  make(text);
  RgAlgorithmClass slow = *study.cells[0].algorithm;
  sampler = study.cells[0].algorithm;
  slow.ask = ask_slowly;
  study.cells[0].algorithm = &slow;
  RG_OK(rg_calibration_create(&study, &clock));
  RG_OK(rg_probe_costs(&plan, NULL, &clock));
  const int n = (int)clock.cells[0].n;
  sum_of_seeds = clock.cells[0].seconds;
  RG_OK(rg_calibration_destroy(&clock));
  forget();
  return n;
}

RG_TEST(dear_trials_are_rehearsed_with_several_seeds)
{
  assert_int_equal(count_probes(40), 1);
  assert_int_equal(count_probes(600), 2);
  assert_true(sum_of_seeds > 11 && sum_of_seeds < 18);
}

static PetscErrorCode ask_very_slowly(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                      RgQuery *query, RgFailure *failure)
{
  burn(0.2);
  return sampler->ask(algorithm, t, history, query, failure);
}

/* After the beginning of a trial, its data may be more than a finite domain has designs. Values
   that workers tell at once have their queries' time. */
RG_TEST(a_finite_domain_has_no_larger_initial_design)
{
  static const char *const settings[] = {
    "initial_points: 3", "initial_points: 1, workers: 3, start: design, duration: point(1)"};

  for (int i = 0; i < 2; i++) {
    char text[300];
    double seconds;
    snprintf(text, sizeof text,
             "study: t\ncommon: {iterations: 40, %s}\nproblems: [{name: gp_path_set, points: 5, "
             "dim: 1}]\nalgorithms: [random]\n",
             settings[i]);
    make(text);
    RgAlgorithmClass slow = *study.cells[0].algorithm;
    sampler = study.cells[0].algorithm;
    slow.ask = ask_very_slowly;
    study.cells[0].algorithm = &slow;
    RG_OK(rg_rehearse(&study, &study.cells[0], 0, &seconds));
    assert_true(seconds > 6 && seconds < 12); /* 40 or 37 queries of 0.2 seconds */
    forget();
  }
}

static double far_away;
static int n_late;

/* The first 60 evaluations take time, so that the beginning of a trial ends there. */
static PetscErrorCode watched(RgProblem *problem, int m, const RgPoint *points, double *f,
                              RgFailure *failure)
{
  (void)failure;
  if (problem->task.evaluation <= 60) burn(0.012);
  for (int i = 0; i < m; i++) {
    f[i] = -pow(points[i].x[0] - 1, 2) - pow(points[i].x[1] - 1, 2);
    if (problem->task.evaluation <= 70) continue;
    far_away += sqrt(-f[i]);
    n_late++;
  }
  return 0;
}

/* Late data lie where the beginning of the trial ended, and not all over the box. */
RG_TEST(designs_continue_the_beginning)
{
  double seconds;

  make("study: t\ncommon: {iterations: 100, initial_points: 4}\nproblems: [branin]\nalgorithms: "
       "[ei]\n");
  RgProblemClass class = *study.cells[0].problem;
  class.evaluate = watched;
  study.cells[0].problem = &class;
  RG_OK(rg_rehearse(&study, &study.cells[0], 0, &seconds));
  assert_true(n_late >= 30);
  assert_true(far_away / n_late < 1); /* uniform in the box of Branin: about 7 */
  forget();
}

/* One search for all trials of a problem whose optimum is unknown, as long as one of them has not
   run; costly problems are not searched. */
RG_TEST(searches_for_unknown_optima_are_counted)
{
  unsigned char *done;
  double seconds;
  int n;

  make(
    "study: t\nseeds: 3\ncommon: {iterations: 1, initial_points: 2}\nproblems: [{name: newsvendor, "
    "measure: cvar(0.3)}, {name: newsvendor, label: v, measure: cvar(0.4)}]\nalgorithms: [random, "
    "{name: sbo_kde, any_measure: true}]\n");
  RG_OK(PetscCalloc1(plan.n, &done));
  RG_OK(rg_probe_optima(&plan, done, &n, &seconds));
  assert_int_equal(n, 2);
  assert_true(seconds > 1e-3);
  for (int c = 0; c < study.n_cells; c++) {
    const bool random = !strcmp(study.cells[c].algorithm->name, "random");
    if (!random && strcmp(study.cells[c].problem_label, "v")) continue;
    for (int i = 0; i < plan.cells[c].n; i++) done[plan.cells[c].first + i] = RG_STATUS_COMPLETE;
  }
  RG_OK(rg_probe_optima(&plan, done, &n, &seconds));
  assert_int_equal(n, 1);
  for (int i = 0; i < plan.n; i++) done[i] = RG_STATUS_COMPLETE;
  RG_OK(rg_probe_optima(&plan, done, &n, &seconds));
  assert_true(n == 0 && seconds == 0);
  RG_OK(PetscFree(done));
  forget();

  make("study: t\nseeds: 1\ncommon: {iterations: 1, initial_points: 2}\nproblems: [branin, {name: "
       "newsvendor, measure: cvar(0.3)}]\nalgorithms: [random]\n");
  RgProblemClass costly = *study.cells[1].problem;
  costly.traits |= RG_PROBLEM_COSTLY;
  study.cells[1].problem = &costly;
  RG_OK(rg_probe_optima(&plan, (const unsigned char[2]){0}, &n, &seconds));
  assert_int_equal(n, 0);
  forget();
}

static RgCalibration times;

/* The times of a cell with n trials, some of which have ended; `done` counts parts of trials, too. */
static void set_cell(int c, int n, int ended, double done, double each, double nominal)
{
  times.cells[c] = (RgCellTimes){.n = done,
                                 .seconds = done * each,
                                 .nominal = nominal,
                                 .open = n - ended,
                                 .left = n - done,
                                 .ranks = 1};
}

/* The time left of four ranks; the second cell has nothing to run. */
static double left_of(int n, int ended, double done, double each)
{
  set_cell(0, n, ended, done, each, 1);
  times.cells[1] = (RgCellTimes){0};
  return rg_calibration_left(&times, 4);
}

RG_TEST(time_left_counts_trials_in_flight)
{
  make("study: t\ncommon: {iterations: 6}\nproblems: [branin]\nalgorithms: [ei, random]\n");
  RG_OK(rg_calibration_create(&study, &times));
  assert_true(isnan(left_of(8, 0, 0, 0)));
  assert_true(isnan(left_of(8, 0, 0.01, 1000)));
  RG_CLOSE(left_of(8, 0, 2, 100), 150, 1e-12); /* half of each of four trials */
  RG_CLOSE(left_of(8, 4, 4, 100), 100, 1e-12);
  RG_CLOSE(left_of(8, 4, 6, 100), 50, 1e-12);
  assert_true(left_of(8, 8, 8, 100) == 0);
  RG_CLOSE(left_of(8, 7, 7.25, 100), 75, 1e-12); /* one trial for four ranks: three are idle */
  /* the quick method is through; no trial of the slow one, nominally nine times as dear, has
     begun */
  set_cell(0, 4, 4, 4, 10, 1);
  set_cell(1, 4, 0, 0, 0, 9);
  RG_CLOSE(rg_calibration_left(&times, 4), 90, 1e-12);
  RG_OK(rg_calibration_destroy(&times));
  forget();
}

/* One trial whose queries grow dearer, whatever the machine's speed: the forecast is right from the
   first query on where costs grow as the nominal ones, and never a constant where they grow faster. */
RG_TEST(time_left_follows_growing_queries)
{
  make("study: t\nseeds: 1\ncommon: {iterations: 190, initial_points: 10}\nproblems: [branin]\n"
       "algorithms: [ei]\n");
  const RgCell *cell = &study.cells[0];
  const double whole = 700;
  double before = INFINITY;

  RG_OK(rg_calibration_create(&study, &times));
  assert_true(rg_cost_share(cell, 200) == 1);
  assert_true(rg_cost_share(cell, 100) < 0.25); /* half of the queries, with small models */
  for (int n = 60; n < 200; n += 10) {
    const double share = rg_cost_share(cell, n), spent = share * whole;
    if (!(share >= 0.02)) continue;
    set_cell(0, 1, 0, share, whole, 1);
    RG_CLOSE(rg_calibration_left(&times, 1), whole - spent, 1e-9);
    times.cells[0].seconds = spent * share;
    const double left = rg_calibration_left(&times, 1);
    assert_true(fabs(left / before - 1) > 0.01);
    before = left;
  }
  RG_OK(rg_calibration_destroy(&times));
  forget();
}
