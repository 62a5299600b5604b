/* The pace of a study: the run under way, and the end of what is left on its ranks. */
#include "test_main.h"

#include <math.h>

#include "regatta/results.h"
#include "study/run/pace.h"
#include "study_text.h"

enum { RANKS = 4 };

static RgStudy study;
static RgPlan plan;
static unsigned char status[64];
static RgPaceTrial trials[64];

static void open_plan(const char *text)
{
  memset(status, 0, sizeof(status));
  memset(trials, 0, sizeof(trials));
  parse_study(text, &study);
  RG_OK(rg_plan_fill(&study, &plan));
  assert_true(plan.n <= 64);
}

static int close_plan(void **state)
{
  (void)state;
  RG_OK(rg_plan_clear(&plan));
  RG_OK(rg_study_destroy(&study));
  return 0;
}

static void finish(int trial, double started, double wall, int rank)
{
  status[trial] = RG_STATUS_COMPLETE;
  trials[trial] = (RgPaceTrial){started, wall, rank, RANKS};
}

/* Of 12 trials of 10 s, 4 were finished before a pause of an hour and 3 since; the rank that began
   last is 5 s behind. */
RG_TEST(one_rank_per_trial)
{
  RgPace pace;

  open_plan("study: t\nseeds: 12\ncommon: {iterations: 5}\nproblems: [branin]\nalgorithms: "
            "[random]\n");
  RG_OK(rg_pace(&plan, status, trials, &pace));
  assert_int_equal(pace.ranks, 0);
  assert_true(isnan(pace.over));
  plan.cells[0].cost = 10;
  for (int i = 0; i < 4; i++) finish(i, 1000, 10, i);
  for (int i = 4; i < 7; i++) finish(i, 4610, i == 6 ? 5 : 10, i - 4);
  RG_OK(rg_pace(&plan, status, trials, &pace));
  assert_int_equal(pace.ranks, RANKS);
  assert_int_equal(pace.heard, 3);
  assert_true(pace.begun == 4610 && pace.end == 4620);
  assert_true(fabs(pace.busy - 25.0 / 40) < 1e-12);
  /* rank 3 from 4610, rank 2 from 4615, the others from 4620: five trials, the last on rank 3 */
  assert_true(pace.over == 4630);
  for (int i = 7; i < 11; i++) finish(i, 4620, 10, i - 7);
  finish(11, 4630, 3, 0);
  RG_OK(rg_pace(&plan, status, trials, &pace));
  assert_true(pace.over == 4633 && pace.end == 4633);
  RG_OK(close_plan(state));
}

/* Teams of two before single ranks: 3 trials of 10 s on two teams, then 8 of 1 s on four ranks. */
RG_TEST(teams_before_ranks)
{
  RgPace pace;
  int n_teams = 0;

  open_plan("study: t\nseeds: 4\ncommon: {iterations: 5}\n"
            "problems: [{name: branin, ranks_per_trial: 2}, hartmann3]\n"
            "algorithms: [random]\n");
  for (int i = 0; i < plan.n; i++) {
    const int cell = rg_plan_cell(&plan, i);
    const bool large = study.cells[cell].run.ranks_per_trial == 2;
    plan.cells[cell].cost = large ? 10 : 1;
    if (large && !n_teams++) finish(i, 1000, 10, 0);
  }
  RG_OK(rg_pace(&plan, status, trials, &pace));
  assert_int_equal(pace.heard, 2);
  /* the other team from 1000 on: 1010, 1020; ours from 1010: 1020; four of 1 s on four ranks */
  assert_true(pace.over == 1021);
  RG_OK(close_plan(state));
}
