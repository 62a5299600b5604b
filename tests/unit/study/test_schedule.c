/* The schedule: seed by seed, and cheap trials at the end; teams of spare ranks; simulated jobs. */
#include <math.h>
#include <stdlib.h>

#include "test_main.h"

#include "regatta/params.h"
#include "study/schedule/schedule.h"
#include "study/run/simulate.h"
#include "reference_order.h"
#include "study_text.h"
#include "trial_at.h"
#include "gp/team/team.h"

enum { SEEDS = 40 };

static RgPlan *plan;

/* Trials in the order in which one rank takes them. */
static void list_all(int *order)
{
  char message[RG_TEAMS_MESSAGE];
  unsigned char done[3 * SEEDS] = {0};
  RgSchedule *schedule;
  RgTeams teams;
  int trial, n = 0;

  assert_int_equal(plan->n, 3 * SEEDS);
  RG_OK(rg_teams_create(plan, 1, 0, &teams, message));
  RG_OK(rg_schedule_create(PETSC_COMM_SELF, plan, &teams, done, NULL, &schedule));
  for (;;) {
    RG_OK(rg_schedule_next(schedule, 0, &trial));
    if (trial < 0) break;
    assert_false(done[trial]);
    done[trial] = 1;
    order[n++] = trial;
  }
  assert_int_equal(n, plan->n);
  RG_OK(rg_schedule_destroy(&schedule));
  RG_OK(rg_teams_destroy(&teams));
}

/* At any time in the first half, every method has run on the same seeds, except for the running
   trials. The trials that begin last are cheap. */
RG_TEST(half_a_study_is_a_comparison)
{
  int order[3 * SEEDS], n_of[3] = {0};
  double after = 0;

  plan = plan_of("study: t\nseeds: 40\ncommon: {iterations: 30}\nproblems: [branin]\n"
                 "algorithms: [random, ei, gp_ucb]\n");
  list_all(order);
  for (int i = 0; i < plan->n / 2; i++) {
    const RgTrial trial = trial_at(plan, order[i]);
    assert_int_equal(trial.turn, n_of[trial.cell]++);
    assert_true(abs(n_of[0] - n_of[1]) <= 1 && abs(n_of[1] - n_of[2]) <= 1);
  }
  for (int i = plan->n - 1; i >= plan->n - 3; i--) {
    const RgTrial trial = trial_at(plan, order[i]);
    if (i < plan->n - 1) assert_true(trial.cost <= after || trial.cell == 0);
    after += trial.cost;
  }
  assert_string_equal(plan->study->cells[rg_plan_cell(plan, order[plan->n - 1])].algorithm_label,
                      "random");
}

/* Powers of two for all cells, the cells in their order. */
static void draw_costs(int spread)
{
  for (int c = 0; c < plan->study->n_cells; c++) {
    int k = c;
    plan->cells[c].cost = 1 << rand() % spread;
    for (; k > 0 && plan->cells[plan->by_cost[k - 1]].cost < plan->cells[c].cost; k--)
      plan->by_cost[k] = plan->by_cost[k - 1];
    plan->by_cost[k] = c;
  }
}

/* The order equals that of the reference, for any costs and any finished trials. */
RG_TEST(the_order_is_that_of_the_reference)
{
  enum { MANY = 3 * 30 * (1 + 3 + 1 + 1) + 3 * 20 + 3 * 10 };
  static const int jobs[] = {1, 2, 6, 40, 1000};

  plan = plan_of("study: t\nseeds: 30\ninstances: 3\n"
                 "problems: [branin, gp_path, {name: sphere, ranks_per_trial: 2}, six_hump_camel]\n"
                 "algorithms: [random, ei, gp_ucb]\ncommon: {iterations: 3}\n"
                 "replicate: [{problem: gp_path, algorithm: ei, seeds: 50},"
                 " {problem: branin, seeds: 40}]\n");
  assert_int_equal(plan->n, MANY);
  srand(1);
  for (int k = 0; k < 200; k++) {
    const int spread = k % 5, part = k % 7; /* spread of the costs; share of finished trials */
    bool done[MANY] = {false};
    draw_costs(2 + 3 * spread);
    for (int i = 0; i < MANY; i++) done[i] = rand() % 7 < part && (k % 3 || i < MANY / 2);
    check_order_on(plan, jobs[k % 5], done);
  }
}

/* Checks the trials with teams of several ranks, with `seeds` seeds on `ranks` ranks: their
   number, and the size of the teams; 0: no such trial. They are the first ones of the schedule. */
static void expect_teams(const char *problems, const char *algorithms, int seeds, int ranks,
                         int expected, int size)
{
  char message[RG_TEAMS_MESSAGE];
  RgPlanWalk walk = {0};
  RgTeams teams;

  plan = plan_of("study: t\nseeds: %d\ncommon: {initial_points: 3990, iterations: 10, "
                 "ranks_per_trial: auto}\nproblems: [%s]\nalgorithms: [%s]\n",
                 seeds, problems, algorithms);
  RG_OK(rg_teams_create(plan, ranks, 0, &teams, message));
  assert_string_equal(message, "");
  for (int i = 0, n = 0, c; i < plan->n; i++) {
    const int trial = rg_plan_next(plan, &walk, &c);
    const RgCell *cell = &plan->study->cells[c];
    const bool large =
      cell->run.ranks_per_trial == -1 && strcmp(cell->algorithm_label, "random") != 0;
    const int has = teams.size[rg_teams_level(&teams, plan, trial)];
    assert_int_equal(has, large && n < expected ? size : 1);
    n += large;
  }
  check_order(plan, &teams, NULL);
  RG_OK(rg_teams_destroy(&teams));
}

/* Two ranks make a team for 4,000 data. The team is worth it where these ranks would be idle. */
RG_TEST(ranks_left_over_make_teams)
{
  if (!rg_team_possible()) return;
  expect_teams("branin", "ei", 1, 4, 1, 2);
  expect_teams("branin", "ei", 2, 4, 2, 2);
  expect_teams("branin", "ei", 3, 4, 0, 0);
  expect_teams("branin", "ei", 4, 4, 0, 0);
  expect_teams("branin", "ei", 5, 4, 1, 2);
  expect_teams("branin", "ei", 9, 2, 1, 2);
  expect_teams("branin", "ei, gp_ucb", 9, 16, 2, 2);
  expect_teams("branin", "ei, gp_ucb", 5, 15, 0, 0); /* 10 of 15 */
  expect_teams("branin", "ei, random", 5, 4, 1, 2);
  expect_teams("branin, {name: sphere, ranks_per_trial: 1}", "ei", 5, 4, 0, 0);
}

/* A job with trials of `seconds`, on a machine that takes time for tickets only. */
static void simulate(const char *text, double seconds, int ranks, double ticket, RgJob *job)
{
  char message[RG_TEAMS_MESSAGE];
  RgTeams teams;
  const RgJobRates rates = {
    .ticket = ticket, .record = 1e-9, .commit = 1e-9, .metadata = 1e12, .file = 2, .pack = 3};

  plan = plan_of("%s", text);
  for (int c = 0; c < plan->study->n_cells; c++) plan->cells[c].cost = seconds;
  RG_OK(rg_teams_create(plan, ranks, 0, &teams, message));
  RG_OK(rg_simulate(plan, &teams, &rates, job));
  RG_OK(rg_teams_destroy(&teams));
}

static void assert_near(double a, double b)
{
  if (!(fabs(a - b) <= 1e-6 * fabs(b))) fail_msg("%.9g is not %.9g", a, b);
}

#define TRIALS(n)                                                                                  \
  "study: t\nseeds: " n "\ncommon: {iterations: 5}\nproblems: [branin]\nalgorithms: [random]\n"

/* Ten trials on four ranks in three rounds. A trial of 20 s is a shard of its own; trials of 2 s
   make one shard per rank at the end. */
RG_TEST(simulated_rounds)
{
  RgJob job;

  simulate(TRIALS("10"), 20, 4, 1e-12, &job);
  assert_near(job.wall, 60);
  assert_near(job.busy, 200.0 / 240);
  assert_near(job.idle, 40.0 / 240);
  assert_near(job.commits, 10.0 / 60);
  assert_near(job.files, 10);
  assert_near(job.resume, 20);
  assert_near(job.pack, 30);
  simulate(TRIALS("10"), 2, 4, 1e-12, &job);
  assert_near(job.wall, 6);
  assert_near(job.files, 4);
  /* 17, 17, 16 and 16, of which 16 are merged in two steps */
  simulate(TRIALS("66"), 20, 4, 1e-12, &job);
  assert_near(job.wall, 20 * 17);
  assert_near(job.files, 2 + 2 + 1 + 1);
}

/* Ranks of a large job commit less often: each of these has 40 trials of 20 s, 800 s in all, and a
   turn every 100 s, which is 8 commits or 9. */
RG_TEST(simulated_spacing)
{
  enum { RANKS = 40000 };
  RgJob job;

  simulate(TRIALS("1600000"), 20, RANKS, 1e-12, &job);
  assert_near(job.wall, 800);
  assert_in_range((int)(job.commits * job.wall / RANKS + 0.5), 8, 9);
  assert_true(job.commits <= 450);
}

/* A counter that takes as long as a trial limits the job. */
RG_TEST(simulated_counter_is_the_bound)
{
  RgJob job;

  simulate(TRIALS("10"), 1, 4, 1, &job);
  /* one ticket per second, then four answers that no ticket is left */
  assert_near(job.wall, 10 + 4);
  assert_near(job.busy, 10.0 / (4 * 14));
}

/* Two trials that take a rank 100 s each, and before them one that both ranks share. */
RG_TEST(simulated_teams)
{
  RgJob job;

  if (!rg_team_possible()) return;
  simulate("study: t\nseeds: 3\ncommon: {initial_points: 3990, iterations: 10, ranks_per_trial: "
           "auto}\nproblems: [branin]\nalgorithms: [ei]\n",
           100, 2, 1e-12, &job);
  assert_near(job.wall, 100 * (0.5 + 3.0 / 8) + 100);
  assert_near(job.busy, 1);
}
