/* Discrete events: teams that become free, in the order of time. */
#include "study/run/simulate.h"

#include <math.h>

#include "base/heap.h"
#include "study/plan/cost.h"
#include "study/run/schedule.h"
#include "study/store/store.h"
#include "study/store/tray.h"

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
  RG_REAL("pack", RgJobRates, pack, "2e-5", RG_POSITIVE, 0, "",
          "rank 0 and 16 helpers put a trial into the results file, s"),
  RG_REAL("bytes", RgJobRates, bytes, "5e3", RG_POSITIVE, 0, "",
          "of a record, in the memory in which the ranks of a host commit together"),
  {0},
};

/* Of the file system, for a commit: a file made, renamed, two calls of fsync, and one day unlinked,
   when it is merged or packed. */
static const double operations = 5;

/* The team from a rank on. */
typedef struct {
  int level;
  double ended; /* seconds of its trial that has just ended; negative: that is seen to */
  double due;   /* since when it wants to commit; negative: it doesn't */
  bool over;    /* there is no trial left for it */
} Team;

/* What a rank has not committed. */
typedef struct {
  int n;
  double oldest;
} Pending;

typedef struct {
  double ends; /* of the last commit that was made for all of its ranks */
  int n_commits;
} Host;

typedef struct {
  const RgPlan *plan;
  const RgTeams *teams;
  const RgJobRates *rates;
  RgSchedule *schedule;
  int per_host;
  int n;
  RgHeapEntry *heap;    /* when the team from a rank on is free; owned */
  Team *team;           /* by its first rank; owned */
  Pending *pending;     /* by rank; owned */
  Host *host;           /* owned */
  double counter, disk; /* when the counter and the file system are free again */
  double ends;          /* sum over ranks */
  RgJob *job;
} Simulation;

/* ---- what a team does ------------------------------------------------------------------------ */

/* Records of a rank that others can commit. */
static int shown(const Simulation *s, int rank)
{
  const double room = (double)rg_tray_room(s->per_host) / s->rates->bytes;

  return (int)fmin(s->pending[rank].n, room);
}

/* Records that a rank commits: its own, and what has room of those that its host shows. */
static int collect(Simulation *s, int rank, bool alone, double now)
{
  const int first = rank / s->per_host * s->per_host;
  const int n_host = alone ? 1 : PetscMin(s->per_host, s->teams->ranks - first);
  const double most = (double)rg_store_default_limits.group_bytes / s->rates->bytes;
  int n = s->pending[rank].n;

  s->pending[rank].n = 0;
  for (int i = 1; i < n_host; i++) {
    const int other = first + (rank - first + i) % n_host, taken = shown(s, other);
    Pending *pending = &s->pending[other];
    if (!taken || n + taken > most) continue;
    pending->oldest += (now - pending->oldest) * taken / pending->n;
    pending->n -= taken;
    n += taken;
  }
  return n;
}

/* A rank that is due commits for its host, or waits for another that does, and after a moment
   commits its own. Returns when it goes on: with its work, if it is not due any more. */
static double commit(Simulation *s, int rank, double now)
{
  Host *host = &s->host[rank / s->per_host];
  Team *team = &s->team[rank];
  const double patience = team->due + rg_store_patience(s->per_host);
  const int n = s->pending[rank].n;
  const bool alone = host->ends > now;

  if (n && n == shown(s, rank) && alone && now < patience) return fmin(host->ends, patience);
  team->due = -1;
  if (!n) return fmax(now, host->ends); /* another one has taken them along */
  s->disk = fmax(s->disk, now + collect(s, rank, alone, now) * s->rates->record) +
            operations / s->rates->metadata;
  if (!alone) host->ends = s->disk + s->rates->commit;
  s->job->commits++;
  host->n_commits++;
  return s->disk + s->rates->commit;
}

/* A trial has ended: is a commit due? */
static void end_trial(Simulation *s, int rank, double now)
{
  const RgStoreLimits *limits = &rg_store_default_limits;
  Pending *pending = &s->pending[rank];
  Team *team = &s->team[rank];

  if (!pending->n++) pending->oldest = now;
  const double age = now - pending->oldest;
  if (team->ended >= limits->long_seconds || age >= limits->group_seconds ||
      (age >= limits->early_seconds && s->host[rank / s->per_host].ends <= now))
    team->due = now;
  team->ended = -1;
}

/* The team on top has found no trial: it splits, or commits what it has, and is done. */
static void leave(Simulation *s)
{
  const RgHeapEntry top = rg_heap_pop(s->heap, &s->n);
  const int first = top.owner, level = s->team[first].level + 1;
  const int size = s->teams->size[level - 1];

  if (level < s->teams->n) {
    for (int rank = first; rank < first + size; rank += s->teams->size[level]) {
      s->team[rank] = (Team){level, -1, -1, false};
      rg_heap_push(s->heap, &s->n, top.key, rank);
    }
  } else if (s->pending[first].n) {
    s->team[first] = (Team){level - 1, -1, top.key, true};
    rg_heap_push(s->heap, &s->n, top.key, first);
  } else {
    s->job->wall = fmax(s->job->wall, top.key);
    s->ends += size * top.key;
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
    s->team[rank] = (Team){0, -1, -1, false};
    rg_heap_push(s->heap, &s->n, 0, rank);
  }
  while (s->n) {
    RgHeapEntry *top = &s->heap[0];
    Team *team = &s->team[top->owner];
    if (team->ended >= 0) end_trial(s, top->owner, top->key);
    if (team->due >= 0) {
      const double now = top->key;
      top->key = commit(s, top->owner, now);
      s->job->disk += s->teams->size[team->level] * (top->key - now);
      rg_heap_sink(s->heap, s->n);
    } else if (team->over) {
      leave(s);
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

static void sum_up(Simulation *s, int n_hosts)
{
  RgJob *job = s->job;
  const double all = s->teams->ranks * job->wall;

  for (int i = 0; i < n_hosts; i++) job->files += files_left(s->host[i].n_commits);
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
  Simulation s = {.plan = plan, .teams = teams, .rates = rates, .per_host = per_host, .job = job};
  const int n_hosts = (teams->ranks + per_host - 1) / per_host;
  unsigned char *done;

  PetscFunctionBeginUser;
  *job = (RgJob){0};
  PetscCall(PetscCalloc1(plan->n, &done));
  PetscCall(rg_schedule_create(PETSC_COMM_SELF, plan, teams, done, NULL, &s.schedule));
  PetscCall(PetscFree(done));
  PetscCall(PetscCalloc4(teams->ranks, &s.heap, teams->ranks, &s.team, teams->ranks, &s.pending,
                         n_hosts, &s.host));
  PetscCall(run(&s));
  sum_up(&s, n_hosts);
  PetscCall(PetscFree4(s.heap, s.team, s.pending, s.host));
  PetscCall(rg_schedule_destroy(&s.schedule));
  PetscFunctionReturn(0);
}
