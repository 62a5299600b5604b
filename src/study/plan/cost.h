/* What a trial is likely to cost: for the order of the schedule and for `regatta plan`. */
#ifndef RG_STUDY_PLAN_COST_H
#define RG_STUDY_PLAN_COST_H

#include "study/spec/study.h"

/* CPU seconds and bytes at the peak (the process itself included) of one trial of a checked cell,
   on one core. An order of magnitude: the speed of the machine and of the problem itself are not
   known. With n0 initial points, n evaluations in all, D inputs of the model, M raw samples and R
   starts of the maximiser, N points of a finite domain, a refit every k evaluations from S starts,
   and sums over t = n0 .. n-1:
     always          1 + n, and n times what the problem expects an evaluation to take
     finite domain   N sum t (where the kernel shares the structure of a grid: N, and for products
                     less N sum t), and N/k sum t^2/2 where the model changes with the data
     box             sum 1, M sum (D t + t^2) raw samples, R D sum (t + t^2) local search
     fit             1/k sum (1 + (D + 3) t^2 + t^3) for every evaluation of the likelihood: 20 per
                     start where all of the S starts join every fit, else 8
     P paths         P sum (F (D + 2) + F t + F t^2) of F random features, and their maximum over
                     320 + 64 D raw samples and some starts, or over N points; P N sum (1 + t)
                     where they are exact
     no model, box   (M + 2 R) D sum t of a kernel regression, M and R as rg_regression_widen says

   each term times a constant of the table in cost.c; of a method that gives its own cost
   (RgAlgorithmClass.seconds) that instead of the model's. O(1). */
void rg_cost_estimate(const RgCell *cell, double *seconds, double *bytes);

/* Order of the largest dense matrix a team could take off one rank: data of a model over a box at
   the end of a trial, points of a path that the problem draws. 0: none. */
double rg_cost_order(const RgCell *cell);
/* The latter alone. */
double rg_cost_problem_order(const RgCell *cell);
/* Wall time of a trial on a team of `ranks`, of that on one rank: with a matrix of order n from the
   crossover c on, 1/ranks + c/2n; else 1. Of a likelihood with its gradient on 2 ranks that is
   within a tenth of what was measured at n = 1,000 to 4,000 (docs/scaling.md); what the leader does
   alone is not counted. */
double rg_cost_team_share(const RgCell *cell, int ranks);
/* Bytes of such matrices on each rank of a team of `ranks`; 0 where there are none. */
double rg_cost_dense_bytes(const RgCell *cell, int ranks);
/* Of these, bytes of the contexts that a method discretises a box of contexts into. */
double rg_cost_context_bytes(const RgCell *cell);
/* Whether ScaLAPACK's 32-bit integers count the entries of a rank's share of such a matrix; false
   also where `solver: auto` would therefore go without it and the method can't. */
bool rg_cost_countable(const RgCell *cell, int ranks);
/* Bytes at the peak on the leader of a team of `ranks`, the process itself included. */
double rg_cost_bytes(const RgCell *cell, int ranks);

#endif
