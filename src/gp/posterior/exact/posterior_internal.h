/* Shared by the files of the posterior. Internal to gp/. */
#ifndef RG_GP_POSTERIOR_INTERNAL_H
#define RG_GP_POSTERIOR_INTERNAL_H

#include "gp/posterior/exact/posterior.h"

/* Room for `capacity` data; what is held stays. */
PetscErrorCode rg_posterior_reserve(RgPosterior *posterior, int capacity);

/* Parts of the functions of posterior.h for a matrix that is with a team (posterior_team.c).
   go_remote: there is room for n data with the team, none here. set_remote: from the kernel, noise,
   mean, n, X and y that the posterior has. leave_team: the team's part is given back; return_local:
   and room made here. */
PetscErrorCode rg_posterior_go_remote(RgPosterior *posterior, int n);
PetscErrorCode rg_posterior_set_remote(RgPosterior *posterior, RgFailure *failure);
PetscErrorCode rg_posterior_leave_team(RgPosterior *posterior);
PetscErrorCode rg_posterior_return_local(RgPosterior *posterior);
PetscErrorCode rg_posterior_covariance_remote(RgPosterior *posterior, int a, const double *A, int b,
                                              const double *B, double *C);

/* Make alpha valid; not for a matrix with a team. */
void rg_posterior_solve(RgPosterior *posterior);

/* Make the inverse of the factor valid; not for a matrix with a team (PETSC_ERR_SUP). */
PetscErrorCode rg_posterior_invert(RgPosterior *posterior);

#endif
