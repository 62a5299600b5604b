/* The back end whose matrix is spread over a team: this rank, the leader, keeps inputs and outputs.
 */
#include "gp/posterior/posterior_ops.h"
#include "gp/team/distributed.h"

static PetscErrorCode team_open(RgPosterior *posterior, int n)
{
  const int capacity = posterior->expected >= n ? posterior->expected : n + n / 4;

  return rg_team_posterior_create(posterior->team, &posterior->kernel, capacity, &posterior->slot);
}

static PetscErrorCode team_close(RgPosterior *posterior)
{
  return rg_team_posterior_destroy(posterior->team, posterior->slot);
}

/* The message of a change to the leader. */
static void note(RgPosterior *posterior)
{
  const RgDistributed *distributed = rg_team_posterior(posterior->team, posterior->slot);
  posterior->n = rg_distributed_size(distributed);
  posterior->jitter = rg_distributed_jitter(distributed);
}

static PetscErrorCode team_reset(RgPosterior *posterior, const RgObservations *data,
                                 RgFailure *failure)
{
  (void)data;
  PetscCall(rg_team_posterior_set(posterior->team, posterior->slot, &posterior->kernel,
                                  posterior->noise_variance, posterior->mean,
                                  &(RgData){posterior->n, posterior->X, posterior->y}, failure));
  note(posterior);
  return 0;
}

static PetscErrorCode team_extend(RgPosterior *posterior, const RgObservations *data,
                                  RgFailure *failure)
{
  const int held = rg_distributed_size(rg_team_posterior(posterior->team, posterior->slot));

  if (held == 0 || held + data->n != posterior->n) {
    PetscCall(team_reset(posterior, data, failure));
    return 0;
  }
  PetscCall(
    rg_team_posterior_append(posterior->team, posterior->slot, data->n, data->X, data->y, failure));
  note(posterior);
  return 0;
}

static PetscErrorCode team_set_outputs(RgPosterior *posterior)
{
  return rg_team_posterior_set_outputs(posterior->team, posterior->slot, posterior->mean,
                                       posterior->y);
}

static PetscErrorCode team_solve_many(const RgPosterior *posterior, int m, double *B)
{
  return rg_team_posterior_solve(posterior->team, posterior->slot, true, true, m, B);
}

static PetscErrorCode team_predict(RgPosterior *posterior, int m, const double *Z, double *mean,
                                   double *variance, RgPrediction *work)
{
  work->kept = false;
  PetscCall(rg_team_posterior_predict(posterior->team, posterior->slot, m, Z, mean, variance));
  return 0;
}

static PetscErrorCode team_gradient(RgPosterior *posterior, int m, const double *Z,
                                    const double *mean_bar, const double *variance_bar,
                                    RgPrediction *work, double *G)
{
  (void)work;
  return rg_team_posterior_gradient(posterior->team, posterior->slot, m, Z, mean_bar, variance_bar,
                                    G);
}

static PetscErrorCode team_whiten(const RgPosterior *posterior, int m, double *B)
{
  return rg_team_posterior_solve(posterior->team, posterior->slot, true, false, m, B);
}

static double team_log_likelihood(const RgPosterior *posterior)
{
  return rg_distributed_log_likelihood(rg_team_posterior(posterior->team, posterior->slot));
}

static PetscErrorCode team_keep(RgPosterior *posterior)
{
  return rg_team_posterior_keep(posterior->team, posterior->slot);
}

static PetscErrorCode team_pend_one(RgPosterior *posterior)
{
  const int n = posterior->n;

  PetscCall(rg_team_posterior_pend(posterior->team, posterior->slot,
                                   posterior->X + (size_t)n * posterior->kernel.dim,
                                   posterior->y[n]));
  note(posterior);
  return 0;
}

static PetscErrorCode team_restore(RgPosterior *posterior)
{
  return rg_team_posterior_restore(posterior->team, posterior->slot);
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
  .log_likelihood = team_log_likelihood,
  .keep = team_keep,
  .pend_one = team_pend_one,
  .restore = team_restore,
};
