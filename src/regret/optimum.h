/* The optimum of a problem's objective F, by search where the problem doesn't know it. */
#ifndef RG_REGRET_OPTIMUM_H
#define RG_REGRET_OPTIMUM_H

#include "regatta/problem.h"

/* *optimum = max F: the problem's own where known; else by scan of a finite design; else by search
   over the box, accurate to 1e-8 max(1, |F|) of the basin it ends in. NaN, without a failure, for a
   costly class that doesn't know. The answer depends on the problem only, not on its seeds beyond
   what the instance drew.

   The search: 4096 dim scrambled Sobol points (uniform ones above 40 coordinates; at most 2^22
   numbers), L-BFGS-B from the best ten that are apart, then seven rounds of the same, smaller, in
   cubes that shrink around the best point (landscapes with a funnel of local optima), at last a
   coordinate search (kinks, noise of differences). Gradients are the problem's where F = f, else
   central differences. About 13000 dim evaluations of F, in batches. Where F is costly and a rough
   one can be had (problem->has_draft) all this is done with the rough one, then one L-BFGS-B run
   and a coordinate search with F: the basin is that of the rough F.

   *accuracy (NULL: not wanted): how far max F may lie above, absolute: 0 where the problem knows it
   or a finite design was scanned, 1e-8 max(1, |F|) after a search.

   failure: F could not be evaluated somewhere, or a stop was asked for (problem->task.stop, heard
   after every batch); *optimum is NaN. */
PetscErrorCode rg_regret_optimum(RgProblem *problem, double *optimum, double *accuracy,
                                 RgFailure *failure);

/* The same, and where it is attained: x (dim, native units), one optimiser; NaN where none is
   known. Of a finite design the lowest index among the best. */
PetscErrorCode rg_regret_optimum_at(RgProblem *problem, double *optimum, double *x,
                                    RgFailure *failure);

#endif
