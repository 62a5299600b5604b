/* Entropic optimal transport between few points: Sinkhorn's iterations, and barycentres of
   histograms on one support by Bregman projections. Source: Benamou, Carlier, Cuturi, Nenna, Peyre
   (2015), Iterative Bregman projections for regularized transportation problems, SIAM J. Sci.
   Comput. 37. The kernel exp(-d^2/entropy) is at least 1e-100, so that all sums are positive. */
#ifndef RG_ROBUST_SINKHORN_H
#define RG_ROBUST_SINKHORN_H

#include "regatta/error.h"

/* The weights that n equally likely points (n x dim) have on a support (m x dim), which is equally
   likely too, after `rounds` of Sinkhorn's iterations, divided by their sum. weight: m. O(rounds n
   m). */
PetscErrorCode rg_sinkhorn_weights(int dim, int n, const double *points, int m,
                                   const double *support, double entropy, int rounds,
                                   double *weight);

/* The entropic barycentre, with equal weights, of k histograms on a support (m x dim). histograms:
   k x m, each of sum 1; weight: m, of sum 1. O(rounds k m^2). */
PetscErrorCode rg_sinkhorn_barycentre(int dim, int m, const double *support, int k,
                                      const double *histograms, double entropy, int rounds,
                                      double *weight);

#endif
