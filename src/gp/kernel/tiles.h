/* The innermost loops of Gaussian processes, for the instruction set of the CPU. Internal to gp/.

   A tile is an n x width array, row-major: row i belongs to datum i, its `width` entries to
   candidates. Width is a multiple of 8; 16 and 8 are the fast ones, and their rows stay in
   registers while a loop runs over the data. The coordinates of data (x: n x stride, the first dim
   used) and of a tile's candidates (Z: dim x width, coordinate by coordinate) have been divided by
   the length scales.

   Results depend on whether the CPU fuses multiplication and addition, not on the width of its
   vectors: every sum runs in the same order at any width. */
#ifndef RG_GP_KERNEL_TILES_H
#define RG_GP_KERNEL_TILES_H

#include "gp/kernel/kernel.h"
#include "maths/vector.h"

#define RG_TILE 16 /* candidates of a full tile */
/* Widths, and numbers of rows where a comment says so, are padded to multiples of this. */
#define RG_LANES 8

typedef struct {
  const char *name;
  /* The largest number of rows for which cholesky and invert are faster than an optimised
     LAPACK. */
  int largest;

  /* r2_ij = sum_k (x_ik - Z_kj)^2 */
  void (*distances)(int dim, int n, const double *x, int stride, const double *Z, int width,
                    double *r2);
  /* value = scale * kappa(r2) and, unless slope is NULL, slope = scale * d kappa / d r2 (0 where
     Matern-1/2 has no derivative), `count` entries, a multiple of 8. r2 may be the same array as
     value. Correlations below exp(-345), 1e-150, become 0, so that a product of two of them is
     not subnormal. */
  void (*correlations)(RgKernelFamily family, double shape, double scale, size_t count,
                       const double *r2, double *value, double *slope);
  /* exp(x) for x <= 0 as used above; out may be x. The error is less than one unit in the last
     place. */
  void (*exponential)(size_t count, const double *x, double *out);
  /* a *= b;  a += b */
  void (*multiply)(size_t count, const double *b, double *a);
  void (*add)(size_t count, const double *b, double *a);
  /* out_j -= sum_r c_r R_rj, j < count (any); rows of R `stride` apart */
  void (*subtract_rows)(int rows, size_t count, const double *c, const double *R, size_t stride,
                        double *out);
  /* a *= factor, any count */
  void (*scale)(size_t count, double factor, double *a);
  /* One observation of a finite set, any count: mean += step * row,
     variance = max(variance - row^2, 0) */
  void (*absorb)(size_t count, double step, const double *row, double *mean, double *variance);
  /* sum a b; count a multiple of 8 */
  double (*dot)(size_t count, const double *a, const double *b);

  /* g_kj += sum_i w_ij slope_ij (Z_kj - x_ik);  g: dim x width, width 8 or 16 */
  void (*gradient)(int dim, int n, const double *x, int stride, const double *Z, int width,
                   const double *w, const double *slope, double *g);
  /* sums_k += sum_ij w_ij slope_ij (Z_kj - x_ik)^2;  width 8 or 16 */
  void (*moments)(int dim, int n, const double *x, int stride, const double *Z, int width,
                  const double *w, const double *slope, double *sums);

  /* V := M V and V := M' V in place, M n x n lower triangular, column-major with leading dimension
     ld, zeros above the diagonal; n a multiple of 8; width 8 or 16. n^2 width flops. */
  void (*lower)(int n, const double *M, size_t ld, int width, double *V);
  void (*upper)(int n, const double *M, size_t ld, int width, double *V);
  /* out := M V, M n x n symmetric, both triangles given; n a multiple of 8; width 8 or 16. 2 n^2
     width flops. */
  void (*symmetric)(int n, const double *M, size_t ld, int width, const double *V, double *out);
  /* Lower Cholesky factor of A in place, column-major. ld and the number of columns stored are
     at least n padded to a multiple of 8. Entries in the padding and above the diagonal may be
     anything and are overwritten. Returns 0, or 1 + the column whose pivot is not positive. */
  int (*cholesky)(int n, double *A, size_t ld);
  /* X = L^-1 for such a factor, with zeros above the diagonal and in the padding. */
  void (*invert)(int n, const double *L, size_t ld, double *X);
  /* sum_j = sum_i b_i V_ij, squares_j = sum_i V_ij^2;  width 8 or 16 */
  void (*summarise)(int n, int width, const double *b, const double *V, double *sum,
                    double *squares);
  /* U_ij = b_i p_j + V_ij q_j;  width 8 or 16 */
  void (*combine)(int n, int width, const double *b, const double *p, const double *V,
                  const double *q, double *U);
} RgTileOps;

/* The best of the loops below that this CPU runs. */
const RgTileOps *rg_tile_ops(void);

/* The loops of an instruction set, as rg_vector_ops_at. For tests. */
const RgTileOps *rg_tile_ops_at(int level);

/* Width of the tile that starts with `rest` candidates left, and m padded to whole tiles. */
static inline int rg_tile_width(int rest)
{
  return rest > RG_LANES ? RG_TILE : RG_LANES;
}

static inline int rg_pad(int m)
{
  return (m + RG_LANES - 1) / RG_LANES * RG_LANES;
}

/* The first cache line inside `memory`, which has 7 doubles more than are needed. */
static inline double *rg_align(double *memory)
{
  return memory + (64 - (uintptr_t)memory % 64) / sizeof(double) % 8;
}

#endif
