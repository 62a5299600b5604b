/* Teams: their lifetime, and how a job gets from the leader to the other ranks. */
#include "gp/team/team.h"
#include "base/grow.h"
#include "gp/team/distributed.h"
#include "gp/team/scalapack.h"

#include <limits.h>

typedef enum {
  RG_TEAM_DISMISS,
  RG_TEAM_CREATE,
  RG_TEAM_DESTROY,
  RG_TEAM_SET,
  RG_TEAM_APPEND,
  RG_TEAM_KEEP,
  RG_TEAM_PEND,
  RG_TEAM_RESTORE,
  RG_TEAM_OUTPUTS,
  RG_TEAM_PREDICT,
  RG_TEAM_GRADIENT,
  RG_TEAM_SOLVE,
  RG_TEAM_OBJECTIVE,
  RG_TEAM_PATH,
  RG_TEAM_TASK
} RgTeamOperation;

enum { RG_TEAM_ARRAYS = 3 };

/* The header that the leader sends before the kernel and the arrays. */
typedef struct {
  RgTeamOperation operation;
  int slot, n, code; /* code of a task */
  /* Triangles to solve with. Depending on the task, `lower` also asks for variance or gradient, and
     `upper` for a learned mean. */
  bool lower, upper;
  double noise_variance, mean;
  int kernel_ints, kernel_reals; /* 0: no kernel */
  size_t count[RG_TEAM_ARRAYS];  /* doubles in each array */
} RgTeamCommand;

/* A command with its kernel and arrays. The outputs point to the leader's result arrays. */
typedef struct {
  RgTeamCommand command;
  RgKernel kernel;
  double *array[RG_TEAM_ARRAYS];
  double *out[3];
  RgFailure *failure;
} RgTeamJob;

struct RgTeam {
  MPI_Comm comm; /* a duplicate, owned */
  int size, rank, crossover;
  int64_t jobs; /* set by the leader */
  int n_slots;
  RgDistributed **slots; /* NULL: a free slot */
  RgTeamWorker worker;   /* NULL: no worker */
  int n_states;
  void **states; /* state of the worker; NULL: free */
};

/* ---- kernels as numbers -------------------------------------------------------------------- */

/* Number a kernel's structure and values. ints, reals NULL: only count them. */
static void kernel_pack(const RgKernel *kernel, int *n_ints, int *ints, int *n_reals, double *reals)
{
  int i = 0, r = 0;
#define INT(value) (ints ? (void)(ints[i] = (value)) : (void)0, i++)
#define REAL(value) (reals ? (void)(reals[r] = (value)) : (void)0, r++)
  INT(kernel->dim);
  INT(kernel->n_terms);
  INT(kernel->warp != NULL);
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++) REAL(kernel->warp[j]);
  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    REAL(term->variance);
    INT(term->n_factors);
    for (int f = 0; f < term->n_factors; f++) {
      const RgKernelFactor *factor = &term->factors[f];
      INT((int)factor->family);
      INT(factor->n_inputs);
      INT(factor->n_scales);
      INT(factor->shift);
      REAL(factor->shape);
      for (int k = 0; k < factor->n_inputs; k++) INT(factor->inputs[k]);
      INT(factor->words != NULL);
      for (int k = 0; factor->words && k < factor->n_inputs; k++) INT(factor->words[k]);
      for (int k = 0; k < factor->n_scales; k++) REAL(factor->length_scale[k]);
    }
  }
#undef INT
#undef REAL
  *n_ints = i;
  *n_reals = r;
}

static PetscErrorCode kernel_unpack(const int *ints, const double *reals, RgKernel *kernel)
{
  *kernel = (RgKernel){.dim = ints[0], .n_terms = ints[1]};
  ints += 2;
  if (*ints++) {
    PetscCall(PetscMalloc1(2 * (size_t)kernel->dim, &kernel->warp));
    for (int j = 0; j < 2 * kernel->dim; j++) kernel->warp[j] = *reals++;
  }
  PetscCall(PetscCalloc1(kernel->n_terms, &kernel->terms));
  for (int t = 0; t < kernel->n_terms; t++) {
    RgKernelTerm *term = &kernel->terms[t];
    term->variance = *reals++;
    term->n_factors = *ints++;
    PetscCall(PetscCalloc1(term->n_factors, &term->factors));
    for (int f = 0; f < term->n_factors; f++) {
      RgKernelFactor *factor = &term->factors[f];
      factor->family = (RgKernelFamily)*ints++;
      factor->n_inputs = *ints++;
      factor->n_scales = *ints++;
      factor->shift = *ints++;
      factor->shape = *reals++;
      PetscCall(PetscMalloc1(factor->n_inputs, &factor->inputs));
      PetscCall(PetscMalloc1(factor->n_scales, &factor->length_scale));
      for (int k = 0; k < factor->n_inputs; k++) factor->inputs[k] = *ints++;
      if (*ints++) {
        PetscCall(PetscMalloc1(factor->n_inputs, &factor->words));
        for (int k = 0; k < factor->n_inputs; k++) factor->words[k] = *ints++;
      }
      for (int k = 0; k < factor->n_scales; k++) factor->length_scale[k] = *reals++;
    }
  }
  return 0;
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static PetscErrorCode create(RgTeam *team, const RgTeamJob *job)
{
  const int slot = job->command.slot;

  if (slot >= team->n_slots) {
    PetscCall(PetscRealloc((size_t)(slot + 1) * sizeof *team->slots, &team->slots));
    while (team->n_slots <= slot) team->slots[team->n_slots++] = NULL;
  }
  PetscCall(rg_distributed_create(team->comm, &job->kernel, 0.0, 0.0, job->command.n, 0,
                                  &team->slots[slot]));
  return 0;
}

/* The place of a result: the leader's array, or scratch on the other ranks. */
static PetscErrorCode outputs(RgTeamJob *job, size_t count, int which, double **scratch)
{
  *scratch = NULL;
  if (job->out[which]) return 0;
  PetscCall(PetscMalloc1(count, scratch));
  job->out[which] = *scratch;
  return 0;
}

static PetscErrorCode predict(RgDistributed *posterior, RgTeamJob *job)
{
  const RgTeamCommand *c = &job->command;
  double *mean, *variance = NULL;

  PetscCall(outputs(job, (size_t)c->n, 0, &mean));
  if (c->lower) PetscCall(outputs(job, (size_t)c->n, 1, &variance));
  PetscCall(rg_distributed_predict(posterior, c->n, job->array[0], job->out[0],
                                   c->lower ? job->out[1] : NULL));
  PetscCall(PetscFree(mean));
  PetscCall(PetscFree(variance));
  return 0;
}

static PetscErrorCode gradient(RgDistributed *posterior, RgTeamJob *job)
{
  double *G;

  PetscCall(outputs(job, job->command.count[0], 0, &G));
  PetscCall(rg_distributed_gradient(posterior, job->command.n, job->array[0], job->array[1],
                                    job->command.count[2] ? job->array[2] : NULL, job->out[0]));
  PetscCall(PetscFree(G));
  return 0;
}

static PetscErrorCode objective(RgTeam *team, RgTeamJob *job)
{
  const RgTeamCommand *c = &job->command;
  const size_t size = (size_t)c->kernel_reals + 1; /* hyperparameters and the noise */
  double *value, *slope = NULL, mean = c->mean;

  PetscCall(outputs(job, 1, 0, &value));
  if (c->lower) PetscCall(outputs(job, size, 1, &slope));
  PetscCall(rg_distributed_objective(&(RgSpread){team->comm, 0}, &job->kernel, c->noise_variance,
                                     c->upper, &mean, &(RgData){c->n, job->array[0], job->array[1]},
                                     job->out[0], c->lower ? job->out[1] : NULL));
  if (job->out[2]) *job->out[2] = mean;
  PetscCall(PetscFree(value));
  PetscCall(PetscFree(slope));
  return 0;
}

static PetscErrorCode path(RgTeam *team, RgTeamJob *job)
{
  double *f, *jitter;

  PetscCall(outputs(job, (size_t)job->command.n, 0, &f));
  PetscCall(outputs(job, 1, 1, &jitter));
  PetscCall(rg_distributed_sample_path(&(RgSpread){team->comm, 0}, &job->kernel, job->command.n,
                                       job->array[0], job->array[1], job->out[0], job->out[1],
                                       job->failure));
  PetscCall(PetscFree(f));
  PetscCall(PetscFree(jitter));
  return 0;
}

static PetscErrorCode work(RgTeam *team, const RgTeamJob *job)
{
  const RgTeamCommand *c = &job->command;
  RgTeamTask task = {.code = c->code,
                     .n = c->n,
                     .noise_variance = c->noise_variance,
                     .mean = c->mean,
                     .kernel = c->kernel_ints ? &job->kernel : NULL};

  for (int a = 0; a < RG_TEAM_ARRAYS; a++) {
    task.count[a] = c->count[a];
    task.array[a] = job->array[a];
    task.out[a] = job->out[a];
  }
  if (c->slot >= team->n_states) {
    PetscCall(PetscRealloc((size_t)(c->slot + 1) * sizeof *team->states, &team->states));
    while (team->n_states <= c->slot) team->states[team->n_states++] = NULL;
  }
  PetscCall(team->worker(team->comm, &task, &team->states[c->slot]));
  return 0;
}

/* Collective on the team: do a job whose command, kernel and arrays every rank has. */
static PetscErrorCode team_do(RgTeam *team, RgTeamJob *job)
{
  const RgTeamCommand *c = &job->command;
  RgDistributed *p = c->slot < team->n_slots ? team->slots[c->slot] : NULL;

  switch (c->operation) {
  case RG_TEAM_DISMISS: break;
  case RG_TEAM_CREATE: PetscCall(create(team, job)); break;
  case RG_TEAM_DESTROY: PetscCall(rg_distributed_destroy(&team->slots[c->slot])); break;
  case RG_TEAM_SET:
    PetscCall(rg_distributed_set(p, c->kernel_ints ? &job->kernel : NULL, c->noise_variance,
                                 c->mean, c->n, job->array[0], job->array[1], job->failure));
    break;
  case RG_TEAM_APPEND:
    PetscCall(rg_distributed_append(p, c->n, job->array[0], job->array[1], job->failure));
    break;
  case RG_TEAM_KEEP: PetscCall(rg_distributed_keep(p)); break;
  case RG_TEAM_PEND: PetscCall(rg_distributed_pend(p, job->array[0], *job->array[1])); break;
  case RG_TEAM_RESTORE: PetscCall(rg_distributed_restore(p)); break;
  case RG_TEAM_OUTPUTS: PetscCall(rg_distributed_set_outputs(p, c->mean, job->array[0])); break;
  case RG_TEAM_PREDICT: PetscCall(predict(p, job)); break;
  case RG_TEAM_GRADIENT: PetscCall(gradient(p, job)); break;
  case RG_TEAM_SOLVE:
    PetscCall(rg_distributed_solve(p, c->lower, c->upper, c->n, job->array[0]));
    break;
  case RG_TEAM_OBJECTIVE: PetscCall(objective(team, job)); break;
  case RG_TEAM_PATH: PetscCall(path(team, job)); break;
  case RG_TEAM_TASK: PetscCall(work(team, job)); break;
  }
  return 0;
}

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

  PetscCheck(crossover >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "crossover is %d", crossover);
  PetscCall(PetscNew(&t));
  PetscCallMPI(MPI_Comm_dup(comm, &t->comm));
  PetscCallMPI(MPI_Comm_size(t->comm, &t->size));
  PetscCallMPI(MPI_Comm_rank(t->comm, &t->rank));
  t->crossover = crossover;
  *team = t;
  return 0;
}

PetscErrorCode rg_team_destroy(RgTeam **team)
{
  RgTeam *t = *team;

  if (!t) return 0;
  for (int i = 0; i < t->n_slots; i++) PetscCall(rg_distributed_destroy(&t->slots[i]));
  PetscCall(RG_FREE(&t->slots, &t->states));
  PetscCallMPI(MPI_Comm_free(&t->comm));
  PetscCall(PetscFree(*team));
  return 0;
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

  for (size_t i = 0; i < count; i += most)
    PetscCallMPI(MPI_Bcast(values + i, (int)PetscMin(most, count - i), MPI_DOUBLE, 0, team->comm));
  return 0;
}

/* The kernel and the arrays of a job whose command is known. The other ranks allocate them. */
static PetscErrorCode share_contents(RgTeam *team, RgTeamJob *job)
{
  RgTeamCommand *c = &job->command;
  const bool leader = team->rank == 0;
  int *ints;
  double *reals;

  if (c->kernel_ints) {
    PetscCall(PetscMalloc2(c->kernel_ints, &ints, c->kernel_reals, &reals));
    if (leader) kernel_pack(&job->kernel, &c->kernel_ints, ints, &c->kernel_reals, reals);
    PetscCallMPI(MPI_Bcast(ints, c->kernel_ints, MPI_INT, 0, team->comm));
    PetscCall(share(team, (size_t)c->kernel_reals, reals));
    if (!leader) PetscCall(kernel_unpack(ints, reals, &job->kernel));
    PetscCall(PetscFree2(ints, reals));
  }
  for (int a = 0; a < RG_TEAM_ARRAYS; a++) {
    if (!leader && c->count[a]) PetscCall(PetscMalloc1(c->count[a], &job->array[a]));
    PetscCall(share(team, c->count[a], job->array[a]));
  }
  return 0;
}

/* A non-blocking broadcast, so that the other ranks can sleep while they wait. */
static PetscErrorCode start_command(RgTeam *team, RgTeamCommand *command, MPI_Request *request)
{
  PetscCallMPI(MPI_Ibcast(command, (int)sizeof *command, MPI_BYTE, 0, team->comm, request));
  return 0;
}

static PetscErrorCode wait_for_command(RgTeam *team, RgTeamIdle idle, void *closure,
                                       RgTeamCommand *command)
{
  MPI_Request request;
  int arrived = 0;
  double pause = 1e-5;

  PetscCall(start_command(team, command, &request));
  for (int spins = 0;; spins++) {
    PetscCallMPI(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
    if (arrived) break;
    if (spins < 100) continue;
    if (idle) PetscCall(idle(closure));
    PetscCall(PetscSleep(pause));
    pause = PetscMin(1.3 * pause, 2e-3);
  }
  return 0;
}

PetscErrorCode rg_team_serve(RgTeam *team, RgTeamIdle idle, void *closure)
{
  for (;;) {
    RgTeamJob job = {0};
    RgFailure failure = {0};
    PetscCall(wait_for_command(team, idle, closure, &job.command));
    if (job.command.operation == RG_TEAM_DISMISS) break;
    PetscCall(share_contents(team, &job));
    job.failure = &failure;
    PetscCall(team_do(team, &job));
    if (job.command.kernel_ints) PetscCall(rg_kernel_destroy(&job.kernel));
    for (int a = 0; a < RG_TEAM_ARRAYS; a++) PetscCall(PetscFree(job.array[a]));
  }
  return 0;
}

/* On the leader: announce a job and take part in it. kernel may be NULL. */
static PetscErrorCode run_job(RgTeam *team, RgTeamJob *job, const RgKernel *kernel)
{
  MPI_Request request;

  PetscCheck(team->rank == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "only the leader of a team gives it work");
  if (kernel) {
    job->kernel = *kernel;
    kernel_pack(kernel, &job->command.kernel_ints, NULL, &job->command.kernel_reals, NULL);
  }
  team->jobs++;
  PetscCall(start_command(team, &job->command, &request));
  PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  PetscCall(share_contents(team, job));
  PetscCall(team_do(team, job));
  return 0;
}

PetscErrorCode rg_team_dismiss(RgTeam *team)
{
  RgTeamCommand command = {.operation = RG_TEAM_DISMISS};
  MPI_Request request;

  PetscCall(start_command(team, &command, &request));
  PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  return 0;
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

  for (*slot = 0; *slot < team->n_slots && team->slots[*slot];) (*slot)++;
  job.command.slot = *slot;
  PetscCall(run_job(team, &job, kernel));
  return 0;
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
  PetscCheck(team->worker, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the team has nobody for such tasks");
  for (*slot = 0; *slot < team->n_states && team->states[*slot];) (*slot)++;
  return 0;
}

PetscErrorCode rg_team_run(RgTeam *team, int slot, RgTeamTask *task)
{
  RgTeamJob job = {.command = {.operation = RG_TEAM_TASK,
                               .slot = slot,
                               .n = task->n,
                               .code = task->code,
                               .noise_variance = task->noise_variance,
                               .mean = task->mean}};

  for (int a = 0; a < RG_TEAM_ARRAYS; a++) {
    job.command.count[a] = task->count[a];
    job.array[a] = task->array[a];
    job.out[a] = task->out[a];
  }
  PetscCall(run_job(team, &job, task->kernel));
  return 0;
}
