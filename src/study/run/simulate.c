/* A job is simulated by discrete events: its teams become free, in order of time. */
#include "study/run/simulate.h"

#include <math.h>

#include "base/heap.h"
#include "study/plan/cost.h"
#include "study/schedule/schedule.h"
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
  RG_REAL("pack", RgJobRates, pack, "5.3e-5", RG_POSITIVE, 0, "",
          "rank 0 puts a trial into the results file, s"),
  {0},
};

/* Operations of the file system per commit: create, rename, two fsyncs, and a later unlink,
   after merging or packing. */
static const double operations = 5;

/* The team whose first rank is the index. */
typedef struct {
  int level;
  double ended; /* seconds of the trial that has just ended; negative: already handled */
  bool due;     /* a commit is due */
  bool over;    /* no trial is left for the team */
} Team;

/* The commits of a rank. */
typedef struct {
  int n_pending;    /* trials that are not committed */
  double oldest;    /* end of the first trial that is not committed */
  bool urgent;      /* a trial that is not committed took long */
  double committed; /* time of the last commit */
  int n_commits;
} Rank;

typedef struct {
  const RgPlan *plan;
  const RgTeams *teams;
  const RgJobRates *rates;
  RgSchedule *schedule;
  int n;
  RgHeapEntry *heap;    /* times at which teams become free, owner: first rank; owned */
  Team *team;           /* by its first rank; owned */
  Rank *rank;           /* owned */
  double counter, disk; /* times at which the counter and the file system become free */
  double ends;          /* sum over ranks of the ends of their work */
  RgJob *job;
} Simulation;

/* ---- events of a team ------------------------------------------------------------------------ */

/* Commit the pending trials of a rank. Returns the time at which the rank continues. */
static double commit(Simulation *s, int rank, double now)
{
  Rank *own = &s->rank[rank];

  s->team[rank].due = false;
  s->disk =
    fmax(s->disk, now + own->n_pending * s->rates->record) + operations / s->rates->metadata;
  own->n_pending = 0;
  own->n_commits++;
  s->job->commits++;
  return own->committed = s->disk + s->rates->commit;
}

/* The team on top has found no trial: it splits, or commits its pending trials and ends. */
static void leave(Simulation *s)
{
  const RgHeapEntry top = rg_heap_pop(s->heap, &s->n);
  const int first = top.owner, level = s->team[first].level + 1;
  const int size = s->teams->size[level - 1];

  if (level < s->teams->n) {
    for (int rank = first; rank < first + size; rank += s->teams->size[level]) {
      s->team[rank] = (Team){level, -1, false, false};
      rg_heap_push(s->heap, &s->n, top.key, rank);
    }
  } else if (s->rank[first].n_pending) {
    s->team[first] = (Team){level - 1, -1, true, true};
    rg_heap_push(s->heap, &s->n, top.key, first);
  } else {
    s->job->wall = fmax(s->job->wall, top.key);
    s->ends += size * top.key;
  }
}

/* The team on top takes a ticket. */
static PetscErrorCode draw_ticket(Simulation *s)
{
  RgHeapEntry *top = &s->heap[0];
  Team *team = &s->team[top->owner];
  const int size = s->teams->size[team->level];
  const double asked = top->key;
  int trial;

  top->key = s->counter = fmax(s->counter, asked) + s->rates->ticket;
  s->job->ticket += size * (top->key - asked);
  PetscCall(rg_schedule_next(s->schedule, team->level, &trial));
  if (trial < 0) {
    leave(s);
    return 0;
  }
  const int cell = rg_plan_cell(s->plan, trial);
  team->ended = s->plan->cells[cell].cost * rg_cost_team_share(&s->plan->study->cells[cell], size);
  top->key += team->ended;
  s->job->busy += size * team->ended;
  rg_heap_sink(s->heap, s->n);
  return 0;
}

/* ---- the job --------------------------------------------------------------------------------- */

static PetscErrorCode run(Simulation *s)
{
  const RgStoreLimits *limits = &rg_store_default_limits;

  for (int rank = 0; rank < s->teams->ranks; rank += s->teams->size[0]) {
    s->team[rank] = (Team){0, -1, false, false};
    rg_heap_push(s->heap, &s->n, 0, rank);
  }
  while (s->n) {
    RgHeapEntry *top = &s->heap[0];
    Team *team = &s->team[top->owner];
    Rank *own = &s->rank[top->owner];
    const double now = top->key;
    if (team->ended >= 0) { /* a trial ends: is a commit due? */
      if (!own->n_pending++) {
        own->oldest = now;
        own->urgent = false;
      }
      own->urgent = own->urgent || team->ended >= limits->long_seconds;
      team->due = (own->urgent || now - own->oldest >= limits->group_seconds) &&
                  now - own->committed >= rg_store_spacing(s->teams->ranks);
      team->ended = -1;
    }
    if (team->due) {
      top->key = commit(s, top->owner, now);
      s->job->disk += s->teams->size[team->level] * (top->key - now);
      rg_heap_sink(s->heap, s->n);
    } else if (team->over) {
      leave(s);
    } else {
      PetscCall(draw_ticket(s));
    }
  }
  return 0;
}

PetscErrorCode rg_simulate(const RgPlan *plan, const RgTeams *teams, const RgJobRates *rates,
                           RgJob *job)
{
  Simulation s = {.plan = plan, .teams = teams, .rates = rates, .job = job};
  const double spacing = rg_store_spacing(teams->ranks);
  unsigned char *done;

  *job = (RgJob){0};
  PetscCall(PetscCalloc1(plan->n, &done));
  PetscCall(rg_schedule_create(PETSC_COMM_SELF, plan, teams, done, NULL, &s.schedule));
  PetscCall(PetscFree(done));
  PetscCall(PetscCalloc3(teams->ranks, &s.heap, teams->ranks, &s.team, teams->ranks, &s.rank));
  for (int r = 0; r < teams->ranks; r++) s.rank[r].committed = -spacing * r / teams->ranks;
  PetscCall(run(&s));
  for (int r = 0; r < teams->ranks; r++) /* the shards that are left after merging */
    for (int n = s.rank[r].n_commits; n; n /= rg_store_default_limits.compaction)
      job->files += n % rg_store_default_limits.compaction;
  const double all = teams->ranks * job->wall;
  job->idle = (all - s.ends) / all;
  job->busy /= all;
  job->ticket /= all;
  job->disk /= all;
  job->commits /= job->wall;
  job->resume = job->files * rates->file;
  job->pack = plan->n * rates->pack;
  PetscCall(PetscFree3(s.heap, s.team, s.rank));
  return rg_schedule_destroy(&s.schedule);
}
