/* What the bounds of methods with contexts from a box share: slopes of kernels, and when there is
   no bound. */
#ifndef RG_THEORY_CONTEXT_BOUNDS_H
#define RG_THEORY_CONTEXT_BOUNDS_H

#include "theory/family.h"

/* L_k with |k(., z) - k(., z')|_k <= L_k |z - z'|, by the smallest length scale. NaN for a
   kernel that rg_kernel_without_slope refuses. */
double rg_kernel_slope(const RgKernel *kernel);
/* b of a path of a stationary kernel with k(z,z) = 1: sqrt(2) times its steepest derivative's
   deviation. NaN as rg_kernel_slope. */
double rg_kde_steepness(const RgKernel *kernel);
/* RgBoundFamily.obstacle and .refuse: boxes of too many dimensions, kernels without slope. */
const char *rg_context_obstacle(const RgBoundSetting *setting);
PetscErrorCode rg_context_refuse(const RgBoundSetting *setting, RgText *why);

#endif
