#include "acquisition/acquire_internal.h"

PetscErrorCode rg_acquire(RgModel *model, const RgHistory *history,
                          const RgAcquisition *acquisition, const RgMaximiserOptions *options,
                          RgRandom *random, RgQuery *query, double *value, RgFailure *failure)
{
  PetscFunctionBeginUser;
  PetscCheck(model->domain->context.dim == 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "marginal acquisition functions take no context; domain has %d context inputs",
             model->domain->context.dim);
  if (model->set)
    PetscCall(rg_acquire_finite(model, history, acquisition, query, value, failure));
  else
    PetscCall(rg_acquire_box(model, history, acquisition, options, random, query, value, failure));
  PetscFunctionReturn(0);
}
