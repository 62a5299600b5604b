/* Space-filling designs in the unit cube: scrambled Sobol, Latin hypercube, uniform. */
#ifndef RG_MATHS_DESIGN_H
#define RG_MATHS_DESIGN_H

#include "regatta/error.h"
#include "regatta/stream.h"

/* m x dim scrambled Sobol points (Owen's nested uniform scrambling by hashing, keys drawn from
   `random`); row i = point i, all coordinates in (0,1). Points 0..2^k-1 keep the net property.
   Errors: PETSC_ERR_ARG_OUTOFRANGE for dim > RG_SOBOL_MAX_DIM. O(m dim). */
PetscErrorCode rg_design_sobol(RgRandom *random, int m, int dim, double *points);

/* m x dim Latin hypercube: each column a random permutation of m strata, uniform within them. */
PetscErrorCode rg_design_latin_hypercube(RgRandom *random, int m, int dim, double *points);

/* m x dim independent uniform points. */
PetscErrorCode rg_design_uniform(RgRandom *random, int m, int dim, double *points);

#define RG_SOBOL_MAX_DIM 1111
#define RG_SOBOL_MAX_POINTS ((1 << 30) - 1) /* direction numbers have 30 bits */

/* The first m points of the sequence in dim coordinates without the origin (m x dim, row i = point
   i). Errors: PETSC_ERR_ARG_OUTOFRANGE for dim > RG_SOBOL_MAX_DIM. O(m dim). Sources: Bratley
   and Fox (1988), Algorithm 659, up to 40 dimensions; Joe and Kuo (2008) beyond. */
PetscErrorCode rg_sobol_points(int m, int dim, double *points);

#endif
