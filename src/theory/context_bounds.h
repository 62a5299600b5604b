/* Constants of paths, and the cases without a bound, for the bounds of methods with contexts from
   a box. */
#ifndef RG_THEORY_CONTEXT_BOUNDS_H
#define RG_THEORY_CONTEXT_BOUNDS_H

#include "theory/family.h"

/* The constant b of a path of a stationary kernel with k(z,z) = 1: sqrt(2) times the deviation
   of its steepest derivative. NaN as for rg_kernel_slope. */
double rg_kde_steepness(const RgKernel *kernel);
/* RgBoundFamily.obstacle and .refuse: laws of contexts that change in time, other measures than the
   expectation, boxes of too many dimensions, and kernels without a slope. rg_context_beyond: the
   second and the third alone. */
const char *rg_context_beyond(const RgBoundSetting *setting);
const char *rg_context_obstacle(const RgBoundSetting *setting);
PetscErrorCode rg_context_refuse(const RgBoundSetting *setting, RgText *why);

#endif
