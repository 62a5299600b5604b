/* The cost of trials from short probes, methods that are programs, and the time left of a run. */
#include <math.h>
#include <stdarg.h>

#include "base/clock.h"
#include "study/plan/cost.h"
#include "study/run/probe.h"
#include "study/record/record.h"
#include "study/schedule/calibration.h"
#include "study_text.h"

/* A study, its plan, the times of its cells, and what stands in for a class of the program. */
static RgStudy study;
static RgPlan plan;
static RgCalibration times;
static RgProblemClass stand_in;
static RgAlgorithmClass method;
static const RgAlgorithmClass *sampler;

/* Make the study whose text behind its name is this. */
static void make(const char *format, ...)
{
  char text[400];
  va_list arguments;

  const int n = snprintf(text, sizeof text, "study: t\n");
  va_start(arguments, format);
  vsnprintf(text + n, sizeof text - (size_t)n, format, arguments);
  va_end(arguments);
  plan_study(text, &study, &plan);
  RG_OK(rg_calibration_create(&study, &times));
}

static void forget(void)
{
  RG_OK(rg_calibration_destroy(&times));
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}

typedef PetscErrorCode (*Evaluate)(RgProblem *, int m, const RgPoint *points, double *f,
                                   RgFailure *failure);
typedef void (*Cost)(const void *options, RgProblemCost *cost);

/* Let every problem of the study evaluate so. cost: of a costly problem; NULL: it is not costly. */
static void replace_problem(Evaluate evaluate, Cost cost)
{
  stand_in = *study.cells[0].problem;
  stand_in.evaluate = evaluate;
  stand_in.cost = cost ? cost : stand_in.cost;
  stand_in.traits |= cost ? RG_PROBLEM_COSTLY : 0;
  for (int c = 0; c < study.n_cells; c++) study.cells[c].problem = &stand_in;
}

static void burn(double seconds)
{
  const double until = rg_cpu_seconds() + seconds;

  while (rg_cpu_seconds() < until)
    ;
}

static double seconds_of_query;

static PetscErrorCode ask_slowly(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                 RgQuery *query, RgFailure *failure)
{
  burn(seconds_of_query);
  return sampler->ask(algorithm, t, history, query, failure);
}

/* Let the method of the first cell take so long for a query. */
static void slow_down(double seconds)
{
  seconds_of_query = seconds;
  sampler = study.cells[0].algorithm;
  method = *sampler;
  method.ask = ask_slowly;
  study.cells[0].algorithm = &method;
}

/* The estimate for a trial of the only cell that is timed. */
static double probe(void)
{
  RG_OK(rg_probe_costs(&plan, NULL, &times));
  assert_int_equal(times.n_probes, 1);
  return times.cells[0].seconds;
}

/* Whether a cell is random search on the sphere, whose time is known. */
static bool is_known(int c)
{
  return !strcmp(study.cells[c].problem_label, "sphere") &&
         !strcmp(study.cells[c].algorithm->name, "random");
}

/* Every pair of a method and a problem is timed once. A pair with a finished trial is not timed. */
RG_TEST(one_cell_of_each_pair_is_timed)
{
  make("common: {iterations: 6}\nproblems: [branin, sphere]\nalgorithms: [{name: gp_ucb, label: G, "
       "beta: fixed}, random]\nsweep: [{algorithms.G.value: [1, 2, 3]}]\n");
  assert_int_equal(study.n_cells, 8);
  for (int c = 0; c < study.n_cells; c++)
    if (is_known(c)) rg_calibration_add(&times, c, 7);
  RG_OK(rg_probe_costs(&plan, NULL, &times));
  assert_int_equal(times.n_probes, 3);
  RG_OK(rg_calibration_apply(&times, &plan));
  for (int c = 0; c < study.n_cells; c++) {
    assert_int_equal(plan.cells[c].cost == 7, is_known(c));
    assert_true(plan.cells[c].cost > 0 && plan.cells[c].cost < 60);
  }
  forget();
}

static PetscErrorCode never(RgProblem *problem, int m, const RgPoint *points, double *f,
                            RgFailure *failure)
{
  (void)problem, (void)m, (void)points, (void)f, (void)failure;
  return PETSC_ERR_ORDER;
}

static int n_evaluated;

static PetscErrorCode takes_time(RgProblem *problem, int m, const RgPoint *points, double *f,
                                 RgFailure *failure)
{
  (void)problem, (void)points, (void)failure;
  n_evaluated += m;
  PetscCall(PetscSleep(0.05 * m));
  for (int i = 0; i < m; i++) f[i] = 0;
  return 0;
}

static void three_seconds(const void *options, RgProblemCost *cost)
{
  (void)options;
  cost->evaluation = 3;
}

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

/* Ten evaluations of a costly problem, which `stop` seconds of them end. It is not evaluated: its
   declared time counts, also in the nominal cost. If nobody declares how long an evaluation takes,
   two evaluations are timed. */
RG_TEST(costly_problems_are_evaluated_only_if_their_duration_is_unknown)
{
  static const struct {
    double stop;
    Cost cost;
    Evaluate evaluate;
    double least, most;
  } cases[] = {{NAN, three_seconds, never, 30, 32},
               {1000, three_seconds, never, 30, 32},
               {20, three_seconds, never, 21, 23},
               {5, three_seconds, never, 12, 14},      /* at least the initial design */
               {NAN, a_guess, takes_time, 0.5, 5000}}; /* the guess makes 10,000 */

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    make("common: {iterations: 6, initial_points: 4}\nproblems: [branin]\nalgorithms: [random]\n");
    study.cells[0].run.stop_seconds = cases[k].stop;
    replace_problem(cases[k].evaluate, cases[k].cost);
    n_evaluated = 0;
    const double seconds = probe(), nominal = rg_cost_nominal(&study.cells[0]);
    assert_true(seconds >= cases[k].least && seconds < cases[k].most);
    if (cases[k].cost == three_seconds)
      assert_true(nominal >= cases[k].least && nominal < cases[k].most);
    assert_int_equal(n_evaluated, cases[k].evaluate == takes_time ? 2 : 0);
    forget();
  }
}

/* Two methods on one problem share the two evaluations; a problem whose evaluations may be long is
   not evaluated at all. Both is said before. */
RG_TEST(evaluations_of_a_probe_are_announced_and_shared)
{
  static const struct {
    Cost cost;
    const char *says;
    int n_calls;
  } cases[] = {{a_guess, "'branin' is evaluated twice", 2},
               {a_long_guess, "'branin' is not evaluated", 0}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    RgText text = {0};
    make("common: {iterations: 3, initial_points: 3}\nproblems: [branin]\nalgorithms: [random, "
         "cma_es]\n");
    replace_problem(takes_time, cases[k].cost);
    n_evaluated = 0;
    RG_OK(rg_probe_calls(&plan, &times, &text));
    assert_non_null(strstr(text.data, cases[k].says));
    assert_ptr_equal(strchr(text.data, '\n') + 1, text.data + text.length); /* one line */
    RG_OK(rg_probe_costs(&plan, NULL, &times));
    assert_int_equal(n_evaluated, cases[k].n_calls);
    assert_int_equal(times.n_probes, 2);
    RG_OK(rg_text_clear(&text));
    forget();
  }
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

/* The cost of a long trial grows with its data: its beginning would be too cheap. A dear trial is
   rehearsed with several seeds. After the beginning of a trial, its data may be more than a finite
   domain has designs; values that workers tell at once have their queries' time. */
RG_TEST(a_part_of_a_trial_tells_the_cost_of_the_whole)
{
  static const double sum = 6e-7 * 204 * 205 * 409 / 6; /* over 204 evaluations */
  const struct {
    int seeds;
    const char *common, *problem;
    double query;       /* seconds; 0: `growing` evaluations take the time */
    int n_seeds;        /* that are rehearsed */
    double least, most; /* seconds of a trial, or of all that are rehearsed */
  } cases[] = {{1, "iterations: 200, initial_points: 4", "branin", 0, 1, 0.9 * sum, 1.15 * sum},
               {2, "iterations: 40", "branin", 0.01, 1, 0, INFINITY},
               {2, "iterations: 600", "branin", 0.01, 2, 11, 18},
               {1, "iterations: 40, initial_points: 3", "{name: gp_path_set, points: 5, dim: 1}",
                0.2, 1, 6, 12},
               {1,
                "iterations: 40, initial_points: 1, workers: 3, start: design, duration: point(1)",
                "{name: gp_path_set, points: 5, dim: 1}", 0.2, 1, 6, 12}}; /* 37 queries */

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    make("seeds: %d\ncommon: {%s}\nproblems: [%s]\nalgorithms: [random]\n", cases[k].seeds,
         cases[k].common, cases[k].problem);
    if (cases[k].query > 0) slow_down(cases[k].query);
    else replace_problem(growing, NULL);
    RG_OK(rg_probe_costs(&plan, NULL, &times));
    const double seconds = times.cells[0].seconds;
    assert_int_equal((int)times.cells[0].n, cases[k].n_seeds);
    assert_true(seconds > cases[k].least && seconds < cases[k].most);
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
  make("common: {iterations: 100, initial_points: 4}\nproblems: [branin]\nalgorithms: [ei]\n");
  replace_problem(watched, NULL);
  (void)probe();
  assert_true(n_late >= 30);
  assert_true(far_away / n_late < 1); /* uniform in the box of Branin: about 7 */
  forget();
}

static void expect_searches(const unsigned char *done, int expected)
{
  double seconds;
  int n;

  RG_OK(rg_probe_optima(&plan, done, &n, &seconds));
  assert_int_equal(n, expected);
  assert_true(expected ? seconds > 1e-3 : seconds == 0);
}

/* One search for all trials of a problem whose optimum is unknown, as long as one of them has not
   run; costly problems are not searched. */
RG_TEST(searches_for_unknown_optima_are_counted)
{
  unsigned char done[12] = {0};

  make(
    "seeds: 3\ncommon: {iterations: 1, initial_points: 2}\nproblems: [{name: newsvendor, measure: "
    "cvar(0.3)}, {name: newsvendor, label: v, measure: cvar(0.4)}]\nalgorithms: [random, {name: "
    "sbo_kde, any_measure: true}]\n");
  assert_int_equal(plan.n, 12);
  expect_searches(done, 2);
  for (int c = 0; c < study.n_cells; c++) {
    const bool random = !strcmp(study.cells[c].algorithm->name, "random");
    if (!random && strcmp(study.cells[c].problem_label, "v")) continue;
    for (int i = 0; i < plan.cells[c].n; i++) done[plan.cells[c].first + i] = RG_STATUS_COMPLETE;
  }
  expect_searches(done, 1);
  memset(done, RG_STATUS_COMPLETE, sizeof done);
  expect_searches(done, 0);
  forget();

  make(
    "seeds: 1\ncommon: {iterations: 1, initial_points: 2}\nproblems: [branin, {name: newsvendor, "
    "measure: cvar(0.3)}]\nalgorithms: [random]\n");
  stand_in = *study.cells[1].problem;
  stand_in.traits |= RG_PROBLEM_COSTLY;
  study.cells[1].problem = &stand_in;
  expect_searches((const unsigned char[2]){0}, 0);
  forget();
}

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
  make("common: {iterations: 6}\nproblems: [branin]\nalgorithms: [ei, random]\n");
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
  forget();
}

/* One trial whose queries grow dearer, whatever the machine's speed: the forecast is right from the
   first query on where costs grow as the nominal ones, and never a constant where they grow faster. */
RG_TEST(time_left_follows_growing_queries)
{
  make("seeds: 1\ncommon: {iterations: 190, initial_points: 10}\nproblems: [branin]\nalgorithms: "
       "[ei]\n");
  const RgCell *cell = &study.cells[0];
  const double whole = 700;
  double before = INFINITY;

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
  forget();
}
