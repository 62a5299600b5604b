/* The history of a trial: everything that an algorithm may know. */
#include "base/grow.h"
#include "regatta/domain.h"

#include <math.h>
#include <string.h>

PetscErrorCode rg_history_create(const RgDomain *domain, int capacity, RgHistory *history)
{
  size_t rows = (size_t)capacity;

  PetscCheck(capacity >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "capacity %d", capacity);
  memset(history, 0, sizeof *history);
  history->capacity = capacity;
  history->dim = domain->design.dim;
  history->context_dim = domain->context.dim;
  history->n_constraints = domain->n_constraints;
  PetscCall(PetscCalloc1(rows * history->dim, &history->x));
  PetscCall(PetscCalloc1(rows * history->context_dim, &history->c));
  PetscCall(PetscCalloc1(rows, &history->index));
  PetscCall(PetscCalloc1(rows, &history->context_index));
  PetscCall(PetscCalloc1(rows, &history->y));
  PetscCall(PetscCalloc1(rows, &history->observed));
  PetscCall(PetscCalloc1(rows, &history->feasible));
  PetscCall(PetscCalloc1(rows, &history->timings));
  return PetscCalloc1(rows * history->n_constraints, &history->constraints);
}

PetscErrorCode rg_history_append(RgHistory *history, const double *x, int index, const double *c,
                                 int context_index, double y)
{
  int row = history->n;
  size_t dim = (size_t)history->dim, context_dim = (size_t)history->context_dim;

  PetscCheck(row < history->capacity, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "the history has room for %d evaluations only", history->capacity);
  PetscCheck(c || context_dim == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "the context is missing");
  memcpy(history->x + (size_t)row * dim, x, dim * sizeof *x);
  if (context_dim) memcpy(history->c + (size_t)row * context_dim, c, context_dim * sizeof *c);
  history->index[row] = index;
  history->context_index[row] = context_index;
  history->y[row] = history->observed[row] = y;
  history->feasible[row] = true;
  history->timings[row] = (RgTiming){row + 1, NAN, NAN};
  history->n++;
  return 0;
}

PetscErrorCode rg_history_set_outcome(RgHistory *history, double observed,
                                      const double *constraints)
{
  const int row = history->n - 1, n = history->n_constraints;

  PetscCheck(row >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "the history is empty");
  PetscCheck(constraints || !n, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "no constraints");
  history->observed[row] = observed;
  history->feasible[row] = !isnan(observed);
  for (int k = 0; k < n; k++) {
    history->constraints[(size_t)row * n + k] = constraints[k];
    if (!(constraints[k] <= 0)) history->feasible[row] = false;
  }
  return 0;
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
  PetscCall(RG_FREE(&history->x, &history->c, &history->index, &history->context_index, &history->y,
                    &history->observed, &history->feasible, &history->timings,
                    &history->constraints));
  memset(history, 0, sizeof *history);
  return 0;
}
