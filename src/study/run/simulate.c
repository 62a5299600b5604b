/* Discrete events: teams that become free, in the order of time. */
#include "study/run/simulate.h"

#include <math.h>

#include "study/plan/cost.h"
#include "study/run/schedule.h"
#include "study/store/store.h"

#define RATE(field, fallback, doc)                                                                 \
  {                                                                                                \
#field, RG_PARAM_REAL, offsetof(RgJobRates, field), fallback, RG_POSITIVE, 0, NULL, "", doc    \
  }

const RgParam rg_job_rates[] = {
  RATE(ticket, "3.6e-6", "the counter of trials answers one rank, s"),
  RATE(record, "1e-4", "a rank builds and checks the record of a trial, s"),
  RATE(commit, "1.2e-2", "a shard is written and renamed, with two calls of fsync, s"),
  RATE(metadata, "1e4", "operations of the file system a second, for all ranks; a commit is five"),
  RATE(file, "1e-3", "rank 0 reads the keys of a shard, s"),
  RATE(pack, "1e-4", "rank 0 puts a trial into the results file, s"),
  {0},
};

/* Of the file system, for a commit: a file made, renamed, two calls of fsync, and one day unlinked,
   when it is merged or packed. */
static const double operations = 5;

/* The team from `rank` on is free at `time`. */
typedef struct {
  double time;
  int rank, level;
  double ended; /* seconds of its trial that has just ended; negative: that is seen to */
} Event;

/* What a rank has not committed. */
typedef struct {
  int n, n_commits;
  double oldest;
} Pending;

typedef struct {
  const RgPlan *plan;
  const RgTeams *teams;
  const RgJobRates *rates;
  RgSchedule *schedule;
  int n;
  Event *heap;          /* the earliest on top; owned */
  Pending *pending;     /* by rank; owned */
  double counter, disk; /* when the counter and the file system are free again */
  double ends;          /* sum over ranks */
  RgJob *job;
} Simulation;

/* ---- the heap -------------------------------------------------------------------------------- */

static bool is_before(const Event *a, const Event *b)
{
  return a->time < b->time || (a->time == b->time && a->rank < b->rank);
}

static void swap(Event *a, Event *b)
{
  const Event event = *a;

  *a = *b;
  *b = event;
}

static void sift_down(Simulation *s)
{
  Event *heap = s->heap;

  for (int at = 0, child = 1; child < s->n; at = child, child = 2 * at + 1) {
    if (child + 1 < s->n && is_before(&heap[child + 1], &heap[child])) child++;
    if (!is_before(&heap[child], &heap[at])) return;
    swap(&heap[child], &heap[at]);
  }
}

static void push(Simulation *s, Event event)
{
  int at = s->n++;

  s->heap[at] = event;
  for (; at && is_before(&s->heap[at], &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
    swap(&s->heap[at], &s->heap[(at - 1) / 2]);
}

/* ---- what a team does ------------------------------------------------------------------------ */

/* The leader commits what it has. */
static void commit(Simulation *s, Event *team)
{
  Pending *pending = &s->pending[team->rank];
  const double begun = team->time;

  s->disk = fmax(s->disk, begun + pending->n * s->rates->record) + operations / s->rates->metadata;
  team->time = s->disk + s->rates->commit;
  s->job->disk += s->teams->size[team->level] * (team->time - begun);
  s->job->commits++;
  pending->n = 0;
  pending->n_commits++;
}

/* A trial has ended: is a commit due? */
static void end_trial(Simulation *s, Event *team)
{
  Pending *pending = &s->pending[team->rank];

  if (!pending->n++) pending->oldest = team->time;
  if (team->ended >= rg_store_default_limits.long_seconds ||
      team->time - pending->oldest >= rg_store_default_limits.group_seconds)
    commit(s, team);
  team->ended = -1;
}

/* The team has found no trial: it splits, or its rank is done. */
static void leave(Simulation *s, Event team)
{
  const int size = s->teams->size[team.level], level = team.level + 1;

  s->heap[0] = s->heap[--s->n];
  sift_down(s);
  if (level < s->teams->n) {
    for (int rank = 0; rank < size; rank += s->teams->size[level])
      push(s, (Event){team.time, team.rank + rank, level, -1});
    return;
  }
  for (int rank = team.rank; rank < team.rank + size; rank++) {
    Event last = {team.time, rank, team.level, -1};
    if (s->pending[rank].n) commit(s, &last);
    s->job->wall = fmax(s->job->wall, last.time);
    s->ends += last.time;
  }
}

static PetscErrorCode take(Simulation *s, Event *team)
{
  const int size = s->teams->size[team->level];
  const double asked = team->time;
  int trial;

  PetscFunctionBeginUser;
  team->time = s->counter = fmax(s->counter, asked) + s->rates->ticket;
  s->job->ticket += size * (team->time - asked);
  PetscCall(rg_schedule_next(s->schedule, team->level, &trial));
  if (trial < 0) {
    leave(s, *team);
    PetscFunctionReturn(0);
  }
  const int cell = rg_plan_cell(s->plan, trial);
  team->ended = s->plan->cells[cell].cost * rg_cost_team_share(&s->plan->study->cells[cell], size);
  team->time += team->ended;
  s->job->busy += size * team->ended;
  sift_down(s);
  PetscFunctionReturn(0);
}

/* ---- the job --------------------------------------------------------------------------------- */

static PetscErrorCode run(Simulation *s)
{
  PetscFunctionBeginUser;
  for (int rank = 0; rank < s->teams->ranks; rank += s->teams->size[0])
    push(s, (Event){0, rank, 0, -1});
  while (s->n) {
    Event *team = &s->heap[0];
    if (team->ended >= 0) {
      end_trial(s, team);
      sift_down(s);
    } else {
      PetscCall(take(s, team));
    }
  }
  PetscFunctionReturn(0);
}

/* Shards that so many commits of a host leave. */
static int files_left(int n)
{
  int files = 0;

  for (; n; n /= rg_store_default_limits.compaction)
    files += n % rg_store_default_limits.compaction;
  return files;
}

static void sum_up(Simulation *s, int per_host)
{
  RgJob *job = s->job;
  const double all = s->teams->ranks * job->wall;

  for (int rank = 0, n = 0; rank < s->teams->ranks; rank++) {
    n += s->pending[rank].n_commits;
    if ((rank + 1) % per_host && rank + 1 < s->teams->ranks) continue;
    job->files += files_left(n);
    n = 0;
  }
  job->idle = (all - s->ends) / all;
  job->busy /= all;
  job->ticket /= all;
  job->disk /= all;
  job->commits /= job->wall;
  job->resume = job->files * s->rates->file;
  job->pack = s->plan->n * s->rates->pack;
}

PetscErrorCode rg_simulate(const RgPlan *plan, const RgTeams *teams, const RgJobRates *rates,
                           int per_host, RgJob *job)
{
  Simulation s = {.plan = plan, .teams = teams, .rates = rates, .job = job};
  unsigned char *done;

  PetscFunctionBeginUser;
  *job = (RgJob){0};
  PetscCall(PetscCalloc1(plan->n, &done));
  PetscCall(rg_schedule_create(PETSC_COMM_SELF, plan, teams, done, NULL, &s.schedule));
  PetscCall(PetscFree(done));
  PetscCall(PetscMalloc1(teams->ranks, &s.heap));
  PetscCall(PetscCalloc1(teams->ranks, &s.pending));
  PetscCall(run(&s));
  sum_up(&s, per_host);
  PetscCall(PetscFree(s.heap));
  PetscCall(PetscFree(s.pending));
  PetscCall(rg_schedule_destroy(&s.schedule));
  PetscFunctionReturn(0);
}
