/* Covariance functions. A kernel is a sum of terms. A term is a variance times a product of
   factors. A factor is a stationary kernel of the distance over a group of inputs. One factor
   over all inputs is the usual isotropic or ARD kernel; several factors give product kernels,
   and several terms give additive ones. */
#ifndef RG_GP_KERNEL_KERNEL_H
#define RG_GP_KERNEL_KERNEL_H

#include "regatta/kernel.h"

typedef struct {
  int n, rank;
  double rest;   /* the largest k(x,x) that remains, relative */
  int *pivot;    /* rank: the chosen points */
  double *F;     /* n x rank, column-major */
  double *lower; /* rank x rank, column-major: the rows of F at the pivots, lower triangular */
} RgKernelPivots;

/* Chooses among the n >= 1 points X (n x dim), until the rest is at most `tolerance` or `most`
   points are chosen. O(n rank^2). */
PetscErrorCode rg_kernel_pivots_create(const RgKernel *kernel, int n, const double *X,
                                       double tolerance, int most, RgKernelPivots *pivots);
PetscErrorCode rg_kernel_pivots_destroy(RgKernelPivots *pivots);

/* The families of gp/kernel/list.h. They are functions of r = sqrt(sum_j ((x_j - x'_j) /
   length_scale_j)^2) over the factor's inputs, or of functions of these; see gp/kernel/family.h. */
typedef enum {
#define RG_KERNEL(name, NAME) RG_KERNEL_##NAME,
#include "gp/kernel/list.h"
#undef RG_KERNEL
} RgKernelFamily;

enum {
  RG_KERNEL_FAMILIES = 0 /* the number of families */
#define RG_KERNEL(name, NAME) +1
#include "gp/kernel/list.h"
#undef RG_KERNEL
};

extern const char *const rg_kernel_family_names[]; /* as typed in study files; NULL-terminated */
/* The index of the family called `name`; -1 if there is no such family. */
int rg_kernel_find_family(const char *name);

typedef struct {
  RgKernelFamily family;
  /* The family's parameter, > 0; 0: the family has no parameter. It is no hyperparameter and is
     never fitted. */
  double shape;
  int n_inputs;
  int *inputs; /* owned; indices of the inputs the distance is taken over */
  /* owned; n_inputs: the number of words of a choice, whose number is floor(words * x); 0: a
     number; NULL: all inputs are numbers */
  int *words;
  int shift;            /* 0, or else input j + shift is added to each input j of the factor */
  int n_scales;         /* 1 (isotropic) or n_inputs (ARD) */
  double *length_scale; /* owned; n_scales, > 0 */
  double odds[2];       /* families on a sphere (kernel_sphere.c): hyperparameters, 1 at first */
} RgKernelFactor;

typedef struct {
  double variance; /* > 0 */
  int n_factors;
  RgKernelFactor *factors; /* owned */
} RgKernelTerm;

typedef struct RgKernel {
  int dim; /* inputs */
  int n_terms;
  RgKernelTerm *terms; /* owned */
  /* owned; 2 x dim, parameters a and b: input j enters through 1 - (1 - x^a)^b, the distribution
     function of Kumaraswamy; NULL: as it is */
  double *warp;
  /* owned; 2: variances at the corners of the cube of a random linear and a random quadratic
     function that are added; NULL: none */
  double *trend;
} RgKernel;

/* Data of a Gaussian process, borrowed: n points X (n x dim of the kernel) and their outputs. */
typedef struct RgData {
  int n;
  const double *X, *y;
} RgData;

/* One factor over all `dim` inputs. length_scale: 1 value (isotropic) or `dim` values (ard). */
PetscErrorCode rg_kernel_create(RgKernelFamily family, int dim, bool ard,
                                const double *length_scale, double variance, RgKernel *kernel);
/* Product over groups: one term whose factors are over disjoint groups; group[j] in [0, n_groups)
   is the group of input j. length_scale: per factor, in group order, 1 value or one per input. */
PetscErrorCode rg_kernel_create_product(RgKernelFamily family, int dim, int n_groups,
                                        const int *group, bool ard, const double *length_scale,
                                        double variance, RgKernel *kernel);
/* Additive over groups: one term per group, variance[g] each. */
PetscErrorCode rg_kernel_create_additive(RgKernelFamily family, int dim, int n_groups,
                                         const int *group, bool ard, const double *length_scale,
                                         const double *variance, RgKernel *kernel);
/* Additive over groups that may share inputs: term t is one isotropic factor over its n_inputs[t]
   inputs, which are listed term after term; length_scale, variance: n_terms each. */
PetscErrorCode rg_kernel_create_terms(RgKernelFamily family, int dim, int n_terms,
                                      const int *n_inputs, const int *inputs,
                                      const double *length_scale, const double *variance,
                                      RgKernel *kernel);
/* One factor of the sums x_j + c_j, j < dim/2: the first half of the inputs is x, the second c.
   length_scale: 1 value or dim/2 (ard). */
PetscErrorCode rg_kernel_create_shift(RgKernelFamily family, int dim, bool ard,
                                      const double *length_scale, double variance,
                                      RgKernel *kernel);
/* Gives a factor another family, with the default of its parameter. */
void rg_kernel_set_family(RgKernelFactor *factor, RgKernelFamily family);
/* Sets the parameter of the family, > 0, of every factor whose family has one. Without this call
   it has its default. */
void rg_kernel_set_shape(RgKernel *kernel, double shape);
/* Makes choices of inputs with words[j] > 0 words (words: dim). Any two words are at distance 1:
   the input enters as words[j] coordinates, 1/sqrt(2) at its own word and 0 elsewhere. Kernels of
   sums of inputs and families with columns of their own, or none, keep it as a number. */
PetscErrorCode rg_kernel_set_words(RgKernel *kernel, const int *words);
/* Warps all inputs; starts with a = b = 1, the identity. PETSC_ERR_SUP for a kernel of sums of
   inputs. The logarithms of a, then of b, of all inputs become the last hyperparameters
   (Snoek, Swersky, Zemel, Adams 2014, Input warping for Bayesian optimization of non-stationary
   functions, ICML). */
PetscErrorCode rg_kernel_set_warp(RgKernel *kernel);
/* Adds v_1 s + v_2 s^2 to the kernel, s = (2x - 1)'(2z - 1)/dim, and starts with v_1 = v_2 = 1.
   Their logarithms become the last hyperparameters. k(x,x) then depends on x. Only the exact back
   end of the posterior has it, and no path. PETSC_ERR_SUP for a warped kernel. */
PetscErrorCode rg_kernel_set_trend(RgKernel *kernel);
PetscErrorCode rg_kernel_copy(const RgKernel *from, RgKernel *to);

/* The least and the largest length scale of an input; infinity and 0 if the kernel ignores it. */
void rg_kernel_scale_range(const RgKernel *kernel, int input, double *least, double *most);

/* Write k((x,c), (x',c')) as left(x, x') right(c, c'), where x is the first `dim_left` inputs.
   `left` has the variance, `right` has variance 1. Some kernels do not split: sums of terms, and
   kernels with an inseparable factor over inputs of both sides. Then `splits` is false, and
   nothing is created. */
PetscErrorCode rg_kernel_split(const RgKernel *kernel, int dim_left, RgKernel *left,
                               RgKernel *right, bool *splits);

/* Hyperparameters as logarithms: term by term, length scales (and odds) of its factors, then its
   variance. */
int rg_kernel_theta_size(const RgKernel *kernel);
void rg_kernel_get_theta(const RgKernel *kernel, double *theta);

/* k(z,z), its largest value in the unit cube, and g (dim) += weight * d k(z,z)/dz. */
double rg_kernel_variance_at(const RgKernel *kernel, const double *z);
double rg_kernel_largest_variance(const RgKernel *kernel);
void rg_kernel_add_variance_gradient(const RgKernel *kernel, double weight, const double *z,
                                     double *g);

/* G: m x dim, G_j = sum_i W_ij d k(x_i, z) / d z at z = z_j; W: n x m as K above. The whole
   gradient of any function of the posterior mean and variance is one such contraction. At z = x_i
   Matern-1/2 has no gradient; 0 is used. O(n m dim). */
PetscErrorCode rg_kernel_cross_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                        const double *Z, const double *W, double *G);

/* g_p = sum_ij A_ij d K_ij / d theta_p over the n x n matrix. A is symmetric; only its lower
   triangle (A[i*n + j], j <= i) is read. O(n^2 dim). */
PetscErrorCode rg_kernel_theta_gradient(const RgKernel *kernel, int n, const double *X,
                                        const double *A, double *g);
/* The gradient over a rectangle: g_p = sum_ij W_ij d k(x_i, z_j) / d theta_p; X: n x dim, Z: m x
   dim, W as K of rg_kernel_cross. O(n m dim). */
PetscErrorCode rg_kernel_theta_cross(const RgKernel *kernel, int n, const double *X, int m,
                                     const double *Z, const double *W, double *g);

/* The jitter to try after `jitter`, when the matrix of n data has no Cholesky factor: 1e-10,
   1e-9, ... 1e-4 of the signal variance. Returns false and sets the failure if there is no
   further one. */
bool rg_kernel_more_jitter(const RgKernel *kernel, int n, double *jitter, RgFailure *failure);

#endif
