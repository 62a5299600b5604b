/* The stored evaluations of one trial, for a second run of it. */
#include "cli/evaluations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "study/store/store.h"

typedef struct {
  const RgTrial *trial;
  const RgCell *cell;
  RgEvaluationLog *log;
} Search;

/* The constraints of one evaluation, from the columns with their names. */
static void constraints_of(const RgTexts *names, const RgRecord *record, int row, double *values)
{
  char name[RG_NAME_MAX];

  for (int k = 0; k < names->n; k++) {
    values[k] = NAN;
    snprintf(name, sizeof(name), "constraint_%s", names->values[k]);
    for (int i = 0; i < record->n_extra; i++)
      if (!strcmp(record->extra_name[i], name) && record->extra[i])
        values[k] = record->extra[i][row];
  }
}

static PetscErrorCode take(void *closure, const RgRecord *record)
{
  Search *search = closure;
  const double *x = record->column[RG_COLUMN_X], *c = record->column[RG_COLUMN_C];
  const double *f = record->column[RG_COLUMN_F];
  const RgTexts *names = &search->cell->constraints;
  RgFault fault = {0};
  double *more;

  PetscFunctionBeginUser;
  if (strcmp(record->id, search->trial->id) || !x || !f) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(names->n, &more));
  for (int row = 0; row < record->n_rows; row++) {
    constraints_of(names, record, row, more);
    PetscCall(rg_evaluation_log_add(search->log, row + 1, x + (size_t)row * record->dim_x,
                                    c ? c + (size_t)row * record->dim_c : NULL, f[row], more, 0,
                                    &fault));
  }
  PetscCall(PetscFree(more));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_evaluations_of(const char *path, const RgTrial *trial, const RgCell *cell,
                                 RgEvaluationLog **log)
{
  Search search = {.trial = trial, .cell = cell};
  RgFault fault = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_evaluation_log_open(NULL, RG_FOLDER_EVALUATIONS, trial->id, NULL, trial->dim_x,
                                   trial->dim_c, cell->constraints.n, &search.log));
  *log = search.log;
  PetscCall(rg_store_visit(path, take, &search, NULL, &fault));
  PetscFunctionReturn(0);
}
