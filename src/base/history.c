/* The history of a trial: what an algorithm may know. */
#include "regatta/domain.h"

#include <string.h>

PetscErrorCode rg_history_create(const RgDomain *domain, int capacity, RgHistory *history)
{
  size_t rows = (size_t)capacity;

  PetscFunctionBeginUser;
  PetscCheck(capacity >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "capacity %d", capacity);
  memset(history, 0, sizeof *history);
  history->capacity = capacity;
  history->dim = domain->design.dim;
  history->context_dim = domain->context.dim;
  PetscCall(PetscCalloc1(rows * history->dim, &history->x));
  PetscCall(PetscCalloc1(rows * history->context_dim, &history->c));
  PetscCall(PetscCalloc1(rows, &history->index));
  PetscCall(PetscCalloc1(rows, &history->context_index));
  PetscCall(PetscCalloc1(rows, &history->y));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_history_append(RgHistory *history, const double *x, int index, const double *c,
                                 int context_index, double y)
{
  int row = history->n;
  size_t dim = (size_t)history->dim, context_dim = (size_t)history->context_dim;

  PetscFunctionBeginUser;
  PetscCheck(row < history->capacity, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the history has room for %d evaluations only", history->capacity);
  PetscCheck(c || context_dim == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the context is missing");
  memcpy(history->x + (size_t)row * dim, x, dim * sizeof *x);
  if (context_dim) memcpy(history->c + (size_t)row * context_dim, c, context_dim * sizeof *c);
  history->index[row] = index;
  history->context_index[row] = context_index;
  history->y[row] = y;
  ++history->n;
  PetscFunctionReturn(0);
}

int rg_history_best(const RgHistory *history)
{
  int best = history->n ? 0 : -1;

  for (int i = 1; i < history->n; i++)
    if (history->y[i] > history->y[best]) best = i;
  return best;
}

PetscErrorCode rg_history_destroy(RgHistory *history)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(history->x));
  PetscCall(PetscFree(history->c));
  PetscCall(PetscFree(history->index));
  PetscCall(PetscFree(history->context_index));
  PetscCall(PetscFree(history->y));
  memset(history, 0, sizeof *history);
  PetscFunctionReturn(0);
}
