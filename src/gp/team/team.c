/* Teams: their lifetime, and how a task gets from the leader to the other ranks. */
#include "gp/team/team.h"
#include "base/grow.h"
#include "gp/team/distributed.h"
#include "gp/team/scalapack.h"

#include <limits.h>
#include <string.h>

/* The state that the tasks of one owner share. */
typedef struct {
  bool taken; /* known to the leader alone */
  RgDistributed *posterior;
  void *state; /* of the worker */
} Slot;

struct RgTeam {
  MPI_Comm comm; /* a duplicate, owned */
  int size, rank, crossover;
  int64_t jobs; /* set by the leader */
  int n_slots;
  Slot *slots;
  RgTeamWorker worker; /* NULL: no worker */
};

/* ---- kernels as bytes ---------------------------------------------------------------------- */

/* The bytes of a kernel and of all that it points to. */
typedef struct {
  enum { COUNT, WRITE, READ } what;
  size_t n;
  char *bytes;
} Parcel;

static void carry(Parcel *parcel, size_t size, void *values)
{
  if (parcel->what == WRITE) memcpy(parcel->bytes + parcel->n, values, size);
  if (parcel->what == READ) memcpy(values, parcel->bytes + parcel->n, size);
  parcel->n += size;
}

/* The array that the pointer at `address` points to (NULL: none); a reader gets one of its own. */
static PetscErrorCode carry_array(Parcel *parcel, size_t size, void *address)
{
  void *array;

  memcpy(&array, address, sizeof array);
  if (!array) return 0;
  if (parcel->what == READ) {
    PetscCall(PetscMalloc(size, &array));
    memcpy(address, &array, sizeof array);
  }
  carry(parcel, size, array);
  return 0;
}

static PetscErrorCode carry_kernel(Parcel *parcel, RgKernel *kernel)
{
  carry(parcel, sizeof *kernel, kernel);
  PetscCall(carry_array(parcel, 2 * (size_t)kernel->dim * sizeof(double), &kernel->warp));
  PetscCall(carry_array(parcel, 2 * sizeof(double), &kernel->trend));
  PetscCall(carry_array(parcel, (size_t)kernel->n_terms * sizeof(RgKernelTerm), &kernel->terms));
  for (int t = 0; t < kernel->n_terms; t++) {
    RgKernelTerm *term = &kernel->terms[t];
    PetscCall(
      carry_array(parcel, (size_t)term->n_factors * sizeof(RgKernelFactor), &term->factors));
    for (int f = 0; f < term->n_factors; f++) {
      RgKernelFactor *factor = &term->factors[f];
      const size_t n = (size_t)factor->n_inputs, scales = (size_t)factor->n_scales;
      PetscCall(carry_array(parcel, n * sizeof(int), &factor->inputs));
      PetscCall(carry_array(parcel, n * sizeof(int), &factor->words));
      PetscCall(carry_array(parcel, scales * sizeof(double), &factor->length_scale));
    }
  }
  return 0;
}

/* ---- tasks --------------------------------------------------------------------------------- */

static PetscErrorCode reserve(RgTeam *team, int slot)
{
  if (slot < team->n_slots) return 0;
  PetscCall(PetscRealloc((size_t)(slot + 1) * sizeof *team->slots, &team->slots));
  while (team->n_slots <= slot) team->slots[team->n_slots++] = (Slot){0};
  return 0;
}

/* Collective on the team: do a task whose kernel and arrays every rank has. */
static PetscErrorCode do_task(RgTeam *team, const RgTeamTask *t)
{
  const RgSpread spread = {team->comm, 0};
  const RgData data = {t->n, t->array[0], t->array[1]};
  double *const *array = t->array, *const *out = t->out;

  PetscCall(reserve(team, t->slot));
  Slot *slot = &team->slots[t->slot];
  RgDistributed *p = slot->posterior;
  switch (t->operation) {
  case RG_TEAM_DISMISS: break;
  case RG_TEAM_CREATE:
    PetscCall(rg_distributed_create(team->comm, t->kernel, 0.0, 0.0, t->n, 0, &slot->posterior));
    break;
  case RG_TEAM_DESTROY: PetscCall(rg_distributed_destroy(&slot->posterior)); break;
  case RG_TEAM_SET:
    PetscCall(rg_distributed_set(p, t->kernel, t->noise_variance, t->mean, t->n, array[0], array[1],
                                 t->failure));
    break;
  case RG_TEAM_APPEND:
    PetscCall(rg_distributed_append(p, t->n, array[0], array[1], t->failure));
    break;
  case RG_TEAM_KEEP: PetscCall(rg_distributed_keep(p)); break;
  case RG_TEAM_PEND: PetscCall(rg_distributed_pend(p, array[0], *array[1])); break;
  case RG_TEAM_RESTORE: PetscCall(rg_distributed_restore(p)); break;
  case RG_TEAM_OUTPUTS: PetscCall(rg_distributed_set_outputs(p, t->mean, array[0])); break;
  case RG_TEAM_PREDICT: PetscCall(rg_distributed_predict(p, t->n, array[0], out[0], out[1])); break;
  case RG_TEAM_GRADIENT:
    PetscCall(rg_distributed_gradient(p, t->n, array[0], array[1], array[2], out[0]));
    break;
  case RG_TEAM_SOLVE: PetscCall(rg_distributed_solve(p, t->lower, t->upper, t->n, array[0])); break;
  case RG_TEAM_OBJECTIVE:
    *out[2] = t->mean;
    PetscCall(rg_distributed_objective(&spread, t->kernel, t->noise_variance, t->upper, out[2],
                                       &data, out[0], out[1]));
    break;
  case RG_TEAM_PATH:
    PetscCall(rg_distributed_sample_path(&spread, t->kernel, t->n, array[0], array[1], out[0],
                                         out[1], t->failure));
    break;
  case RG_TEAM_WORK: PetscCall(team->worker(team->comm, t, &slot->state)); break;
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
  for (int i = 0; i < t->n_slots; i++) PetscCall(rg_distributed_destroy(&t->slots[i].posterior));
  PetscCall(PetscFree(t->slots));
  PetscCallMPI(MPI_Comm_free(&t->comm));
  return PetscFree(*team);
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

/* The kernel and the arrays of a task whose numbers are known. The other ranks have room for the
   arrays; what their kernel points to is allocated. */
static PetscErrorCode share_contents(RgTeam *team, RgTeamTask *task, RgKernel *kernel)
{
  Parcel parcel = {.what = team->rank ? READ : WRITE};

  if (task->kernel_size) {
    PetscCall(PetscMalloc1(task->kernel_size, &parcel.bytes));
    if (team->rank == 0) PetscCall(carry_kernel(&parcel, kernel));
    PetscCallMPI(MPI_Bcast(parcel.bytes, (int)task->kernel_size, MPI_BYTE, 0, team->comm));
    if (team->rank) PetscCall(carry_kernel(&parcel, kernel));
    PetscCall(PetscFree(parcel.bytes));
  }
  for (int a = 0; a < RG_TEAM_ARRAYS; a++) PetscCall(share(team, task->count[a], task->array[a]));
  return 0;
}

/* A non-blocking broadcast of the numbers of a task, so that the other ranks can sleep while they
   wait. */
static PetscErrorCode start_task(RgTeam *team, RgTeamTask *task, MPI_Request *request)
{
  PetscCallMPI(MPI_Ibcast(task, (int)sizeof *task, MPI_BYTE, 0, team->comm, request));
  return 0;
}

PetscErrorCode rg_team_serve(RgTeam *team, RgTeamIdle idle, void *closure)
{
  for (;;) {
    RgTeamTask task = {0};
    RgFailure failure = {0};
    RgKernel kernel = {0};
    MPI_Request request;
    int arrived = 0;
    double pause = 1e-5;
    PetscCall(start_task(team, &task, &request));
    for (int spins = 0; !arrived; spins++) {
      PetscCallMPI(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
      if (arrived || spins < 100) continue;
      if (idle) PetscCall(idle(closure));
      PetscCall(PetscSleep(pause));
      pause = PetscMin(1.3 * pause, 2e-3);
    }
    if (task.operation == RG_TEAM_DISMISS) break;
    task.kernel = task.kernel_size ? &kernel : NULL;
    task.failure = &failure;
    for (int a = 0; a < RG_TEAM_ARRAYS; a++) {
      task.array[a] = task.out[a] = NULL; /* they were the leader's */
      if (task.count[a]) PetscCall(PetscMalloc1(task.count[a], &task.array[a]));
      if (task.out_count[a]) PetscCall(PetscMalloc1(task.out_count[a], &task.out[a]));
    }
    PetscCall(share_contents(team, &task, &kernel));
    PetscCall(do_task(team, &task));
    if (task.kernel) PetscCall(rg_kernel_destroy(&kernel));
    for (int a = 0; a < RG_TEAM_ARRAYS; a++) PetscCall(RG_FREE(&task.array[a], &task.out[a]));
  }
  return 0;
}

PetscErrorCode rg_team_run(RgTeam *team, RgTeamTask *task)
{
  MPI_Request request;

  PetscCheck(team->rank == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "only the leader of a team gives it work");
  PetscCheck(task->operation != RG_TEAM_WORK || team->worker, PETSC_COMM_SELF,
             PETSC_ERR_ARG_WRONGSTATE, "the team has nobody for such tasks");
  RgKernel *kernel = (RgKernel *)(uintptr_t)task->kernel; /* the leader only reads it */
  Parcel parcel = {.what = COUNT};
  if (kernel) PetscCall(carry_kernel(&parcel, kernel));
  task->kernel_size = parcel.n;
  team->jobs++;
  PetscCall(start_task(team, task, &request));
  PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  PetscCall(share_contents(team, task, kernel));
  PetscCall(do_task(team, task));
  if (task->operation <= RG_TEAM_SOLVE || task->operation == RG_TEAM_WORK) {
    Slot *slot = &team->slots[task->slot];
    slot->taken = slot->posterior || slot->state;
  }
  return 0;
}

PetscErrorCode rg_team_release(RgTeam *team)
{
  RgTeamTask task = {.operation = RG_TEAM_DISMISS};
  MPI_Request request;

  PetscCall(start_task(team, &task, &request));
  PetscCallMPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  return 0;
}

void rg_team_set_worker(RgTeam *team, RgTeamWorker worker)
{
  team->worker = worker;
}

PetscErrorCode rg_team_open(RgTeam *team, int *slot)
{
  for (*slot = 0; *slot < team->n_slots && team->slots[*slot].taken;) (*slot)++;
  PetscCall(reserve(team, *slot));
  team->slots[*slot].taken = true;
  return 0;
}

const RgDistributed *rg_team_posterior(const RgTeam *team, int slot)
{
  return team->slots[slot].posterior;
}

PetscErrorCode rg_team_objective(RgTeam *team, const RgKernel *kernel, double noise_variance,
                                 bool learn_mean, double *mean, const RgData *data, double *value,
                                 double *gradient)
{
  const size_t n = (size_t)data->n, slopes = (size_t)rg_kernel_theta_size(kernel) + 1;
  RgTeamTask task = {.operation = RG_TEAM_OBJECTIVE,
                     .n = data->n,
                     .upper = learn_mean,
                     .noise_variance = noise_variance,
                     .mean = *mean,
                     .kernel = kernel,
                     .count = {n * (size_t)kernel->dim, n},
                     .array = {rg_team_array(data->X), rg_team_array(data->y)},
                     .out_count = {1, gradient ? slopes : 0, 1},
                     .out = {value, gradient, mean}};

  return rg_team_run(team, &task);
}

PetscErrorCode rg_team_sample_path(RgTeam *team, const RgKernel *kernel, int n, const double *X,
                                   const double *z, double *f, double *jitter, RgFailure *failure)
{
  const size_t size = (size_t)n;
  RgTeamTask task = {.operation = RG_TEAM_PATH,
                     .n = n,
                     .kernel = kernel,
                     .count = {size * (size_t)kernel->dim, size},
                     .array = {rg_team_array(X), rg_team_array(z)},
                     .out_count = {size, 1},
                     .out = {f, jitter},
                     .failure = failure};

  return rg_team_run(team, &task);
}
