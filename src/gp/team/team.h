/* A team: the ranks that work together on one trial. Its first rank, the leader, runs the trial
   as if it were alone. Once the Gaussian process has more than `crossover` data, the whole team
   does its linear algebra (distributed.h); between such calls the other ranks wait. So one rank
   takes every decision, and a trial needs no communication of its own. Results of a distributed
   Gaussian process depend on the size of the team by rounding; below the crossover they have the
   bits of one rank. */
#ifndef RG_GP_TEAM_TEAM_H
#define RG_GP_TEAM_TEAM_H

#include <mpi.h>

#include "regatta/error.h"

typedef struct RgTeam RgTeam;
typedef struct RgKernel RgKernel;
typedef struct RgData RgData;
typedef struct RgDistributed RgDistributed;

/* Whether teams of several ranks are possible. They are not in a build without ScaLAPACK. */
bool rg_team_possible(void);

/* Number of data from which a team of `ranks` beats one rank, by measurement (bench,
   "crossover"). INT_MAX for one rank, and where teams are not possible. */
int rg_team_measured_crossover(int ranks);

/* Collective on `comm`, whose rank 0 is the leader. crossover: see above, >= 1. */
PetscErrorCode rg_team_create(MPI_Comm comm, int crossover, RgTeam **team);
/* Collective. Dismiss the other ranks first. NULL is fine. */
PetscErrorCode rg_team_destroy(RgTeam **team);

/* NULL counts as a team of one. */
int rg_team_size(const RgTeam *team);
bool rg_team_is_leader(const RgTeam *team);
/* Whether n data (or points) should be spread over the team. */
bool rg_team_takes(const RgTeam *team, int n);

/* Number of tasks that the leader has given the team. At 0 the leader's results are those of one
   rank. */
int64_t rg_team_jobs(const RgTeam *team);

/* Called now and then by a waiting rank. */
typedef PetscErrorCode (*RgTeamIdle)(void *closure);
/* On every rank but the leader: do the leader's tasks until it releases the team. Sleeps between
   tasks. `idle` may be NULL. */
PetscErrorCode rg_team_serve(RgTeam *team, RgTeamIdle idle, void *closure);
/* On the leader: let the others return from rg_team_serve. */
PetscErrorCode rg_team_release(RgTeam *team);

/* ---- tasks --------------------------------------------------------------------------------- */

/* A task calls a function of distributed.h, on the posterior of a slot or on data alone, or the
   work of another room. */
typedef enum {
  RG_TEAM_DISMISS,
  RG_TEAM_CREATE, /* the functions of a posterior, from here */
  RG_TEAM_DESTROY,
  RG_TEAM_SET,
  RG_TEAM_APPEND,
  RG_TEAM_KEEP,
  RG_TEAM_PEND,
  RG_TEAM_RESTORE,
  RG_TEAM_OUTPUTS,
  RG_TEAM_PREDICT,
  RG_TEAM_GRADIENT,
  RG_TEAM_SOLVE, /* to here */
  RG_TEAM_OBJECTIVE,
  RG_TEAM_PATH,
  RG_TEAM_WORK
} RgTeamOperation;

enum { RG_TEAM_ARRAYS = 3 };

/* Work that all ranks of a team do together. The leader fills it in; the other ranks get the same
   numbers, kernel and arrays, and room for the results. */
typedef struct {
  RgTeamOperation operation;
  int slot, n, code; /* code: which work of another room */
  bool lower, upper; /* triangles to solve with; a learned mean */
  double noise_variance, mean;
  const RgKernel *kernel;           /* NULL: no kernel */
  size_t count[RG_TEAM_ARRAYS];     /* doubles in each array */
  double *array[RG_TEAM_ARRAYS];    /* only read, but for the right-hand sides of a solve */
  size_t out_count[RG_TEAM_ARRAYS]; /* doubles in each result; 0: it is not wanted */
  double *out[RG_TEAM_ARRAYS];
  RgFailure *failure; /* NULL where nothing can fail */
  size_t kernel_size; /* set by rg_team_run */
} RgTeamTask;

/* For the arrays of a task that are only read. */
static inline double *rg_team_array(const double *values)
{
  return (double *)(uintptr_t)values;
}

/* The work of another room. *state belongs to one slot and starts as NULL. Collective. */
typedef PetscErrorCode (*RgTeamWorker)(MPI_Comm comm, const RgTeamTask *task, void **state);
/* On every rank, after rg_team_create: the worker that does RG_TEAM_WORK. */
void rg_team_set_worker(RgTeam *team, RgTeamWorker worker);

/* On the leader, while the others serve. Reserve a slot; do a task. RG_TEAM_DESTROY frees the slot,
   and so does a worker that leaves NULL as its state. */
PetscErrorCode rg_team_open(RgTeam *team, int *slot);
PetscErrorCode rg_team_run(RgTeam *team, RgTeamTask *task);
/* State of the leader's posterior. Borrowed until the posterior changes. */
const RgDistributed *rg_team_posterior(const RgTeam *team, int slot);

/* As rg_distributed_objective and rg_distributed_sample_path. */
PetscErrorCode rg_team_objective(RgTeam *team, const RgKernel *kernel, double noise_variance,
                                 bool learn_mean, double *mean, const RgData *data, double *value,
                                 double *gradient);
PetscErrorCode rg_team_sample_path(RgTeam *team, const RgKernel *kernel, int n, const double *X,
                                   const double *z, double *f, double *jitter, RgFailure *failure);

#endif
