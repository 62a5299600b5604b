/* The stored evaluations of one trial, for a second run of it. */
#include "cli/evaluations.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/store/store.h"
#include "study/trial/trial.h"

typedef struct {
  const RgTrial *trial;
  const RgCell *cell;
  RgEvaluationLog *log;
  char *timeline;
} Search;

/* The value of one evaluation in a column with this name. */
static double value_of(const RgRecord *record, const char *name, int row)
{
  for (int i = 0; i < record->n_extra; i++)
    if (!strcmp(record->extra_name[i], name) && record->extra[i]) return record->extra[i][row];
  return NAN;
}

/* The values of one evaluation in the columns of a prefix with names; returns their number. */
static int values_of(const RgRecord *record, const char *prefix, RgTexts names, int row,
                     double *values)
{
  char name[RG_NAME_MAX];

  for (int k = 0; k < names.n; k++) {
    snprintf(name, sizeof(name), "%s%s", prefix, names.values[k]);
    values[k] = value_of(record, name, row);
  }
  return names.n;
}

/* The values of one evaluation beside f (rg_trial_more). */
static void more_of(const RgCell *cell, const RgRecord *record, int row, double *values)
{
  values += values_of(record, RG_CONSTRAINT_PREFIX, cell->constraints, row, values);
  if (rg_duration_kind(cell->crew.duration) == RG_DURATION_REPORTED)
    *values++ = value_of(record, RG_REPORTED_COLUMN, row);
  (void)values_of(record, RG_ANSWER_PREFIX, rg_cell_numbers(cell), row, values);
}

/* Number of an evaluation in the order of asking. */
static int number_of(const RgRecord *record, int row)
{
  const double *submission = record->column[RG_COLUMN_SUBMISSION];

  return submission && submission[row] >= 1 && submission[row] < INT_MAX ? (int)submission[row]
                                                                         : row + 1;
}

static PetscErrorCode take(void *closure, const RgRecord *record)
{
  Search *search = closure;
  const double *x = record->column[RG_COLUMN_X], *c = record->column[RG_COLUMN_C];
  const double *f = record->column[RG_COLUMN_F];
  RgFault fault = {0};
  double *more;

  PetscFunctionBeginUser;
  if (strcmp(record->id, search->trial->id) || !x || !f) PetscFunctionReturn(0);
  if (record->dim_x != search->trial->dim_x || record->dim_c != search->trial->dim_c ||
      (record->dim_c && !c))
    PetscFunctionReturn(0); /* forged: the trial has other points */
  PetscCall(PetscFree(search->timeline));
  if (record->timeline) PetscCall(PetscStrallocpy(record->timeline, &search->timeline));
  PetscCall(PetscMalloc1(rg_trial_more(search->cell), &more));
  for (int row = 0; row < record->n_rows; row++) {
    more_of(search->cell, record, row, more);
    PetscCall(
      rg_evaluation_log_add(search->log, number_of(record, row), x + (size_t)row * record->dim_x,
                            c ? c + (size_t)row * record->dim_c : NULL, f[row], more, 0, &fault));
  }
  PetscCall(PetscFree(more));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_evaluations_of(const char *path, const RgTrial *trial, const RgCell *cell,
                                 RgEvaluationLog **log, char **timeline)
{
  Search search = {.trial = trial, .cell = cell};
  RgFault fault = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_evaluation_log_open(NULL, RG_FOLDER_EVALUATIONS, trial->id, NULL, trial->dim_x,
                                   trial->dim_c, rg_trial_more(cell), &search.log));
  *log = search.log;
  PetscCall(rg_store_visit(path, take, &search, NULL, &fault));
  *timeline = search.timeline;
  PetscFunctionReturn(0);
}
