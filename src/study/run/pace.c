/* How fast a study goes by what its finished trials tell, and when it will be over. */
#include "study/run/pace.h"

#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "study/record/record.h"
#include "study/run/teams.h"

/* Between two runs; within one, a rank that waits for the disk or a team is soon at work again. */
static const double pause_between_runs = 60; /* seconds */

typedef struct {
  const RgPlan *plan;
  const unsigned char *status;
  const RgPaceTrial *trials; /* of the plan */
  int n;
  int *order; /* the n finished trials of the run under way, by their starts; owned */
  RgTeams teams;
  double *free_at;   /* by rank: the end of its last trial, or when the run began; owned */
  RgHeapEntry *heap; /* of the teams of a level, by when they are free; owned */
} Run;

/* ---- the run under way ----------------------------------------------------------------------- */

static int compare_starts(const void *a, const void *b, void *closure)
{
  const RgPaceTrial *trials = closure;
  const int i = *(const int *)a, j = *(const int *)b;
  const double x = trials[i].started, y = trials[j].started;

  return x != y ? (x > y) - (x < y) : i - j;
}

static double end_of(const RgPaceTrial *trial)
{
  return trial->started + trial->wall;
}

/* The finished trials, down to those of the run under way. */
static PetscErrorCode find_run(Run *run)
{
  double end = -INFINITY;
  int n = 0, first = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(run->plan->n, &run->order));
  for (int i = 0; i < run->plan->n; i++)
    if (run->status[i] && run->trials[i].started > 0) run->order[n++] = i;
  if (n) PetscCall(PetscTimSort(n, run->order, sizeof(int), compare_starts, (void *)run->trials));
  for (int i = 0; i < n; i++) {
    const RgPaceTrial *trial = &run->trials[run->order[i]];
    if (trial->started > end + pause_between_runs) first = i;
    end = fmax(end, end_of(trial));
  }
  run->n = n - first;
  for (int i = 0; i < run->n; i++) run->order[i] = run->order[first + i];
  PetscFunctionReturn(0);
}

/* What the ranks were doing. */
static void see_ranks(Run *run, RgPace *pace)
{
  double seconds = 0;

  for (int r = 0; r < pace->ranks; r++) run->free_at[r] = pace->begun;
  for (int i = 0; i < run->n; i++) {
    const RgPaceTrial *trial = &run->trials[run->order[i]];
    const int size = run->teams.size[rg_teams_level(&run->teams, run->plan, run->order[i])];
    const int last = PetscMin(trial->rank + size, pace->ranks);
    pace->end = fmax(pace->end, end_of(trial));
    seconds += size * trial->wall;
    for (int r = PetscMax(trial->rank, 0); r < last; r++)
      run->free_at[r] = fmax(run->free_at[r], end_of(trial));
  }
  for (int r = 0; r < pace->ranks; r++) pace->heard += run->free_at[r] > pace->begun;
  const double available = pace->ranks * (pace->end - pace->begun);
  pace->busy = available > 0 ? fmin(1, seconds / available) : 0;
}

/* ---- what is left ---------------------------------------------------------------------------- */

/* Hand out what is left of a level to the teams, the first that is free takes the next trial.
   Returns when the last of it ends; -infinity: nothing was left. */
static double hand_out(const Run *run, int level, int n_ranks)
{
  const RgPlan *plan = run->plan;
  const int size = run->teams.size[level];
  double over = -INFINITY;
  RgHeapEntry *heap = run->heap;
  RgPlanWalk walk = {0};
  int cell, n = 0;

  for (int t = 0; t < n_ranks / size; t++) { /* a team is free with the last of its ranks */
    double free_at = run->free_at[t * size];
    for (int r = 1; r < size; r++) free_at = fmax(free_at, run->free_at[t * size + r]);
    rg_heap_push(heap, &n, free_at, t);
  }
  for (int i = rg_plan_next(plan, &walk, &cell); i >= 0; i = rg_plan_next(plan, &walk, &cell)) {
    if (run->status[i] || rg_teams_level(&run->teams, plan, i) != level) continue;
    heap[0].key += plan->cells[cell].cost;
    over = fmax(over, heap[0].key);
    rg_heap_sink(heap, n);
  }
  for (int t = 0; t < n; t++)
    for (int r = 0; r < size; r++) run->free_at[heap[t].owner * size + r] = heap[t].key;
  return over;
}

PetscErrorCode rg_pace(const RgPlan *plan, const unsigned char *status, const RgPaceTrial *trials,
                       RgPace *pace)
{
  Run run = {.plan = plan, .status = status, .trials = trials};
  char message[RG_TEAMS_MESSAGE] = "";

  PetscFunctionBeginUser;
  *pace = (RgPace){.over = NAN};
  PetscCall(find_run(&run));
  if (run.n) {
    pace->ranks = PetscMax(trials[run.order[run.n - 1]].ranks, 1);
    pace->begun = pace->end = trials[run.order[0]].started;
    PetscCall(PetscMalloc2(pace->ranks, &run.free_at, pace->ranks, &run.heap));
    PetscCall(rg_teams_create(plan, pace->ranks, 0, &run.teams, message));
    if (!message[0]) see_ranks(&run, pace);
    for (int level = 0; level < run.teams.n && !message[0]; level++)
      pace->over = fmax(pace->over, hand_out(&run, level, pace->ranks));
    if (isinf(pace->over)) pace->over = pace->end;
    PetscCall(rg_teams_destroy(&run.teams));
  }
  PetscCall(PetscFree(run.order));
  PetscCall(PetscFree2(run.free_at, run.heap));
  PetscFunctionReturn(0);
}
