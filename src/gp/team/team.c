/* Teams: their lifetime, and how a job gets from the leader to the other ranks. */
#include "gp/team/team_internal.h"

#include <limits.h>

#include "base/grow.h"
#include "gp/team/scalapack.h"

/* ---- life ---------------------------------------------------------------------------------- */

/* Measured on 2 cores: see docs/scaling.md. Larger teams lose nothing at the same size. */
static const int measured_crossover = 3000;

bool rg_team_possible(void)
{
  return rg_scalapack_available();
}

int rg_team_measured_crossover(int ranks)
{
  return ranks > 1 && rg_team_possible() ? measured_crossover : INT_MAX;
}

PetscErrorCode rg_team_create(MPI_Comm comm, int crossover, RgTeam **team)
{
  RgTeam *t;

  PetscFunctionBeginUser;
  PetscCheck(crossover >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "crossover is %d", crossover);
  PetscCall(PetscNew(&t));
  PetscCallMPI(MPI_Comm_dup(comm, &t->comm));
  PetscCallMPI(MPI_Comm_size(t->comm, &t->size));
  PetscCallMPI(MPI_Comm_rank(t->comm, &t->rank));
  t->crossover = crossover;
  *team = t;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_team_destroy(RgTeam **team)
{
  RgTeam *t = *team;

  PetscFunctionBeginUser;
  if (!t) PetscFunctionReturn(0);
  for (int i = 0; i < t->n_slots; i++) PetscCall(rg_distributed_destroy(&t->slots[i]));
  PetscCall(RG_FREE(&t->slots, &t->states));
  PetscCallMPI(MPI_Comm_free(&t->comm));
  PetscCall(PetscFree(*team));
  PetscFunctionReturn(0);
}

int rg_team_size(const RgTeam *team)
{
  return team ? team->size : 1;
}

bool rg_team_is_leader(const RgTeam *team)
{
  return !team || team->rank == 0;
}

bool rg_team_takes(const RgTeam *team, int n)
{
  return team && team->size > 1 && n >= team->crossover;
}

int64_t rg_team_jobs(const RgTeam *team)
{
  return team ? team->jobs : 0;
}

/* ---- from the leader to the others --------------------------------------------------------- */

static PetscErrorCode share(RgTeam *team, size_t count, double *values)
{
  const size_t most = (size_t)1 << 26;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < count; i += most)
    PetscCallMPI(MPI_Bcast(values + i, (int)PetscMin(most, count - i), MPI_DOUBLE, 0, team->comm));
  PetscFunctionReturn(0);
}

/* The kernel and the arrays of a job whose command is known. The other ranks allocate them. */
static PetscErrorCode share_contents(RgTeam *team, RgTeamJob *job)
{
  RgTeamCommand *c = &job->command;
  const bool leader = team->rank == 0;
  int *ints;
  double *reals;

  PetscFunctionBeginUser;
  if (c->kernel_ints) {
    PetscCall(PetscMalloc2(c->kernel_ints, &ints, c->kernel_reals, &reals));
    if (leader) rg_kernel_pack(&job->kernel, &c->kernel_ints, ints, &c->kernel_reals, reals);
    PetscCallMPI(MPI_Bcast(ints, c->kernel_ints, MPI_INT, 0, team->comm));
    PetscCall(share(team, (size_t)c->kernel_reals, reals));
    if (!leader) PetscCall(rg_kernel_unpack(ints, reals, &job->kernel));
    PetscCall(PetscFree2(ints, reals));
  }
  for (int a = 0; a < RG_TEAM_ARRAYS; a++) {
    if (!leader && c->count[a]) PetscCall(PetscMalloc1(c->count[a], &job->array[a]));
    PetscCall(share(team, c->count[a], job->array[a]));
  }
  PetscFunctionReturn(0);
}

/* A non-blocking broadcast, so that the other ranks can sleep while they wait. */
static PetscErrorCode start_command(RgTeam *team, RgTeamCommand *command, MPI_Request *request)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Ibcast(command, (int)sizeof *command, MPI_BYTE, 0, team->comm, request));
  PetscFunctionReturn(0);
}

static PetscErrorCode wait_for_command(RgTeam *team, RgTeamIdle idle, void *closure,
                                       RgTeamCommand *command)
{
  MPI_Request request;
  int arrived = 0;
  double pause = 1e-5;

  PetscFunctionBeginUser;
  PetscCall(start_command(team, command, &request));
  for (int spins = 0;; spins++) {
    PetscCallMPI(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
    if (arrived) break;
    if (spins < 100) continue;
    if (idle) PetscCall(idle(closure));
    PetscCall(PetscSleep(pause));
    pause = PetscMin(1.3 * pause, 2e-3);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_team_serve(RgTeam *team, RgTeamIdle idle, void *closure)
{
  PetscFunctionBeginUser;
  for (;;) {
    RgTeamJob job = {0};
    RgFailure failure = {0};
    PetscCall(wait_for_command(team, idle, closure, &job.command));
    if (job.command.operation == RG_TEAM_DISMISS) break;
    PetscCall(share_contents(team, &job));
    job.failure = &failure;
    PetscCall(rg_team_do(team, &job));
    if (job.command.kernel_ints) PetscCall(rg_kernel_destroy(&job.kernel));
    for (int a = 0; a < RG_TEAM_ARRAYS; a++) PetscCall(PetscFree(job.array[a]));
  }
  PetscFunctionReturn(0);
}

/* On the leader: announce a job and take part in it. kernel may be NULL. */
static PetscErrorCode run_job(RgTeam *team, RgTeamJob *job, const RgKernel *kernel)
{
  MPI_Request request;

  PetscFunctionBeginUser;
  PetscCheck(team->rank == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "only the leader of a team gives it work");
  if (kernel) {
    job->kernel = *kernel;
    rg_kernel_pack(kernel, &job->command.kernel_ints, NULL, &job->command.kernel_reals, NULL);
  }
  team->jobs++;
  PetscCall(start_command(team, &job->command, &request));
  PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  PetscCall(share_contents(team, job));
  PetscCall(rg_team_do(team, job));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_team_dismiss(RgTeam *team)
{
  RgTeamCommand command = {.operation = RG_TEAM_DISMISS};
  MPI_Request request;

  PetscFunctionBeginUser;
  PetscCall(start_command(team, &command, &request));
  PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  PetscFunctionReturn(0);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

/* Jobs only read their arrays, except for the array of rg_team_posterior_solve. */
static double *unconst(const double *values)
{
  return (double *)(uintptr_t)values;
}

const RgDistributed *rg_team_posterior(const RgTeam *team, int slot)
{
  return team->slots[slot];
}

static size_t inputs(const RgTeam *team, int slot)
{
  return (size_t)rg_distributed_dim(team->slots[slot]);
}

PetscErrorCode rg_team_posterior_create(RgTeam *team, const RgKernel *kernel, int capacity,
                                        int *slot)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_CREATE, .n = capacity}};

  PetscFunctionBeginUser;
  for (*slot = 0; *slot < team->n_slots && team->slots[*slot];) (*slot)++;
  job.command.slot = *slot;
  PetscCall(run_job(team, &job, kernel));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_team_posterior_destroy(RgTeam *team, int slot)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_DESTROY, .slot = slot}};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_posterior_set(RgTeam *team, int slot, const RgKernel *kernel,
                                     double noise_variance, double mean, const RgData *data,
                                     RgFailure *failure)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_SET,
                               .slot = slot,
                               .n = data->n,
                               .noise_variance = noise_variance,
                               .mean = mean,
                               .count = {(size_t)data->n * inputs(team, slot), (size_t)data->n}},
                   .array = {unconst(data->X), unconst(data->y)},
                   .failure = failure};

  return run_job(team, &job, kernel);
}

PetscErrorCode rg_team_posterior_append(RgTeam *team, int slot, int m, const double *X,
                                        const double *y, RgFailure *failure)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_APPEND,
                               .slot = slot,
                               .n = m,
                               .count = {(size_t)m * inputs(team, slot), (size_t)m}},
                   .array = {unconst(X), unconst(y)},
                   .failure = failure};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_posterior_keep(RgTeam *team, int slot)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_KEEP, .slot = slot}};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_posterior_pend(RgTeam *team, int slot, const double *x, double y)
{
  RgTeamJob job = {
    .command = {.operation = RG_TEAM_PEND, .slot = slot, .count = {inputs(team, slot), 1}},
    .array = {unconst(x), &y}};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_posterior_restore(RgTeam *team, int slot)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_RESTORE, .slot = slot}};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_posterior_set_outputs(RgTeam *team, int slot, double mean, const double *y)
{
  const size_t n = (size_t)rg_distributed_size(team->slots[slot]);
  RgTeamJob job = {
    .command = {.operation = RG_TEAM_OUTPUTS, .slot = slot, .mean = mean, .count = {n}},
    .array = {unconst(y)}};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_posterior_predict(RgTeam *team, int slot, int m, const double *Z,
                                         double *mean, double *variance)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_PREDICT,
                               .slot = slot,
                               .n = m,
                               .lower = variance != NULL,
                               .count = {(size_t)m * inputs(team, slot)}},
                   .array = {unconst(Z)},
                   .out = {mean, variance}};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_posterior_gradient(RgTeam *team, int slot, int m, const double *Z,
                                          const double *mean_bar, const double *variance_bar,
                                          double *G)
{
  const size_t count = (size_t)m;
  RgTeamJob job = {
    .command = {.operation = RG_TEAM_GRADIENT,
                .slot = slot,
                .n = m,
                .count = {count * inputs(team, slot), count, variance_bar ? count : 0}},
    .array = {unconst(Z), unconst(mean_bar), unconst(variance_bar)},
    .out = {G}};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_posterior_solve(RgTeam *team, int slot, bool lower, bool upper, int m,
                                       double *B)
{
  const size_t n = (size_t)rg_distributed_size(team->slots[slot]);
  RgTeamJob job = {.command = {.operation = RG_TEAM_SOLVE,
                               .slot = slot,
                               .n = m,
                               .lower = lower,
                               .upper = upper,
                               .count = {n * (size_t)m}},
                   .array = {B}};

  return run_job(team, &job, NULL);
}

PetscErrorCode rg_team_objective(RgTeam *team, const RgKernel *kernel, double noise_variance,
                                 bool learn_mean, double *mean, const RgData *data, double *value,
                                 double *gradient)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_OBJECTIVE,
                               .n = data->n,
                               .lower = gradient != NULL,
                               .upper = learn_mean,
                               .noise_variance = noise_variance,
                               .mean = *mean,
                               .count = {(size_t)data->n * (size_t)kernel->dim, (size_t)data->n}},
                   .array = {unconst(data->X), unconst(data->y)},
                   .out = {value, gradient, mean}};

  return run_job(team, &job, kernel);
}

PetscErrorCode rg_team_sample_path(RgTeam *team, const RgKernel *kernel, int n, const double *X,
                                   const double *z, double *f, double *jitter, RgFailure *failure)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_PATH,
                               .n = n,
                               .count = {(size_t)n * (size_t)kernel->dim, (size_t)n}},
                   .array = {unconst(X), unconst(z)},
                   .out = {f, jitter},
                   .failure = failure};

  return run_job(team, &job, kernel);
}

void rg_team_employ(RgTeam *team, RgTeamWorker worker)
{
  team->worker = worker;
}

PetscErrorCode rg_team_open(RgTeam *team, int *slot)
{
  PetscFunctionBeginUser;
  PetscCheck(team->worker, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the team has nobody for such tasks");
  for (*slot = 0; *slot < team->n_states && team->states[*slot];) (*slot)++;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_team_run(RgTeam *team, int slot, RgTeamTask *task)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_TASK,
                               .slot = slot,
                               .n = task->n,
                               .code = task->code,
                               .noise_variance = task->noise_variance,
                               .mean = task->mean}};

  PetscFunctionBeginUser;
  for (int a = 0; a < RG_TEAM_ARRAYS; a++) {
    job.command.count[a] = task->count[a];
    job.array[a] = task->array[a];
    job.out[a] = task->out[a];
  }
  PetscCall(run_job(team, &job, task->kernel));
  PetscFunctionReturn(0);
}
