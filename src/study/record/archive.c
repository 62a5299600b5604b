/* Archived records: which values stay. */
#include "study/record/archive.h"

#include "base/grow.h"

#include <math.h>

/* Whether cumulative regret stays after this many queries: 1, 2, 5, 10, 20, 50, ... */
static bool is_budget(int queries)
{
  for (; queries > 0 && queries % 10 == 0; queries /= 10) {
  }
  return queries == 1 || queries == 2 || queries == 5;
}

/* The row of the best design; -1: no evaluation has a value of the objective. */
static int best_row(const RgRecord *record)
{
  const double *objective = record->column[RG_COLUMN_OBJECTIVE];
  int best = -1;

  for (int r = 0; objective && r < record->n_rows; r++)
    if (!isnan(objective[r]) && (best < 0 || objective[r] > objective[best])) best = r;
  return best;
}

/* Whether a value of a column stays. */
static bool stays(const RgRecord *record, int column, int row, int best)
{
  const bool last = row == record->n_rows - 1;

  switch (column) {
  case RG_COLUMN_SIMPLE_REGRET:
  case RG_COLUMN_SCORE_SIMPLE_REGRET:
  case RG_COLUMN_SUBMISSION:
  case RG_COLUMN_FINISHED: return true;
  case RG_COLUMN_CUMULATIVE_REGRET:
  case RG_COLUMN_SCORE_CUMULATIVE_REGRET: return last || is_budget(row + 1 - record->n_initial);
  case RG_COLUMN_X: return row == best;
  case RG_COLUMN_RECOMMENDATION: return last;
  default: return false;
  }
}

/* Without an optimum there is no regret: the objective stays where it improves. */
static void keep_improvements(double *objective, int n)
{
  double best = -INFINITY;

  for (int r = 0; r < n; r++) {
    if (objective[r] > best) best = objective[r];
    else objective[r] = NAN;
  }
}

PetscErrorCode rg_record_archive(RgRecord *record)
{
  const bool regret = !isnan(record->optimum);
  const int best = best_row(record);

  for (int c = 0; c < RG_COLUMN_COUNT; c++) {
    const int width = rg_record_width(record, c);
    double *values = record->column[c];
    bool any = false;
    if (c == RG_COLUMN_OBJECTIVE && values && !regret) keep_improvements(values, record->n_rows);
    if (!values || (c == RG_COLUMN_OBJECTIVE && !regret)) continue;
    for (int r = 0; r < record->n_rows; r++) {
      const bool kept = stays(record, c, r, best);
      for (int k = 0; k < width && !kept; k++) values[r * width + k] = NAN;
      any = any || kept;
    }
    if (!any) PetscCall(PetscFree(record->column[c]));
  }
  for (int i = 0; i < record->n_extra; i++) PetscCall(PetscFree(record->extra[i]));
  record->n_extra = 0;
  return RG_FREE(&record->key, &record->extra_name, &record->extra_doc, &record->failure_texts,
                 &record->timeline);
}
