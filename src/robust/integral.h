/* The average of f(x, .) over contexts under the posterior on a finite set: a Gaussian process over
   the designs, kept up to date by the same rank-one updates (rrgp_ucb 3.3, Bayesian quadrature). */
#ifndef RG_ROBUST_INTEGRAL_H
#define RG_ROBUST_INTEGRAL_H

#include "gp/posterior/set/set_posterior.h"

typedef struct {
  int n_designs, n_contexts;
  const double *p;         /* n_contexts; borrowed */
  double *mean, *variance; /* n_designs values of sum_w p(w) f(x, w); owned */
  double *kept;            /* 2 n_designs: mean and variance to return to; owned */
} RgIntegral;

/* Follow `posterior` (no data yet) with probabilities p (borrowed, n_contexts). The integral
   must not move in memory and must outlive the posterior's last change. O(N) per observation; a
   reset costs O(n_contexts^2) kernel values. */
PetscErrorCode rg_integral_create(RgSetPosterior *posterior, int n_contexts, const double *p,
                                  RgIntegral *integral);
PetscErrorCode rg_integral_destroy(RgIntegral *integral);

#endif
