/* Acquisition functions that look at a design through the upper confidence bounds of a list of
   contexts: a(x) = phi(U(x, s_1), ..., U(x, s_M)), U = mean + width sd (expectation, worst case,
   worst case over a set of distributions, ... of U). */
#ifndef RG_ACQUISITION_CONTEXT_UCB_H
#define RG_ACQUISITION_CONTEXT_UCB_H

#include "regatta/acquire.h"
#include "regatta/measure.h"
#include "gp/context/context_nodes.h"
#include "gp/context/context_posterior.h"

/* Computes phi at one design from u (M) and slope (n_slopes x dim_c), its derivatives by the
   context at the last n_slopes contexts. u_bar, slope_bar: receive the partial derivatives of
   phi, preset to 0; NULL: not wanted. */
typedef PetscErrorCode (*RgContextCriterion)(void *closure, const double *u, const double *slope,
                                             double *value, double *u_bar, double *slope_bar);

/* Adds the interaction between the m designs of one batch to their values (and gradients, m x
   dim_x, or NULL). `criterion` has been called for them in order. */
typedef void (*RgContextMix)(void *closure, int m, int dim_x, double *value, double *gradient);

/* Weighted average of U over the first `size` contexts, or another measure of it. */
typedef struct {
  int size;
  const double *weight;     /* size; NULL: equal weights */
  const RgMeasure *measure; /* NULL: the average. rg_measure_lists is false, `weight` not NULL */
} RgContextWeights;

/* phi(U(x, s_1), ..., U(x, s_M)); contexts: M x dim_c in unit coordinates, the last n_slopes with
   slopes. */
typedef struct {
  int M, n_slopes;
  const double *contexts;
  RgContextCriterion criterion;
  void *closure;    /* passed to criterion and mix */
  RgContextMix mix; /* NULL: the designs of a batch are independent */
} RgContextual;

/* Settings of U and of a search. The number of contexts, called nodes, from which U may be
   interpolated while starts are chosen and climb; -1: as many as needed, 0: use all contexts. */
typedef struct {
  double width;
  int nodes;
  bool few_first;   /* nodes replace the contexts of `few` too: for a criterion that costs more
                     than U */
  bool any_measure; /* run also where the method does not maximise the problem's measure */
  char *measure;    /* the measure that the method maximises; NULL: the expectation */
} RgContextualOptions;

typedef struct {
  RgContextual what;            /* its own contexts are not stored */
  RgContextPosterior posterior; /* at the contexts, or at the nodes */
  RgContextNodes nodes;         /* n = 0: no nodes */
  double width;
  RgContextMoments moments, bar;
  double *u, *slope, *u_bar, *slope_bar; /* values of one design at the contexts */
  double *node_u, *node_bar;             /* values at the nodes */
  RgContextWeights *own; /* weights of the nodes where `what` is their average; NULL: not */
} RgContextUcb;

/* The model covers (x, c) on boxes, is updated beforehand, and must not change while this object
   lives. Copies the contexts. form, designs: as in rg_context_posterior_create. */
PetscErrorCode rg_context_ucb_create(RgModel *model, double width, const RgContextual *what,
                                     RgContextForm form, int designs, RgContextUcb *ucb);
PetscErrorCode rg_context_ucb_destroy(RgContextUcb *ucb);

/* An RgBatchFunction whose context is an RgContextUcb. Where the variance is below 1e-10 it counts
   as 1e-10, with derivative 0 (wdrbo 2.1). */
PetscErrorCode rg_context_ucb_function(void *ucb, int m, const double *X, double *value,
                                       double *gradient);

/* Maximise `exact` over the designs. `few` is a criterion with fewer contexts; NULL: none.
   On a box the search has three steps. (1) Compare raw points and let starts climb on a cheap
   version of the function: U interpolated from nodes (RgContextNodes, to ROUGH) to the contexts
   of `exact` (few_first: of `few`), under a projection of the posterior (rg_posterior_project);
   or `few`, where interpolation would need too many nodes. (2) Let the best maxima climb on U
   interpolated to FINE (FINEST in one design coordinate), under the posterior itself. (3) Evaluate
   `exact` at the end points: this is `value`. Where it differs from the interpolated value by more
   than CONFIRM max(1, |value|), climb on `exact` from there.
   A least U, a steepest slope, and the criterion of few_first have kinks over several design
   coordinates, along which climbs would crawl: those of (1) are short, and those of (2) and (3) end
   with a bundle method, with nodes and without.
   With more than RG_LONG_DATA data the tolerances are larger, and climbs have a limit of rounds. If
   U needs many nodes along one context coordinate, only data near a design take part in the first
   two steps (RG_CONTEXT_NEAR).
   Without nodes (nodes = 0, or many nodes needed and a kernel that is a product of a part in x
   and a part in c), step (1) uses `exact` with RG_CONTEXT_ROUGH if that is cheaper, else `few`,
   and step (2) uses `exact`. If `few` has no fewer contexts than `exact`, every step uses
   `exact`. With `mix` every step uses `exact`, on U interpolated to FINE where nodes > 0;
   `value` is then the value within its batch. */
PetscErrorCode rg_acquire_contextual(RgModel *model, const RgContextualOptions *options,
                                     const RgContextual *exact, const RgContextual *few,
                                     const RgSearch *search, RgQuery *query, double *value,
                                     RgFailure *failure);

/* ---- criteria -------------------------------------------------------------------------------- */

PetscErrorCode rg_ucb_expectation(void *closure, const double *u, const double *slope,
                                  double *value, double *u_bar, double *slope_bar);

/* Weighted average minus radius times the largest |dU/dc| over the contexts with slopes (wdrbo
   2.4). The first of several equal slopes counts. */
typedef struct {
  RgContextWeights centre;
  double radius;
  int n_slopes, dim_c;
  bool flat_penalty; /* the penalty's own derivative counts as 0, as in the released program */
} RgContextPenalised;
PetscErrorCode rg_ucb_penalised(void *closure, const double *u, const double *slope, double *value,
                                double *u_bar, double *slope_bar);

/* Smallest U. context: the number of contexts (int). The first of several equal values counts. */
PetscErrorCode rg_ucb_minimum(void *closure, const double *u, const double *slope, double *value,
                              double *u_bar, double *slope_bar);

#endif
