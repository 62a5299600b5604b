/* The order in which the teams of a level take its trials, by plain sorting: the reference for
   study/schedule/schedule.h. */
#ifndef RG_TESTS_UNIT_STUDY_REFERENCE_ORDER_H
#define RG_TESTS_UNIT_STUDY_REFERENCE_ORDER_H

#include <stdlib.h>

#include "study/schedule/schedule.h"

#include "test_main.h"

typedef struct {
  int trial, turn, place;
  double cost;
  bool open;
} Entry;

static int compare_cost(const void *left, const void *right)
{
  const Entry *a = *(Entry *const *)left, *b = *(Entry *const *)right;

  if (a->cost != b->cost) return a->cost > b->cost ? -1 : 1;
  return a->trial - b->trial;
}

static int compare_turn(const void *left, const void *right)
{
  const Entry *a = *(Entry *const *)left, *b = *(Entry *const *)right;

  return a->turn != b->turn ? a->turn - b->turn : compare_cost(left, right);
}

/* Trials seed by seed, most expensive first within a seed. Then places are filled from the end:
   each takes the last of the trials that are cheap relative to what follows. If none is left, in
   the second half, the next more expensive trials join. */
static void put_back(int n, int teams, Entry **given, Entry **dear, int *order)
{
  const int kept = n >= 24 * teams ? n / 2 : 0;
  int left = n, last = -1;
  double after = 0;

  qsort(given, (size_t)n, sizeof(*given), compare_turn);
  qsort(dear, (size_t)n, sizeof(*dear), compare_cost);
  for (int i = 0; i < n; i++) given[i]->place = i;
  for (int at = n - 1; at >= 0; at--) {
    for (double cost = -1; left > 0; left--) {
      Entry *next = dear[left - 1];
      if (last >= kept && next->cost != cost && next->cost * 4 * teams > after) break;
      cost = next->cost;
      next->open = true;
      last = PetscMax(last, next->place);
    }
    order[at] = given[last]->trial;
    after += given[last]->cost;
    given[last]->open = false;
    while (last >= 0 && !given[last]->open) last--;
  }
}

/* The trials of a level; order: room for the whole plan. Returns their number. */
static int reference_order(const RgPlan *plan, const RgTeams *teams, int level, PetscBT left_out,
                           int *order)
{
  Entry *all = calloc((size_t)plan->n, sizeof(*all));
  Entry **given = calloc((size_t)plan->n, sizeof(Entry *));
  Entry **dear = calloc((size_t)plan->n, sizeof(Entry *));
  int n = 0;

  for (int i = 0; i < plan->n; i++) {
    const int cell = rg_plan_cell(plan, i);
    const int turn = (i - plan->cells[cell].first) % plan->cells[cell].n_seeds;
    if (rg_teams_level(teams, plan, i) != level || PetscBTLookup(left_out, i)) continue;
    all[n] = (Entry){.trial = i, .turn = turn, .cost = plan->cells[cell].cost};
    given[n] = dear[n] = &all[n];
    n++;
  }
  put_back(n, teams->ranks / teams->size[level], given, dear, order);
  free(dear);
  free(given);
  free(all);
  return n;
}

/* Every level has the order of the reference. The trials of `done` (NULL: none) are left out. */
static void check_order(const RgPlan *plan, const RgTeams *teams, const bool *done)
{
  int *order = calloc((size_t)plan->n, sizeof(int));
  PetscBT left_out;

  RG_OK(PetscBTCreate(plan->n, &left_out));
  for (int i = 0; done && i < plan->n; i++)
    if (done[i]) RG_OK(PetscBTSet(left_out, i));
  for (int level = 0; level < teams->n; level++) {
    const int n = reference_order(plan, teams, level, left_out, order);
    RgOrder made;
    RG_OK(rg_order_create(plan, teams, level, left_out, &made));
    assert_int_equal(made.n, n);
    for (int i = 0; i < n; i++) assert_int_equal(made.trials[i], order[i]);
    RG_OK(PetscFree(made.trials));
  }
  RG_OK(PetscBTDestroy(&left_out));
  free(order);
}

/* The reference order in a job of `ranks` ranks, if the study can run on that number of ranks. */
static void check_order_on(const RgPlan *plan, int ranks, const bool *done)
{
  char message[RG_TEAMS_MESSAGE];
  RgTeams teams;

  RG_OK(rg_teams_create(plan, ranks, 0, &teams, message));
  if (!message[0]) check_order(plan, &teams, done);
  RG_OK(rg_teams_destroy(&teams));
}

#endif
