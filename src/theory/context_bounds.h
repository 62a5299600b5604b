/* Constants of paths, and the cases without a bound, for the bounds of methods with contexts from
   a box. */
#ifndef RG_THEORY_CONTEXT_BOUNDS_H
#define RG_THEORY_CONTEXT_BOUNDS_H

#include "theory/family.h"

/* The constant b of a path of a stationary kernel with k(z,z) = 1: sqrt(2) times the deviation
   of its steepest derivative. NaN as for rg_kernel_slope. */
double rg_kde_steepness(const RgKernel *kernel);
/* Return why the theorems do not hold: another measure than the expectation, or a box of too many
   dimensions. NULL: they hold, as far as these go. */
const char *rg_context_beyond(const RgBoundCase *setting);
/* RgBoundFamily.obstacle: rg_context_beyond, or laws of contexts that change in time; and .refuse:
   kernels without a slope. */
const char *rg_context_obstacle(const RgBoundCase *setting);
PetscErrorCode rg_context_refuse(const RgBoundCase *setting, RgText *why);

#endif
