/* The back end whose matrix is spread over a team: this rank, the leader, keeps inputs and outputs.
 */
#include "gp/posterior/posterior_ops.h"
#include "gp/team/distributed.h"
#include "maths/blas.h"

#include <string.h>

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

/* C - V' W by the solves of the team. */
static PetscErrorCode team_covariance(RgPosterior *posterior, int a, const double *A, int b,
                                      const double *B, double *C)
{
  const int n = posterior->n;
  double *V, *W;

  PetscCall(PetscMalloc2((size_t)n * a, &V, (size_t)n * b, &W));
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, a, A, V));
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, b, B, W));
  PetscCall(rg_team_posterior_solve(posterior->team, posterior->slot, true, false, a, V));
  PetscCall(rg_team_posterior_solve(posterior->team, posterior->slot, true, false, b, W));
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, b, a, n, -1.0, W, b, V, a, 1.0, C, b);
  PetscCall(PetscFree2(V, W));
  return 0;
}

static double team_log_likelihood(const RgPosterior *posterior)
{
  return rg_distributed_log_likelihood(rg_team_posterior(posterior->team, posterior->slot));
}

static PetscErrorCode team_keep(RgPosterior *posterior)
{
  return rg_team_posterior_keep(posterior->team, posterior->slot);
}

/* One at a time: the leader's inputs and outputs follow the points that were taken. */
static PetscErrorCode team_pend(RgPosterior *posterior, const RgObservations *data,
                                RgFailure *failure)
{
  const size_t dim = (size_t)posterior->kernel.dim;
  const int end = posterior->n;
  int n = end - data->n;

  (void)failure;
  for (int i = n; i < end; i++) {
    double *x = posterior->X + (size_t)n * dim;
    memmove(x, posterior->X + (size_t)i * dim, dim * sizeof *x);
    posterior->y[n] = posterior->y[i];
    PetscCall(rg_team_posterior_pend(posterior->team, posterior->slot, x, posterior->y[n]));
    note(posterior);
    n = posterior->n;
  }
  return 0;
}

static PetscErrorCode team_restore(RgPosterior *posterior)
{
  return rg_team_posterior_restore(posterior->team, posterior->slot);
}

const RgPosteriorOps rg_team_ops = {"team",
                                    true,
                                    team_open,
                                    team_close,
                                    NULL,
                                    team_reset,
                                    team_extend,
                                    team_set_outputs,
                                    team_solve_many,
                                    team_predict,
                                    team_gradient,
                                    team_covariance,
                                    team_log_likelihood,
                                    NULL,
                                    NULL,
                                    NULL,
                                    team_keep,
                                    team_pend,
                                    team_restore};
