/* Exact posterior on a finite set, mean and variance of every point kept up to date by rank-one
   updates (irgp_ucb 2.2, rrgp_ucb 2.1). Points are design x context, flat index
   design_index * n_contexts + context_index. */
#ifndef RG_GP_SET_POSTERIOR_H
#define RG_GP_SET_POSTERIOR_H

#include "base/domain.h"
#include "gp/kernel.h"

typedef struct RgSetPosterior RgSetPosterior;

/* Prior on the finite points of `domain` (borrowed; both parts finite, or no context part).
   `capacity`: expected number of observations. The kernel is copied. */
PetscErrorCode rg_set_posterior_create(const RgDomain *domain, const RgKernel *kernel,
                                       double noise_variance, double mean, int capacity,
                                       RgSetPosterior **posterior);
PetscErrorCode rg_set_posterior_destroy(RgSetPosterior **posterior);

/* Forget the data; NULL kernel keeps the hyperparameters. */
PetscErrorCode rg_set_posterior_reset(RgSetPosterior *posterior, const RgKernel *kernel,
                                      double noise_variance, double mean);
/* Observe y at point `index`. O(N n). A pivot that fails: `failure`. */
PetscErrorCode rg_set_posterior_append(RgSetPosterior *posterior, int index, double y,
                                       RgFailure *failure);

int           rg_set_posterior_size(const RgSetPosterior *posterior);     /* N */
int           rg_set_posterior_count(const RgSetPosterior *posterior);    /* n */
const double *rg_set_posterior_mean(const RgSetPosterior *posterior);     /* N */
const double *rg_set_posterior_variance(const RgSetPosterior *posterior); /* N, >= 0 */
/* Posterior covariance of point `index` with every point: out (N). O(N n). */
PetscErrorCode rg_set_posterior_covariance(const RgSetPosterior *posterior, int index, double *out);

#endif
