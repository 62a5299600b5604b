#include "gp/set_posterior.h"
#include "gp/set_backend.h"

#include <math.h>

struct RgSetPosterior {
  RgSetPrior          prior;
  const RgSetBackend *backend;
  void               *state;          /* of the back end; owned */
  double              noise_variance, prior_mean;
  int                 n;              /* observations */
  double             *mean, *variance; /* N each; owned */
  double             *row;            /* N: scratch; owned */
};

/* Back to the prior. */
static void forget(RgSetPosterior *posterior)
{
  double diagonal = rg_kernel_diagonal(&posterior->prior.kernel);

  posterior->n = 0;
  for (int i = 0; i < posterior->prior.size; ++i) {
    posterior->mean[i]     = posterior->prior_mean;
    posterior->variance[i] = diagonal;
  }
}

PetscErrorCode rg_set_posterior_create(const RgDomain *domain, const RgKernel *kernel,
                                       double noise_variance, double mean, int capacity,
                                       RgSetPosterior **out)
{
  RgSetPosterior *posterior;
  size_t          size;

  PetscFunctionBeginUser;
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  PetscCall(PetscNew(&posterior));
  PetscCall(rg_set_prior_create(domain, kernel, &posterior->prior));
  size = (size_t)posterior->prior.size;
  PetscCall(PetscMalloc1(size, &posterior->mean));
  PetscCall(PetscMalloc1(size, &posterior->variance));
  PetscCall(PetscMalloc1(size, &posterior->row));
  posterior->noise_variance = noise_variance;
  posterior->prior_mean     = mean;
  posterior->backend        = &rg_set_backend_rows;
  PetscCall(posterior->backend->create(&posterior->prior, capacity, &posterior->state));
  forget(posterior);
  *out = posterior;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_posterior_destroy(RgSetPosterior **posterior)
{
  PetscFunctionBeginUser;
  if (!*posterior) PetscFunctionReturn(0);
  PetscCall((*posterior)->backend->destroy(&(*posterior)->state));
  PetscCall(rg_set_prior_destroy(&(*posterior)->prior));
  PetscCall(PetscFree((*posterior)->mean));
  PetscCall(PetscFree((*posterior)->variance));
  PetscCall(PetscFree((*posterior)->row));
  PetscCall(PetscFree(*posterior));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_posterior_reset(RgSetPosterior *posterior, const RgKernel *kernel,
                                      double noise_variance, double mean)
{
  PetscFunctionBeginUser;
  PetscCheck(noise_variance >= 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Noise variance is %g; it must not be negative", noise_variance);
  if (kernel) PetscCall(rg_set_prior_set_kernel(&posterior->prior, kernel));
  posterior->noise_variance = noise_variance;
  posterior->prior_mean     = mean;
  PetscCall(posterior->backend->reset(posterior->state, &posterior->prior));
  forget(posterior);
  PetscFunctionReturn(0);
}

/* rrgp_ucb 2.1: with row = cov(index, .)/q, q^2 = variance + noise. */
static void absorb(int size, double inverse, double step, double *restrict row,
                   double *restrict mean, double *restrict variance)
{
  for (int i = 0; i < size; ++i) {
    double c = row[i] * inverse, v = variance[i] - c * c;

    row[i] = c;
    mean[i] += step * c;
    variance[i] = v > 0.0 ? v : 0.0;
  }
}

PetscErrorCode rg_set_posterior_append(RgSetPosterior *posterior, int index, double y,
                                       RgFailure *failure)
{
  int    size = posterior->prior.size;
  double square, pivot;

  PetscFunctionBeginUser;
  PetscCheck(index >= 0 && index < size, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Point %d of a set of %d", index, size);
  square = posterior->variance[index] + posterior->noise_variance;
  if (!isfinite(square) || !isfinite(y)) {
    rg_failure_set(failure, "Posterior update at point %d: variance %g, observation %g", index,
                   square, y);
    PetscFunctionReturn(0);
  }
  ++posterior->n;
  /* Known exactly already, without noise: nothing to learn. */
  if (square <= posterior->n * PETSC_MACHINE_EPSILON * rg_kernel_diagonal(&posterior->prior.kernel)) {
    PetscFunctionReturn(0);
  }
  pivot = sqrt(square);
  PetscCall(posterior->backend->covariance(posterior->state, &posterior->prior, index,
                                           posterior->row));
  absorb(size, 1.0 / pivot, (y - posterior->mean[index]) / pivot, posterior->row, posterior->mean,
         posterior->variance);
  PetscCall(posterior->backend->push(posterior->state, &posterior->prior, index, posterior->row));
  PetscFunctionReturn(0);
}

int rg_set_posterior_size(const RgSetPosterior *posterior)
{
  return posterior->prior.size;
}

int rg_set_posterior_count(const RgSetPosterior *posterior)
{
  return posterior->n;
}

const double *rg_set_posterior_mean(const RgSetPosterior *posterior)
{
  return posterior->mean;
}

const double *rg_set_posterior_variance(const RgSetPosterior *posterior)
{
  return posterior->variance;
}

PetscErrorCode rg_set_posterior_covariance(const RgSetPosterior *posterior, int index, double *out)
{
  PetscFunctionBeginUser;
  PetscCheck(index >= 0 && index < posterior->prior.size, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "Point %d of a set of %d", index, posterior->prior.size);
  PetscCall(posterior->backend->covariance(posterior->state, &posterior->prior, index, out));
  PetscFunctionReturn(0);
}
