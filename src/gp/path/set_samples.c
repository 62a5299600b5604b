/* Sample paths on a finite set that follow its posterior. */
#include "gp/path/set_samples.h"

#include <math.h>

#include "maths/blas.h"
#include "gp/posterior/set/set_backend.h"
#include "gp/posterior/set/set_factor.h"

/* Draws from the prior, in place of all paths. */
static PetscErrorCode reset(void *closure, const RgSetPosterior *posterior)
{
  RgSetSamples *samples = closure;
  const size_t count = (size_t)samples->count, size = (size_t)samples->size;
  const RgSetPrior *prior = rg_set_posterior_prior(posterior);
  const double mean = rg_set_posterior_prior_mean(posterior);
  RgRandom random = rg_stream_at(&samples->stream, 0);
  RgSetFactor factor = {0};
  double *draws;

  PetscFunctionBeginUser;
  samples->n = 0;
  samples->failure = (RgFailure){0};
  PetscCall(PetscArrayzero(samples->path, count * size));
  PetscCall(rg_set_factor_update(&factor, prior, &samples->failure));
  if (!samples->failure.failed) {
    PetscCall(PetscMalloc1(count * size, &draws));
    PetscCall(rg_set_factor_draw(&factor, samples->count, &random, draws));
    for (size_t i = 0; i < size; i++)
      for (size_t s = 0; s < count; s++) samples->path[s * size + i] = mean + draws[i * count + s];
    PetscCall(PetscFree(draws));
  }
  PetscCall(rg_set_factor_destroy(&factor));
  PetscFunctionReturn(0);
}

static PetscErrorCode update(void *closure, const RgSetPosterior *posterior,
                             const RgSetUpdate *change)
{
  RgSetSamples *samples = closure;
  const double deviation = sqrt(rg_set_posterior_noise(posterior));
  RgRandom random = rg_stream_at(&samples->stream, (uint64_t)++samples->n);

  PetscFunctionBeginUser;
  for (int s = 0; s < samples->count; s++) {
    double *path = samples->path + (size_t)s * samples->size;
    const double e = deviation * rg_random_normal(&random);

    cblas_daxpy(samples->size, (change->y - e - path[change->index]) / change->pivot, change->row,
                1, path, 1);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode keep(void *closure)
{
  RgSetSamples *samples = closure;
  const size_t size = (size_t)samples->count * (size_t)samples->size;

  PetscFunctionBeginUser;
  if (!samples->kept) PetscCall(PetscMalloc1(size, &samples->kept));
  PetscCall(PetscArraycpy(samples->kept, samples->path, size));
  samples->n_kept = samples->n;
  PetscFunctionReturn(0);
}

static PetscErrorCode restore(void *closure)
{
  RgSetSamples *samples = closure;

  PetscFunctionBeginUser;
  PetscCall(
    PetscArraycpy(samples->path, samples->kept, (size_t)samples->count * (size_t)samples->size));
  samples->n = samples->n_kept;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_samples_create(RgSetPosterior *posterior, int count, const RgStream *stream,
                                     RgSetSamples *samples)
{
  RgSetListener listener = {samples, reset, update, keep, restore};

  PetscFunctionBeginUser;
  *samples =
    (RgSetSamples){.count = count, .size = rg_set_posterior_size(posterior), .stream = *stream};
  PetscCall(PetscMalloc1((size_t)count * samples->size, &samples->path));
  PetscCall(rg_set_posterior_follow(posterior, &listener));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_samples_destroy(RgSetSamples *samples)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(samples->path));
  PetscCall(PetscFree(samples->kept));
  *samples = (RgSetSamples){0};
  PetscFunctionReturn(0);
}
