/* Batches of elementary functions, compiled for several instruction sets and chosen at run time,
   and normal numbers made with them.

   Results depend on whether the CPU fuses multiplication and addition, not on the width of its
   vectors. */
#ifndef RG_MATHS_VECTOR_H
#define RG_MATHS_VECTOR_H

#include "regatta/stream.h"

#define RG_VECTOR_TILE 32  /* columns of multiply_tile */
#define RG_VECTOR_BLOCK 16 /* lanes of a sum */

typedef struct {
  const char *name;

  /* out = log(x), normal x > 0; out may be x */
  void (*logarithm)(int n, const double *x, double *out);
  /* hazard = phi/Phi and log_cdf = log Phi of the standard normal at a, |a| <= 1e20, as
     rg_normal_hazard and rg_normal_log_cdf (irgp_ucb 3.7) */
  void (*normal_tails)(int n, const double *a, double *hazard, double *log_cdf);
  /* factor = 1 - r (a + r), r = phi/Phi: variance of a standard normal given that it is at most a,
     to full relative precision (irgp_ucb 3.8); slope = its derivative (NULL: not wanted) */
  void (*truncation)(int n, const double *a, double *factor, double *slope);
  /* sum += entropy that normals (mean, 1/inverse_sd) lose when truncated above at `bound`: g
     phi(g)/(2 Phi(g)) - log Phi(g) with g = (bound - mean) inverse_sd, |g| <= 1e20 */
  void (*truncated_entropy)(int n, double bound, const double *mean, const double *inverse_sd,
                            double *sum);
  /* out = variance of normals (mean, variance) truncated above at `bound`, as `truncation` with
     the factor at least 1e-9; 0 where variance <= smallest (> 0) */
  void (*truncated_variance)(int n, double bound, const double *mean, const double *variance,
                             double smallest, double *out);
  /* Box-Muller: out (2 pairs) standard normals from 2 pairs of random words */
  void (*box_muller)(int pairs, const uint64_t *word, double *out);

  /* turn_m = phase_m + sum_k x_k W[k*ld + m], m < n */
  void (*turns)(int dim, const double *x, int n, const double *W, size_t ld, const double *phase,
                double *turn);
  /* cosine = cos(2 pi turn), sine = sin(2 pi turn) (NULL: not wanted), |turn| <= 2^50, absolute
     error below 4e-16; cosine may be turn */
  void (*circle)(int n, const double *turn, double *cosine, double *sine);
  /* sum_m weight_m cos(2 pi turn_m) with turn_m as in `turns`, |turn| < 2^20, in single
     precision: error about 1e-6 of the sum of |weight|. n a multiple of RG_VECTOR_BLOCK */
  double (*coarse_cosine_sum)(int dim, const double *x, int n, const float *W, size_t ld,
                              const float *phase, const float *weight);
  /* cosine and sine of 2 pi turn_m, with the same precision */
  void (*coarse_circle)(int dim, const double *x, int n, const float *W, size_t ld,
                        const float *phase, float *cosine, float *sine);
  /* out (rows x columns) = A B', A rows x n, B columns x n, all row-major; n a multiple of
     RG_VECTOR_BLOCK */
  void (*coarse_products)(int rows, int columns, int n, const float *A, const float *B,
                          double *out);
  /* a *= b */
  void (*multiply)(int n, const double *b, double *a);
  /* sum a b, in an order that does not depend on the instruction set */
  double (*dot)(int n, const double *a, const double *b);

  /* A (n x n, column-major, lda) = P P', lower triangle; P n x m, row-major, m a multiple of
     RG_VECTOR_BLOCK. Overwrites some entries above the diagonal too. NULL where the dsyrk of
     OpenBLAS 0.3.21 is as fast. */
  void (*gram)(int n, int m, const double *P, double *A, size_t lda);

  /* out = A in. A: n x n, row-major; in: n x RG_VECTOR_TILE; out: the same shape with rows ld
     apart. lower: treat the strict upper triangle of A as zero */
  void (*multiply_tile)(int n, const double *A, bool lower, const double *in, double *out,
                        size_t ld);
} RgVectorOps;

/* The best of the tables below that this CPU runs. */
const RgVectorOps *rg_vector_ops(void);

/* Tables by instruction set; NULL where not compiled in or not supported by this CPU. For tests. */
const RgVectorOps *rg_vector_ops_at(int level);
#define RG_VECTOR_LEVELS 3 /* 0: the compiler's baseline; 1: x86-64-v3; 2: x86-64-v4 */

/* The highest level that is compiled in and that this CPU runs. */
int rg_vector_level(void);
/* The table of the loops called `name` for a level. Goes into the file that is compiled without
   a level. */
#if defined(REGATTA_X86_LEVELS)
#define RG_LEVELS(name)                                                                            \
  {                                                                                                \
    &name##_base, &name##_v3, &name##_v4                                                           \
  }
#else
#define RG_LEVELS(name)                                                                            \
  {                                                                                                \
    &name##_base                                                                                   \
  }
#endif

/* n standard normal numbers, several times faster than rg_random_normals and equal to it up to
   the last bits: Box-Muller over the next 2 ceil(n/2) words. A normal number that single draws
   left over in `random` is neither used nor lost. */
void rg_vector_normals(RgRandom *random, size_t n, double *out);

#endif
