/* Exact Gaussian process spread over the ranks of a communicator (ScaLAPACK, block-cyclic): the
   model of posterior.h for data whose kernel matrix one rank can't hold, or can't factor in
   time. Every function is collective on the communicator of rg_distributed_create, with the same
   arguments on every rank. Results have the same bits on every rank; different numbers of ranks
   or block sizes change them by rounding. A rank holds its share of the matrix and O(n * block)
   more. Algorithms run on one rank of a team; they use team.h. */
#ifndef RG_GP_TEAM_DISTRIBUTED_H
#define RG_GP_TEAM_DISTRIBUTED_H

#include "gp/kernel/kernel.h"

#define RG_DISTRIBUTED_BLOCK 128 /* rows and columns of a block, chosen by measurement */

typedef struct RgDistributed RgDistributed;

/* Create an empty posterior. block: rows and columns of a block, 0: the default; capacity:
   initial room for data. Copies the kernel. Errors: PETSC_ERR_ARG_OUTOFRANGE when the share of a
   rank has more than 2^31 entries (ScaLAPACK's integers); the message says how many ranks
   suffice. */
PetscErrorCode rg_distributed_create(MPI_Comm comm, const RgKernel *kernel, double noise_variance,
                                     double mean, int capacity, int block,
                                     RgDistributed **posterior);
/* NULL is fine. */
PetscErrorCode rg_distributed_destroy(RgDistributed **posterior);

/* Replace everything, as rg_posterior_set, jitter and all. O(n^3/3) over all ranks. */
PetscErrorCode rg_distributed_set(RgDistributed *posterior, const RgKernel *kernel,
                                  double noise_variance, double mean, int n, const double *X,
                                  const double *y, RgFailure *failure);
/* Append m data (X: m x dim, y: m) below the present factor: O(m n^2). Refactors with jitter
   when a pivot fails. */
PetscErrorCode rg_distributed_append(RgDistributed *posterior, int m, const double *X,
                                     const double *y, RgFailure *failure);
/* Pending points, as rg_posterior_append_pending: keep the state; append one, unless the data
   determine its value; return to the state. */
PetscErrorCode rg_distributed_keep(RgDistributed *posterior);
PetscErrorCode rg_distributed_pend(RgDistributed *posterior, const double *x, double y);
PetscErrorCode rg_distributed_restore(RgDistributed *posterior);
/* New outputs (n) for the same inputs. O(n^2). */
PetscErrorCode rg_distributed_set_outputs(RgDistributed *posterior, double mean, const double *y);

/* As rg_posterior_predict: mean (m), variance (m, clamped at 0; NULL: not wanted) at Z (m x dim).
   O(m n) without the variance, else O(m n^2). */
PetscErrorCode rg_distributed_predict(RgDistributed *posterior, int m, const double *Z,
                                      double *mean, double *variance);
/* As rg_posterior_gradient, for any Z. Reuses the triangular solve of the last prediction when
   its points are the same. */
PetscErrorCode rg_distributed_gradient(RgDistributed *posterior, int m, const double *Z,
                                       const double *mean_bar, const double *variance_bar,
                                       double *G);
/* B := L^-1 B (lower), then L^-T B (upper); both together give (K + noise I)^-1 B. B: n x m,
   B[i*m + j]. */
PetscErrorCode rg_distributed_solve(RgDistributed *posterior, bool lower, bool upper, int m,
                                    double *B);

/* Queries without communication. */
int rg_distributed_size(const RgDistributed *posterior); /* number of data */
double rg_distributed_jitter(const RgDistributed *posterior);
double rg_distributed_bytes(const RgDistributed *posterior); /* bytes of this rank's share */

/* The ranks that share a matrix, and the rows and columns of a block (0: the default). */
typedef struct {
  MPI_Comm comm;
  int block;
} RgSpread;

/* Log marginal likelihood at the kernel's hyperparameters and its gradient: rg_kernel_theta_size
   entries, then one for the logarithm of the noise variance; NULL: not wanted. learn_mean: *mean is
   set to the generalised least-squares mean first. *value = -INFINITY where the factorisation
   fails, as in rg_fit_objective_with. One matrix, about n^3 flops over all ranks. */
PetscErrorCode rg_distributed_objective(const RgSpread *spread, const RgKernel *kernel,
                                        double noise_variance, bool learn_mean, double *mean,
                                        const RgData *data, double *value, double *gradient);

/* f = L z, with L the lower Cholesky factor of the kernel matrix of X (n x dim): a prior path,
   as rg_sample_path on a set. */
PetscErrorCode rg_distributed_sample_path(const RgSpread *spread, const RgKernel *kernel, int n,
                                          const double *X, const double *z, double *f,
                                          double *jitter, RgFailure *failure);

/* Bytes that each of `ranks` ranks needs for n data in `dim` inputs, with or without a
   likelihood fit. `regatta plan` shows this number. */
double rg_distributed_memory(int n, int dim, int ranks, bool fit);

#endif
