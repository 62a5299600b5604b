/* The optimum of a problem's objective F, by search if the problem doesn't know it. */
#ifndef RG_REGRET_OPTIMUM_H
#define RG_REGRET_OPTIMUM_H

#include <math.h>

#include "regatta/problem.h"

/* max F as the problem knows it; NaN: unknown. */
static inline double rg_regret_known(const RgProblem *problem)
{
  return problem->announced ? NAN : problem->optimum;
}

/* *optimum = max F: the problem's own value if known; else the maximum over a finite design;
   else the result of a search over the box, accurate to 1e-8 max(1, |F|) within its basin. NaN,
   without a failure, for a costly class that doesn't know its optimum. The answer depends on the
   problem and on what its instance drew, not on other seeds.
   The search starts L-BFGS-B from the best ten distant points among 4096 dim scrambled Sobol
   points (uniform ones above 40 coordinates; at most 2^22 numbers). Seven smaller rounds follow,
   in cubes that shrink around the best point, for landscapes with a funnel of local optima. A
   coordinate search ends it, because of kinks and errors of differences. Gradients are the
   problem's if F = f, else central differences. About 13000 dim evaluations of F, in batches. If
   F is costly and a rough F is available (problem->has_draft), the search uses the rough F; one
   L-BFGS-B run and a coordinate search with F follow. So the rough F decides the basin.
   *accuracy (NULL: not wanted): absolute bound on how far max F may lie above *optimum: 0 if the
   problem knows it or a finite design was scanned, 1e-8 max(1, |F|) after a search.
   failure: F could not be evaluated somewhere, or a stop was requested (problem->task.stop,
   called after every batch); *optimum is NaN. */
PetscErrorCode rg_regret_optimum(RgProblem *problem, double *optimum, double *accuracy,
                                 RgFailure *failure);

/* Like rg_regret_optimum, with one optimiser x (dim, native units); NaN if unknown. On a finite
   design, the lowest index among the best. */
PetscErrorCode rg_regret_optimum_at(RgProblem *problem, double *optimum, double *x,
                                    RgFailure *failure);

#endif
