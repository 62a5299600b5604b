/* Acquisition functions that look at a design through the upper confidence bounds of a list of
   contexts: a(x) = phi(U(x, s_1), ..., U(x, s_M)), U = mean + width sd (expectation, worst case,
   worst case over a set of distributions, ... of U). */
#ifndef RG_ACQUISITION_CONTEXT_UCB_H
#define RG_ACQUISITION_CONTEXT_UCB_H

#include "regatta/acquire.h"
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

typedef struct {
  RgContextPosterior posterior;
  double width;
  RgContextCriterion criterion;
  RgContextSettle settle;
  void *closure; /* borrowed; passed to both */
  RgContextMoments moments, bar;
  double *u, *slope, *u_bar, *slope_bar; /* of one design */
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

/* Maximise `exact` over the designs. On a box the search begins with a cheaper version of it: the
   same with RG_CONTEXT_ROUGH where the kernel lets that gain, else `few`, a criterion of fewer
   contexts (NULL: none). If `few` has not fewer, the search is on `exact` from the beginning. */
PetscErrorCode rg_acquire_contextual(RgModel *model, double width, const RgContextual *exact,
                                     const RgContextual *few, const RgSearch *search,
                                     RgQuery *query, double *value, RgFailure *failure);

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
