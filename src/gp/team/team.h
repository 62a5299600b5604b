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

/* Number of jobs that the leader has given the team. At 0 the leader's results are those of one
   rank. */
int64_t rg_team_jobs(const RgTeam *team);

/* Called now and then by a waiting rank. */
typedef PetscErrorCode (*RgTeamIdle)(void *closure);
/* On every rank but the leader: do the leader's jobs until it dismisses the team. Sleeps between
   jobs. `idle` may be NULL. */
PetscErrorCode rg_team_serve(RgTeam *team, RgTeamIdle idle, void *closure);
/* On the leader: let the others return from rg_team_serve. */
PetscErrorCode rg_team_dismiss(RgTeam *team);

/* On the leader, while the others serve: the functions of distributed.h on the posterior `slot`. */
PetscErrorCode rg_team_posterior_create(RgTeam *team, const RgKernel *kernel, int capacity,
                                        int *slot);
PetscErrorCode rg_team_posterior_destroy(RgTeam *team, int slot);
PetscErrorCode rg_team_posterior_set(RgTeam *team, int slot, const RgKernel *kernel,
                                     double noise_variance, double mean, const RgData *data,
                                     RgFailure *failure);
PetscErrorCode rg_team_posterior_append(RgTeam *team, int slot, int m, const double *X,
                                        const double *y, RgFailure *failure);
PetscErrorCode rg_team_posterior_keep(RgTeam *team, int slot);
PetscErrorCode rg_team_posterior_pend(RgTeam *team, int slot, const double *x, double y);
PetscErrorCode rg_team_posterior_restore(RgTeam *team, int slot);
PetscErrorCode rg_team_posterior_set_outputs(RgTeam *team, int slot, double mean, const double *y);
PetscErrorCode rg_team_posterior_predict(RgTeam *team, int slot, int m, const double *Z,
                                         double *mean, double *variance);
PetscErrorCode rg_team_posterior_gradient(RgTeam *team, int slot, int m, const double *Z,
                                          const double *mean_bar, const double *variance_bar,
                                          double *G);
PetscErrorCode rg_team_posterior_solve(RgTeam *team, int slot, bool lower, bool upper, int m,
                                       double *B);
/* State of the leader's posterior. Borrowed until the posterior changes. */
const RgDistributed *rg_team_posterior(const RgTeam *team, int slot);

/* Work of another room that all ranks of a team do together, with the same arrays on each. */
typedef struct {
  int code, n;
  double noise_variance, mean;
  const RgKernel *kernel; /* NULL: no kernel */
  size_t count[3];        /* doubles in each array */
  double *array[3];
  double *out[3]; /* the leader's result arrays; NULL on the other ranks */
} RgTeamTask;
/* *state belongs to the worker of one slot and starts as NULL. Collective. */
typedef PetscErrorCode (*RgTeamWorker)(MPI_Comm comm, const RgTeamTask *task, void **state);

/* On every rank, after rg_team_create: the worker that does the tasks. */
void rg_team_employ(RgTeam *team, RgTeamWorker worker);
/* On the leader, while the others serve: reserve a slot for a worker's state; run a task in it.
   The worker frees its state by a task of its own, which also frees the slot. */
PetscErrorCode rg_team_open(RgTeam *team, int *slot);
PetscErrorCode rg_team_run(RgTeam *team, int slot, RgTeamTask *task);

/* As rg_distributed_objective and rg_distributed_sample_path. */
PetscErrorCode rg_team_objective(RgTeam *team, const RgKernel *kernel, double noise_variance,
                                 bool learn_mean, double *mean, const RgData *data, double *value,
                                 double *gradient);
PetscErrorCode rg_team_sample_path(RgTeam *team, const RgKernel *kernel, int n, const double *X,
                                   const double *z, double *f, double *jitter, RgFailure *failure);

#endif
