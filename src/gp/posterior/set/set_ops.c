/* The back end of finite sets: set_posterior.c behind the table of operations. */
#include "gp/posterior/posterior_ops.h"

static PetscErrorCode set_open(RgPosterior *posterior, int n)
{
  (void)posterior, (void)n;
  return 0;
}

static PetscErrorCode set_close(RgPosterior *posterior)
{
  return rg_set_posterior_destroy(&posterior->set);
}

static PetscErrorCode set_extend(RgPosterior *posterior, const RgObservations *data,
                                 RgFailure *failure)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < data->n && !failure->failed; i++)
    PetscCall(rg_set_posterior_append(posterior->set, data->index[i], data->y[i], failure));
  PetscFunctionReturn(0);
}

static PetscErrorCode set_reset(RgPosterior *posterior, const RgObservations *data,
                                RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCall(rg_set_posterior_reset(posterior->set, &posterior->kernel, posterior->noise_variance,
                                   posterior->mean));
  PetscCall(set_extend(posterior, data, failure));
  PetscFunctionReturn(0);
}

static const double *set_means(const RgPosterior *posterior)
{
  return rg_set_posterior_mean(posterior->set);
}

static const double *set_variances(const RgPosterior *posterior)
{
  return rg_set_posterior_variance(posterior->set);
}

static PetscErrorCode set_keep(RgPosterior *posterior)
{
  return rg_set_posterior_keep(posterior->set);
}

static PetscErrorCode set_restore(RgPosterior *posterior)
{
  return rg_set_posterior_restore(posterior->set);
}

const RgPosteriorOps rg_set_ops = {
  .name = "set",
  .open = set_open,
  .close = set_close,
  .reset = set_reset,
  .extend = set_extend,
  .means = set_means,
  .variances = set_variances,
  .keep = set_keep,
  .pend = set_extend,
  .restore = set_restore,
};
