/* Maximisation over the part of a ball that lies in the unit cube (boke 2.11). */
#ifndef RG_ACQUISITION_BALL_H
#define RG_ACQUISITION_BALL_H

#include "regatta/acquire.h"

/* Nearest point of {x in [0,1]^dim: |x - centre| <= radius} to x, in place; centre in the cube,
   radius > 0. O(dim^2) at most. */
void rg_ball_project(int dim, const double *centre, double radius, double *x);

/* Maximise `function` there by spectral projected gradients (Birgin, Martinez, Raydan 2000) from
   the `starts` best of `raw_points` uniform points of the ball, projected; all starts in lockstep.
   The first start that reached the best value wins ties. best_x: dim. failure: nothing finite. */
PetscErrorCode rg_maximise_ball(int dim, const double *centre, double radius, int raw_points,
                                int starts, RgBatchFunction function, void *closure,
                                RgRandom *random, double *best_x, double *best_value,
                                RgFailure *failure);

#endif
