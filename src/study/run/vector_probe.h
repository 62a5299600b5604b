/* The results of our vector kernels here, which depend on compiler and CPU. */
#ifndef RG_STUDY_RUN_VECTOR_PROBE_H
#define RG_STUDY_RUN_VECTOR_PROBE_H

#include "regatta/error.h"

/* A hash of the results of every kernel in maths/vector.h, gp/kernel/tiles.h and
   density/regression_loops.h on fixed numbers, with the instruction set of this process. The
   sizes leave remainders, because compilers differ there in fused operations. Takes about 2 ms. */
PetscErrorCode rg_vector_probe(uint64_t *hash);

#endif
