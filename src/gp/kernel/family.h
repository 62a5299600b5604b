/* The descriptor of a family of stationary kernels: the table of gp/kernel/list.h.

   A family is one file in gp/kernel/families/ of two parts, each for one includer:
     RG_KERNEL_FORMULAS  correlation and slope at one r^2, for the loops of tiles_body.h, which make
                         vector code of it: arithmetic, sqrt and maths/vector_math.h alone
     RG_KERNEL_CLASSES   its RgKernelClass, for family.c
   `regatta new kernel NAME` writes one and puts it on the list. */
#ifndef RG_GP_KERNEL_FAMILY_H
#define RG_GP_KERNEL_FAMILY_H

#include "gp/kernel/kernel.h"
#include "regatta/stream.h"

/* The most columns that one input becomes. */
#define RG_KERNEL_COLUMNS_MAX 2

typedef struct {
  const char *name;    /* as typed in a study file */
  const char *formula; /* formula for readers; r, s, d as in kernel.h */
  const char *summary; /* summary of its paths in one line */
  /* Symbol of its parameter `shape`, with its meaning; NULL: the family has no parameter. */
  const char *symbol;
  double default_shape; /* > 0 if the family has a parameter, else 0 */
  bool separable; /* a factor over several inputs is the product of factors over each of them */

  /* The definition: the correlation of two points that are d (n) apart, in plain scalars. The
     tests compare everything else with it. */
  double (*value)(double shape, int n, const double *d, const double *length_scale);

  /* Inputs enter r^2 as they are (columns 1, warp NULL), or each of them as `columns` functions
     u. Then r^2 is the sum of squared differences of u/length_scale. du (may be NULL):
     derivatives of u. columns 0: they enter together, as a point of a sphere; value() takes
     differences of such points, at unit length scales. */
  int columns;
  void (*warp)(double shape, double x, double *u, double *du);

  /* sqrt(-k''(0)) of the correlation k(r). 0: its paths have no derivative, or one whose deviation
     depends on the point, and bounds that need one are refused */
  double slope;
  /* Draws n frequencies from the spectral density of a factor: turns (inputs x n) per unit of
     each input. work: 2 n. NULL: the density is not known, and random features of such a kernel
     are refused. */
  void (*spectrum)(const RgKernelFactor *factor, int n, RgRandom *random, double *turns,
                   double *work);
  int degrees; /* degrees of freedom, if the density is Student's t: 2 nu of a Matern kernel */
} RgKernelClass;

/* Indexed by RgKernelFamily. */
extern const RgKernelClass *const rg_kernel_classes[RG_KERNEL_FAMILIES];

/* Deviation of the derivative of a path of a family with `slope`, at unit length scale. */
double rg_kernel_family_slope(const RgKernelClass *class, double shape);

/* The first family of the kernel that has no slope (no spectrum); NULL if all have one. */
const RgKernelClass *rg_kernel_without_slope(const RgKernel *kernel);
const RgKernelClass *rg_kernel_without_spectrum(const RgKernel *kernel);

/* The largest deviation of a path's derivative by inputs first, first + 1, ..: L in |k(., z) - k(.,
   z')|_k <= L |z - z'| for points that differ in them. Inputs are not warped. NaN: some family of
   the kernel has no slope. */
double rg_kernel_slope(const RgKernel *kernel, int first);

/* 1 / length scale of input k. */
static inline double rg_kernel_inverse_scale(const RgKernelFactor *factor, int k)
{
  return 1.0 / factor->length_scale[factor->n_scales == 1 ? 0 : k];
}

#endif
