/* What our own vector kernels compute here: they depend on the compiler as well as on the CPU. */
#ifndef RG_STUDY_RUN_VECTOR_PROBE_H
#define RG_STUDY_RUN_VECTOR_PROBE_H

#include "regatta/error.h"

/* A hash of the results of every kernel of maths/vector.h, gp/kernel/tiles.h and
   density/regression_loops.h on fixed numbers, in the instruction set that this process uses; sizes
   leave remainders, where compilers fuse differently. About 2 ms. */
PetscErrorCode rg_vector_probe(uint64_t *hash);

#endif
