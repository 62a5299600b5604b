/* How a posterior on a finite set stores the effect of its data. set_posterior.c keeps means and
   variances; a back end only provides rows of the posterior covariance. Internal to gp/. */
#ifndef RG_GP_POSTERIOR_SET_SET_BACKEND_H
#define RG_GP_POSTERIOR_SET_SET_BACKEND_H

#include "gp/posterior/set/set_posterior.h"
#include "gp/posterior/set/set_prior.h"

typedef struct {
  const char *name;
  /* Whether it can represent this prior. NULL: it can represent any. */
  bool (*applies)(const RgSetPrior *prior);
  /* `capacity`: expected number of observations. */
  PetscErrorCode (*create)(const RgSetPrior *prior, int capacity, void **state);
  PetscErrorCode (*destroy)(void **state);
  /* Forget the data. The prior may have changed, but the back end still applies. */
  PetscErrorCode (*reset)(void *state, const RgSetPrior *prior);
  /* out (N): posterior covariance of point `index` with every point. */
  PetscErrorCode (*covariance)(void *state, const RgSetPrior *prior, int index, double *out);
  /* Point `index` was observed. pivot: square root of its variance before plus noise; row (N):
     its posterior covariance with every point before, divided by the pivot. Follows a call of
     covariance for the same point. */
  PetscErrorCode (*push)(void *state, const RgSetPrior *prior, int index, double pivot,
                         const double *row);
  /* Forget the last m observations. */
  void (*pop)(void *state, int m);
} RgSetBackend;

/* Keeps all rows: O(n N) memory, one pass over it per observation. Any kernel, any set. */
extern const RgSetBackend rg_set_backend_rows;
/* A kernel that is a product of two halves, on a set that is a product of two halves (designs
   and contexts, or axes of a grid). Keeps n columns of either half and an n x n factor; a row is
   one dgemm of the halves, 2 n N flops. Rounding: weights of size 1/(2 sd of the noise) cancel
   in a row, so rows lose digits as the noise becomes small. */
extern const RgSetBackend rg_set_backend_product;
/* A grid, and a kernel whose terms each depend on few of its axes. Rows are sums of small
   tables, one per term, and only the tables are kept. O(N) per observation for any n. */
extern const RgSetBackend rg_set_backend_additive;

#endif
