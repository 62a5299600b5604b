/* The schedule: seed by seed, and cheap trials at the end; teams of the ranks that are left over. */
#include <stdlib.h>

#include "test_main.h"

#include "study/run/schedule.h"
#include "study_text.h"

enum { SEEDS = 40 };

static RgStudy study;
static RgPlan plan;

/* Trials in the order in which one rank takes them. */
static void take_all(int *order)
{
  char message[RG_TEAMS_MESSAGE];
  unsigned char done[3 * SEEDS] = {0};
  RgSchedule *schedule;
  RgTeams teams;
  int trial, n = 0;

  assert_int_equal(plan.n, 3 * SEEDS);
  RG_OK(rg_teams_create(&plan, 1, 0, &teams, message));
  RG_OK(rg_schedule_create(PETSC_COMM_SELF, &plan, &teams, done, &schedule));
  for (;;) {
    RG_OK(rg_schedule_next(schedule, 0, &trial));
    if (trial < 0) break;
    assert_false(done[trial]);
    done[trial] = 1;
    order[n++] = trial;
  }
  assert_int_equal(n, plan.n);
  RG_OK(rg_schedule_destroy(&schedule));
  RG_OK(rg_teams_destroy(&teams));
}

/* At any time in the first half every method has run on the same seeds, but for the one at work;
   what begins last is cheap. */
RG_TEST(half_a_study_is_a_comparison)
{
  int order[3 * SEEDS], n_of[3] = {0};
  double after = 0;

  parse_study("study: t\nseeds: 40\ncommon: {iterations: 30}\nproblems: [branin]\n"
              "algorithms: [random, ei, gp_ucb]\n",
              &study);
  RG_OK(rg_plan_fill(&study, &plan));
  take_all(order);
  for (int i = 0; i < plan.n / 2; i++) {
    const RgTrial *trial = &plan.trials[order[i]];
    assert_int_equal(trial->turn, n_of[trial->cell]++);
    assert_true(abs(n_of[0] - n_of[1]) <= 1 && abs(n_of[1] - n_of[2]) <= 1);
  }
  for (int i = plan.n - 1; i >= plan.n - 3; i--) {
    const RgTrial *trial = &plan.trials[order[i]];
    if (i < plan.n - 1) assert_true(trial->cost <= after || trial->cell == 0);
    after += trial->cost;
  }
  assert_string_equal(study.cells[plan.trials[order[plan.n - 1]].cell].algorithm_label, "random");
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}

/* Trials of `seeds` seeds on `ranks` ranks that have teams of several: so many, of such a size; 0:
   none. Those are the first of the schedule. */
static void expect_teams(const char *problems, const char *algorithms, int seeds, int ranks,
                         int expected, int size)
{
  char text[400], message[RG_TEAMS_MESSAGE];
  RgTeams teams;

  snprintf(text, sizeof(text),
           "study: t\nseeds: %d\ncommon: {initial_points: 3990, iterations: 10, ranks_per_trial: "
           "auto}\nproblems: [%s]\nalgorithms: [%s]\n",
           seeds, problems, algorithms);
  parse_study(text, &study);
  RG_OK(rg_plan_fill(&study, &plan));
  RG_OK(rg_teams_create(&plan, ranks, 0, &teams, message));
  assert_string_equal(message, "");
  for (int i = 0, n = 0; i < plan.n; i++) {
    const RgCell *cell = &study.cells[plan.trials[plan.order[i]].cell];
    const bool large =
      cell->run.ranks_per_trial == -1 && strcmp(cell->algorithm_label, "random") != 0;
    const int has = teams.size[rg_teams_level(&teams, &plan, plan.order[i])];
    assert_int_equal(has, large && n < expected ? size : 1);
    n += large;
  }
  RG_OK(rg_teams_destroy(&teams));
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
}

/* Of 4,000 data two ranks make a team; it is worth it where they would have nothing to do. */
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
