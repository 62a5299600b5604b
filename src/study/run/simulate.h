/* The time of a job is predicted from the work of its ranks, with the real schedule. */
#ifndef RG_STUDY_RUN_SIMULATE_H
#define RG_STUDY_RUN_SIMULATE_H

#include "regatta/params.h"
#include "study/schedule/teams.h"

/* The costs of a machine, in seconds unless stated otherwise. The defaults were measured
   (docs/scaling.md). */
typedef struct {
  double ticket;   /* time at the counter, per request of a rank for a trial */
  double record;   /* time of a rank, per finished trial */
  double commit;   /* time of a rank, per shard of any size */
  double metadata; /* operations of the file system per second, for all ranks together */
  double file;     /* time of rank 0, per shard when the run resumes */
  double pack;     /* time of rank 0, per trial in the results file */
} RgJobRates;
extern const RgParam rg_job_rates[];

typedef struct {
  double wall; /* seconds from the first ticket to the last commit */
  /* shares of all ranks' time: trials; waiting for the counter; committing; without work */
  double busy, ticket, disk, idle;
  double commits;      /* per second */
  double files;        /* number of shards at the end */
  double resume, pack; /* seconds to read the shards on resume, and to write the results file */
} RgJob;

/* Simulate the whole study with the costs of the plan, on teams->ranks ranks. When a trial ends,
   its rank commits what is due (study/store/store.h), in turn with others at the file system,
   and takes the next ticket, in turn at the counter. Start of MPI, memory, large shards, commits
   before long iterations, merging of shards and stops are not modelled. Not collective.
   O((trials + ranks) log ranks). */
PetscErrorCode rg_simulate(const RgPlan *plan, const RgTeams *teams, const RgJobRates *rates,
                           RgJob *job);

#endif
