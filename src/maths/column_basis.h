/* Orthonormal basis of the column space of a matrix, to a tolerance. */
#ifndef RG_MATHS_COLUMN_BASIS_H
#define RG_MATHS_COLUMN_BASIS_H

#include "regatta/error.h"

/* Find Q (n x rank, column-major; room for n x min(n, k)) such that the residual of each column
   of F (n x k, column-major) after projection on Q is about `tolerance` of its length. When the
   columns outnumber the rank many times, the search uses random sign combinations of them
   (Halko, Martinsson, Tropp 2011), the same ones at every call. guess: an upper estimate of the
   rank; 0: unknown. O(n k rank). */
PetscErrorCode rg_column_basis(int n, int k, const double *F, double tolerance, int guess,
                               double *Q, int *rank);

#endif
