/* Shared by the files of iterative Gaussian processes. Internal to gp/. */
#ifndef RG_GP_POSTERIOR_ITERATIVE_ITERATIVE_INTERNAL_H
#define RG_GP_POSTERIOR_ITERATIVE_ITERATIVE_INTERNAL_H

#include <petscksp.h>

#include "gp/posterior/iterative/iterative.h"

/* A stack is s vectors of n entries, row by row: V[i*s + k]; a rank holds its rows of it. */
struct RgIterative {
  MPI_Comm comm; /* a duplicate, owned */
  int ranks, rank;
  RgKernel own;           /* owned */
  const RgKernel *kernel; /* it */
  double noise_variance, mean;
  int n, capacity, n_built; /* data; room; of these when the preconditioner was built */
  double *X, *y;            /* owned */
  RgIterativeOptions options;
  int rank_wanted; /* of the preconditioner; options.rank: at most n of it */
  int *first;      /* ranks + 1: rows of each rank */
  int rows;        /* of this one */
  double *scaled;  /* n x columns: data divided by the length scales */
  double *alpha;   /* n, on every rank; NULL until solved for */
  /* Preconditioner L L' + noise I */
  int columns;    /* of L: fewer than asked for when nothing is left to explain */
  int ld;         /* of L */
  double *L;      /* rows x columns, column-major */
  double *pivots; /* columns x dim: the data chosen */
  double *T;      /* columns x columns, lower: rows of L at the pivots */
  double *gram;   /* columns x columns: noise I + L'L */
  double *M;      /* columns x columns: Cholesky factor of noise I + L'L */
  double log_det; /* of the preconditioner */
  /* What the iteration at hand leaves behind: p'Ap and r'z of every step. */
  int s; /* vectors in the stack */
  int n_curvature, n_product, room;
  double *curvature, *product;
  /* The projection (iterative_projection.c): S of the data up to n_base, rows_base of them here;
     the factor of the projected matrix; the last prediction of one tile. */
  int n_base, rows_base, basis, basis_room, cached;
  double *S, *G, *cached_V, *cached_Z;
};

/* Data after which the preconditioner and the projection are built anew. */
enum { RG_ITERATIVE_LATER = 128 };

/* Y (this rank's rows of a stack) = (K + noise I) V; V: all n rows. */
PetscErrorCode rg_iterative_multiply(const RgIterative *gp, int s, const double *V, double *Y);
/* out = (L L' + noise I)^-1 in, this rank's rows of a stack. Collective. */
PetscErrorCode rg_iterative_precondition(const RgIterative *gp, int s, const double *in,
                                         double *out);
PetscErrorCode rg_iterative_build_preconditioner(RgIterative *gp);
/* The preconditioner for m more data, the last of X; the pivots stay. */
PetscErrorCode rg_iterative_extend_preconditioner(RgIterative *gp, int m);
/* This rank's rows of a stack -> all of it. */
PetscErrorCode rg_iterative_gather(const RgIterative *gp, int s, const double *mine, double *all);
/* Solve for a stack: B and U this rank's rows; guess: U holds a first one. Leaves curvature and
   product. */
PetscErrorCode rg_iterative_solve_stack(RgIterative *gp, int s, const double *B, bool guess,
                                        double *U, RgIterativeReport *report);

#endif
