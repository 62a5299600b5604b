/* Declarations about kernels that the files of gp/ share. Internal to gp/.

   A kernel's factors are numbered through, term by term; its columns are the inputs of its factors,
   factor by factor (an input used by two factors has two columns), each as many times as the
   factor's family says. Tiles: see tiles.h. */
#ifndef RG_GP_KERNEL_KERNEL_INTERNAL_H
#define RG_GP_KERNEL_KERNEL_INTERNAL_H

#include "gp/kernel/family.h"
#include "gp/kernel/tiles.h"

/* The number of factors of all terms; the number of columns that the inputs of all factors
   become (family.h). */
int rg_kernel_n_factors(const RgKernel *kernel);
int rg_kernel_n_columns(const RgKernel *kernel);
static inline int rg_kernel_input_words(const RgKernelFactor *factor, int k)
{
  return factor->words ? factor->words[k] : 0;
}
static inline int rg_kernel_input_columns(const RgKernelFactor *factor, int k)
{
  const int words = rg_kernel_input_words(factor, k);

  return words ? words : rg_kernel_classes[factor->family]->columns;
}
/* Whether the inputs of a factor enter together, and the number of hyperparameters beside its
   length scales. */
static inline bool rg_kernel_on_sphere(const RgKernelFactor *factor)
{
  return !rg_kernel_classes[factor->family]->columns;
}
static inline int rg_kernel_n_odds(const RgKernelFactor *factor)
{
  return rg_kernel_on_sphere(factor) ? 2 : 0;
}
static inline int rg_kernel_factor_columns(const RgKernelFactor *factor)
{
  int n = 0;

  if (rg_kernel_on_sphere(factor)) return factor->n_inputs + 1;

  for (int k = 0; k < factor->n_inputs; k++) n += rg_kernel_input_columns(factor, k);
  return n;
}
/* The word of a choice at unit coordinate x. */
static inline int rg_kernel_word(int words, double x)
{
  return x > 0 ? PetscMin((int)(x * words), words - 1) : 0;
}
#define RG_KERNEL_WORD 0.70710678118654752440 /* its column */

/* Input j at x as it enters the kernel. slope: derivatives by x, log a, log b; NULL: not wanted. x
   is kept a millionth from 0 and 1, where derivatives may be infinite. */
double rg_kernel_warp_at(const RgKernel *kernel, int j, double x, double *slope);
/* The warped input without derivatives; x itself without a warp. */
static inline double rg_kernel_input(const RgKernel *kernel, int j, double x)
{
  return kernel->warp ? rg_kernel_warp_at(kernel, j, x, NULL) : x;
}

/* Factors on a sphere. The number that inputs in length scales are multiplied by; the columns of a
   point x (inputs of the kernel), `stride` apart; 1 - b, by which log r^2 grows with the log odds
   of b. */
double rg_kernel_sphere_stretch(const RgKernelFactor *factor);
void rg_kernel_sphere_project(const RgKernel *kernel, const RgKernelFactor *factor, double stretch,
                              const double *x, size_t stride, double *out);
double rg_kernel_sphere_fall(const RgKernelFactor *factor);
/* G (m x dim) += the derivatives by the inputs of a factor, before a warp, from half those by its
   columns, g[column * stride + j]. */
PetscErrorCode rg_kernel_sphere_unproject(const RgKernel *kernel, const RgKernelFactor *factor,
                                          int m, const double *Z, const double *g, size_t stride,
                                          double *G);
/* theta += the derivatives by length scales and odds of a, through candidates Z (m x dim), from
   half those by all columns, g (columns x width). */
PetscErrorCode rg_kernel_sphere_theta(const RgKernel *kernel, int m, const double *Z,
                                      const double *g, int width, double *theta);
/* The same from weights W (n x m) of k(x_i, z_j), as rg_kernel_cross_gradient. */
PetscErrorCode rg_kernel_sphere_cross(const RgKernel *kernel, int n, const double *X, int m,
                                      const double *Z, const double *W, double *theta);

/* Whether two kernels have the same terms, factors, families, inputs and numbers of scales. */
bool rg_kernel_same_structure(const RgKernel *a, const RgKernel *b);
/* Makes `to` equal to `from`, in place if the structures agree. `to` is a valid kernel. */
PetscErrorCode rg_kernel_assign(const RgKernel *from, RgKernel *to);

/* Whether some factor is a function of sums of inputs. */
bool rg_kernel_shifts(const RgKernel *kernel);
/* Whether every term is a product over single inputs, which enter as they are. A factor of a
   separable family always is one; another factor is one if it has one input. */
bool rg_kernel_factors_over_inputs(const RgKernel *kernel);
/* The part of one term of such a kernel that depends on `input`, as a kernel of one input with
   the given variance. n_terms = 0 (nothing to destroy) if the term does not depend on it. */
PetscErrorCode rg_kernel_restrict(const RgKernelTerm *term, int input, double variance,
                                  RgKernel *restricted);

/* A (n x columns): points divided by the length scales. */
void rg_kernel_scale_points(const RgKernel *kernel, int n, const double *X, double *A);
/* B (columns x width): m <= width candidates, divided likewise, coordinate by coordinate. The
   last candidate is repeated to fill the tile. */
void rg_kernel_scale_tile(const RgKernel *kernel, int m, const double *Z, int width, double *B);

/* Rows are done in chunks of this number of entries, so that the passes over them stay in cache. */
#define RG_CHUNK 1024

/* Doubles of scratch that rg_kernel_tile needs at this width (0 for a kernel of one factor). */
size_t rg_kernel_tile_scratch(const RgKernel *kernel, int width);
/* One tile from scaled data A and candidates B. value is n x width. slope (may be NULL) has one
   n x width array per factor, `stride` apart: d k / d r2 of that factor, multiplied by the
   variance and by the term's other factors. O(n width columns). */
void rg_kernel_tile(const RgTileOps *ops, const RgKernel *kernel, int n, const double *A,
                    const double *B, int width, double *value, double *slope, size_t stride,
                    double *scratch);

/* A tile of one term with at most RG_CHUNK entries; A and B start at the term's first column. */
void rg_kernel_term_tile(const RgTileOps *ops, const RgKernelTerm *term, int n, const double *A,
                         int columns, const double *B, int width, double *value, double *slope,
                         size_t stride, double *scratch);

/* g (columns x width) += sum_i w_ij d k(x_i, z_j) / d z_j in scaled coordinates, halved, from the
   slopes of rg_kernel_tile; width 8 or 16. */
void rg_kernel_tile_gradient(const RgTileOps *ops, const RgKernel *kernel, int n, const double *A,
                             const double *B, int width, const double *w, const double *slope,
                             size_t stride, double *g);
/* G (m x dim) from those sums; Z: m x dim, the candidates. */
PetscErrorCode rg_kernel_unscale_gradient(const RgKernel *kernel, int m, const double *Z,
                                          const double *g, int width, double *G);

/* K_ij += the trend at x_i and z_j; X: n x dim, Z: m x dim, rows of K `ld` apart. Nothing without a
   trend. O(n m dim), as the two functions below. */
PetscErrorCode rg_kernel_add_trend(const RgKernel *kernel, int n, const double *X, int m,
                                   const double *Z, size_t ld, double *K);
/* G (m x dim) += sum_i W_ij d trend(x_i, z_j)/dz_j; rows of W `ld` apart. */
PetscErrorCode rg_kernel_add_trend_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                            const double *Z, size_t ld, const double *W, double *G);
/* Lower triangle of the n x n kernel matrix of X, column-major with leading dimension ld.
   Overwrites up to 15 entries of each column above the diagonal too. */
PetscErrorCode rg_kernel_lower(const RgKernel *kernel, int n, const double *X, int ld, double *L);

#endif
