/* Knowledge gradient over a finite set of alternatives: what one more observation is expected to
   add to the largest posterior mean (Frazier, Powell, Dayanik 2009, INFORMS J. Comput. 21). */
#ifndef RG_ACQUISITION_KNOWLEDGE_GRADIENT_H
#define RG_ACQUISITION_KNOWLEDGE_GRADIENT_H

#include "regatta/acquire.h"

/* Largest number of alternatives, including the point itself. */
enum { RG_KNOWLEDGE_GRADIENT_LINES = 257 };

/* log(E max_i (a_i + b_i Z) - max_i a_i) for n lines and a standard normal Z. Stable where the
   expectation underflows; -infinity where no line overtakes another. d_a, d_b (n; both NULL: not
   wanted): derivatives; 0 for a line that is largest nowhere. O(n log n). */
double rg_knowledge_gradient_lines(int n, const double *a, const double *b, double *d_a,
                                   double *d_b);

/* Maximise the logarithm of the knowledge gradient of an observation at x. The alternatives are x
   itself and the n_points points with the largest posterior mean: of the finite design, or of the
   queried inputs on a box (Scott, Frazier, Powell 2011, SIAM J. Optim. 21). Otherwise as
   rg_acquire; O(n_points (N + n^2)) on a set, on a box n_points times the cost of rg_acquire at
   most. */
PetscErrorCode rg_knowledge_gradient_acquire(RgModel *model, int n_points, const RgSearch *search,
                                             RgQuery *query, double *value, RgFailure *failure);

#endif
