/* A job in time before it runs: what its ranks would do, with the real schedule. */
#ifndef RG_STUDY_RUN_SIMULATE_H
#define RG_STUDY_RUN_SIMULATE_H

#include "regatta/params.h"
#include "study/run/teams.h"

/* What a machine takes for its part of a job; seconds where nothing else is said. The defaults were
   measured (docs/scaling.md). */
typedef struct {
  double ticket;   /* of the counter, for a trial that a rank asks for */
  double record;   /* of a rank, for a finished trial */
  double commit;   /* of a rank, for a shard, however large */
  double metadata; /* operations that the file system does in a second, for all ranks */
  double file;     /* of rank 0, for a shard when the run resumes */
  double pack;     /* of rank 0, for a trial in the results file */
} RgJobRates;
extern const RgParam rg_job_rates[];

typedef struct {
  double wall; /* seconds from the first ticket to the last commit */
  /* parts of all ranks' time: trials; waiting for the counter; committing; no trial left */
  double busy, ticket, disk, idle;
  double commits;      /* a second */
  double files;        /* shards at the end */
  double resume, pack; /* seconds: to read them; to write the results file */
} RgJob;

/* The whole study at the costs of the plan, on teams->ranks ranks. A trial ends, its rank commits
   what is due (study/store/store.h), which takes its turn at the file system, and takes the next
   ticket, which takes its turn at the counter. Left out: start of MPI, memory, large shards,
   commits before long iterations, the merging of shards, stops. Not collective.
   O((trials + ranks) log ranks). */
PetscErrorCode rg_simulate(const RgPlan *plan, const RgTeams *teams, const RgJobRates *rates,
                           RgJob *job);

#endif
