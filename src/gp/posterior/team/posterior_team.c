/* A posterior whose matrix is spread over a team: this rank, the leader, keeps inputs and outputs.
 */
#include "gp/posterior/exact/posterior_internal.h"
#include "maths/blas.h"

PetscErrorCode rg_posterior_use_team(RgPosterior *posterior, RgTeam *team, int expected)
{
  PetscFunctionBeginUser;
  PetscCheck(posterior->n == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "A posterior that holds data can't be given to a team");
  posterior->team = team;
  posterior->expected = expected;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_go_remote(RgPosterior *posterior, int n)
{
  const int capacity = posterior->expected >= n ? posterior->expected : n + n / 4;

  PetscFunctionBeginUser;
  if (posterior->remote) PetscFunctionReturn(0);
  PetscCall(
    rg_team_posterior_create(posterior->team, &posterior->kernel, capacity, &posterior->slot));
  PetscCall(PetscFree(posterior->L));
  PetscCall(PetscFree(posterior->inverse));
  posterior->n_inverse = 0;
  posterior->remote = true;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_leave_team(RgPosterior *posterior)
{
  PetscFunctionBeginUser;
  if (!posterior->remote) PetscFunctionReturn(0);
  PetscCall(rg_team_posterior_destroy(posterior->team, posterior->slot));
  posterior->remote = false;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_return_local(RgPosterior *posterior)
{
  const size_t size = (size_t)posterior->capacity;

  PetscFunctionBeginUser;
  if (!posterior->remote) PetscFunctionReturn(0);
  PetscCall(rg_posterior_leave_team(posterior));
  PetscCall(PetscMalloc1(size * size, &posterior->L));
  posterior->n_inverse = 0;
  PetscFunctionReturn(0);
}

/* What the leader learns from a change. */
static void note(RgPosterior *posterior)
{
  const RgDistributed *distributed = rg_team_posterior(posterior->team, posterior->slot);
  posterior->n = rg_distributed_size(distributed);
  posterior->jitter = rg_distributed_jitter(distributed);
}

PetscErrorCode rg_posterior_set_remote(RgPosterior *posterior, RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCall(rg_posterior_go_remote(posterior, posterior->n));
  PetscCall(rg_team_posterior_set(posterior->team, posterior->slot, &posterior->kernel,
                                  posterior->noise_variance, posterior->mean, posterior->n,
                                  posterior->X, posterior->y, failure));
  note(posterior);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_append_batch(RgPosterior *posterior, int m, const double *X,
                                         const double *y, RgFailure *failure)
{
  const int n = posterior->n, dim = posterior->kernel.dim;

  PetscFunctionBeginUser;
  if (!posterior->remote && !rg_team_takes(posterior->team, n + m)) {
    for (int i = 0; i < m && !failure->failed; i++)
      PetscCall(rg_posterior_append(posterior, X + (size_t)i * dim, y[i], failure));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_posterior_go_remote(posterior, n + m));
  if (n + m > posterior->capacity)
    PetscCall(rg_posterior_reserve(posterior, PetscMax(n + m, 2 * posterior->capacity)));
  PetscCall(PetscArraycpy(posterior->X + (size_t)n * dim, X, (size_t)m * dim));
  PetscCall(PetscArraycpy(posterior->y + n, y, m));
  posterior->n = n + m;
  if (rg_distributed_size(rg_team_posterior(posterior->team, posterior->slot)) == n && n > 0) {
    PetscCall(rg_team_posterior_append(posterior->team, posterior->slot, m, X, y, failure));
    note(posterior);
  } else {
    PetscCall(rg_posterior_set_remote(posterior, failure));
  }
  PetscFunctionReturn(0);
}

/* A - V' W by the solves of the team; see rg_posterior_covariance. */
PetscErrorCode rg_posterior_covariance_remote(RgPosterior *posterior, int a, const double *A, int b,
                                              const double *B, double *C)
{
  const int n = posterior->n;
  double *V, *W;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((size_t)n * a, &V, (size_t)n * b, &W));
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, a, A, V));
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, b, B, W));
  PetscCall(rg_team_posterior_solve(posterior->team, posterior->slot, true, false, a, V));
  PetscCall(rg_team_posterior_solve(posterior->team, posterior->slot, true, false, b, W));
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, b, a, n, -1.0, W, b, V, a, 1.0, C, b);
  PetscCall(PetscFree2(V, W));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_posterior_solve_many(const RgPosterior *posterior, int m, double *B)
{
  const int n = posterior->n;

  PetscFunctionBeginUser;
  if (n == 0 || m == 0) PetscFunctionReturn(0);
  if (posterior->remote) {
    PetscCall(rg_team_posterior_solve(posterior->team, posterior->slot, true, true, m, B));
    PetscFunctionReturn(0);
  }
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, m, n, 1.0,
              posterior->L, posterior->capacity, B, m);
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, m, n, 1.0,
              posterior->L, posterior->capacity, B, m);
  PetscFunctionReturn(0);
}
