/* The back end whose matrix is spread over a team: this rank, the leader, keeps inputs and outputs.
 */
#include "gp/posterior/posterior_ops.h"
#include "gp/team/distributed.h"

static PetscErrorCode run(const RgPosterior *posterior, RgTeamTask task)
{
  task.slot = posterior->slot;
  return rg_team_run(posterior->team, &task);
}

/* A task that changes the data. The leader's numbers follow. */
static PetscErrorCode change(RgPosterior *posterior, RgTeamTask task)
{
  PetscCall(run(posterior, task));
  const RgDistributed *distributed = rg_team_posterior(posterior->team, posterior->slot);
  posterior->n = rg_distributed_size(distributed);
  posterior->jitter = rg_distributed_jitter(distributed);
  return 0;
}

static PetscErrorCode team_open(RgPosterior *posterior, int n)
{
  const int capacity = posterior->expected >= n ? posterior->expected : n + n / 4;

  PetscCall(rg_team_open(posterior->team, &posterior->slot));
  return run(
    posterior,
    (RgTeamTask){.operation = RG_TEAM_CREATE, .n = capacity, .kernel = &posterior->kernel});
}

static PetscErrorCode team_close(RgPosterior *posterior)
{
  return run(posterior, (RgTeamTask){.operation = RG_TEAM_DESTROY});
}

static PetscErrorCode team_reset(RgPosterior *posterior, const RgObservations *data,
                                 RgFailure *failure)
{
  const size_t n = (size_t)posterior->n;

  return change(posterior, (RgTeamTask){.operation = RG_TEAM_SET,
                                        .n = posterior->n,
                                        .noise_variance = posterior->noise_variance,
                                        .mean = posterior->mean,
                                        .kernel = &posterior->kernel,
                                        .count = {n * (size_t)posterior->kernel.dim, n},
                                        .array = {posterior->X, posterior->y},
                                        .failure = failure});
}

static PetscErrorCode team_extend(RgPosterior *posterior, const RgObservations *data,
                                  RgFailure *failure)
{
  const int n_before = rg_distributed_size(rg_team_posterior(posterior->team, posterior->slot));
  const size_t m = (size_t)data->n;

  if (n_before == 0 || n_before + data->n != posterior->n)
    return team_reset(posterior, data, failure);
  return change(posterior, (RgTeamTask){.operation = RG_TEAM_APPEND,
                                        .n = data->n,
                                        .count = {m * (size_t)posterior->kernel.dim, m},
                                        .array = {rg_team_array(data->X), rg_team_array(data->y)},
                                        .failure = failure});
}

static PetscErrorCode team_set_outputs(RgPosterior *posterior)
{
  return run(posterior, (RgTeamTask){.operation = RG_TEAM_OUTPUTS,
                                     .mean = posterior->mean,
                                     .count = {(size_t)posterior->n},
                                     .array = {posterior->y}});
}

static PetscErrorCode solve(const RgPosterior *posterior, bool upper, int m, double *B)
{
  return run(posterior, (RgTeamTask){.operation = RG_TEAM_SOLVE,
                                     .n = m,
                                     .lower = true,
                                     .upper = upper,
                                     .count = {(size_t)posterior->n * (size_t)m},
                                     .array = {B}});
}

static PetscErrorCode team_solve_many(const RgPosterior *posterior, int m, double *B)
{
  return solve(posterior, true, m, B);
}

static PetscErrorCode team_whiten(const RgPosterior *posterior, int m, double *B)
{
  return solve(posterior, false, m, B);
}

static PetscErrorCode team_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                   double *variance, RgPrediction *work)
{
  const size_t count = (size_t)m;

  work->kept = false;
  return run(posterior, (RgTeamTask){.operation = RG_TEAM_PREDICT,
                                     .n = m,
                                     .count = {count * (size_t)posterior->kernel.dim},
                                     .array = {rg_team_array(Z)},
                                     .out_count = {count, variance ? count : 0},
                                     .out = {mean, variance}});
}

static PetscErrorCode team_gradient(RgPosterior *posterior, int m, const double *Z,
                                    const double *mean_bar, const double *variance_bar,
                                    RgPrediction *work, double *G)
{
  const size_t count = (size_t)m, entries = count * (size_t)posterior->kernel.dim;

  return run(posterior, (RgTeamTask){.operation = RG_TEAM_GRADIENT,
                                     .n = m,
                                     .count = {entries, count, variance_bar ? count : 0},
                                     .array = {rg_team_array(Z), rg_team_array(mean_bar),
                                               rg_team_array(variance_bar)},
                                     .out_count = {entries},
                                     .out = {G}});
}

static PetscErrorCode team_keep(RgPosterior *posterior)
{
  return run(posterior, (RgTeamTask){.operation = RG_TEAM_KEEP});
}

static PetscErrorCode team_pend_one(RgPosterior *posterior)
{
  const size_t n = (size_t)posterior->n, dim = (size_t)posterior->kernel.dim;

  return change(posterior, (RgTeamTask){.operation = RG_TEAM_PEND,
                                        .count = {dim, 1},
                                        .array = {posterior->X + n * dim, posterior->y + n}});
}

static PetscErrorCode team_restore(RgPosterior *posterior)
{
  return run(posterior, (RgTeamTask){.operation = RG_TEAM_RESTORE});
}

const RgPosteriorOps rg_team_ops = {
  .name = "team",
  .open = team_open,
  .close = team_close,
  .reset = team_reset,
  .extend = team_extend,
  .set_outputs = team_set_outputs,
  .solve_many = team_solve_many,
  .predict = team_predict,
  .gradient = team_gradient,
  .whiten = team_whiten,
  .keep = team_keep,
  .pend_one = team_pend_one,
  .restore = team_restore,
};
