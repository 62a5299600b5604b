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

PetscErrorCode rg_regret(int n, int n_initial, bool count_initial, double optimum, double accuracy,
                         const double *objective, const double *recommended, double *instantaneous,
                         double *simple, double *cumulative, bool *exceeded)
{
  double best = -INFINITY, sum = 0;
  bool above = false;

  PetscFunctionBeginUser;
  for (int t = 0; t < n; t++) {
    const bool counts = count_initial || t >= n_initial;
    const double value = recommended && !isnan(recommended[t]) ? recommended[t] : objective[t];

    best = fmax(best, objective[t]);
    instantaneous[t] = gap(optimum, accuracy, value, &above);
    simple[t] = gap(optimum, accuracy, best, &above);
    if (counts) sum += instantaneous[t];
    cumulative[t] = counts ? sum : NAN;
  }
  if (exceeded) *exceeded = above;
  PetscFunctionReturn(0);
}
