/* Maximisation over the part of a ball that lies in the unit cube (boke 2.11). */
#ifndef RG_ACQUISITION_BALL_H
#define RG_ACQUISITION_BALL_H

#include "regatta/acquire.h"

typedef struct {
  int dim;
  const double *centre; /* dim, in the cube; borrowed */
  double radius;        /* > 0 */
} RgBall;

/* Nearest point of {x in [0,1]^dim: |x - centre| <= radius} to x, in place. O(dim^2) at most. */
void rg_ball_project(const RgBall *ball, double *x);

/* Maximise `function` in that set by spectral projected gradients (Birgin, Martinez, Raydan
   2000). Draws `raw_samples` uniform points of the ball, projects them, and climbs from the best
   `restarts` of them, all in lockstep. Ignores the other options, and the history and extra
   points of `search`. Among equal values the earliest start wins. best_x: dim. failure: no
   finite value. */
PetscErrorCode rg_maximise_ball(const RgSearch *search, const RgBall *ball,
                                RgBatchFunction function, void *closure, double *best_x,
                                double *best_value, RgFailure *failure);

#endif
