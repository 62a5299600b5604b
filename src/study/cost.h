/* What a trial is likely to cost: for the order of the schedule and for `regatta plan`. */
#ifndef RG_STUDY_COST_H
#define RG_STUDY_COST_H

#include "study/study.h"

/* CPU seconds and bytes at the peak (the process itself included) of one trial of a checked cell,
   on one core. An order of magnitude: the speed of the machine and of the problem itself are not
   known. With n0 initial points, T iterations, n = n0 + T evaluations, D inputs of the model, M raw
   samples and R starts of the maximiser, N points of a finite domain, sums over t = n0 .. n-1: no
   model        T finite domain   sum t N (update), sum over refits t^2 N/2 (rebuild) box sum (M + R
   rounds) (t D + t^2) (prediction), sum R rounds (bookkeeping) fit             sum over refits
   (starts + 1) evaluations (t^3 + t^2 D) each times a constant of the table in cost.c. O(1). */
void rg_cost_estimate(const RgCell *cell, double *seconds, double *bytes);

#endif
