/* Products of Kronecker matrices with vectors on a grid, one axis at a time. Internal to gp/. */
#ifndef RG_GP_POSTERIOR_SET_GRID_ROWS_H
#define RG_GP_POSTERIOR_SET_GRID_ROWS_H

#include "maths/vector.h"

/* F viewed as before x n x after (row-major): F_b,a,j <- sum_i A_ai F_b,i,j, in place. A: n x n,
   row-major; lower: treat its strict upper triangle as zero. scratch: 2 n RG_VECTOR_TILE
   doubles. O(before n^2 after). */
void rg_grid_multiply(int before, int n, size_t after, const double *A, bool lower, double *F,
                      double *scratch);

#endif
