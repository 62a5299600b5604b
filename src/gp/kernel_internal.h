/* What the files of gp/ share about kernels: points divided by their length scales, and blocks of
   kernel values with their slopes. Internal to gp/.

   A kernel's factors are numbered through, term by term; its columns are the inputs of its factors,
   factor by factor (an input used by two factors has two columns). */
#ifndef RG_GP_KERNEL_INTERNAL_H
#define RG_GP_KERNEL_INTERNAL_H

#include "gp/kernel.h"
#include "gp/kernel_rows.h"

/* Candidates are handled in blocks of this many, so that a block's rows stay in cache. */
#define RG_KERNEL_BLOCK 256
/* Rows padded to this many doubles are whole vectors of any instruction set. */
#define RG_KERNEL_LANES 8

/* m rounded up to whole vectors. */
static inline int rg_kernel_padded(int m)
{
  return (m + RG_KERNEL_LANES - 1) / RG_KERNEL_LANES * RG_KERNEL_LANES;
}

int rg_kernel_n_factors(const RgKernel *kernel);
int rg_kernel_n_columns(const RgKernel *kernel);

/* Same terms, factors, families, inputs and numbers of scales? */
bool rg_kernel_same_structure(const RgKernel *a, const RgKernel *b);
/* Make `to` equal to `from`; in place when the structures agree. `to` is a valid kernel. */
PetscErrorCode rg_kernel_assign(const RgKernel *from, RgKernel *to);

/* Does every term factor over single inputs? A Gaussian factor always does, others do when they are
   over one input. */
bool rg_kernel_factors_over_inputs(const RgKernel *kernel);
/* The part of one term of such a kernel that depends on `input`, as a kernel of one input with the
   variance given. n_terms = 0 (nothing to destroy) when the term does not depend on it. */
PetscErrorCode rg_kernel_restrict(const RgKernelTerm *term, int input, double variance,
                                  RgKernel *restricted);

/* A[i*columns + c] = X[i*dim + input of c] / its length scale: points one after the other. */
void rg_kernel_scale_points(const RgKernel *kernel, int n, const double *X, double *A);
/* A[c*ld + j] likewise: coordinates one after the other; j in [m, ld) repeats point m - 1. */
void rg_kernel_scale_candidates(const RgKernel *kernel, int m, const double *Z, size_t ld,
                                double *A);

/* Doubles of scratch that rg_kernel_row needs for rows of m (0 for a kernel of one factor). */
size_t rg_kernel_row_scratch(const RgKernel *kernel, int m);
/* One row: x scaled (columns), Z scaled candidates (leading dimension ld); value (m); slope: NULL or
   one row of m per factor, stride apart: d k / d r2 of that factor, the other factors and the
   variance included. value must not be one of the slopes. */
void rg_kernel_row(const RgKernel *kernel, const double *x, const double *Z, size_t ld, int m,
                   double *value, double *slope, size_t stride, double *scratch);

/* Lower triangle of the n x n kernel matrix of X, column-major with leading dimension ld; the strict
   upper triangle is not touched. */
PetscErrorCode rg_kernel_lower(const RgKernel *kernel, int n, const double *X, int ld, double *L);

/* True when slope = -value/2 for the only factor: then slopes need not be kept. */
bool rg_kernel_slope_is_value(const RgKernel *kernel);

/* g += the contribution of one row to the gradient in scaled coordinates, before the factor 2:
   g (columns x ld) as rg_row_gradient, all factors. */
void rg_kernel_row_gradient(const RgKernel *kernel, const double *x, const double *Z, size_t ld,
                            int m, const double *w, const double *slope, size_t stride, double *g);
/* G (m x dim) from those sums: G_jk = factor * sum over the columns of input k of g / length scale. */
void rg_kernel_unscale_gradient(const RgKernel *kernel, int m, const double *g, size_t ld,
                                double factor, double *G);

#endif
