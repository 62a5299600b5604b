/* The nominal cost of a trial before it runs: a rough count of operations, for the order of the
   schedule and for teams of ranks, and bytes. Times are measured by study/run/probe.h. */
#ifndef RG_STUDY_PLAN_COST_H
#define RG_STUDY_PLAN_COST_H

#include "study/file/study.h"

/* Seconds of a trial of a checked cell on a nominal core: operations of its linear algebra over
   one speed, the same for all machines. Expect errors up to a factor of ten. With N points of a
   finite domain or of a search over a box, and sums over t = n0 .. n-1 data:
   fit       8 sum (t^3 + 10 D t^2), reduced if not every query has a fit
   search    finite: N sum 2 t; box: N sum (10 D t + t^2), and N C sum 2 t for C contexts
   paths     P F N per query
   plus the problem's own cost (RgProblemCost). O(1). */
double rg_cost_nominal(const RgCell *cell);
/* The share of that cost which the first n evaluations have, at most 1. Queries of a model grow
   dearer with its data, so it is no n of N. */
double rg_cost_share(const RgCell *cell, int n);
/* The number of evaluations of a trial if each takes some seconds: `stop_seconds` may end it.
   *evaluated, without known values. */
int rg_cost_evaluations(const RgCell *cell, double seconds, int *evaluated);

/* Order of the largest dense matrix that a team could share: data of a model over a box at the
   end of a trial, or points of a path that the problem draws. 0: no matrix. */
double rg_cost_order(const RgCell *cell);
/* Order of the problem's matrix only. */
double rg_cost_problem_order(const RgCell *cell);
/* Wall time of a trial on a team of `ranks` relative to one rank: 1/ranks + c/2n for a matrix of
   order n at or above the crossover c; else 1. For a likelihood with gradient on 2 ranks this is
   within a tenth of measurements at n = 1,000 to 4,000 (docs/scaling.md). Work of the leader
   alone is not counted. */
double rg_cost_team_share(const RgCell *cell, int ranks);
/* Bytes of such matrices on each rank of a team of `ranks`; 0 without matrices. */
double rg_cost_dense_bytes(const RgCell *cell, int ranks);
/* The part of these bytes for contexts that discretise a box of contexts. */
double rg_cost_context_bytes(const RgCell *cell);
/* Whether ScaLAPACK's 32-bit integers can count the entries of a rank's share of such a matrix.
   Also false if `solver: auto` would therefore use no matrix, but the method needs one. */
bool rg_cost_countable(const RgCell *cell, int ranks);
/* Peak bytes on the leader of a team of `ranks`, including the process itself. */
extern const double rg_cost_process_bytes;
double rg_cost_bytes(const RgCell *cell, int ranks);

#endif
