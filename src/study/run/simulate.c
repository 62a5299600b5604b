/* Discrete events: teams that become free, in the order of time. */
#include "study/run/simulate.h"

#include <math.h>

#include "base/heap.h"
#include "study/plan/cost.h"
#include "study/run/schedule.h"
#include "study/store/store.h"

const RgParam rg_job_rates[] = {
  RG_REAL("ticket", RgJobRates, ticket, "3.6e-6", RG_POSITIVE, 0, "",
          "the counter of trials answers one rank, s"),
  RG_REAL("record", RgJobRates, record, "1e-4", RG_POSITIVE, 0, "",
          "a rank builds and checks the record of a trial, s"),
  RG_REAL("commit", RgJobRates, commit, "1.2e-2", RG_POSITIVE, 0, "",
          "a shard is written and renamed, with two calls of fsync, s"),
  RG_REAL("metadata", RgJobRates, metadata, "1e4", RG_POSITIVE, 0, "",
          "operations of the file system a second, for all ranks; a commit is five"),
  RG_REAL("file", RgJobRates, file, "1e-3", RG_POSITIVE, 0, "",
          "rank 0 reads the keys of a shard, s"),
  RG_REAL("pack", RgJobRates, pack, "1e-4", RG_POSITIVE, 0, "",
          "rank 0 puts a trial into the results file, s"),
  {0},
};

/* Of the file system, for a commit: a file made, renamed, two calls of fsync, and one day unlinked,
   when it is merged or packed. */
static const double operations = 5;

/* The team from a rank on. */
typedef struct {
  int level;
  double ended; /* seconds of its trial that has just ended; negative: that is seen to */
} Team;

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
  RgHeapEntry *heap;    /* when the team from a rank on is free; owned */
  Team *team;           /* by its first rank; owned */
  Pending *pending;     /* by rank; owned */
  double counter, disk; /* when the counter and the file system are free again */
  double ends;          /* sum over ranks */
  RgJob *job;
} Simulation;

/* ---- what a team does ------------------------------------------------------------------------ */

/* A rank commits what it has, with its team waiting; *time goes on. */
static void commit(Simulation *s, int rank, int size, double *time)
{
  Pending *pending = &s->pending[rank];
  const double begun = *time;

  s->disk = fmax(s->disk, begun + pending->n * s->rates->record) + operations / s->rates->metadata;
  *time = s->disk + s->rates->commit;
  s->job->disk += size * (*time - begun);
  s->job->commits++;
  pending->n = 0;
  pending->n_commits++;
}

/* A trial has ended: is a commit due? */
static void end_trial(Simulation *s, int rank, double *time)
{
  Pending *pending = &s->pending[rank];
  Team *team = &s->team[rank];

  if (!pending->n++) pending->oldest = *time;
  if (team->ended >= rg_store_default_limits.long_seconds ||
      *time - pending->oldest >= rg_store_default_limits.group_seconds)
    commit(s, rank, s->teams->size[team->level], time);
  team->ended = -1;
}

/* The team on top has found no trial: it splits, or its ranks are done. */
static void leave(Simulation *s)
{
  const RgHeapEntry top = rg_heap_pop(s->heap, &s->n);
  const int first = top.owner, level = s->team[first].level + 1;
  const int size = s->teams->size[level - 1];

  if (level < s->teams->n) {
    for (int rank = first; rank < first + size; rank += s->teams->size[level]) {
      s->team[rank] = (Team){level, -1};
      rg_heap_push(s->heap, &s->n, top.key, rank);
    }
    return;
  }
  for (int rank = first; rank < first + size; rank++) {
    double last = top.key;
    if (s->pending[rank].n) commit(s, rank, size, &last);
    s->job->wall = fmax(s->job->wall, last);
    s->ends += last;
  }
}

/* The team on top takes a ticket. */
static PetscErrorCode take(Simulation *s)
{
  RgHeapEntry *top = &s->heap[0];
  Team *team = &s->team[top->owner];
  const int size = s->teams->size[team->level];
  const double asked = top->key;
  int trial;

  PetscFunctionBeginUser;
  top->key = s->counter = fmax(s->counter, asked) + s->rates->ticket;
  s->job->ticket += size * (top->key - asked);
  PetscCall(rg_schedule_next(s->schedule, team->level, &trial));
  if (trial < 0) {
    leave(s);
    PetscFunctionReturn(0);
  }
  const int cell = rg_plan_cell(s->plan, trial);
  team->ended = s->plan->cells[cell].cost * rg_cost_team_share(&s->plan->study->cells[cell], size);
  top->key += team->ended;
  s->job->busy += size * team->ended;
  rg_heap_sink(s->heap, s->n);
  PetscFunctionReturn(0);
}

/* ---- the job --------------------------------------------------------------------------------- */

static PetscErrorCode run(Simulation *s)
{
  PetscFunctionBeginUser;
  for (int rank = 0; rank < s->teams->ranks; rank += s->teams->size[0]) {
    s->team[rank] = (Team){0, -1};
    rg_heap_push(s->heap, &s->n, 0, rank);
  }
  while (s->n) {
    RgHeapEntry *top = &s->heap[0];
    if (s->team[top->owner].ended >= 0) {
      end_trial(s, top->owner, &top->key);
      rg_heap_sink(s->heap, s->n);
    } else {
      PetscCall(take(s));
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
  PetscCall(PetscCalloc3(teams->ranks, &s.heap, teams->ranks, &s.team, teams->ranks, &s.pending));
  PetscCall(run(&s));
  sum_up(&s, per_host);
  PetscCall(PetscFree3(s.heap, s.team, s.pending));
  PetscCall(rg_schedule_destroy(&s.schedule));
  PetscFunctionReturn(0);
}
