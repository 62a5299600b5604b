/* What an algorithm has seen: queried inputs and observations, in order of evaluation. */
#ifndef RG_BASE_HISTORY_H
#define RG_BASE_HISTORY_H

#include "base/domain.h"

typedef struct {
  int n;         /* evaluations so far, the initial design included */
  int n_initial; /* the first n_initial of them are the initial design */
  int capacity;
  int dim, context_dim;
  double *x;          /* n x dim, unit coordinates */
  double *c;          /* n x context_dim, unit coordinates, as observed */
  int *index;         /* n: index into the finite design, -1 on a box */
  int *context_index; /* n: index into the finite contexts, -1 otherwise */
  double *y;          /* n: observations, native units */
} RgHistory;

/* Room for `capacity` evaluations. */
PetscErrorCode rg_history_create(const RgDomain *domain, int capacity, RgHistory *history);
/* Append one evaluation; x, c in unit coordinates (c may be NULL without context). */
PetscErrorCode rg_history_append(RgHistory *history, const double *x, int index, const double *c,
                                 int context_index, double y);
PetscErrorCode rg_history_destroy(RgHistory *history);

#endif
