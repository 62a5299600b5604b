/* The evaluations of one trial in a results file, for a second run of it. */
#include "cli/evaluations.h"

#include <string.h>

#include "study/store/store.h"

typedef struct {
  const RgTrial *trial;
  RgEvaluationLog *log;
} Search;

static PetscErrorCode take(void *closure, const RgRecord *record)
{
  Search *search = closure;
  const double *x = record->column[RG_COLUMN_X], *c = record->column[RG_COLUMN_C];
  const double *f = record->column[RG_COLUMN_F];
  RgFault fault = {0};

  PetscFunctionBeginUser;
  if (strcmp(record->id, search->trial->id) || !x || !f) PetscFunctionReturn(0);
  for (int row = 0; row < record->n_rows; row++)
    PetscCall(rg_evaluation_log_add(search->log, row + 1, x + (size_t)row * record->dim_x,
                                    c ? c + (size_t)row * record->dim_c : NULL, f[row], 0, &fault));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_evaluations_of(const char *path, const RgTrial *trial, RgEvaluationLog **log)
{
  Search search = {.trial = trial};
  RgFault fault = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_evaluation_log_open(NULL, RG_FOLDER_EVALUATIONS, trial->id, NULL, trial->dim_x,
                                   trial->dim_c, &search.log));
  *log = search.log;
  PetscCall(rg_store_visit(path, take, &search, NULL, &fault));
  PetscFunctionReturn(0);
}
