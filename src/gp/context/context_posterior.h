/* Posterior of f(x, s_m) at a fixed list of contexts s_1 .. s_M, for many x. Every method that
   judges a design by a sample of contexts needs it.
   Where the kernel is a product k(x,x') k(c,c'), as the Gaussian one is, the n x M matrix k(c_i,
   s_m) and its derivatives by s_m have low rank r: F = Q R up to rounding. With T(x) = L^-1
   diag(k(x, x_i)) Q, everything at x is a function of T'T (r x r) and of one r-vector, at O(n^2
   r + M r^2) instead of O(M n^2). Other kernels predict all pairs (x, s_m). */
#ifndef RG_GP_CONTEXT_CONTEXT_POSTERIOR_H
#define RG_GP_CONTEXT_CONTEXT_POSTERIOR_H

#include "gp/posterior/posterior.h"

#define RG_CONTEXT_BATCH 32     /* largest number of designs per prediction */
#define RG_CONTEXT_TOGETHER 256 /* pairs predicted at once, of several designs */

typedef enum {
  RG_CONTEXT_EXACT, /* F = Q R up to rounding */
  RG_CONTEXT_ROUGH, /* F to 1e-4 of its longest column: accurate enough to compare designs */
  RG_CONTEXT_PAIRS, /* all pairs: the reference of tests and benchmarks */
  RG_CONTEXT_NEAR   /* all pairs, from the data near a design only: for short length scales */
} RgContextForm;

typedef struct {
  RgPosterior *posterior; /* borrowed; must not change while this object lives */
  int dim_x, dim_c;
  int size;         /* M contexts */
  int n_slopes;     /* the last n_slopes contexts have derivatives by the context */
  double *contexts; /* M x dim_c, owned copy */
  RgContextForm form;
  int designs;
  bool is_product;
  bool values_only;                 /* set when no gradient follows the next predictions */
  struct RgContextProduct *product; /* private */
  struct RgContextPairs *pairs;     /* private */
} RgContextPosterior;

/* Posterior over (x, c), with x the first dim_x inputs. contexts: size x dim_c. designs:
   approximate number of predictions, which decides whether Q R pays. */
PetscErrorCode rg_context_posterior_create(RgPosterior *posterior, int dim_x, int size,
                                           const double *contexts, int n_slopes, RgContextForm form,
                                           int designs, RgContextPosterior *cp);
PetscErrorCode rg_context_posterior_destroy(RgContextPosterior *cp);

/* Whether F = Q R is in use. Otherwise the cost is that of M single contexts. */
bool rg_context_posterior_is_reduced(const RgContextPosterior *cp);

/* Without F = Q R: the number of designs that are predicted at once, and whose prediction serves a
   gradient. */
int rg_context_posterior_kept(const RgContextPosterior *cp);

/* Predictions for one x, and derivatives of a function by them: `mean`, `variance` (M each),
   `mean_slope`, `variance_slope` (n_slopes x dim_c each; derivatives by the context). For J
   designs each array is J times as long, design after design. */
typedef struct {
  double *mean, *variance, *mean_slope, *variance_slope;
} RgContextMoments;

/* Storage for RG_CONTEXT_BATCH designs. */
PetscErrorCode rg_context_moments_create(const RgContextPosterior *cp, RgContextMoments *moments);
PetscErrorCode rg_context_moments_destroy(RgContextMoments *moments);

/* Moments at J <= RG_CONTEXT_BATCH designs X (J x dim_x). The variance is at least 0. */
PetscErrorCode rg_context_posterior_predict(RgContextPosterior *cp, int J, const double *X,
                                            RgContextMoments *moments);

/* G (J x dim_x): gradient by x of sum_j phi_j(moments_j) at the designs of the last prediction,
   given the partial derivatives `bar` of phi. Without the product form, the part that goes
   through the slopes uses central differences of step 1e-5, for slopes with nonzero bar. */
PetscErrorCode rg_context_posterior_gradient(RgContextPosterior *cp, int J, const double *X,
                                             const RgContextMoments *bar, double *G);

#endif
