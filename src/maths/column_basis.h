/* Orthonormal basis of what the columns of a matrix span, to a tolerance. */
#ifndef RG_MATHS_COLUMN_BASIS_H
#define RG_MATHS_COLUMN_BASIS_H

#include "regatta/error.h"

/* Q (n x rank, column-major; room for n x min(n, k)) for F (n x k, column-major): what Q leaves of
   the columns of F is about `tolerance` of their length. Found on random sign combinations of the
   columns where these are many more than the rank (Halko, Martinsson, Tropp 2011), the same ones
   at every call. guess: the rank is hardly more; 0: unknown. O(n k rank). */
PetscErrorCode rg_column_basis(int n, int k, const double *F, double tolerance, int guess,
                               double *Q, int *rank);

#endif
