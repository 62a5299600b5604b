/* Shared by the files of iterative Gaussian processes. Internal to gp/. */
#ifndef RG_GP_ITERATIVE_INTERNAL_H
#define RG_GP_ITERATIVE_INTERNAL_H

#include <petscksp.h>

#include "gp/posterior/iterative/iterative.h"

/* A stack is s vectors of n entries, row by row: V[i*s + k]; a rank holds its rows of it. */
struct RgIterative {
  MPI_Comm comm; /* a duplicate, owned */
  int ranks, rank;
  const RgKernel *kernel;
  double noise_variance, mean;
  int n;
  const double *X, *y;
  RgIterativeOptions options;
  int *first;     /* ranks + 1: rows of each rank */
  int rows;       /* of this one */
  double *scaled; /* n x columns: data divided by the length scales */
  double *alpha;  /* n, on every rank; NULL until solved for */
  /* Preconditioner L L' + noise I */
  int columns;    /* of L: fewer than asked for when nothing is left to explain */
  double *L;      /* rows x columns, column-major */
  double *M;      /* columns x columns: Cholesky factor of noise I + L'L */
  double log_det; /* of the preconditioner */
  /* What the iteration at hand leaves behind: p'Ap and r'z of every step. */
  int s; /* vectors in the stack */
  int n_curvature, n_product, room;
  double *curvature, *product;
};

/* Y (this rank's rows of a stack) = (K + noise I) V; V: all n rows. */
PetscErrorCode rg_iterative_multiply(const RgIterative *gp, int s, const double *V, double *Y);
/* out = (L L' + noise I)^-1 in, this rank's rows of a stack. Collective. */
PetscErrorCode rg_iterative_precondition(const RgIterative *gp, int s, const double *in,
                                         double *out);
PetscErrorCode rg_iterative_build_preconditioner(RgIterative *gp);
/* This rank's rows of a stack -> all of it. */
PetscErrorCode rg_iterative_gather(const RgIterative *gp, int s, const double *mine, double *all);
/* Solve for a stack: B and U this rank's rows. Leaves curvature and product. */
PetscErrorCode rg_iterative_solve_stack(RgIterative *gp, int s, const double *B, double *U,
                                        RgIterativeReport *report);

#endif
