/* Which team takes which trial next: a ticket counter over the plan. */
#include "study/run/schedule.h"

#include <stdlib.h>

/* Counters on rank 0, advanced by all ranks with one-sided atomics: these, then the tickets of
   every level. */
enum { FINISHED, FAILED, COST_FINISHED_US, N_COUNTERS };

struct RgSchedule {
  MPI_Win window;
  int64_t *counters; /* on rank 0; empty elsewhere */
  int *order;        /* trials to run, level by level, in the order of the plan */
  int n, n_levels;
  int first[RG_TEAM_LEVELS + 1]; /* where each level begins in `order` */
  double cost;                   /* estimated CPU seconds of all of them */
};

/* What begins last must not end long after the rest: a trial waits for its turn only while so many
   times its cost is left for every team. */
static const double reserve = 4.0;

/* Where a team has so many trials to run, the first half keeps the order of the plan. */
enum { many = 24 };

/* Of n trials in the order of the plan, cheap ones are put back for the end: from there on each
   place goes to the last of those that are cheap against what follows, or where none is left to the
   next dearer ones. O(n) for each cost there is. */
static PetscErrorCode balance_tail(const RgPlan *plan, int teams, int n, int *order)
{
  const RgTrial *trials = plan->trials;
  int *given, *dear, *place, left = n, last = -1;
  bool *open;
  const int kept = n >= many * teams ? n / 2 : 0;
  double after = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &given, n, &dear));
  PetscCall(PetscMalloc1(plan->n, &place)); /* of a trial in `given` */
  PetscCall(PetscCalloc1(n, &open));        /* by place: cheap enough, and not put yet */
  for (int i = 0; i < n; i++) place[given[i] = dear[i] = order[i]] = i;
  if (n) qsort_r(dear, (size_t)n, sizeof(int), rg_plan_compare_costs, plan->trials);
  for (int at = n - 1; at >= 0; at--) {
    for (double cost = -1; left > 0; left--) {
      const RgTrial *next = &trials[dear[left - 1]];
      if (last >= kept && next->cost != cost && next->cost * reserve * teams > after) break;
      cost = next->cost;
      open[place[dear[left - 1]]] = true;
      last = PetscMax(last, place[dear[left - 1]]);
    }
    order[at] = given[last];
    after += trials[given[last]].cost;
    open[last] = false;
    while (last >= 0 && !open[last]) last--;
  }
  PetscCall(PetscFree(open));
  PetscCall(PetscFree(place));
  PetscCall(PetscFree2(given, dear));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_schedule_create(MPI_Comm comm, const RgPlan *plan, const RgTeams *teams,
                                  const unsigned char *done, RgSchedule **schedule)
{
  RgSchedule *s;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&s));
  PetscCall(PetscMalloc1(PetscMax(plan->n, 1), &s->order));
  s->n_levels = teams->n;
  for (int level = 0; level < teams->n; level++) {
    for (int i = 0; i < plan->n; i++) {
      int trial = plan->order[i];
      if (done[trial] || rg_teams_level(teams, plan, trial) != level) continue;
      s->order[s->n++] = trial;
      s->cost += plan->trials[trial].cost;
    }
    s->first[level + 1] = s->n;
    PetscCall(balance_tail(plan, teams->ranks / teams->size[level], s->n - s->first[level],
                           s->order + s->first[level]));
  }
  const int n_counters = N_COUNTERS + s->n_levels;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Win_allocate(rank == 0 ? n_counters * (MPI_Aint)sizeof(int64_t) : 0,
                                sizeof(int64_t), MPI_INFO_NULL, comm, &s->counters, &s->window));
  PetscCallMPI(MPI_Win_lock_all(0, s->window));
  if (rank == 0) {
    for (int i = 0; i < n_counters; i++) s->counters[i] = 0;
    PetscCallMPI(MPI_Win_sync(s->window));
  }
  PetscCallMPI(MPI_Barrier(comm));
  *schedule = s;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_schedule_possible(MPI_Comm comm, bool *possible)
{
  MPI_Win window;
  void *memory;

  PetscFunctionBeginUser;
  *possible = MPI_Win_allocate(sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, comm, &memory,
                               &window) == MPI_SUCCESS;
  if (*possible) PetscCallMPI(MPI_Win_free(&window));
  PetscFunctionReturn(0);
}

static PetscErrorCode fetch_and_add(RgSchedule *s, int counter, int64_t amount, int64_t *before)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Fetch_and_op(&amount, before, MPI_INT64_T, 0, counter, MPI_SUM, s->window));
  PetscCallMPI(MPI_Win_flush(0, s->window));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_schedule_next(RgSchedule *schedule, int level, int *trial)
{
  int64_t ticket;

  PetscFunctionBeginUser;
  PetscCall(fetch_and_add(schedule, N_COUNTERS + level, 1, &ticket));
  ticket += schedule->first[level];
  *trial = ticket < schedule->first[level + 1] ? schedule->order[ticket] : -1;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_schedule_finished(RgSchedule *schedule, const RgTrial *trial, bool failed)
{
  int64_t before;

  PetscFunctionBeginUser;
  PetscCall(fetch_and_add(schedule, FINISHED, 1, &before));
  PetscCall(fetch_and_add(schedule, COST_FINISHED_US, (int64_t)(trial->cost * 1e6), &before));
  if (failed) PetscCall(fetch_and_add(schedule, FAILED, 1, &before));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_schedule_progress(RgSchedule *schedule, RgProgress *progress)
{
  int64_t value[N_COUNTERS], nothing = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < N_COUNTERS; i++)
    PetscCallMPI(
      MPI_Fetch_and_op(&nothing, &value[i], MPI_INT64_T, 0, i, MPI_NO_OP, schedule->window));
  PetscCallMPI(MPI_Win_flush(0, schedule->window));
  *progress = (RgProgress){
    .n_total = schedule->n,
    .n_finished = (int)value[FINISHED],
    .n_failed = (int)value[FAILED],
    .cost_total = schedule->cost,
    .cost_finished = (double)value[COST_FINISHED_US] * 1e-6,
  };
  PetscFunctionReturn(0);
}

PetscErrorCode rg_schedule_destroy(RgSchedule **schedule)
{
  RgSchedule *s = *schedule;

  PetscFunctionBeginUser;
  if (!s) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Win_unlock_all(s->window));
  PetscCallMPI(MPI_Win_free(&s->window));
  PetscCall(PetscFree(s->order));
  PetscCall(PetscFree(*schedule));
  PetscFunctionReturn(0);
}
