/* Sobol sequences in up to 1,111 dimensions, without scrambling (maths/design.h has it). */
#ifndef RG_MATHS_SOBOL_H
#define RG_MATHS_SOBOL_H

#include "regatta/error.h"

#define RG_SOBOL_MAX_DIM 1111
#define RG_SOBOL_MAX_POINTS ((1 << 30) - 1) /* direction numbers have 30 bits */

/* The first m points of the sequence in dim coordinates without the origin (m x dim, row i = point
   i). Errors: PETSC_ERR_ARG_OUTOFRANGE for dim > RG_SOBOL_MAX_DIM. O(m dim). Sources: Bratley
   and Fox (1988), Algorithm 659, up to 40 dimensions; Joe and Kuo (2008) beyond. */
PetscErrorCode rg_sobol_points(int m, int dim, double *points);

#endif
