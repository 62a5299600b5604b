/* Regret of one trial from the objective at its queries. */
#ifndef RG_REGRET_REGRET_H
#define RG_REGRET_REGRET_H

#include "regatta/error.h"

/* What a trial reached: n evaluations, of which the first n_initial are the initial design. */
typedef struct {
  int n, n_initial;
  bool count_initial;
  double optimum, accuracy; /* F*, and how far the true one may lie above it (0: rounding) */
  const double *objective, *recommended; /* n; recommended NULL: it never does */
} RgScores;
/* n each. */
typedef struct {
  double *instantaneous, *simple, *cumulative;
} RgRegrets;

/* A value beyond the optimum, which therefore was none. */
typedef struct {
  int first;     /* row of the first evaluation beyond it; -1: none */
  double amount; /* by how much that one is beyond */
} RgExcess;

/* Regret over n evaluations in order, of which the first n_initial are the initial design:

     instantaneous[t] = F* - F(recommendation t), or F* - F(x_t) where there is none
     simple[t]        = F* - max over s <= t of F(x_s), the initial design included
     cumulative[t]    = sum of the instantaneous regret up to t; with count_initial false the sum
                        starts after the initial design, where it is NaN

   optimum: F*; NaN (unknown) makes everything NaN. objective: n values F(x_t), noise-free.
   recommended: F at what the method recommended, NaN where it did not. A value above F* by no more
   than accuracy + rounding (1e-12 max(1, |F*|)) has regret 0. Where some value is further above,
   F* is not the optimum: every regret of the trial counts from the best of its values instead, at
   queries and recommendations, and *excess (NULL: not wanted) says where that began. A value F(x_t)
   that is NaN makes that instantaneous regret and all later sums NaN and is skipped by the simple
   regret (infinite before the first number). O(n).
   Sources: arXiv:2409.00979, section 2; arXiv:2502.06178, section 2. */
PetscErrorCode rg_regret(const RgScores *scores, const RgRegrets *regrets, RgExcess *excess);

#endif
