/* The distribution of trials to teams: ticket counters over the orders of the levels. */
#include "study/schedule/schedule.h"
#include "base/grow.h"
#include "base/heap.h"
#include "study/plan/cost.h"
#include "study/schedule/calibration.h"

#include <math.h>

/* The last trials must not end long after the others. A trial may wait for the end only while
   every team has at least this many times its cost left to do. */
static const double reserve = 4.0;

/* If each team has at least this many trials to run, the first half keeps the order of the plan. */
enum { many = 24 };

/* A class: cells with equal cost. */
typedef struct {
  double cost;
  int last; /* position of its last trial without a place; -1: all have a place */
} Class;

typedef struct {
  int n;
  int *trials;   /* seed by seed, most expensive first within a seed; -1: already placed; owned */
  int *before;   /* by position: position of the previous trial of its class, or -1; owned */
  int *class_of; /* by cell; -1: the cell has no trial in the level; owned */
  int n_classes;
  Class *classes;    /* cheapest first; owned */
  RgHeapEntry *heap; /* classes whose trials may move to the end, last position on top; owned */
} Draft;

/* Find the classes of a level, and list its trials. */
static PetscErrorCode draft_create(const RgPlan *plan, const RgTeams *teams, int level,
                                   PetscBT left_out, Draft *draft)
{
  const int n_cells = plan->study->n_cells;
  RgPlanWalk walk = {0};
  int cell, room = 0; /* trials of the level, with finished ones */

  *draft = (Draft){0};
  PetscCall(
    PetscMalloc3(n_cells, &draft->class_of, n_cells, &draft->classes, n_cells, &draft->heap));
  for (int k = n_cells - 1; k >= 0; k--) {
    const int c = plan->by_cost[k], of_level = rg_teams_trials(teams, plan, c, level);
    const double cost = plan->cells[c].cost;
    room += of_level;
    draft->class_of[c] = -1;
    if (!of_level) continue;
    if (!draft->n_classes || draft->classes[draft->n_classes - 1].cost != cost)
      draft->classes[draft->n_classes++] = (Class){cost, -1};
    draft->class_of[c] = draft->n_classes - 1;
  }
  PetscCall(PetscMalloc2(room, &draft->trials, room, &draft->before));
  for (int i = rg_plan_next(plan, &walk, &cell); i >= 0; i = rg_plan_next(plan, &walk, &cell)) {
    if (draft->class_of[cell] < 0 || PetscBTLookup(left_out, i) ||
        (teams->n_early && rg_teams_level(teams, plan, i) != level))
      continue;
    Class *class = &draft->classes[draft->class_of[cell]];
    draft->trials[draft->n] = i;
    draft->before[draft->n] = class->last;
    class->last = draft->n++;
  }
  return 0;
}

/* Take the last trial among the classes on the heap. */
static int remove_last(Draft *draft, int *n_open, double *after)
{
  Class *class = &draft->classes[draft->heap[0].owner];
  const int at = class->last, trial = draft->trials[at];

  *after += class->cost;
  draft->trials[at] = -1;
  class->last = draft->before[at];
  draft->heap[0].key = -class->last;
  if (class->last >= 0) rg_heap_sink(draft->heap, *n_open);
  else (void)rg_heap_pop(draft->heap, n_open);
  return trial;
}

/* Places are filled from the end: each takes the last trial of the classes that are cheap relative
   to what follows. The next more expensive class joins if none of its trials remains after position
   `kept`. Other trials keep their order. */
PetscErrorCode rg_order_create(const RgPlan *plan, const RgTeams *teams, int level,
                               PetscBT left_out, RgOrder *order)
{
  const int n_teams = teams->ranks / teams->size[level];
  double after = 0;
  Draft draft;

  PetscCall(draft_create(plan, teams, level, left_out, &draft));
  order->n = draft.n;
  PetscCall(PetscMalloc1(draft.n, &order->trials));
  const int kept = draft.n < many * n_teams ? 0 : draft.n / 2;
  int at = draft.n, n_open = 0;
  for (int next = 0; next < draft.n_classes;) {
    const Class *class = &draft.classes[next];
    if (n_open && -draft.heap[0].key >= kept && class->cost * reserve * n_teams > after) {
      order->trials[--at] = remove_last(&draft, &n_open, &after);
      continue;
    }
    if (class->last >= 0) rg_heap_push(draft.heap, &n_open, -class->last, next);
    next++;
  }
  for (int i = draft.n - 1; i >= 0; i--)
    if (draft.trials[i] >= 0) order->trials[--at] = draft.trials[i];
  PetscCall(PetscFree3(draft.class_of, draft.classes, draft.heap));
  return PetscFree2(draft.trials, draft.before);
}

/* Counters on rank 0, which all ranks advance with one-sided atomics: these, the tickets of
   every level, and for every cell the number of its finished trials, what is done of all its
   trials in millionths of one, and their wall time in microseconds. */
enum { FINISHED, FAILED, N_COUNTERS };
enum { CELL_FINISHED, CELL_DONE, CELL_US, N_PER_CELL };

struct RgSchedule {
  MPI_Win window;
  int64_t *counters;                             /* on rank 0; empty elsewhere */
  int64_t add[N_COUNTERS], add_cell[N_PER_CELL]; /* source buffers of the atomics */
  /* What this rank has counted of its trial: CELL_DONE, CELL_US, and its evaluations then. */
  int64_t counted[N_PER_CELL];
  int counted_n;
  int n_ranks;
  RgCalibration times; /* of this run */
  int n_levels;
  RgOrder order[RG_TEAM_LEVELS];
  int n;              /* trials to run */
  double seen, since; /* at rg_schedule_left: seconds of all cells, and since when */
};

PetscErrorCode rg_schedule_create(MPI_Comm comm, const RgPlan *plan, const RgTeams *teams,
                                  const unsigned char *done, PetscBT share, RgSchedule **schedule)
{
  RgSchedule *s;
  PetscBT left_out; /* by trial: whether it is left out */
  PetscMPIInt rank;

  PetscCall(PetscNew(&s));
  PetscCall(PetscBTCreate(plan->n, &left_out));
  for (int i = 0; i < plan->n; i++)
    if (done[i] || (share && !PetscBTLookup(share, i))) PetscCall(PetscBTSet(left_out, i));
  s->n_levels = teams->n;
  for (int level = 0; level < teams->n; level++) {
    PetscCall(rg_order_create(plan, teams, level, left_out, &s->order[level]));
    s->n += s->order[level].n;
  }
  PetscCall(rg_calibration_create(plan->study, &s->times));
  for (int c = 0; c < plan->study->n_cells; c++) {
    const RgPlanCell *cell = &plan->cells[c];
    double ranks = 0, n = 0, left = 0;
    for (int level = 0; level < teams->n; level++) {
      const double trials = rg_teams_trials(teams, plan, c, level);
      ranks += trials * teams->size[level];
      n += trials;
    }
    for (int i = cell->first; i < cell->first + cell->n; i++) left += !PetscBTLookup(left_out, i);
    s->times.cells[c] = (RgCellTimes){
      .nominal = cell->cost, .ranks = n > 0 ? ranks / n : 1, .open = left, .left = left};
  }
  PetscCall(PetscBTDestroy(&left_out));
  const int n_counters = N_COUNTERS + s->n_levels + N_PER_CELL * plan->study->n_cells;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &s->n_ranks));
  PetscCallMPI(MPI_Win_allocate(rank == 0 ? n_counters * (MPI_Aint)sizeof(int64_t) : 0,
                                sizeof(int64_t), MPI_INFO_NULL, comm, &s->counters, &s->window));
  PetscCallMPI(MPI_Win_lock_all(0, s->window));
  if (rank == 0) {
    for (int i = 0; i < n_counters; i++) s->counters[i] = 0;
    PetscCallMPI(MPI_Win_sync(s->window));
  }
  PetscCallMPI(MPI_Barrier(comm));
  *schedule = s;
  return 0;
}

PetscErrorCode rg_schedule_possible(MPI_Comm comm, bool *possible)
{
  MPI_Win window;
  void *memory;

  *possible = MPI_Win_allocate(sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, comm, &memory,
                               &window) == MPI_SUCCESS;
  if (*possible) PetscCallMPI(MPI_Win_free(&window));
  return 0;
}

PetscErrorCode rg_schedule_next(RgSchedule *schedule, int level, int *trial)
{
  const RgOrder *order = &schedule->order[level];
  const int64_t one = 1;
  int64_t ticket;

  PetscCallMPI(
    MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, N_COUNTERS + level, MPI_SUM, schedule->window));
  PetscCallMPI(MPI_Win_flush(0, schedule->window));
  *trial = ticket < order->n ? order->trials[ticket] : -1;
  return 0;
}

/* Add to the counters of the trial's cell what is new of it. */
static PetscErrorCode count_part(RgSchedule *s, const RgTrial *trial, bool finished, double share,
                                 double seconds)
{
  const int64_t now[] = {[CELL_FINISHED] = finished,
                         [CELL_DONE] = (int64_t)(1e6 * share),
                         [CELL_US] = (int64_t)(1e6 * PetscMax(seconds, 0))};
  const MPI_Aint at = N_COUNTERS + s->n_levels + N_PER_CELL * trial->cell;

  PetscCallMPI(MPI_Win_flush_local(0, s->window));
  for (int i = 0; i < N_PER_CELL; i++) {
    s->add_cell[i] = now[i] - s->counted[i];
    s->counted[i] = finished ? 0 : now[i];
  }
  PetscCallMPI(MPI_Accumulate(s->add_cell, N_PER_CELL, MPI_INT64_T, 0, at, N_PER_CELL, MPI_INT64_T,
                              MPI_SUM, s->window));
  return 0;
}

PetscErrorCode rg_schedule_update(RgSchedule *schedule, const RgTrial *trial, int n, double seconds)
{
  if (n == schedule->counted_n || 1e6 * (seconds - 1) < (double)schedule->counted[CELL_US])
    return 0;
  schedule->counted_n = n;
  const double share = rg_cost_share(&schedule->times.study->cells[trial->cell], n);
  return count_part(schedule, trial, false, share, seconds);
}

PetscErrorCode rg_schedule_finished(RgSchedule *schedule, const RgTrial *trial, bool failed,
                                    double seconds)
{
  int64_t *add = schedule->add;

  PetscCall(count_part(schedule, trial, true, 1, seconds));
  schedule->counted_n = 0;
  add[FINISHED] = 1;
  add[FAILED] = failed;
  PetscCallMPI(MPI_Accumulate(add, N_COUNTERS, MPI_INT64_T, 0, 0, N_COUNTERS, MPI_INT64_T, MPI_SUM,
                              schedule->window));
  return 0;
}

PetscErrorCode rg_schedule_complete(RgSchedule *schedule)
{
  PetscCallMPI(MPI_Win_flush(0, schedule->window));
  return 0;
}

PetscErrorCode rg_schedule_progress(RgSchedule *schedule, RgProgress *progress)
{
  int64_t value[N_COUNTERS], nothing = 0;

  for (int i = 0; i < N_COUNTERS; i++)
    PetscCallMPI(
      MPI_Fetch_and_op(&nothing, &value[i], MPI_INT64_T, 0, i, MPI_NO_OP, schedule->window));
  PetscCallMPI(MPI_Win_flush(0, schedule->window));
  *progress = (RgProgress){
    .n_total = schedule->n,
    .n_finished = (int)value[FINISHED],
    .n_failed = (int)value[FAILED],
    .seconds_left = NAN,
  };
  return 0;
}

PetscErrorCode rg_schedule_left(RgSchedule *schedule, double elapsed, double *seconds)
{
  const int n_cells = schedule->times.study->n_cells, n = N_PER_CELL * n_cells;
  int64_t *value, nothing = 0;
  double seen = 0;

  PetscCall(PetscMalloc1(n, &value));
  PetscCallMPI(MPI_Get_accumulate(&nothing, 0, MPI_INT64_T, value, n, MPI_INT64_T, 0,
                                  N_COUNTERS + schedule->n_levels, n, MPI_INT64_T, MPI_NO_OP,
                                  schedule->window));
  PetscCallMPI(MPI_Win_flush(0, schedule->window));
  for (int c = 0; c < n_cells; c++) {
    RgCellTimes *cell = &schedule->times.cells[c];
    const double all = round(cell->n + cell->left);
    cell->n = 1e-6 * (double)value[N_PER_CELL * c + CELL_DONE];
    cell->left = all - cell->n;
    cell->open = all - (double)value[N_PER_CELL * c + CELL_FINISHED];
    cell->seconds = 1e-6 * (double)value[N_PER_CELL * c + CELL_US];
    seen += cell->seconds;
  }
  /* Between two counts the rest shrinks with the time. */
  if (seen != schedule->seen) schedule->since = elapsed;
  schedule->seen = seen;
  const double left = rg_calibration_left(&schedule->times, schedule->n_ranks);
  *seconds = isnan(left) ? NAN : fmax(left - (elapsed - schedule->since), left / 10);
  return PetscFree(value);
}

PetscErrorCode rg_schedule_destroy(RgSchedule **schedule)
{
  RgSchedule *s = *schedule;

  if (!s) return 0;
  PetscCallMPI(MPI_Win_unlock_all(s->window));
  PetscCallMPI(MPI_Win_free(&s->window));
  for (int level = 0; level < s->n_levels; level++) PetscCall(PetscFree(s->order[level].trials));
  PetscCall(rg_calibration_destroy(&s->times));
  return PetscFree(*schedule);
}
