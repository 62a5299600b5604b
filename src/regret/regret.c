/* Regrets of a trial, row by row. */
#include "regret/regret.h"

#include <math.h>

#define ROUNDING 1e-12

/* F* - value; differences that rounding and the accuracy of F* explain are 0. */
static double gap(double optimum, double accuracy, double value, bool *exceeded)
{
  const double difference = optimum - value;

  if (!(difference < 0)) return difference;
  if (difference >= -accuracy - ROUNDING * fmax(1, fabs(optimum))) return 0;
  *exceeded = true;
  return difference;
}

PetscErrorCode rg_regret(const RgScores *scores, const RgRegrets *regrets, bool *exceeded)
{
  const double *objective = scores->objective, *recommended = scores->recommended;
  double best = -INFINITY, sum = 0;
  bool above = false;

  PetscFunctionBeginUser;
  for (int t = 0; t < scores->n; t++) {
    const bool counts = scores->count_initial || t >= scores->n_initial;
    const double value = recommended && !isnan(recommended[t]) ? recommended[t] : objective[t];

    best = fmax(best, objective[t]);
    regrets->instantaneous[t] = gap(scores->optimum, scores->accuracy, value, &above);
    regrets->simple[t] = gap(scores->optimum, scores->accuracy, best, &above);
    if (counts) sum += regrets->instantaneous[t];
    regrets->cumulative[t] = counts ? sum : NAN;
  }
  if (exceeded) *exceeded = above;
  PetscFunctionReturn(0);
}
