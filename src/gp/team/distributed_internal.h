/* Shared by the files of the distributed posterior. Internal to gp/. */
#ifndef RG_GP_TEAM_DISTRIBUTED_INTERNAL_H
#define RG_GP_TEAM_DISTRIBUTED_INTERNAL_H

#include "gp/team/distributed.h"
#include "gp/team/distributed_matrix.h"

struct RgDistributed {
  RgGrid grid;
  RgKernel kernel;
  double noise_variance, mean, jitter;
  int n, capacity;
  double *X, *y, *beta, *alpha; /* capacity (X: times dim), the same on every rank */
  bool alpha_valid;
  double log_det;
  int n_told;          /* number of data before the pending ones */
  double log_det_told; /* log_det then */
  RgBlockMatrix L;     /* capacity x capacity */
  RgBlockMatrix V;     /* n x batch: L^-1 k(x_i, z_j) of the last batch */
  int n_kept, m_kept, kept_capacity;
  double *Z_kept; /* the points of the last batch */
};

/* Make alpha valid. Collective. */
PetscErrorCode rg_distributed_make_alpha(RgDistributed *posterior);

#endif
