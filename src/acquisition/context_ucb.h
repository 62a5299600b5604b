/* Acquisition functions that look at a design through the upper confidence bounds of a list of
   contexts: a(x) = phi(U(x, s_1), ..., U(x, s_M)), U = mean + width sd (expectation, worst case,
   worst case over a set of distributions, ... of U). */
#ifndef RG_ACQUISITION_CONTEXT_UCB_H
#define RG_ACQUISITION_CONTEXT_UCB_H

#include "regatta/acquire.h"
#include "gp/context/context_nodes.h"
#include "gp/context/context_posterior.h"

/* phi at one design: u (M), and its derivatives by the context, slope (n_slopes x dim_c), at the
   last n_slopes contexts. u_bar, slope_bar: partial derivatives of phi, preset to 0; NULL: not
   wanted. */
typedef PetscErrorCode (*RgContextCriterion)(void *closure, const double *u, const double *slope,
                                             double *value, double *u_bar, double *slope_bar);

/* What the values at m designs (and their gradients, m x dim_x, or NULL), asked in one batch, do to
   each other; criterion was called for them in order. */
typedef void (*RgContextSettle)(void *closure, int m, int dim_x, double *value, double *gradient);

/* phi(U(x, s_1), ..., U(x, s_M)); contexts: M x dim_c in unit coordinates, the last n_slopes with
   slopes. */
typedef struct {
  int M, n_slopes;
  const double *contexts;
  RgContextCriterion criterion;
  void *closure;          /* passed to criterion and settle */
  RgContextSettle settle; /* NULL: designs of a batch are apart */
} RgContextual;

/* How U is made, and a search: from how many of the contexts, the nodes, U may be interpolated
   while starts are chosen and climb; -1: as many as it takes, 0: no context is left out. */
typedef struct {
  double width;
  int nodes;
  bool few_first; /* nodes stand for the contexts of `few`: a criterion dearer than U */
} RgContextualOptions;

typedef struct {
  RgContextual what;            /* its contexts are not kept */
  RgContextPosterior posterior; /* at the contexts, or at the nodes */
  RgContextNodes nodes;         /* n = 0: none */
  double width;
  RgContextMoments moments, bar;
  double *u, *slope, *u_bar, *slope_bar; /* of one design at the contexts */
  double *node_u, *node_bar;             /* at the nodes */
} RgContextUcb;

/* Model over (x, c) on boxes, updated before and unchanged while this lives; contexts are copied.
   form, designs: as in rg_context_posterior_create. */
PetscErrorCode rg_context_ucb_create(RgModel *model, double width, const RgContextual *what,
                                     RgContextForm form, int designs, RgContextUcb *ucb);
PetscErrorCode rg_context_ucb_destroy(RgContextUcb *ucb);

/* An RgBatchFunction whose context is an RgContextUcb. Where the variance is below 1e-10 it counts
   as 1e-10, with derivative 0 (wdrbo 2.1). */
PetscErrorCode rg_context_ucb_function(void *ucb, int m, const double *X, double *value,
                                       double *gradient);

/* Maximise `exact` over the designs. On a box the search goes in three steps: (1) raw points are
   compared, and starts climb, on U interpolated from nodes (RgContextNodes, to ROUGH) to the
   contexts of `exact` (few_first: of `few`) under a projection of the posterior
   (rg_posterior_project), or on `few`, a criterion of fewer contexts (NULL: none), where it would
   take too many nodes; (2) the best maxima climb on U interpolated to FINE under the posterior
   itself; (3) `value` is that of `exact` where they end, and where the two differ by more than
   CONFIRM max(1, |value|), that point climbs on `exact`.

   With nodes = 0, and where nodes would be many and the kernel is a product of a part in x and one
   in c, (1) is on `exact` with RG_CONTEXT_ROUGH if that gains, else on `few`, and (2) on `exact`.
   If `few` has not fewer, the search is on `exact` from the beginning. With `settle` it always is,
   on U interpolated to FINE where nodes > 0; `value` is then that in its batch. */
PetscErrorCode rg_acquire_contextual(RgModel *model, const RgContextualOptions *options,
                                     const RgContextual *exact, const RgContextual *few,
                                     const RgSearch *search, RgQuery *query, double *value,
                                     RgFailure *failure);

/* ---- criteria -------------------------------------------------------------------------------- */

/* Weighted average of U over the first `size` contexts. */
typedef struct {
  int size;
  const double *weight; /* size; NULL: equal */
} RgContextWeights;
PetscErrorCode rg_ucb_expectation(void *closure, const double *u, const double *slope,
                                  double *value, double *u_bar, double *slope_bar);

/* Weighted average minus radius times the largest |dU/dc| over the contexts with slopes (wdrbo
   2.4); ties: the first of them. */
typedef struct {
  RgContextWeights centre;
  double radius;
  int n_slopes, dim_c;
  bool flat_penalty; /* the penalty's own derivative counts as 0 (as released) */
} RgContextPenalised;
PetscErrorCode rg_ucb_penalised(void *closure, const double *u, const double *slope, double *value,
                                double *u_bar, double *slope_bar);

/* Smallest U; context: the number of contexts (int). Ties: the first of them. */
PetscErrorCode rg_ucb_minimum(void *closure, const double *u, const double *slope, double *value,
                              double *u_bar, double *slope_bar);

#endif
