/* A smaller posterior that is nearly the same. The data act through few of their inputs, the
   pivots, as if the function in between were interpolated from the pivots. With K = F F' up to a
   residual, and noise v, it is the posterior of pseudo-data at the pivots P whose covariance is
   K_PP + v E E',   E = L N^-T,   L L' = K_PP,   N N' = F'F
   (the projected process of Csato and Opper 2002, Seeger et al. 2003; far from the pivots its
   variance is k(x,x)). Predictions cost rank^2 instead of n^2. */
#ifndef RG_GP_POSTERIOR_EXACT_PROJECTION_H
#define RG_GP_POSTERIOR_EXACT_PROJECTION_H

#include "gp/posterior/posterior.h"

/* tolerance: the largest residual relative to k(x,x). *made: false, and nothing is created, if
   the factor is not on this rank or if more than two thirds of the data would be pivots.
   `projected` supports predictions, their gradients and covariances only. O(n rank^2). */
PetscErrorCode rg_posterior_project(const RgPosterior *posterior, double tolerance,
                                    RgPosterior *projected, bool *made);

#endif
