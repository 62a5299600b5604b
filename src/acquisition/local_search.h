/* Local searches of rg_maximise_box: all starts advance in lockstep, every round is one batched
   evaluation of value and gradient. */
#ifndef RG_ACQUISITION_LOCAL_SEARCH_H
#define RG_ACQUISITION_LOCAL_SEARCH_H

#include "regatta/acquire.h"

enum {
  RG_LOCAL_SEARCH_BATCHED,
  RG_LOCAL_SEARCH_LBFGSB,
  RG_LOCAL_SEARCH_ADAM
}; /* RgMaximiserOptions.local_search */

/* Improve m >= 0 starts by ascent within the unit cube. x: m x dim, value: m. In: starts and
   their values, best first. Out: end points, at least as good. A start that the search drops
   keeps its best point. Allocates nothing after the first round. */
typedef PetscErrorCode (*RgLocalSearch)(const RgMaximiserOptions *options, int dim, int m,
                                        double *x, double *value, RgBatchFunction function,
                                        void *closure);

/* Projected quasi-Newton steps of all starts in lockstep, one batch a round; starts that meet are
   merged. */
PetscErrorCode rg_local_search_batched(const RgMaximiserOptions *options, int dim, int m, double *x,
                                       double *value, RgBatchFunction function, void *closure);
/* For functions with kinks: planes of the last points of each start (local_search_bundle.c). */
PetscErrorCode rg_local_search_bundle(const RgMaximiserOptions *options, int dim, int m, double *x,
                                      double *value, RgBatchFunction function, void *closure);
/* The reference: L-BFGS-B with 10 pairs, no start is dropped. */
PetscErrorCode rg_local_search_lbfgsb(const RgMaximiserOptions *options, int dim, int m, double *x,
                                      double *value, RgBatchFunction function, void *closure);
#define RG_ADAM_REVISION 2 /* revision 1 weighted the last sums differently */
/* Search as released programs do: Adam on the sum of the starts. End points may be worse than
   the starts. */
PetscErrorCode rg_local_search_adam(const RgMaximiserOptions *options, int dim, int m, double *x,
                                    double *value, RgBatchFunction function, void *closure);

/* The batched search keeps a dense model up to this number of inputs, and pairs above it. */
#define RG_SEARCH_DENSE_MAX 25
#define RG_SEARCH_MEMORY 10
#define RG_BATCHED_REVISION 2 /* above it; revision 1 was dense there too */
#define RG_WIDENED_REVISION 3 /* of kernel regression and several paths; 2 had more points */

/* Limited-memory model of the negative Hessian: pairs of a step s and the gradient's fall y. */
typedef struct {
  int n, next;   /* number of pairs, and place of the next one */
  double size;   /* before any pair: size diag(scale^2) */
  double *s, *y; /* RG_SEARCH_MEMORY x dim */
} RgLimitedModel;

/* Begin without pairs. block: 2 RG_SEARCH_MEMORY dim doubles, borrowed. */
void rg_limited_begin(int dim, double *block, RgLimitedModel *model);
/* Propose a step from x (gradient g) within the cube and |step_j| scale_j <= radius. Returns the
   predicted gain >= 0. work: dim (RG_SEARCH_MEMORY + 1) doubles. O(dim RG_SEARCH_MEMORY). */
double rg_limited_step(RgLimitedModel *model, int dim, const double *x, const double *g,
                       const double *scale, double radius, double *step, double *work);
/* Learn from the gradients before and after a step. The pair replaces the oldest one. */
void rg_limited_learn(RgLimitedModel *model, int dim, const double *step, const double *before,
                      const double *after);

/* Box-constrained quadratic programme: maximise g'p - p'Bp/2 over lower <= p <= upper (lower <=
   0 <= upper), B dim x dim symmetric positive definite. Returns the gain >= 0, and p in `step`.
   work: dim*(dim+3) doubles. Primal active sets, O(dim^3) per change of the set. */
double rg_box_quadratic(int dim, const double *g, const double *B, const double *lower,
                        const double *upper, double *step, double *work);

#endif
