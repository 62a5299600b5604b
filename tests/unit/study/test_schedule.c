/* The schedule: seed by seed, and cheap trials at the end. */
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
  RG_OK(rg_teams_create(&plan, 1, &teams, message));
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
