/* Shared by the files of iterative Gaussian processes. Internal to gp/. */
#ifndef RG_GP_POSTERIOR_ITERATIVE_ITERATIVE_INTERNAL_H
#define RG_GP_POSTERIOR_ITERATIVE_ITERATIVE_INTERNAL_H

#include <petscksp.h>

#include "gp/posterior/iterative/iterative.h"

/* A copy of the state that pending points change. */
typedef struct {
  int n, rows, basis;
  double log_det;
  double *alpha;     /* n; NULL: not solved for then */
  double *gram, *M;  /* columns x columns */
  bool has_new_base; /* the projection was rebuilt since */
} RgIterativeKept;

/* A stack is s vectors of n entries, row by row: V[i*s + k]. Each rank holds its own rows of it. */
struct RgIterative {
  MPI_Comm comm; /* a duplicate, owned */
  int ranks, rank;
  RgKernel own;           /* owned */
  const RgKernel *kernel; /* the operator */
  double noise_variance, mean;
  /* Numbers of data, of data that fit, and of data when the preconditioner was built. */
  int n, capacity, n_built;
  double *X, *y; /* owned */
  RgIterativeOptions options;
  int rank_wanted; /* options of the preconditioner; options.rank: at most n */
  int *first;      /* ranks + 1: rows of each rank */
  int rows;        /* number of rows of this rank */
  double *scaled;  /* n x columns: data divided by the length scales */
  double *alpha;   /* n, on every rank; NULL until solved for */
  /* Preconditioner L L' + noise I */
  int columns;    /* columns of L: fewer than requested when no residual is left */
  int ld;         /* rows of L on this rank */
  double *L;      /* rows x columns, column-major */
  double *pivots; /* columns x dim: the pivots */
  double *T;      /* columns x columns, lower: rows of L at the pivots */
  double *gram;   /* columns x columns: noise I + L'L */
  double *M;      /* columns x columns: Cholesky factor of noise I + L'L */
  double log_det; /* work vectors of the preconditioner */
  /* Coefficients of the last iteration: p'Ap and r'z of every step. */
  int s; /* number of vectors in the stack */
  int n_curvature, n_product;
  double *curvature, *product;
  /* The projection: S of the data up to n_base, rows_base of them here;
     the factor of the projected matrix; the last prediction of one tile. */
  int n_base, rows_base, basis, basis_room, cached;
  double *S, *G, *cached_V, *cached_Z;
  bool pending; /* the last data are pending points */
  RgIterativeKept kept;
};

/* Number of new data after which the preconditioner and the projection are rebuilt. */
enum { RG_ITERATIVE_LATER = 128 };

PetscErrorCode rg_iterative_build_preconditioner(RgIterative *gp);
/* Extend the preconditioner by m data, the last ones of X. The pivots stay. */
PetscErrorCode rg_iterative_extend_preconditioner(RgIterative *gp, int m);
/* Gather all rows of a stack from the rows of each rank. */
PetscErrorCode rg_iterative_gather(const RgIterative *gp, int s, const double *mine, double *all);
/* Solve for a stack. B and U: this rank's rows. guess: U holds an initial guess. Leaves
   curvature and product behind. */
PetscErrorCode rg_iterative_solve_stack(RgIterative *gp, int s, const double *B, bool guess,
                                        double *U, RgIterativeReport *report);

#endif
