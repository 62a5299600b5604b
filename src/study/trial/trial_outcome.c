/* Evaluations that fail or violate an outcome constraint: what the method learns, and what is
   recorded. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/unicode.h"
#include "study/trial/trial_internal.h"

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

  PetscFunctionBeginUser;
  for (const char *line = texts->data; line && *line; line = strchr(line, '\n') + 1) {
    const char *own = strchr(line, ' ') + 1;
    if (strncmp(own, json, length) || own[length] != '\n') continue;
    PetscCall(rg_text_add(texts, "%d: %d\n", evaluation, atoi(line)));
    PetscFunctionReturn(0);
  }
  if (texts->length + length < TEXTS_MAX)
    PetscCall(rg_text_add(texts, "%d: %s\n", evaluation, json));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_trial_explain(RgTrialRun *run, const char *reason)
{
  RgText *account = &run->account;

  PetscFunctionBeginUser;
  PetscCall(rg_text_clear(&run->explanation));
  PetscCall(rg_text_add(&run->explanation, "%s", reason));
  while (account->length && isspace((unsigned char)account->data[account->length - 1]))
    account->data[--account->length] = '\0';
  if (account->length && !strstr(reason, account->data)) {
    PetscCall(rg_text_add_bytes(&run->explanation, &text_follows, 1));
    PetscCall(rg_text_add_json(&run->explanation, account->data, account->length));
  }
  PetscCall(rg_text_clear(account));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_trial_keep_failure(RgTrialRun *run, int evaluation, bool reasoned,
                                     const char *explanation)
{
  const char *text = strchr(explanation, text_follows);
  const size_t length = text ? (size_t)(text - explanation) : strlen(explanation);

  PetscFunctionBeginUser;
  if (reasoned)
    PetscCall(rg_text_add(&run->failures, "%d: %.*s\n", evaluation, (int)length, explanation));
  if (text) PetscCall(add_text(&run->texts, evaluation, text + 1));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_trial_note(RgTrialRun *run, int evaluation, const char *reason)
{
  const RgTrialHost *host = run->host;
  const bool program = run->log || run->answers; /* otherwise the record has the full text */
  RgText line = {0};

  PetscFunctionBeginUser;
  PetscCall(rg_trial_explain(run, reason));
  PetscCall(rg_trial_keep_failure(run, evaluation, true, run->explanation.data));
  if (host->reasons) rg_reasons_add(host->reasons, reason, 1);
  if (!host->log || !program) PetscFunctionReturn(0);
  PetscCall(rg_text_add(&line, "trial %s (%s on %s, seed %llu), evaluation %d: %s\n",
                        run->trial->id, run->cell->algorithm_label, run->cell->problem_label,
                        (unsigned long long)run->trial->seed, evaluation, reason));
  (void)rg_file_append(host->log, line.data, line.length); /* results don't depend on this log */
  PetscCall(rg_text_clear(&line));
  PetscFunctionReturn(0);
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

  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
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

  PetscFunctionBeginUser;
  if (!isnan(settings->stop_regret)) PetscCall(rg_trial_reaches(run, row, &reached));
  if (reached) run->ended = RG_ENDED_REGRET;
  else if (run->seconds >= settings->stop_seconds) run->ended = RG_ENDED_SECONDS;
  if (run->ended) run->record->extra[run->n_columns - 1][run->order[row] - 1] = run->ended;
  PetscFunctionReturn(0);
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
  PetscFunctionBeginUser;
  PetscCall(rg_history_judge(&run->history, observed, run->constraints));
  tell(run, row);
  record_outcome(run, row);
  PetscFunctionReturn(0);
}
