#include "acquisition/acquire_internal.h"
#include "gp/model/model.h"

#define BLOCK 512 /* points of a finite design evaluated at a time */

static PetscErrorCode acquire_with_box(const RgDomain *domain, const RgHistory *history,
                                       RgBatchFunction function, void *closure,
                                       const RgScreen *screen, const RgMaximiserOptions *options,
                                       RgRandom *random, RgQuery *query, double *value,
                                       RgFailure *failure)
{
  double *extra;
  int n_extra;

  PetscFunctionBeginUser;
  PetscCall(rg_observed_starts(options, history, random, &n_extra, &extra));
  query->index = -1;
  PetscCall(rg_maximise_box_screened(options, domain->design.dim, function, closure, screen,
                                     n_extra, extra, random, query->x, value, failure));
  PetscCall(PetscFree(extra));
  PetscFunctionReturn(0);
}

static PetscErrorCode acquire_with_set(const RgDomain *domain, const RgHistory *history,
                                       RgBatchFunction function, void *closure, RgQuery *query,
                                       double *value, RgFailure *failure)
{
  const RgSpace *space = &domain->design;
  unsigned char *excluded;
  double *values;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)space->size, &values));
  for (int begin = 0; begin < space->size; begin += BLOCK)
    PetscCall(function(closure, PetscMin(BLOCK, space->size - begin),
                       space->points + (size_t)begin * space->dim, values + begin, NULL));
  PetscCall(rg_excluded_points(domain, history, &excluded));
  query->index = rg_argmax(space->size, values, excluded);
  if (query->index >= 0) {
    *value = values[query->index];
    PetscCall(
      PetscArraycpy(query->x, space->points + (size_t)query->index * space->dim, space->dim));
  } else {
    rg_failure_set(failure, "the acquisition function is finite at no point that is left of %d",
                   space->size);
  }
  PetscCall(PetscFree(excluded));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_acquire_with(const RgDomain *domain, const RgHistory *history,
                               RgBatchFunction function, void *closure,
                               const RgMaximiserOptions *options, RgRandom *random, RgQuery *query,
                               double *value, RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCall(rg_acquire_screened(domain, history, function, closure, NULL, options, random, query,
                                value, failure));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_acquire_screened(const RgDomain *domain, const RgHistory *history,
                                   RgBatchFunction function, void *closure, const RgScreen *screen,
                                   const RgMaximiserOptions *options, RgRandom *random,
                                   RgQuery *query, double *value, RgFailure *failure)
{
  PetscFunctionBeginUser;
  if (rg_space_is_finite(&domain->design))
    PetscCall(acquire_with_set(domain, history, function, closure, query, value, failure));
  else
    PetscCall(acquire_with_box(domain, history, function, closure, screen, options, random, query,
                               value, failure));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_acquire(RgModel *model, const RgHistory *history,
                          const RgAcquisition *acquisition, const RgMaximiserOptions *options,
                          RgRandom *random, RgQuery *query, double *value, RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCheck(!rg_model_uses_context(model), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "marginal acquisition functions take no context; the model has %d context inputs",
             model->domain->context.dim);
  if (rg_space_is_finite(&model->domain->design))
    PetscCall(rg_acquire_finite(model, history, acquisition, query, value, failure));
  else
    PetscCall(rg_acquire_box(model, history, acquisition, options, random, query, value, failure));
  PetscFunctionReturn(0);
}
