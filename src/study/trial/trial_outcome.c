/* Evaluations that fail or violate an outcome constraint: what the method learns, and what is
   recorded. */
#include "base/files.h"
#include "base/number.h"
#include "base/text.h"
#include "regret/regret.h"
#include "study/trial/trial_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether regret ignores an evaluation because it failed or violates a constraint. */
static bool counts_not(const RgTrialRun *run, int row)
{
  return !run->history.feasible[row];
}

/* Whether a design is feasible; for designs that were not evaluated themselves. */
static PetscErrorCode is_feasible(RgTrialRun *run, const RgPoint *point, bool *feasible)
{
  RgFailure failure = {0};

  PetscCall(rg_problem_constrain(run->problem, point, run->constraints, &failure));
  *feasible = !failure.failed;
  for (int k = 0; k < run->problem->domain.n_constraints && *feasible; k++)
    *feasible = run->constraints[k] <= 0;
  return 0;
}

/* Compute F design by design; NaN if a design is infeasible or F fails. */
static PetscErrorCode objective_singly(RgTrialRun *run, int column, int first, int n,
                                       const RgPoint *points, double *F)
{
  for (int i = 0; i < n; i++) {
    RgFailure failure = {0};
    bool feasible = column != RG_COLUMN_X || !counts_not(run, first + i);
    F[i] = NAN;
    if (isnan(points[i].x[0])) continue;
    if (column != RG_COLUMN_X) PetscCall(is_feasible(run, &points[i], &feasible));
    if (!feasible) continue;
    PetscCall(rg_problem_objective(run->problem, 1, &points[i], &F[i], &failure));
    if (failure.failed) F[i] = NAN;
    if (failure.failed && !rg_trial_tolerates(run))
      rg_failure_set(&run->failure, "%s", failure.message);
  }
  return 0;
}

/* F of a costly problem at its evaluations: the observed f; NaN with a context that was not
   announced. */
static void objective_observed(const RgTrialRun *run, int first, double *F)
{
  const RgDomain *domain = &run->problem->domain;
  const bool unknown = domain->context.dim && domain->control != RG_CONTEXT_ANNOUNCED;

  for (int row = first; row < run->record->n_rows; row++)
    F[row] = unknown || counts_not(run, row) ? NAN : run->record->column[RG_COLUMN_F][row];
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

/* F of the designs in `column`, rows [first, n_rows), or by their indices in a finite design. */
static PetscErrorCode objective_of(RgTrialRun *run, int column, const int *indices, int first,
                                   double *F)
{
  int n = run->record->n_rows - first, dim = run->problem->domain.design.dim;
  const double *x = run->record->column[column] + (ptrdiff_t)first * dim;
  RgPoint *points;

  if (n > 0 && isnan(x[(size_t)(n - 1) * dim])) n--; /* the trial failed at this recommendation */
  if (n <= 0) return 0;
  if (rg_problem_is_observed(run->problem->class)) {
    if (column == RG_COLUMN_X) objective_observed(run, first, F);
    else recommended_observed(run->record, first, F);
    return 0;
  }
  PetscCall(PetscMalloc1(n, &points));
  for (int i = 0; i < n; i++)
    points[i] =
      (RgPoint){.index = indices[first + i], .context_index = -1, .x = x + (size_t)i * dim};
  if (run->problem->domain.n_constraints || rg_trial_tolerates(run))
    PetscCall(objective_singly(run, column, first, n, points, F + first));
  else PetscCall(rg_problem_objective(run->problem, n, points, F + first, &run->failure));
  PetscCall(PetscFree(points));
  return 0;
}

/* Whether the simple regret after row `row` is at most the target of the study. */
static PetscErrorCode trial_reaches(RgTrialRun *run, int row, bool *reached)
{
  double *F = run->record->column[RG_COLUMN_OBJECTIVE], best = -INFINITY, optimum, accuracy;

  run->record->n_rows = row + 1;
  PetscCall(objective_of(run, RG_COLUMN_X, run->history.index, run->n_scored, F));
  run->n_scored = row + 1;
  PetscCall(rg_instance_optimum(run->instance, &optimum, &accuracy, &run->failure));
  for (int i = 0; i <= row; i++) best = fmax(best, F[i]);
  *reached = optimum - best <= run->cell->run.stop_regret;
  return 0;
}

/* Compute regret by score s. */
static PetscErrorCode run_score_regret(RgTrialRun *run, int s)
{
  const int columns[] = {RG_COLUMN_SCORE_INSTANTANEOUS_REGRET, RG_COLUMN_SCORE_SIMPLE_REGRET,
                         RG_COLUMN_SCORE_CUMULATIVE_REGRET};
  RgRecord *record = run->record;
  int n = record->n_rows;
  RgPoint *points;
  double *values, optimum;

  PetscCall(PetscMalloc1(n, &points));
  PetscCall(PetscMalloc1(5 * (size_t)n, &values));
  for (int row = 0; row < n; row++) points[row] = (RgPoint){.index = run->history.index[row]};
  PetscCall(run->problem->class->scores->value(run->problem, s, n, points, values, &optimum));
  for (int row = 0; row < n; row++) {
    const double best = rg_trial_cell(run, RG_COLUMN_SCORE_RECOMMENDED, row)[s];
    if (!isnan(best)) points[row].index = (int)best;
  }
  PetscCall(run->problem->class->scores->value(run->problem, s, n, points, values + n, &optimum));
  PetscCall(rg_regret(&(RgScores){n, record->n_initial, run->cell->run.count_initial, optimum, 0,
                                  values, values + n, NULL, NULL},
                      &(RgRegrets){values + 2 * n, values + 3 * n, values + 4 * n}, NULL));
  for (int k = 0; k < 3; k++)
    for (int row = 0; row < n; row++)
      rg_trial_cell(run, columns[k], row)[s] = values[(2 + k) * n + row];
  PetscCall(PetscFree(values));
  PetscCall(PetscFree(points));
  return 0;
}

/* Compute the regrets of a record with known optimum and objective. A trial above the optimum
   has not failed, but its record reports it, in the same words for minimised problems. */
static PetscErrorCode count_regret(const RgCell *cell, RgRecord *record, double accuracy,
                                   const double *recommended, const RgTrialMoments *moments)
{
  RgExcess excess;

  PetscCall(rg_regret(&(RgScores){record->n_rows, record->n_initial, cell->run.count_initial,
                                  record->optimum, accuracy, record->column[RG_COLUMN_OBJECTIVE],
                                  recommended, moments->optima, moments->best},
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

/* F and regret where F is the same for all rows. */
static PetscErrorCode fixed_regret(RgTrialRun *run)
{
  RgRecord *record = run->record;
  double *recommended = NULL, *F = record->column[RG_COLUMN_OBJECTIVE], accuracy;

  PetscCall(objective_of(run, RG_COLUMN_X, run->history.index, 0, F));
  for (int row = 0; run->problem->objective_error > 0 && row < record->n_rows; row++)
    record->column[RG_COLUMN_OBJECTIVE_ERROR][row] = run->problem->objective_error;
  if (run->cell->algorithm->recommend) {
    PetscCall(PetscMalloc1(record->n_rows, &recommended));
    for (int row = 0; row < record->n_rows; row++) recommended[row] = NAN;
    PetscCall(objective_of(run, RG_COLUMN_RECOMMENDATION, run->recommended,
                           PetscMax(record->n_initial - 1, 0), recommended));
  }
  PetscCall(rg_instance_optimum(run->instance, &record->optimum, &accuracy, &run->failure));
  PetscCall(count_regret(run->cell, record, accuracy, recommended, &(RgTrialMoments){0}));
  for (int s = 0; s < run->cell->n_scores; s++)
    if (rg_trial_is_scored(run, s)) PetscCall(run_score_regret(run, s));
  PetscCall(PetscFree(recommended));
  return 0;
}

/* The regret if F differs between rows. The record's optimum is the optimum of the last row. */
static PetscErrorCode current_regret(RgTrialRun *run)
{
  RgRecord *record = run->record;
  const int n = record->n_rows;
  RgTrialMoments moments = {0};

  PetscCall(PetscMalloc3(n, &moments.recommended, n, &moments.optima, n, &moments.best));
  PetscCall(rg_trial_moments(run, &moments));
  record->optimum = moments.optima[n - 1];
  PetscCall(count_regret(run->cell, record, moments.accuracy, moments.recommended, &moments));
  PetscCall(PetscFree3(moments.recommended, moments.optima, moments.best));
  return 0;
}

PetscErrorCode rg_trial_regret(RgTrialRun *run)
{
  RgFailure earlier = run->failure; /* a failed trial is scored up to its failure */

  run->failure = (RgFailure){0};
  run->problem->objective_error = 0;
  if (rg_trial_follows(run)) PetscCall(current_regret(run));
  else PetscCall(fixed_regret(run));
  run->abandoned = run->failure.failed && run->stop_heard;
  if (earlier.failed) run->failure = earlier;
  return 0;
}

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
  PetscCall(count_regret(cell, record, 0, recommended, &(RgTrialMoments){0}));
  PetscCall(PetscFree(recommended));
  return 0;
}

bool rg_trial_tolerates(const RgTrialRun *run)
{
  return run->cell->on_failure.rule != RG_FAILURE_FAILS;
}

/* In explanations the full text follows this character, which no reason has. */
static const char text_follows = '\r';
#define TEXTS_MAX (1 << 20) /* bytes of full texts in a record */

/* Append a line with a full text, or with the number of an evaluation that has the same one. */
static PetscErrorCode add_text(RgText *texts, int evaluation, const char *json)
{
  const size_t length = strlen(json);

  for (const char *line = texts->data; line && *line; line = strchr(line, '\n') + 1) {
    const char *own = strchr(line, ' ') + 1;
    if (strncmp(own, json, length) || own[length] != '\n') continue;
    PetscCall(rg_text_add(texts, "%d: %d\n", evaluation, atoi(line)));
    return 0;
  }
  if (texts->length + length < TEXTS_MAX)
    PetscCall(rg_text_add(texts, "%d: %s\n", evaluation, json));
  return 0;
}

PetscErrorCode rg_trial_explain(RgTrialRun *run, const char *reason)
{
  RgText *account = &run->account;

  PetscCall(rg_text_clear(&run->explanation));
  PetscCall(rg_text_add(&run->explanation, "%s", reason));
  while (account->length && isspace((unsigned char)account->data[account->length - 1]))
    account->data[--account->length] = '\0';
  if (account->length && !strstr(reason, account->data)) {
    PetscCall(rg_text_add_bytes(&run->explanation, &text_follows, 1));
    PetscCall(rg_text_add_json(&run->explanation, account->data, account->length));
  }
  PetscCall(rg_text_clear(account));
  return 0;
}

PetscErrorCode rg_trial_keep_failure(RgTrialRun *run, int evaluation, bool reasoned,
                                     const char *explanation)
{
  const char *text = strchr(explanation, text_follows);
  const size_t length = text ? (size_t)(text - explanation) : strlen(explanation);

  if (reasoned)
    PetscCall(rg_text_add(&run->failures, "%d: %.*s\n", evaluation, (int)length, explanation));
  if (text) PetscCall(add_text(&run->texts, evaluation, text + 1));
  return 0;
}

PetscErrorCode rg_trial_note(RgTrialRun *run, int evaluation, const char *reason)
{
  const RgTrialHost *host = run->host;
  const bool program = run->log || run->answers; /* otherwise the record has the full text */
  RgText line = {0};

  PetscCall(rg_trial_explain(run, reason));
  PetscCall(rg_trial_keep_failure(run, evaluation, true, run->explanation.data));
  if (host->reasons) rg_reasons_add(host->reasons, reason, 1);
  if (!host->log || !program) return 0;
  PetscCall(rg_text_add(&line, "trial %s (%s on %s, seed %llu), evaluation %d: %s\n",
                        run->trial->id, run->cell->algorithm_label, run->cell->problem_label,
                        (unsigned long long)run->trial->seed, evaluation, reason));
  (void)rg_file_append(host->log, line.data, line.length); /* results don't depend on this log */
  PetscCall(rg_text_clear(&line));
  return 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

static void add_column(RgTrialRun *run, int *n, const char *prefix, const char *name,
                       const char *doc)
{
  snprintf(run->names[*n], RG_NAME_MAX, "%s%s", prefix, name);
  run->columns[*n] = (RgRecordColumn){run->names[*n], doc};
  (*n)++;
}

PetscErrorCode rg_trial_columns(RgTrialRun *run)
{
  const RgDomain *domain = &run->problem->domain;
  const RgTexts numbers = rg_cell_numbers(run->cell);
  const int all = run->n_extra + 6 + domain->n_constraints + numbers.n;
  int n = run->n_extra;

  PetscCall(PetscCalloc1(all + 1, &run->columns));
  PetscCall(PetscCalloc1(all, &run->names));
  PetscCall(PetscCalloc1(rg_trial_more(run->cell) + 1, &run->constraints));
  run->problem->task.numbers = run->constraints + rg_trial_more(run->cell) - numbers.n;
  for (int i = 0; i < n; i++) run->columns[i] = run->algorithm.columns[i];
  if (rg_trial_tolerates(run))
    add_column(run, &n, "", "failed",
               "1 where the evaluation failed and the trial went on, else 0");
  if (rg_trial_tolerates(run) || domain->n_constraints)
    add_column(run, &n, "", "feasible",
               "1 where the evaluation did not fail and every constraint is at most 0, else 0");
  for (int k = 0; k < domain->n_constraints; k++)
    add_column(run, &n, RG_CONSTRAINT_PREFIX, domain->constraints[k],
               "outcome constraint, feasible where it is at most 0");
  if (run->duration.kind == RG_DURATION_REPORTED)
    add_column(run, &n, "", RG_REPORTED_COLUMN, "the duration that the program reported");
  run->numbers = n;
  for (int k = 0; k < numbers.n; k++)
    add_column(run, &n, RG_ANSWER_PREFIX, numbers.values[k], "number in the program's answer");
  run->otherwise = run->real ? n : -1;
  for (int k = 0; k < run->n_extra; k++)
    if (!strcmp(run->columns[k].name, RG_OTHERWISE_COLUMN)) run->otherwise = k;
  if (run->otherwise == n)
    add_column(run, &n, "", RG_OTHERWISE_COLUMN,
               "1 where the method, asked again after a kill, chose otherwise: the log counts");
  if (run->cell->given.y)
    add_column(run, &n, "", "known",
               "1 where the value is that of the file of given designs, else 0");
  if (rg_trial_may_end(run))
    add_column(run, &n, "", "stopped",
               "in the last row of a trial that ended before its budget: 1 at the target regret, 2 "
               "after the seconds of `stop`; else 0");
  run->n_columns = n;
  return 0;
}

static void record_outcome(RgTrialRun *run, int row)
{
  double **extra = run->record->extra + run->n_extra;
  const int n = run->history.n_constraints, at = run->order[row] - 1;

  if (rg_trial_tolerates(run)) *(*extra++ + at) = isnan(run->history.observed[row]);
  if (rg_trial_tolerates(run) || n) *(*extra++ + at) = run->history.feasible[row];
  for (int k = 0; k < n; k++) (*extra++)[at] = run->history.constraints[(size_t)row * n + k];
  if (run->duration.kind == RG_DURATION_REPORTED) (*extra++)[at] = run->times[at];
  extra += rg_cell_numbers(run->cell).n; /* recorded with the evaluation */
  if (run->otherwise >= run->n_extra) extra++;
  if (run->cell->given.y) (*extra++)[at] = rg_trial_knows(run, at);
  if (rg_trial_may_end(run)) (*extra++)[at] = 0;
}

PetscErrorCode rg_trial_check_end(RgTrialRun *run, int row)
{
  const RgTrialSettings *settings = &run->cell->run;
  bool reached = false;

  if (!isnan(settings->stop_regret)) PetscCall(trial_reaches(run, row, &reached));
  if (reached) run->ended = RG_ENDED_REGRET;
  else if (run->seconds >= settings->stop_seconds) run->ended = RG_ENDED_SECONDS;
  if (run->ended) run->record->extra[run->n_columns - 1][run->order[row] - 1] = run->ended;
  return 0;
}

/* ---- reporting to the method --------------------------------------------------------------- */

/* The smallest feasible value among the first n observations; the smallest of all if none is
   feasible; 0 without observations. */
static double worst_of(const RgHistory *history, int n)
{
  double feasible = INFINITY, any = INFINITY;

  for (int i = 0; i < n; i++) {
    if (isnan(history->observed[i])) continue;
    any = fmin(any, history->observed[i]);
    if (history->feasible[i]) feasible = fmin(feasible, history->observed[i]);
  }
  if (isfinite(feasible)) return feasible;
  return isfinite(any) ? any : 0;
}

/* Give the method its values; those of the initial design together, once it is complete. */
static void tell(RgTrialRun *run, int row)
{
  RgHistory *history = &run->history;
  const RgOnFailure *on_failure = &run->cell->on_failure;
  const int first = row == history->n_initial - 1 ? 0 : row;
  const double instead =
    on_failure->rule == RG_FAILURE_PENALTY ? on_failure->penalty : worst_of(history, row + 1);

  for (int i = first; i <= row; i++)
    if (!history->feasible[i]) history->y[i] = instead;
}

PetscErrorCode rg_trial_outcome(RgTrialRun *run, int row, double observed)
{
  PetscCall(rg_history_judge(&run->history, observed, run->constraints));
  tell(run, row);
  record_outcome(run, row);
  return 0;
}
