/* The size of a trial before it has run: a rough count of operations, for the order of the schedule
   and for teams of ranks, and bytes. What a trial takes by the clock is measured:
   study/run/probe.h. */
#ifndef RG_STUDY_PLAN_COST_H
#define RG_STUDY_PLAN_COST_H

#include "study/spec/study.h"

/* Seconds of one trial of a checked cell on a nominal core: a count of operations of its linear
   algebra over one speed, which is the same on all machines. A factor of ten off is no surprise.
   With N points of a finite domain or of a search over a box, and sums over t = n0 .. n-1 data:
     fit       8 sum (t^3 + 10 D t^2), a share of it where not every query has a fit
     search    finite: N sum 2 t; box: N sum (10 D t + t^2), through C contexts N C sum 2 t more
     paths     P F N per query
   plus what the problem says of itself (RgProblemCost). O(1). */
double rg_cost_nominal(const RgCell *cell);

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
