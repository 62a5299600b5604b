/* How a posterior on a finite set remembers what it has learnt. Means and variances are kept by
   set_posterior.c; a back end only has to give rows of the posterior covariance. Internal to gp/. */
#ifndef RG_GP_SET_BACKEND_H
#define RG_GP_SET_BACKEND_H

#include "gp/set_prior.h"

typedef struct {
  const char *name;
  /* `capacity`: expected number of observations. */
  PetscErrorCode (*create)(const RgSetPrior *prior, int capacity, void **state);
  PetscErrorCode (*destroy)(void **state);
  /* Forget the data; the prior may have changed. */
  PetscErrorCode (*reset)(void *state, const RgSetPrior *prior);
  /* out (N): posterior covariance of point `index` with every point. */
  PetscErrorCode (*covariance)(void *state, const RgSetPrior *prior, int index, double *out);
  /* Point `index` was observed; row (N): its posterior covariance with every point before, divided by
     the root of its variance plus noise. */
  PetscErrorCode (*push)(void *state, const RgSetPrior *prior, int index, const double *row);
} RgSetBackend;

/* All rows are kept: O(n N) memory, one pass over it per observation. Any kernel, any set. */
extern const RgSetBackend rg_set_backend_rows;

#endif
