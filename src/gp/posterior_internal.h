/* Shared by the files of the posterior. Internal to gp/. */
#ifndef RG_GP_POSTERIOR_INTERNAL_H
#define RG_GP_POSTERIOR_INTERNAL_H

#include "gp/posterior.h"

/* Room for `capacity` data; what is held stays. */
PetscErrorCode rg_posterior_reserve(RgPosterior *posterior, int capacity);

/* Make alpha valid. */
void rg_posterior_solve(RgPosterior *posterior);

/* Make the inverse of the factor valid. */
PetscErrorCode rg_posterior_invert(RgPosterior *posterior);

#endif
