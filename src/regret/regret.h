/* Regret of one trial from the objective at its queries. */
#ifndef RG_REGRET_REGRET_H
#define RG_REGRET_REGRET_H

#include "regatta/error.h"

/* Objective values of a trial: n evaluations, of which the first n_initial are the initial
   design. */
typedef struct {
  int n, n_initial;
  bool count_initial;
  double optimum, accuracy; /* F*, and how far the true optimum may lie above it (0: rounding) */
  /* n each; recommended NULL: the method recommends nothing */
  const double *objective, *recommended;
  /* n each, where F changes with t: the optimum of F_t (instead of `optimum`), and the largest
     F_t(x_s) over s <= t; NULL: F is the same at every t */
  const double *optima, *best;
} RgScores;
/* n values each. */
typedef struct {
  double *instantaneous, *simple, *cumulative;
} RgRegrets;

/* Evidence that the assumed optimum is too low: a value above it. */
typedef struct {
  int first;     /* row of the first evaluation above the optimum; -1: there is no such row */
  double amount; /* excess of that evaluation */
} RgExcess;

/* Regret over n evaluations in order, of which the first n_initial are the initial design:

     instantaneous[t] = F* - F(recommendation t), or F* - F(x_t) without a recommendation
     simple[t]        = F* - max over s <= t of F(x_s), the initial design included
     cumulative[t]    = sum of the instantaneous regret up to t; if count_initial is false, the sum
                        starts after the initial design and is NaN before

   optimum: F*; NaN (unknown) makes everything NaN. objective: n values F(x_t), noise-free.
   recommended: F at the recommendations, NaN without one. A value above F* by at most accuracy +
   rounding (1e-12 max(1, |F*|)) has regret 0. If some value is further above, F* is not the
   optimum: then every regret of the trial is measured from the best value at its queries and
   recommendations, and *excess (NULL: not wanted) gives the first such row. A NaN among the F(x_t)
   makes that instantaneous regret and all later sums NaN; the simple regret skips it (infinite
   before the first number). O(n).
   If F changes, F and F* above are those of t: F_t* - F_t(x_t), and F_t* - max F_t(x_s); a value
   further above F_t* counts as the reference of its own row alone.
   Sources: arXiv:2409.00979, section 2; arXiv:2502.06178, section 2. */
PetscErrorCode rg_regret(const RgScores *scores, const RgRegrets *regrets, RgExcess *excess);

#endif
