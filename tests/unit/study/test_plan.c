#include "study_text.h"

#include "study/schedule/calibration.h"
#include "study/plan/cost.h"
#include "trial_at.h"

static const RgStudy *study;
static RgPlan *plan;

#define make_plan(...) (plan = plan_of(__VA_ARGS__), study = plan->study)

/* Whether the current plan has a trial of this id. */
static bool has_id(const char *id)
{
  for (int i = 0; i < plan->n; i++)
    if (!strcmp(trial_at(plan, i).id, id)) return true;
  return false;
}

/* The identity of a trial as stored in results. A change of it cuts off every study that is
   under way. The id is what `xxhsum -H2` prints for the key. */
RG_TEST(identity_is_pinned)
{
  RgText key = {0};

  make_plan("study: t\nseed: 7\nseeds: [5]\ncommon: {iterations: 3, noise_variance: 1e-4}\n"
            "problems: [branin]\nalgorithms: [random]\n");
  assert_int_equal(plan->n, 1);
  const RgTrial trial = trial_at(plan, 0);
  RG_OK(rg_trial_key(study, &trial, &key));
  assert_string_equal(key.data,
                      "schema=1;problem=branin@1{};run={iterations=3,initial_points=4,"
                      "initial_design=uniform,noise_variance=0.0001,noise_known=true,"
                      "count_initial=false};algorithm=random@1{};study_seed=7;instance=0;seed=5");
  assert_string_equal(trial.id, "e587b2f56a829d5be98661d68a2e0549");
  RG_OK(rg_text_clear(&key));
}

/* Labels, comments, quotes, order of keys and spelling of numbers have no effect. */
RG_TEST(formatting_is_irrelevant)
{
  char id[RG_ID_LENGTH + 1];

  make_plan(
    "study: t\ncommon: {iterations: 3, noise_variance: 1e-4, surrogate: {kernel: gaussian, ard: "
    "yes}}\n"
    "problems: [{name: ackley, dim: 3, upper: 20}]\nalgorithms: [{name: gp_ucb, delta: 0.2}]\n");
  strcpy(id, trial_at(plan, 0).id);
  make_plan(
    "# another file\nalgorithms:\n  - label: \"Other label\"   # in figures\n    delta: 2.0e-1\n "
    "   name: 'gp_ucb'\n"
    "problems:\n- upper: 2e1\n  dim: \"3\"\n  label: P\n  name: ackley\n  noise_variance: .0001\n"
    "title: x\ncommon:\n    surrogate:\n        ard: true\n    iterations: 3\n"
    "study: another\nsweep: [{common.surrogate.kernel: [gaussian]}]\n");
  assert_int_equal(plan->n, 1);
  assert_string_equal(trial_at(plan, 0).id, id);
}

/* Everything that changes a result changes the id. */
RG_TEST(settings_enter)
{
#define VARIANT(top, common, problem, algorithm)                                                   \
  "study: t\n" top "common: {" common "}\nproblems: [" problem "]\nalgorithms: [" algorithm "]\n"
  static const char *const variants[] = {
    VARIANT("seed: 2\n", "iterations: 3", "gp_path", "gp_ucb"),
    VARIANT("", "iterations: 4", "gp_path", "gp_ucb"),
    VARIANT("seeds: [1]\n", "iterations: 3", "gp_path", "gp_ucb"),
    VARIANT("", "iterations: 3, noise_known: no", "gp_path", "gp_ucb"),
    VARIANT("", "iterations: 3, initial_points: 9", "gp_path", "gp_ucb"),
    VARIANT("", "iterations: 3, surrogate: {variance: 2}", "gp_path", "gp_ucb"),
    VARIANT("", "iterations: 3, maximiser: {restarts: 2}", "gp_path", "gp_ucb"),
    VARIANT("", "iterations: 3", "{name: gp_path, variance: 2}", "gp_ucb"),
    VARIANT("", "iterations: 3", "gp_path", "{name: gp_ucb, delta: 0.2}"),
    VARIANT("", "iterations: 3", "gp_path", "ei"),
    VARIANT("", "iterations: 3", "branin", "gp_ucb")};
  enum { N = sizeof(variants) / sizeof(*variants) };
  char ids[N + 1][RG_ID_LENGTH + 1];

  make_plan("study: t\ncommon: {iterations: 3}\nproblems: [gp_path]\nalgorithms: [gp_ucb]\n");
  strcpy(ids[N], trial_at(plan, 0).id);
  for (int i = 0; i < N; i++) {
    make_plan("%s", variants[i]);
    strcpy(ids[i], trial_at(plan, 0).id);
  }
  for (int i = 0; i <= N; i++)
    for (int j = 0; j < i; j++) assert_string_not_equal(ids[i], ids[j]);
}

/* A longer study contains the shorter one. */
RG_TEST(growing_a_study_keeps_its_trials)
{
  enum { MAX = 64 };
  char ids[MAX][RG_ID_LENGTH + 1];

  make_plan(
    "study: t\nseeds: 3\ninstances: 2\ncommon: {iterations: 3}\nproblems: [gp_path, branin]\n"
    "algorithms: [random, gp_ucb]\n");
  const int n = plan->n;
  assert_int_equal(n, 2 * (2 * 3) + 2 * 3);
  for (int i = 0; i < n; i++) strcpy(ids[i], trial_at(plan, i).id);
  make_plan("study: t\nseeds: 4\ninstances: 3\ncommon: {iterations: 3}\nproblems: [ackley, branin, "
            "gp_path]\n"
            "algorithms: [ei, gp_ucb, random]\nsweep: [{problems.ackley.dim: [2, 3]}]\n");
  assert_int_equal(plan->n, 3 * (2 * 4 + 4 + 3 * 4));
  for (int i = 0; i < n; i++) assert_true(has_id(ids[i]));
}

RG_TEST(trials_stand_in_plan_order)
{
  make_plan("study: t\nseeds: [9, 4]\ninstances: 2\n"
            "common: {iterations: 3, initial_points: 2}\n"
            "problems: [{name: branin, iterations: 5}, {name: gp_path, label: G}]\nalgorithms: "
            "[random, ei]\n"
            "sweep: [{problems.G.dim: [1, 2]}]\n");
  assert_int_equal(plan->n, 2 * 2 + 2 * 2 * 2 * 2);
  assert_int_equal(plan->n_groups, 2);
  assert_string_equal(plan->groups[0].problem_label, "branin");
  assert_int_equal(plan->groups[0].first, 0);
  assert_int_equal(plan->groups[0].n, 4);
  assert_int_equal(plan->groups[0].dim_x, 2);
  assert_int_equal(plan->groups[0].n_rows, 7);
  assert_string_equal(plan->groups[1].problem_label, "G");
  assert_int_equal(plan->groups[1].first, 4);
  assert_int_equal(plan->groups[1].n, 16);
  assert_int_equal(plan->groups[1].dim_x, 2);
  assert_int_equal(plan->groups[1].n_rows, 5);
  for (int i = 1; i < plan->n; i++) { /* cell, instance, seed as listed */
    const RgTrial a = trial_at(plan, i - 1), b = trial_at(plan, i);
    const int position_a = a.seed == 4, position_b = b.seed == 4;
    assert_true(a.cell < b.cell || (a.cell == b.cell && a.instance < b.instance) ||
                (a.cell == b.cell && a.instance == b.instance && position_a < position_b));
  }
  const RgTrial fifth = trial_at(plan, 4);
  assert_int_equal(fifth.n_initial, 2);
  assert_int_equal(fifth.n_evaluations, 5);
  assert_int_equal(fifth.dim_x, 1);
}

RG_TEST(seeds_come_in_turn_and_dear_trials_first)
{
  RgPlanWalk walk = {0};
  RgTrial before = {.index = -1};
  double sum = 0;
  int cell;

  make_plan(
    "study: t\nseeds: 2\ncommon: {iterations: 30}\n"
    "problems: [branin, {name: ackley, iterations: 100}, gp_path]\nalgorithms: [random, ei]\n");
  for (int i = 0; i < plan->n; i++) {
    const RgTrial trial = trial_at(plan, rg_plan_next(plan, &walk, &cell));
    assert_int_equal(trial.cell, cell);
    sum += trial.cost;
    assert_true(trial.cost > 0 && plan->cells[cell].memory > 0);
    if (i && before.turn < trial.turn)
      assert_int_equal(i, plan->n / 2); /* one trial of every cell */
    else if (i)
      assert_true(
        before.turn == trial.turn &&
        (before.cost > trial.cost || (before.cost == trial.cost && before.index < trial.index)));
    before = trial;
  }
  assert_int_equal(rg_plan_next(plan, &walk, &cell), -1);
  const RgCell *dearest = &study->cells[plan->by_cost[0]];
  assert_string_equal(dearest->problem_label, "ackley");
  assert_string_equal(dearest->algorithm_label, "ei");
  RG_CLOSE(plan->cost, sum, 1e-12);
}

static void estimate_on(const char *problem, const char *common, const char *method,
                        double *seconds, double *bytes)
{
  const RgCell *cell =
    study_of("study: t\ncommon: {%s}\nproblems: [%s]\nalgorithms: [%s]\n", common, problem, method)
      ->cells;

  *seconds = rg_cost_nominal(cell);
  *bytes = rg_cost_bytes(cell, 1);
}

static void estimate(const char *common, const char *method, double *seconds, double *bytes)
{
  estimate_on("ackley", common, method, seconds, bytes);
}

/* Each slope of WDRBO is a table of n numbers and about 240 more, for a value and for every
   context: a trial that ended with 62 data and 1e5 samples took 597 MB, with 3 samples 52 MB. A
   search keeps a matrix for each start; a kernel regression has 100 starts per input. */
RG_TEST(contexts_and_searches_need_memory)
{
  double seconds, bytes[2];

  estimate_on("{name: ackley, dim: 20}", "iterations: 40", "random", &seconds, &bytes[0]);
  estimate_on("{name: ackley, dim: 20}", "iterations: 40", "boke", &seconds, &bytes[1]);
  assert_true(bytes[1] - bytes[0] >= 8.0 * 100 * 20 * 20 * 20);
  estimate_on("ackley_context", "iterations: 60", "{name: wdrbo, samples: 3}", &seconds, &bytes[0]);
  estimate_on("ackley_context", "iterations: 60", "{name: wdrbo, samples: 1e5}", &seconds,
              &bytes[1]);
  RG_CLOSE(bytes[1] - bytes[0], 537e6, 0.1);
}

/* Against the resident sets of trials on Hartmann6. */
RG_TEST(features_of_paths_need_memory)
{
  static const struct {
    const char *method;
    double bytes;
  } took[] = {{"{name: jes, features: 1000000}", 1147e6},
              {"{name: jes, features: 300000}", 379e6},
              {"{name: ts, features: 1000000}", 944e6}};

  for (size_t k = 0; k < sizeof(took) / sizeof(took[0]); k++) {
    double seconds, bytes;
    estimate_on("hartmann6", "iterations: 1", took[k].method, &seconds, &bytes);
    assert_true(fabs(bytes - took[k].bytes) < 0.1 * took[k].bytes);
  }
}

/* A grid keeps the correlations between the levels of an axis, and for exact paths their factor: a
   trial on 12,000 levels took 1.2 GB, with Thompson sampling 3.6. */
RG_TEST(long_axes_need_memory)
{
  static const char *const methods[] = {"random", "gp_ucb", "ts"};
  static const double took[] = {51e6, 1.2e9, 3.6e9};
  double seconds, bytes;

  for (int k = 0; k < 3; k++) {
    estimate_on("{name: damped_cosine, levels: 12000}", "iterations: 2, initial_points: 2",
                methods[k], &seconds, &bytes);
    assert_true(fabs(bytes - took[k]) < 0.05 * took[k]);
  }
}

/* More work is estimated to cost more, and to need more memory. */
RG_TEST(costs_grow_with_the_work)
{
  static const char *const pairs[][2] = {
    {"iterations: 10", "iterations: 20"},
    {"iterations: 10, maximiser: {restarts: 5}", "iterations: 10, maximiser: {restarts: 50}"},
    {"iterations: 10, surrogate: {fit: fixed}", "iterations: 10, surrogate: {fit: ml}"},
    {"iterations: 10, surrogate: {fit: ml, refit_every: 5}",
     "iterations: 10, surrogate: {fit: ml, refit_every: 1}"}};

  for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
    double seconds[2], bytes[2];
    for (int k = 0; k < 2; k++) estimate(pairs[i][k], "ei", &seconds[k], &bytes[k]);
    assert_true(seconds[0] < seconds[1]);
    assert_true(bytes[0] <= bytes[1]);
  }
}

/* The search by kernel regression uses 100 starts per input (here 4), even if fewer are
   configured. */
RG_TEST(searches_of_regressions_are_widened)
{
  static const char *const common[] = {
    "iterations: 90, maximiser: {restarts: 5, local_search: lbfgsb}",
    "iterations: 90, maximiser: {restarts: 5}", "iterations: 90, maximiser: {restarts: 400}",
    "iterations: 90, maximiser: {restarts: 800}"};
  double seconds[4], bytes;

  for (int k = 0; k < 4; k++) estimate(common[k], "boke", &seconds[k], &bytes);
  assert_true(seconds[0] < seconds[1]);
  assert_true(seconds[1] == seconds[2]);
  assert_true(seconds[2] < seconds[3]);
}

/* The clock counts more than the number of operations: the clock of the cell, or else of its
   method. */
RG_TEST(costs_by_the_clock)
{
  RgCalibration clock;
  RgText text = {0};
  double estimate[4];

  make_plan(
    "study: t\ncommon: {iterations: 9}\nproblems: [branin, sphere]\nalgorithms: [ei, random]\n");
  assert_int_equal(plan->n, 4);
  for (int c = 0; c < 4; c++) estimate[c] = plan->cells[c].cost;
  RG_OK(rg_calibration_create(study, &clock));
  RG_OK(rg_calibration_apply(&clock, plan));
  for (int c = 0; c < 4; c++) assert_true(plan->cells[c].cost == estimate[c]);
  rg_calibration_add(&clock, 0, 4);
  rg_calibration_add(&clock, 0, 6);
  rg_calibration_add(&clock, 0, NAN);
  rg_calibration_probe(&clock, 1, 2 * estimate[1]);
  rg_calibration_probe(&clock, 3, NAN);
  RG_OK(rg_calibration_apply(&clock, plan));
  RG_CLOSE(plan->cells[0].cost, 5, 1e-12);
  RG_CLOSE(plan->cells[1].cost, 2 * estimate[1], 1e-12);
  RG_CLOSE(plan->cells[2].cost, estimate[2] * 5 / estimate[0], 1e-12); /* ei on sphere */
  RG_CLOSE(plan->cells[3].cost, 2 * estimate[3], 1e-12);
  RG_CLOSE(plan->cost, 5 + 2 * estimate[1] + plan->cells[2].cost + 2 * estimate[3], 1e-12);
  RG_OK(rg_calibration_describe(&clock, true, &text));
  assert_string_equal(text.data, "from the clock of 2 finished trials and 1 short probe on this "
                                 "machine; 2 of 4 cells have none and follow the others");
  RG_OK(rg_text_clear(&text));
  RG_OK(rg_calibration_destroy(&clock));
}

/* Every trial is in one share. Each share has its part of the seeds so far, and of the cost. */
RG_TEST(shares_advance_seed_by_seed)
{
  make_plan("study: t\nseeds: 4\ncommon: {iterations: 30, noise_variance: 1e-4}\n"
            "problems: [branin, {name: sphere, dim: 2}]\nalgorithms: [random, ei, gp_ucb]\n");
  assert_int_equal(plan->n, 24);
  const double dearest = plan->cells[plan->by_cost[0]].cost;
  for (int parts = 1; parts <= 30; parts++) {
    int taken[24] = {0};
    for (int part = 1; part <= parts; part++) {
      double cost[4] = {0}; /* up to each seed */
      PetscBT share;
      RG_OK(PetscBTCreate(plan->n, &share));
      RG_OK(rg_plan_share(plan, part, parts, share));
      for (int i = 0; i < plan->n; i++) {
        const RgTrial trial = trial_at(plan, i);
        const bool ours = PetscBTLookup(share, i);
        taken[i] += ours;
        for (int s = trial.turn; s < 4; s++) cost[s] += ours ? trial.cost : 0;
      }
      for (int s = 0; s < 4; s++)
        assert_true(fabs(cost[s] - plan->cost * (s + 1) / 4 / parts) <= dearest * (1 + 1e-9));
      RG_OK(PetscBTDestroy(&share));
    }
    for (int i = 0; i < plan->n; i++) assert_int_equal(taken[i], 1);
  }
}

/* Trials are found by id, also those of the last seed. An id without a trial is not found. */
RG_TEST(trials_are_found_by_id)
{
  int index;

  make_plan("study: t\nseeds: [8, 3, 5, 21, 4, 9, 1]\ninstances: 3\ncommon: {iterations: 3}\n"
            "problems: [gp_path, branin]\nalgorithms: [random, ei]\n"
            "replicate: [{problem: gp_path, algorithm: ei, seeds: 40}]\n");
  assert_int_equal(plan->n, 2 * 7 * (3 + 1) + 3 * 33);
  for (int i = 0; i < plan->n; i++) {
    const RgTrial trial = trial_at(plan, i);
    assert_int_equal(trial.index, i);
    assert_int_equal(trial.cell, rg_plan_cell(plan, i));
    RG_OK(rg_plan_find(plan, trial.id, &index));
    assert_int_equal(index, i);
  }
  RG_OK(rg_plan_find(plan, "0123456789abcdef0123456789abcdef", &index));
  assert_int_equal(index, -1);
  RG_OK(rg_plan_find(plan, "no id", &index));
  assert_int_equal(index, -1);
}
