/* Rows of the prior covariance of a finite set. On a product grid with a kernel whose terms factor
   over the coordinates they are products of small tables; elsewhere the kernel is evaluated.
   Internal to gp/. */
#ifndef RG_GP_POSTERIOR_SET_SET_PRIOR_H
#define RG_GP_POSTERIOR_SET_SET_PRIOR_H

#include "regatta/domain.h"
#include "gp/kernel/kernel.h"

typedef struct {
  RgKernel kernel;            /* owned copy */
  int size;                   /* N */
  int design_dim, n_contexts; /* n_contexts = 1 without context */
  double *points;             /* N x dim, unit coordinates, design and context joined; owned */
  bool factors;               /* rows come from the tables below */
  int n_axes;
  int *levels;  /* n_axes; owned */
  double *axes; /* the levels' coordinates, axis after axis; owned */
  /* Per term, per axis: levels x levels correlations, the term's variance in the first axis;
     owned. */
  double *tables;
  int padded; /* N rounded up to whole vectors */
  /* Columns x padded: points divided by the length scales, where there are no tables; owned. */
  double *scaled;
  double *work; /* 2 N: partial products; or one row and scratch of the kernel; owned */
} RgSetPrior;

PetscErrorCode rg_set_prior_create(const RgDomain *domain, const RgKernel *kernel,
                                   RgSetPrior *prior);
PetscErrorCode rg_set_prior_destroy(RgSetPrior *prior);
/* New hyperparameters or a new structure. */
PetscErrorCode rg_set_prior_set_kernel(RgSetPrior *prior, const RgKernel *kernel);
/* row_j = k(point_index, point_j), j < N. O(N terms) with tables, O(N dim) without. */
void rg_set_prior_row(const RgSetPrior *prior, int index, double *row);

#endif
