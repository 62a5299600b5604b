/* Gaussian process beyond dense memory: the kernel matrix is never stored, only multiplied with;
   its rows are spread over the ranks of a communicator. Solves by PETSc's conjugate gradients with
   a pivoted-Cholesky preconditioner; log determinant by stochastic Lanczos quadrature from the same
   iteration. Every function is collective, with the same arguments on every rank.

   Accuracy. A solve stops when the residual is `tolerance` times the right-hand side. With noise
   variance v the error of K^-1 b is at most tolerance |b| / v; the mean at a point is then off by
   at most |k| tolerance |y| / v, usually far less. The log determinant has a standard error that is
   estimated and returned: sqrt(2/probes) |log(P^-1 K)|_F, P the preconditioner.
   Reproducibility. With the same number of ranks the results are the same bits, on every rank and
   when computed again. Between numbers of ranks sums are taken in another order: results agree to
   the tolerances above, not in bits. The random probes are a function of `seed` alone.

   Memory per rank: (rank + a few) n / ranks + (dim + 2 probes) n doubles. */
#ifndef RG_GP_POSTERIOR_ITERATIVE_ITERATIVE_H
#define RG_GP_POSTERIOR_ITERATIVE_ITERATIVE_H

#include "gp/kernel/kernel.h"

typedef struct {
  int rank;         /* columns of the preconditioner; 0: none */
  int probes;       /* probes of the log determinant */
  double tolerance; /* relative residual of a solve */
  int max_iterations;
  uint64_t seed; /* stream of the probes */
} RgIterativeOptions;

extern const RgIterativeOptions rg_iterative_defaults;

typedef struct {
  bool converged;
  int iterations;
  double residual; /* residual at the end, relative to the right-hand side */
} RgIterativeReport;

typedef struct RgIterative RgIterative;

/* Copies data and kernel. noise_variance > 0. Builds the preconditioner: O(n rank (rank + dim))
   over all ranks. */
PetscErrorCode rg_iterative_create(MPI_Comm comm, const RgKernel *kernel, double noise_variance,
                                   double mean, const RgData *data,
                                   const RgIterativeOptions *options, RgIterative **gp);
PetscErrorCode rg_iterative_destroy(RgIterative **gp);

/* Compute and keep alpha = (K + noise I)^-1 (y - mean). The other functions call it when they
   need it. O(n^2 dim) per iteration over all ranks. report may be NULL. */
PetscErrorCode rg_iterative_solve(RgIterative *gp, RgIterativeReport *report);
/* Append m data. The pivots of the preconditioner stay until many data have arrived. O(n rank). */
PetscErrorCode rg_iterative_extend(RgIterative *gp, int m, const double *X, const double *y);
/* Keep the state; return to its bits. In between, data that are appended are pending points. */
PetscErrorCode rg_iterative_keep(RgIterative *gp);
PetscErrorCode rg_iterative_restore(RgIterative *gp);
/* New outputs (n) for the same inputs. */
PetscErrorCode rg_iterative_set_outputs(RgIterative *gp, double mean, const double *y);
/* B := (K + noise I)^-1 B, B: n x m, B[i*m + j], 16 columns at once. The report is the worst of
   all columns. */
PetscErrorCode rg_iterative_solve_many(RgIterative *gp, int m, double *B,
                                       RgIterativeReport *report);
/* Posterior mean (m) at Z (m x dim). O(m n dim) after the solve. */
PetscErrorCode rg_iterative_mean(RgIterative *gp, int m, const double *Z, double *mean);
/* Mean, and the variance that remains after conditioning on the columns of the preconditioner
   and on the data that arrived after it. This is never below the exact variance, and approaches
   it as the rank grows. O(m n rank), after O(n^2 rank) once per preconditioner. */
PetscErrorCode rg_iterative_predict(RgIterative *gp, int m, const double *Z, double *mean,
                                    double *variance);
/* G (m x dim): gradient of sum_j phi_j(mean_j, variance_j) of that prediction, from the partial
   derivatives (variance_bar NULL: of the mean alone). O(m n rank). */
PetscErrorCode rg_iterative_gradient(RgIterative *gp, int m, const double *Z,
                                     const double *mean_bar, const double *variance_bar, double *G);
/* log det (K + noise I) and its standard error. */
PetscErrorCode rg_iterative_log_determinant(RgIterative *gp, double *value, double *error,
                                            RgIterativeReport *report);

#endif
