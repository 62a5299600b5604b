/* The innermost loops of the kernels: one point against a row of candidates. Internal to gp/.

   Everything here runs over contiguous arrays, allocates nothing and is compiled for several
   instruction sets (kernel_rows.c). Coordinates are divided by their length scales beforehand;
   candidates are stored coordinate by coordinate: Z[k*ld + j] is coordinate k of candidate j. */
#ifndef RG_GP_KERNEL_ROWS_H
#define RG_GP_KERNEL_ROWS_H

#include "gp/kernel.h"

/* r2_j = sum_k (x_k - Z_kj)^2, j < m. */
void rg_row_distances(int dim, const double *x, const double *Z, size_t ld, int m, double *r2);

/* value_j = scale * kappa(r2_j) and, unless slope is NULL, slope_j = scale * d kappa / d r2 (0 at
   r2 = 0 where Matern-1/2 has no derivative). r2 may be the same array as value. Correlations below
   1e-150 are 0, so that products of two of them never become subnormal. */
void rg_row_correlations(RgKernelFamily family, double scale, int m, const double *r2,
                         double *value, double *slope);

/* a_j *= b_j;  a_j += b_j */
void rg_row_multiply(int m, const double *b, double *a);
void rg_row_add(int m, const double *b, double *a);

/* g_kj += w_j * slope_j * (Z_kj - x_k) for k < dim; g has the layout of Z. */
void rg_row_gradient(int dim, const double *x, const double *Z, size_t ld, int m, const double *w,
                     const double *slope, double *g);

/* sums_k += sum_j w_j * slope_j * (Z_kj - x_k)^2 for k < dim. */
void rg_row_moments(int dim, const double *x, const double *Z, size_t ld, int m, const double *w,
                    const double *slope, double *sums);

/* sum_j a_j b_j */
double rg_row_dot(int m, const double *a, const double *b);

/* exp(x_j) for x_j <= 0, as used above; 0 below -345. Less than one unit in the last place off. */
void rg_row_exp(int m, const double *x, double *out);

#endif
