/* The back end without a matrix. The leader keeps inputs and outputs; all ranks of the team do
   the work (one rank without a team). */
#include "gp/posterior/iterative/iterative_ops.h"

#include <math.h>

#include "base/grow.h"
#include "gp/posterior/iterative/iterative.h"

enum { AT_ONCE = 16, POINTS = 4096 }; /* right-hand sides, or points of a set, per task */

typedef enum { RESET, EXTEND, OUTPUTS, SOLVE, PREDICT, MEAN, GRADIENT, KEEP, RESTORE, CLOSE } Code;

/* ---- on every rank ------------------------------------------------------------------------- */

static PetscErrorCode reset(MPI_Comm comm, const RgTeamTask *task, RgIterative **gp)
{
  const double *given = task->array[2];
  const RgData data = {task->n, task->array[0], task->array[1]};
  RgIterativeOptions options = rg_iterative_defaults;

  options.tolerance = given[0];
  options.rank = (int)given[1];
  options.max_iterations = (int)given[2];
  PetscCall(rg_iterative_destroy(gp));
  return rg_iterative_create(comm, task->kernel, task->noise_variance, task->mean, &data, &options,
                             gp);
}

PetscErrorCode rg_iterative_work(MPI_Comm comm, const RgTeamTask *task, void **state)
{
  double *const *array = task->array, *const *out = task->out;
  RgIterative *gp = *state;
  RgIterativeReport report;

  switch ((Code)task->code) {
  case RESET: PetscCall(reset(comm, task, &gp)); break;
  case EXTEND: PetscCall(rg_iterative_extend(gp, task->n, array[0], array[1])); break;
  case OUTPUTS: PetscCall(rg_iterative_set_outputs(gp, task->mean, array[0])); break;
  case SOLVE:
    PetscCall(rg_iterative_solve_many(gp, task->n, array[0], &report));
    *out[0] = report.converged;
    break;
  case PREDICT: PetscCall(rg_iterative_predict(gp, task->n, array[0], out[0], out[1])); break;
  case MEAN: PetscCall(rg_iterative_mean(gp, task->n, array[0], out[0])); break;
  case GRADIENT:
    PetscCall(rg_iterative_gradient(gp, task->n, array[0], array[1], array[2], out[0]));
    break;
  case KEEP: PetscCall(rg_iterative_keep(gp)); break;
  case RESTORE: PetscCall(rg_iterative_restore(gp)); break;
  case CLOSE: PetscCall(rg_iterative_destroy(&gp)); break;
  }
  *state = gp;
  if (task->code > OUTPUTS) return 0;
  PetscCall(rg_iterative_solve(gp, &report)); /* for the weights of the mean after a change */
  out[0][0] = report.iterations;
  out[0][1] = report.residual;
  out[0][2] = report.converged;
  return 0;
}

/* ---- on the leader ------------------------------------------------------------------------- */

static PetscErrorCode run(const RgPosterior *posterior, RgTeamTask task)
{
  task.operation = RG_TEAM_WORK;
  task.slot = posterior->slot;
  if (rg_team_size(posterior->team) > 1) return rg_team_run(posterior->team, &task);
  return rg_iterative_work(PETSC_COMM_SELF, &task, &posterior->iterative->state);
}

PetscErrorCode rg_iterative_state_create(const RgSpace *points, const RgSolverOptions *options,
                                         struct RgIterativeState **state)
{
  PetscCall(PetscNew(state));
  (*state)->options = *options;
  (*state)->points = points;
  if (points) {
    PetscCall(PetscMalloc1(points->size, &(*state)->mean));
    PetscCall(PetscMalloc1(points->size, &(*state)->variance));
  }
  return 0;
}

static PetscErrorCode iterative_open(RgPosterior *posterior, int n)
{
  if (rg_team_size(posterior->team) > 1) PetscCall(rg_team_open(posterior->team, &posterior->slot));
  return 0;
}

static PetscErrorCode iterative_close(RgPosterior *posterior)
{
  PetscCall(run(posterior, (RgTeamTask){.code = CLOSE}));
  return RG_FREE(&posterior->iterative->mean, &posterior->iterative->variance,
                 &posterior->iterative->kept, &posterior->iterative);
}

static PetscErrorCode iterative_predict(RgPosterior *posterior, int m, const double *Z,
                                        double *mean, double *variance, RgPrediction *work)
{
  const size_t count = (size_t)m;
  const RgTeamTask task = {.code = variance ? PREDICT : MEAN,
                           .n = m,
                           .count = {count * (size_t)posterior->kernel.dim},
                           .array = {rg_team_array(Z)},
                           .out_count = {count, variance ? count : 0},
                           .out = {mean, variance}};

  if (work) work->kept = false;
  if (posterior->n) return run(posterior, task);
  for (int j = 0; j < m; j++) mean[j] = posterior->mean;
  for (int j = 0; variance && j < m; j++) variance[j] = rg_kernel_diagonal(&posterior->kernel);
  return 0;
}

/* Mean and variance of all points of a finite domain. */
static PetscErrorCode refresh_points(RgPosterior *posterior)
{
  struct RgIterativeState *own = posterior->iterative;
  const RgSpace *points = own->points;

  if (!points) return 0;
  for (int i = 0; i < points->size; i += POINTS)
    PetscCall(iterative_predict(posterior, PetscMin(POINTS, points->size - i),
                                points->points + (size_t)i * points->dim, own->mean + i,
                                own->variance + i, NULL));
  return 0;
}

/* A task that first makes sure that the weights of the mean are solved for. */
static PetscErrorCode change(RgPosterior *posterior, RgTeamTask *task, RgFailure *failure)
{
  struct RgIterativeState *own = posterior->iterative;
  double report[3];

  task->out[0] = report;
  task->out_count[0] = 3;
  PetscCall(run(posterior, *task));
  own->iterations = (int)report[0];
  own->residual = report[1];
  if (failure && (report[2] == 0.0 || own->unfinished)) {
    rg_failure_set(failure,
                   "conjugate gradients for %d data ended after %d iterations at a residual of "
                   "%.2g, tolerance %g: a larger solver_rank or solver_iterations may help",
                   posterior->n, own->iterations, own->residual, own->options.tolerance);
    return 0;
  }
  return refresh_points(posterior);
}

static PetscErrorCode iterative_reset(RgPosterior *posterior, const RgObservations *data,
                                      RgFailure *failure)
{
  const RgSolverOptions *o = &posterior->iterative->options;
  double options[] = {o->tolerance, o->rank, o->max_iterations};
  const size_t n = (size_t)posterior->n;
  RgTeamTask task = {.code = RESET,
                     .n = posterior->n,
                     .noise_variance = posterior->noise_variance,
                     .mean = posterior->mean,
                     .kernel = &posterior->kernel,
                     .count = {n * (size_t)posterior->kernel.dim, n, 3},
                     .array = {posterior->X, posterior->y, options}};

  if (n) return change(posterior, &task, failure);
  return refresh_points(posterior);
}

static PetscErrorCode iterative_extend(RgPosterior *posterior, const RgObservations *data,
                                       RgFailure *failure)
{
  const size_t m = (size_t)data->n;
  RgTeamTask task = {.code = EXTEND,
                     .n = data->n,
                     .count = {m * (size_t)posterior->kernel.dim, m},
                     .array = {rg_team_array(data->X), rg_team_array(data->y)}};

  if (posterior->n == data->n) return iterative_reset(posterior, data, failure);
  return change(posterior, &task, failure);
}

static PetscErrorCode iterative_set_outputs(RgPosterior *posterior)
{
  RgTeamTask task = {.code = OUTPUTS,
                     .mean = posterior->mean,
                     .count = {(size_t)posterior->n},
                     .array = {posterior->y}};

  if (posterior->n) PetscCall(change(posterior, &task, NULL));
  return 0;
}

static PetscErrorCode iterative_solve_many(const RgPosterior *posterior, int m, double *B)
{
  double converged = 1.0;
  RgTeamTask task = {.code = SOLVE,
                     .n = m,
                     .count = {(size_t)posterior->n * (size_t)m},
                     .array = {B},
                     .out_count = {1},
                     .out = {&converged}};

  PetscCall(run(posterior, task));
  if (converged == 0.0) posterior->iterative->unfinished = true;
  return 0;
}

static PetscErrorCode iterative_gradient(RgPosterior *posterior, int m, const double *Z,
                                         const double *mean_bar, const double *variance_bar,
                                         RgPrediction *work, double *G)
{
  const size_t count = (size_t)m;
  RgTeamTask task = {
    .code = GRADIENT,
    .n = m,
    .count = {count * (size_t)posterior->kernel.dim, count, variance_bar ? count : 0},
    .array = {rg_team_array(Z), rg_team_array(mean_bar), rg_team_array(variance_bar)},
    .out_count = {count * (size_t)posterior->kernel.dim},
    .out = {G}};

  if (posterior->n) return run(posterior, task);
  return PetscArrayzero(G, count * (size_t)posterior->kernel.dim);
}

static PetscErrorCode iterative_keep(RgPosterior *posterior)
{
  struct RgIterativeState *own = posterior->iterative;
  const size_t size = own->points ? (size_t)own->points->size : 0;

  if (posterior->n) PetscCall(run(posterior, (RgTeamTask){.code = KEEP}));
  own->iterations_kept = own->iterations;
  own->residual_kept = own->residual;
  if (!size) return 0;
  if (!own->kept) PetscCall(PetscMalloc1(2 * size, &own->kept));
  PetscCall(PetscArraycpy(own->kept, own->mean, size));
  return PetscArraycpy(own->kept + size, own->variance, size);
}

/* The noise is positive, so every point adds something. Without data there is nothing to extend,
   and the points are left out. */
static PetscErrorCode iterative_pend(RgPosterior *posterior, const RgObservations *data,
                                     RgFailure *failure)
{
  if (posterior->n_told == 0) posterior->n = 0;
  else PetscCall(iterative_extend(posterior, data, failure));
  return 0;
}

static PetscErrorCode iterative_restore(RgPosterior *posterior)
{
  struct RgIterativeState *own = posterior->iterative;
  const size_t size = own->points ? (size_t)own->points->size : 0;

  if (posterior->n) PetscCall(run(posterior, (RgTeamTask){.code = RESTORE}));
  own->iterations = own->iterations_kept;
  own->residual = own->residual_kept;
  if (!size) return 0;
  PetscCall(PetscArraycpy(own->mean, own->kept, size));
  return PetscArraycpy(own->variance, own->kept + size, size);
}

bool rg_iterative_present(void)
{
  return true;
}

const RgPosteriorOps rg_iterative_ops = {
  .name = "matrix-free",
  .open = iterative_open,
  .close = iterative_close,
  .reset = iterative_reset,
  .extend = iterative_extend,
  .set_outputs = iterative_set_outputs,
  .solve_many = iterative_solve_many,
  .predict = iterative_predict,
  .gradient = iterative_gradient,
  .keep = iterative_keep,
  .pend = iterative_pend,
  .restore = iterative_restore,
};
