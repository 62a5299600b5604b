/* A team: the ranks that work together on one trial. Its first rank, the leader, runs the trial as
   if it were alone; where the Gaussian process grows beyond `crossover` data the leader has the
   whole team do the linear algebra (distributed.h), and between such calls the others wait for the
   next. So a decision is taken on one rank only, and a trial needs no communication of its own.

   Results on a distributed Gaussian process depend on the size of the team to rounding; below the
   crossover they are those of one rank, bit by bit. */
#ifndef RG_GP_TEAM_TEAM_H
#define RG_GP_TEAM_TEAM_H

#include "gp/team/distributed.h"

typedef struct RgTeam RgTeam;

/* Can there be teams of several ranks? Not in a build without ScaLAPACK. */
bool rg_team_possible(void);

/* Data from which a team of `ranks` beats one rank, by measurement (bench, "crossover"); INT_MAX
   for one rank, and where teams are not possible. */
int rg_team_measured_crossover(int ranks);

/* Collective on `comm`, whose rank 0 is the leader. crossover: see above, >= 1. */
PetscErrorCode rg_team_create(MPI_Comm comm, int crossover, RgTeam **team);
/* Collective; the others must have been dismissed. NULL is fine. */
PetscErrorCode rg_team_destroy(RgTeam **team);

/* NULL counts as a team of one. */
int rg_team_size(const RgTeam *team);
bool rg_team_is_leader(const RgTeam *team);
/* Should n data (or points) be spread over the team? */
bool rg_team_takes(const RgTeam *team, int n);

/* Jobs the leader has given the team so far: none, and what it computed is what one rank computes.
 */
int64_t rg_team_jobs(const RgTeam *team);

/* Called now and then by a rank that waits. */
typedef PetscErrorCode (*RgTeamIdle)(void *closure);
/* On every rank but the leader: do what it asks for until it dismisses the team. Sleeps while there
   is nothing to do. `idle` may be NULL. */
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
PetscErrorCode rg_team_posterior_set_outputs(RgTeam *team, int slot, double mean, const double *y);
PetscErrorCode rg_team_posterior_predict(RgTeam *team, int slot, int m, const double *Z,
                                         double *mean, double *variance);
PetscErrorCode rg_team_posterior_gradient(RgTeam *team, int slot, int m, const double *Z,
                                          const double *mean_bar, const double *variance_bar,
                                          double *G);
PetscErrorCode rg_team_posterior_solve(RgTeam *team, int slot, bool lower, bool upper, int m,
                                       double *B);
/* What the leader knows of it. Borrowed until the posterior changes. */
const RgDistributed *rg_team_posterior(const RgTeam *team, int slot);

/* Work of another room that all ranks of a team do together, with the same arrays on each. */
typedef struct {
  int code, n;
  double noise_variance, mean;
  const RgKernel *kernel; /* NULL: none goes with it */
  size_t count[3];        /* doubles in each array */
  double *array[3];
  double *out[3]; /* where the leader wants results; NULL on the others */
} RgTeamTask;
/* *state is the worker's own, of one slot, NULL at first. Collective. */
typedef PetscErrorCode (*RgTeamWorker)(MPI_Comm comm, const RgTeamTask *task, void **state);

/* On every rank, after rg_team_create: who does the tasks. */
void rg_team_employ(RgTeam *team, RgTeamWorker worker);
/* On the leader, while the others serve: a slot for a state of the worker; a task for it. The
   worker frees the state by a task of its own, which makes the slot free. */
PetscErrorCode rg_team_open(RgTeam *team, int *slot);
PetscErrorCode rg_team_run(RgTeam *team, int slot, RgTeamTask *task);

/* As rg_distributed_objective and rg_distributed_sample_path. */
PetscErrorCode rg_team_objective(RgTeam *team, const RgKernel *kernel, double noise_variance,
                                 bool learn_mean, double *mean, const RgData *data, double *value,
                                 double *gradient);
PetscErrorCode rg_team_sample_path(RgTeam *team, const RgKernel *kernel, int n, const double *X,
                                   const double *z, double *f, double *jitter, RgFailure *failure);

#endif
