/* A smaller posterior that is nearly the same: the data act through few of their inputs, the
   pivots, as if the function between these were its interpolation from there. With K = F F' but for
   a rest and noise v, it is the posterior of pseudo data at the pivots P whose covariance is

     K_PP + v E E',   E = L N^-T,   L L' = K_PP,   N N' = F'F

   (the projected process of Csato and Opper 2002, Seeger et al. 2003; its variance is k(x,x) where
   the pivots say nothing). Predictions cost rank^2 instead of n^2. */
#ifndef RG_GP_POSTERIOR_EXACT_PROJECTION_H
#define RG_GP_POSTERIOR_EXACT_PROJECTION_H

#include "gp/posterior/posterior.h"

/* tolerance: the largest rest relative to k(x,x). *made: false, and nothing is created, where there
   is no factor here or more than two thirds of the data would be pivots. Only predictions, their
   gradients and covariances are to be asked of `projected`. O(n rank^2). */
PetscErrorCode rg_posterior_project(const RgPosterior *posterior, double tolerance,
                                    RgPosterior *projected, bool *made);

#endif
