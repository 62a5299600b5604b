/* Regret of a trial, row by row. */
#include "regret/regret.h"

#include <math.h>

#define ROUNDING 1e-12

/* The value from which regret is measured. */
typedef struct {
  double value, slack; /* a value at most this much above has regret 0 */
} Reference;

static double gap(const Reference *reference, double value)
{
  const double difference = reference->value - value;

  return difference < 0 && difference >= -reference->slack ? 0 : difference;
}

static bool has_recommendation(const RgScores *scores, int t)
{
  return scores->recommended && !isnan(scores->recommended[t]);
}

static Reference reference_at(const RgScores *scores, double optimum)
{
  return (Reference){optimum, scores->accuracy + ROUNDING * fmax(1, fabs(optimum))};
}

/* Return the best value of row t: its objective, or its recommendation. */
static double best_of(const RgScores *scores, int t)
{
  return fmax(scores->best ? scores->best[t] : scores->objective[t],
              has_recommendation(scores, t) ? scores->recommended[t] : -INFINITY);
}

/* The reference of row t where F changes: F_t*, or the best value of the row if that exceeds it. */
static Reference find_current(const RgScores *scores, int t, RgExcess *excess)
{
  Reference reference = reference_at(scores, scores->optima[t]);
  const double value = best_of(scores, t);

  if (!(reference.value - value < -reference.slack)) return reference;
  if (excess->first < 0) *excess = (RgExcess){t, value - reference.value};
  reference.value = value;
  return reference;
}

/* The reference is F*, or the best value of the trial if that exceeds F*. */
static Reference find_reference(const RgScores *scores, RgExcess *excess)
{
  Reference reference = reference_at(scores, scores->optimum);

  *excess = (RgExcess){.first = -1};
  if (scores->optima) return reference;
  for (int t = 0; t < scores->n; t++) {
    const double value = best_of(scores, t);
    if (!(scores->optimum - value < -reference.slack)) continue;
    if (excess->first < 0) *excess = (RgExcess){t, value - scores->optimum};
    reference.value = fmax(reference.value, value);
  }
  return reference;
}

PetscErrorCode rg_regret(const RgScores *scores, const RgRegrets *regrets, RgExcess *excess)
{
  const double *objective = scores->objective;
  double best = -INFINITY, sum = 0;
  RgExcess found;

  Reference reference = find_reference(scores, &found);
  for (int t = 0; t < scores->n; t++) {
    const bool counts = scores->count_initial || t >= scores->n_initial;
    const double value = has_recommendation(scores, t) ? scores->recommended[t] : objective[t];
    if (scores->optima) reference = find_current(scores, t, &found);
    best = scores->best ? scores->best[t] : fmax(best, objective[t]);
    regrets->instantaneous[t] = gap(&reference, value);
    regrets->simple[t] = gap(&reference, best);
    if (counts) sum += regrets->instantaneous[t];
    regrets->cumulative[t] = counts ? sum : NAN;
  }
  if (excess) *excess = found;
  return 0;
}
