/* F and regret of the rows of a trial. Rows whose evaluation failed or violates a constraint do not
   count. */
#include "base/number.h"
#include "regret/optimum.h"
#include "regret/regret.h"
#include "study/trial/trial_internal.h"

#include <math.h>
#include <string.h>

/* Compute F design by design; NaN if a design is infeasible or F fails. */
static PetscErrorCode objective_singly(RgTrialRun *run, int column, int first, int n,
                                       const RgPoint *points, double *F)
{
  for (int i = 0; i < n; i++) {
    RgFailure failure = {0};
    bool feasible = column != RG_COLUMN_X || run->rows.history.feasible[first + i];
    F[i] = NAN;
    if (isnan(points[i].x[0])) continue;
    if (column != RG_COLUMN_X) { /* the design was not evaluated itself */
      RgFailure unknown = {0};
      PetscCall(rg_problem_constrain(run->of.problem, &points[i], run->rows.numbers, &unknown));
      feasible = !unknown.failed;
      for (int k = 0; k < run->of.problem->domain.n_constraints && feasible; k++)
        feasible = run->rows.numbers[k] <= 0;
    }
    if (!feasible) continue;
    PetscCall(rg_problem_objective(run->of.problem, 1, &points[i], &F[i], &failure));
    if (failure.failed) F[i] = NAN;
    if (failure.failed && !rg_trial_tolerates(run))
      rg_failure_set(&run->failure, "%s", failure.message);
  }
  return 0;
}

/* F of a costly problem at recorded recommendations; NaN if the design was not evaluated. */
static void recommended_observed(const RgRecord *record, int first, double *F)
{
  const size_t dim = (size_t)record->dim_x;
  const double *x = record->column[RG_COLUMN_X], *at = record->column[RG_COLUMN_RECOMMENDATION];

  for (int row = first; row < record->n_rows; row++) {
    F[row] = NAN;
    for (int i = 0; at && i <= row && isnan(F[row]); i++)
      if (!memcmp(x + (size_t)i * dim, at + (size_t)row * dim, dim * sizeof(double)))
        F[row] = record->column[RG_COLUMN_OBJECTIVE][i];
  }
}

/* F of the designs in `column`, rows [first, n_rows), or by their indices in a finite design. For a
   costly problem this is the observed f; NaN with a context that was not announced. */
static PetscErrorCode objective_of(RgTrialRun *run, int column, const int *indices, int first,
                                   double *F)
{
  const RgRecord *record = run->out.record;
  RgProblem *problem = run->of.problem;
  const RgProblemClass *class = problem->class;
  const RgDomain *domain = &problem->domain;
  const bool observed = rg_problem_is_observed(class);
  const bool unknown = domain->context.dim && domain->control != RG_CONTEXT_ANNOUNCED;
  /* Whether F at the queries is the f that was evaluated. A shared instance is cheap to evaluate,
     and its F at all points together may have other bits. */
  const bool known =
    observed || (!domain->context.dim && !class->objective && !(class->traits & RG_PROBLEM_SHARED));
  const double *x = record->column[column] + (ptrdiff_t)first * record->dim_x;
  int n = record->n_rows - first;
  RgPoint *points;

  /* The trial may have failed at the last recommendation. */
  if (n > 0 && isnan(x[(size_t)(n - 1) * record->dim_x])) n--;
  if (n <= 0) return 0;
  if (column == RG_COLUMN_X && known) {
    for (int row = first; row < record->n_rows; row++)
      F[row] = unknown || !run->rows.history.feasible[row] ? NAN : record->column[RG_COLUMN_F][row];
    return 0;
  }
  if (observed) {
    recommended_observed(record, first, F);
    return 0;
  }
  PetscCall(PetscMalloc1(n, &points));
  for (int i = 0; i < n; i++)
    points[i] = (RgPoint){
      .index = indices[first + i], .context_index = -1, .x = x + (size_t)i * record->dim_x};
  if (domain->n_constraints || rg_trial_tolerates(run))
    PetscCall(objective_singly(run, column, first, n, points, F + first));
  else PetscCall(rg_problem_objective(problem, n, points, F + first, &run->failure));
  return PetscFree(points);
}

PetscErrorCode rg_trial_reaches(RgTrialRun *run, int row, bool *reached)
{
  RgTrialRows *rows = &run->rows;
  double *F = run->out.record->column[RG_COLUMN_OBJECTIVE], optimum, accuracy;

  run->out.record->n_rows = row + 1;
  PetscCall(objective_of(run, RG_COLUMN_X, rows->history.index, rows->n_scored, F));
  for (; rows->n_scored <= row; rows->n_scored++) rows->best = fmax(rows->best, F[rows->n_scored]);
  PetscCall(rg_instance_optimum(run->of.instance, &optimum, &accuracy, &run->failure));
  *reached = optimum - rows->best <= run->of.cell->run.stop_regret;
  return 0;
}

static PetscErrorCode run_score_regret(RgTrialRun *run, int s)
{
  const int columns[] = {RG_COLUMN_SCORE_INSTANTANEOUS_REGRET, RG_COLUMN_SCORE_SIMPLE_REGRET,
                         RG_COLUMN_SCORE_CUMULATIVE_REGRET};
  RgRecord *record = run->out.record;
  int n = record->n_rows;
  RgPoint *points;
  double *values, optimum;

  PetscCall(PetscMalloc1(n, &points));
  PetscCall(PetscMalloc1(5 * (size_t)n, &values));
  for (int row = 0; row < n; row++) points[row] = (RgPoint){.index = run->rows.history.index[row]};
  PetscCall(run->of.problem->class->scores->value(run->of.problem, s, n, points, values, &optimum));
  for (int row = 0; row < n; row++) {
    const double best = rg_trial_cell(run, RG_COLUMN_SCORE_RECOMMENDED, row)[s];
    if (!isnan(best)) points[row].index = (int)best;
  }
  PetscCall(
    run->of.problem->class->scores->value(run->of.problem, s, n, points, values + n, &optimum));
  PetscCall(rg_regret(&(RgScores){n, record->n_initial, run->of.cell->run.count_initial, optimum, 0,
                                  values, values + n, NULL, NULL},
                      &(RgRegrets){values + 2 * n, values + 3 * n, values + 4 * n}, NULL));
  for (int k = 0; k < 3; k++)
    for (int row = 0; row < n; row++)
      rg_trial_cell(run, columns[k], row)[s] = values[(2 + k) * n + row];
  PetscCall(PetscFree(values));
  return PetscFree(points);
}

/* Compute the regrets of a record with known optimum and objective. optima, best: by row, where
   they differ between rows, else NULL. A trial above the optimum has not failed, but its record
   reports it, in the same words for minimised problems. */
static PetscErrorCode compute_regret(const RgCell *cell, RgRecord *record, double accuracy,
                                     const double *recommended, const double *optima,
                                     const double *best)
{
  RgExcess excess;

  PetscCall(rg_regret(&(RgScores){record->n_rows, record->n_initial, cell->run.count_initial,
                                  record->optimum, accuracy, record->column[RG_COLUMN_OBJECTIVE],
                                  recommended, optima, best},
                      &(RgRegrets){record->column[RG_COLUMN_INSTANTANEOUS_REGRET],
                                   record->column[RG_COLUMN_SIMPLE_REGRET],
                                   record->column[RG_COLUMN_CUMULATIVE_REGRET]},
                      &excess));
  if (record->status == RG_STATUS_FAILED) return 0;
  record->message[0] = 0;
  if (excess.first >= 0)
    rg_format(record->message, sizeof(record->message),
              "evaluation %d is better than the optimum by %.3g; regret counts from the best value "
              "of this trial",
              excess.first + 1, excess.amount);
  return 0;
}

static void record_error(RgTrialRun *run)
{
  const double error = run->of.problem->objective_error;

  for (int row = 0; error > 0 && row < run->out.record->n_rows; row++)
    *rg_trial_cell(run, RG_COLUMN_OBJECTIVE_ERROR, row) = error;
}

/* F and regret where F is the same for all rows. */
static PetscErrorCode fixed_regret(RgTrialRun *run)
{
  const RgCell *cell = run->of.cell;
  RgRecord *record = run->out.record;
  const int n = record->n_rows;
  double *recommended = NULL, accuracy;

  PetscCall(objective_of(run, RG_COLUMN_X, run->rows.history.index, 0,
                         record->column[RG_COLUMN_OBJECTIVE]));
  record_error(run);
  if (cell->algorithm->recommend) {
    PetscCall(PetscMalloc1(n, &recommended));
    for (int row = 0; row < n; row++) recommended[row] = NAN;
    PetscCall(objective_of(run, RG_COLUMN_RECOMMENDATION, run->rows.recommended,
                           PetscMax(record->n_initial - 1, 0), recommended));
  }
  PetscCall(rg_instance_optimum(run->of.instance, &record->optimum, &accuracy, &run->failure));
  PetscCall(compute_regret(cell, record, accuracy, recommended, NULL, NULL));
  for (int s = 0; s < cell->n_scores; s++)
    if (rg_trial_is_scored(run, s)) PetscCall(run_score_regret(run, s));
  return PetscFree(recommended);
}

/* ---- F that differs between rows ------------------------------------------------------------- */

/* Compute the present F of the designs of rows 0 .. row, NaN where the evaluation failed, and its
   maximum. */
static PetscErrorCode compute_best(RgTrialRun *run, int row, RgPoint *points, double *F,
                                   double *best)
{
  const RgRecord *record = run->out.record;
  const RgHistory *history = &run->rows.history;

  *best = -INFINITY;
  for (int i = 0; i <= row; i++)
    points[i] = (RgPoint){.index = history->index[i],
                          .context_index = -1,
                          .x = record->column[RG_COLUMN_X] + (size_t)i * record->dim_x};
  PetscCall(rg_problem_objective(run->of.problem, row + 1, points, F, &run->failure));
  for (int i = 0; i <= row; i++)
    if (!history->feasible[i]) F[i] = NAN;
    else *best = fmax(*best, F[i]);
  return 0;
}

/* F and regret where the law of the contexts changes, or the contexts are announced. The record's
   optimum is the optimum of the last row. */
static PetscErrorCode changing_regret(RgTrialRun *run)
{
  RgProblem *problem = run->of.problem;
  RgRecord *record = run->out.record;
  const int n = record->n_rows;
  const double *at = record->column[RG_COLUMN_RECOMMENDATION];
  double *F, *recommended, *optima, *best, error, accuracy = 0;
  RgPoint announced, *points;

  PetscCall(PetscMalloc5(n, &points, n, &F, n, &recommended, n, &optima, n, &best));
  for (int row = 0; row < n; row++) {
    PetscCall(rg_problem_at(problem, row + 1));
    announced = (RgPoint){.index = -1,
                          .c = record->column[RG_COLUMN_C] + (size_t)row * record->dim_c,
                          .context_index = run->rows.history.context_index[row]};
    if (problem->domain.control == RG_CONTEXT_ANNOUNCED) problem->announced = &announced;
    PetscCall(compute_best(run, row, points, F, &best[row]));
    record->column[RG_COLUMN_OBJECTIVE][row] = F[row];
    const RgPoint point = {.index = run->rows.recommended[row],
                           .context_index = -1,
                           .x = at ? at + (size_t)row * record->dim_x : NULL};
    recommended[row] = NAN;
    if (run->of.cell->algorithm->recommend && at && !isnan(point.x[0]))
      PetscCall(rg_problem_objective(problem, 1, &point, &recommended[row], &run->failure));
    if (problem->announced)
      PetscCall(rg_regret_optimum(problem, &optima[row], &error, &run->failure));
    else PetscCall(rg_instance_optimum(run->of.instance, &optima[row], &error, &run->failure));
    accuracy = fmax(accuracy, error);
    problem->announced = NULL;
  }
  record_error(run);
  record->optimum = optima[n - 1];
  PetscCall(compute_regret(run->of.cell, record, accuracy, recommended, optima, best));
  return PetscFree5(points, F, recommended, optima, best);
}

PetscErrorCode rg_trial_regret(RgTrialRun *run)
{
  const RgFailure earlier = run->failure; /* a failed trial is scored up to its failure */
  RgProblem *problem = run->of.problem;
  const bool changes = problem->epoch || problem->domain.control == RG_CONTEXT_ANNOUNCED;

  run->failure = (RgFailure){0};
  problem->objective_error = 0;
  if (changes && !rg_problem_is_observed(problem->class)) PetscCall(changing_regret(run));
  else PetscCall(fixed_regret(run));
  run->abandoned = run->failure.failed && run->stop_requested;
  if (earlier.failed) run->failure = earlier;
  return 0;
}

/* ---- another optimum ------------------------------------------------------------------------- */

PetscErrorCode rg_trial_rescore(const RgCell *cell, double optimum, RgRecord *record)
{
  static const int needed[] = {RG_COLUMN_OBJECTIVE, RG_COLUMN_INSTANTANEOUS_REGRET,
                               RG_COLUMN_SIMPLE_REGRET, RG_COLUMN_CUMULATIVE_REGRET};
  const int n = record->n_rows;
  double *recommended = NULL;

  if (!n) return 0;
  for (int k = 0; k < 4; k++) { /* columns without values were not stored */
    double **column = &record->column[needed[k]];
    const bool missing = !*column;
    if (missing) PetscCall(PetscMalloc1(n, column));
    for (int row = 0; missing && row < n; row++) (*column)[row] = NAN;
  }
  if (cell->algorithm->recommend) {
    PetscCall(PetscMalloc1(n, &recommended));
    for (int row = 0; row < n; row++) recommended[row] = NAN;
    recommended_observed(record, PetscMax(record->n_initial - 1, 0), recommended);
  }
  record->optimum = optimum;
  PetscCall(compute_regret(cell, record, 0, recommended, NULL, NULL));
  return PetscFree(recommended);
}
