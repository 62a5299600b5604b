/* F and its optimum row by row, where F differs between the rows of a trial: the law of the
   contexts changes in time, or each context is announced before the decision. */
#include "study/trial/trial_internal.h"

#include "regret/optimum.h"

/* Make F that of row `row`. at: storage for the announced context. */
static PetscErrorCode set_moment(RgTrialRun *run, int row, RgPoint *at)
{
  const RgRecord *record = run->record;

  PetscFunctionBeginUser;
  PetscCall(rg_problem_at(run->problem, row + 1));
  if (run->problem->domain.control != RG_CONTEXT_ANNOUNCED) PetscFunctionReturn(0);
  *at = (RgPoint){.index = -1,
                  .c = record->column[RG_COLUMN_C] + (size_t)row * record->dim_c,
                  .context_index = run->history.context_index[row]};
  run->problem->announced = at;
  PetscFunctionReturn(0);
}

static PetscErrorCode optimum_of(RgTrialRun *run, double *optimum, double *accuracy)
{
  PetscFunctionBeginUser;
  if (run->problem->announced)
    PetscCall(rg_regret_optimum(run->problem, optimum, accuracy, &run->failure));
  else PetscCall(rg_instance_optimum(run->instance, optimum, accuracy, &run->failure));
  PetscFunctionReturn(0);
}

/* The designs of rows 0 .. row, the present F at them, and its maximum. Rows whose evaluation
   failed don't count. */
static PetscErrorCode look_back(RgTrialRun *run, int row, RgPoint *points, double *F, double *best)
{
  const RgRecord *record = run->record;

  PetscFunctionBeginUser;
  *best = -INFINITY;
  for (int i = 0; i <= row; i++)
    points[i] = (RgPoint){.index = run->history.index[i],
                          .context_index = -1,
                          .x = record->column[RG_COLUMN_X] + (size_t)i * record->dim_x};
  PetscCall(rg_problem_objective(run->problem, row + 1, points, F, &run->failure));
  for (int i = 0; i <= row; i++)
    if (!run->history.feasible[i]) F[i] = NAN;
    else *best = fmax(*best, F[i]);
  PetscFunctionReturn(0);
}

static PetscErrorCode recommended_value(RgTrialRun *run, int row, double *F)
{
  const RgRecord *record = run->record;
  const double *column = record->column[RG_COLUMN_RECOMMENDATION];
  RgPoint point = {.index = -1, .context_index = -1};

  PetscFunctionBeginUser;
  *F = NAN;
  if (!run->cell->algorithm->recommend || !column) PetscFunctionReturn(0);
  point.x = column + (size_t)row * record->dim_x;
  point.index = run->recommended[row];
  if (!isnan(point.x[0]))
    PetscCall(rg_problem_objective(run->problem, 1, &point, F, &run->failure));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_trial_moments(RgTrialRun *run, RgTrialMoments *moments)
{
  const int n = run->record->n_rows;
  double *F, error;
  RgPoint at, *points;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &points, n, &F));
  for (int row = 0; row < n; row++) {
    PetscCall(set_moment(run, row, &at));
    PetscCall(look_back(run, row, points, F, &moments->best[row]));
    run->record->column[RG_COLUMN_OBJECTIVE][row] = F[row];
    PetscCall(recommended_value(run, row, &moments->recommended[row]));
    PetscCall(optimum_of(run, &moments->optima[row], &error));
    moments->accuracy = fmax(moments->accuracy, error);
    run->problem->announced = NULL;
  }
  for (int row = 0; run->problem->objective_error > 0 && row < n; row++)
    run->record->column[RG_COLUMN_OBJECTIVE_ERROR][row] = run->problem->objective_error;
  PetscCall(PetscFree2(points, F));
  PetscFunctionReturn(0);
}
