/* A trial records more than the values of its evaluations: further columns, models, times and
   failures. */
#include "base/files.h"
#include "base/number.h"
#include "base/text.h"
#include "gp/model/model.h"
#include "gp/model/surrogate.h"
#include "study/trial/trial_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

/* Columns in the making: one more than there can be, which the record then refuses, and the end. */
typedef struct {
  int n;
  RgRecordColumn list[RG_EXTRA_MAX + 2];
  char names[RG_EXTRA_MAX + 1][RG_NAME_MAX];
} Columns;

/* Add the column `which` (RG_EXTRA_...), or a further one of its kind. */
static void add_column(RgTrialRun *run, Columns *columns, int which, const char *prefix,
                       const char *name, const char *doc)
{
  char *full = columns->names[columns->n];

  if (columns->n > RG_EXTRA_MAX) return;
  snprintf(full, RG_NAME_MAX, "%s%s", prefix, name);
  if (run->out.at[which] < 0) run->out.at[which] = columns->n;
  columns->list[columns->n++] = (RgRecordColumn){full, doc};
}

static void list_columns(RgTrialRun *run, Columns *columns)
{
  const RgDomain *domain = &run->of.problem->domain;
  const RgCell *cell = run->of.cell;
  const RgTexts numbers = rg_cell_numbers(cell);
  int *at = run->out.at;

  for (const RgRecordColumn *own = run->algorithm.columns; own && own->name; own++) {
    if (cell->crew.clock && !strcmp(own->name, RG_OTHERWISE_COLUMN))
      at[RG_EXTRA_OTHERWISE] = columns->n;
    columns->list[columns->n++] = *own;
  }
  run->out.n_own = columns->n;
  if (rg_trial_tolerates(run))
    add_column(run, columns, RG_EXTRA_FAILED, "", "failed",
               "1 where the evaluation failed and the trial went on, else 0");
  if (rg_trial_tolerates(run) || domain->n_constraints)
    add_column(run, columns, RG_EXTRA_FEASIBLE, "", "feasible",
               "1 where the evaluation did not fail and every constraint is at most 0, else 0");
  for (int k = 0; k < domain->n_constraints; k++)
    add_column(run, columns, RG_EXTRA_CONSTRAINT, RG_CONSTRAINT_PREFIX, domain->constraints[k],
               "outcome constraint, feasible where it is at most 0");
  if (rg_duration_kind(cell->crew.duration) == RG_DURATION_REPORTED)
    add_column(run, columns, RG_EXTRA_REPORTED, "", RG_REPORTED_COLUMN,
               "the duration that the program reported");
  for (int k = 0; k < numbers.n; k++)
    add_column(run, columns, RG_EXTRA_NUMBER, RG_ANSWER_PREFIX, numbers.values[k],
               "number in the program's answer");
  if (cell->crew.clock && at[RG_EXTRA_OTHERWISE] < 0)
    add_column(run, columns, RG_EXTRA_OTHERWISE, "", RG_OTHERWISE_COLUMN,
               "1 where the method, asked again after a kill, chose otherwise: the log counts");
  if (cell->given.y)
    add_column(run, columns, RG_EXTRA_KNOWN, "", "known",
               "1 where the value is that of the file of given designs, else 0");
  if (rg_trial_may_end(cell))
    add_column(run, columns, RG_EXTRA_STOPPED, "", "stopped",
               "in the last row of a trial that ended before its budget: 1 at the target regret, 2 "
               "after the seconds of `stop`, 3 by the rule of the method; else 0");
}

PetscErrorCode rg_trial_create_record(RgTrialRun *run)
{
  const RgCell *cell = run->of.cell;
  const int n = run->of.trial->n_evaluations, more = rg_trial_more(cell);
  RgModel *model = cell->algorithm->model ? cell->algorithm->model(&run->algorithm) : NULL;
  const int terms = model ? model->kernel.n_terms : 0;
  Columns columns = {0};

  for (int k = 0; k < RG_EXTRA_COUNT; k++) run->out.at[k] = -1;
  list_columns(run, &columns);
  PetscCall(PetscCalloc1(run->out.n_own, &run->query.extra));
  PetscCall(PetscCalloc1(more, &run->rows.numbers));
  run->of.problem->task.numbers = run->rows.numbers + more - rg_cell_numbers(cell).n;
  PetscCall(rg_record_create(run->of.study, run->of.trial, n, model ? model->kernel.dim : 0,
                             columns.list, run->out.record));
  return rg_record_set_terms(run->out.record, terms > 1 ? terms : 0);
}

void rg_trial_record_extra(RgTrialRun *run, int which, int k, int row, double value)
{
  if (run->out.at[which] >= 0) run->out.record->extra[run->out.at[which] + k][row] = value;
}

void rg_trial_record_own(RgTrialRun *run, int row)
{
  for (int k = 0; k < run->out.n_own; k++) run->out.record->extra[k][row] = run->query.extra[k];
}

void rg_trial_read_own(RgTrialRun *run, int row)
{
  for (int k = 0; k < run->out.n_own; k++) run->query.extra[k] = run->out.record->extra[k][row];
}

/* ---- the model ------------------------------------------------------------------------------- */

/* Record the current hyperparameters: one length scale per input; each term has its own too, unless
   that is one per input, because terms may share inputs. */
static void record_kernel(RgTrialRun *run, const RgKernel *kernel, int row)
{
  double *out = rg_trial_cell(run, RG_COLUMN_LENGTH_SCALE, row);

  for (int t = 0; t < kernel->n_terms; t++)
    for (int k = 0; k < kernel->terms[t].n_factors; k++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[k];
      for (int j = 0; j < factor->n_inputs; j++)
        out[factor->inputs[j]] = out[factor->inputs[j] + factor->shift] =
          factor->length_scale[factor->n_scales == 1 ? 0 : j];
    }
  *rg_trial_cell(run, RG_COLUMN_SIGNAL_VARIANCE, row) = rg_kernel_diagonal(kernel);
  for (int t = 0; t < run->out.record->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    rg_trial_cell(run, RG_COLUMN_TERM_VARIANCE, row)[t] = term->variance;
    if (term->factors[0].n_scales == 1)
      rg_trial_cell(run, RG_COLUMN_TERM_LENGTH_SCALE, row)[t] = term->factors[0].length_scale[0];
  }
}

/* Record what bends inputs and outputs, the trend and the sphere. */
static void record_shape(RgTrialRun *run, const RgModel *model, int row)
{
  const RgKernel *kernel = &model->kernel;

  for (int j = 0; kernel->warp && j < kernel->dim; j++) {
    rg_trial_cell(run, RG_COLUMN_WARP_A, row)[j] = kernel->warp[j];
    rg_trial_cell(run, RG_COLUMN_WARP_B, row)[j] = kernel->warp[kernel->dim + j];
  }
  if (kernel->trend) {
    *rg_trial_cell(run, RG_COLUMN_TREND_LINEAR, row) = kernel->trend[0];
    *rg_trial_cell(run, RG_COLUMN_TREND_QUADRATIC, row) = kernel->trend[1];
  }
  if (rg_surrogate_is_linear(model->options)) {
    const double *odds = kernel->terms[0].factors[0].odds;
    *rg_trial_cell(run, RG_COLUMN_SPHERE_SCALE, row) = odds[0] / (1 + odds[0]);
    *rg_trial_cell(run, RG_COLUMN_SPHERE_SHARE, row) = odds[1] / (1 + odds[1]);
  }
  if (model->transform.kind == RG_TRANSFORM_YEO_JOHNSON)
    *rg_trial_cell(run, RG_COLUMN_OUTPUT_POWER, row) = model->transform.lambda;
}

PetscErrorCode rg_trial_record_model(RgTrialRun *run, int row)
{
  const RgAlgorithmClass *class = run->of.cell->algorithm;
  RgModel *model = class->model ? class->model(&run->algorithm) : NULL;
  double mean, sd;

  if (!model) return 0;
  PetscCall(rg_model_predict_history(model, &run->rows.history, row, 1, &mean, &sd));
  *rg_trial_cell(run, RG_COLUMN_POSTERIOR_SD, row) = rg_model_native_sd(model, mean, sd);
  *rg_trial_cell(run, RG_COLUMN_MODEL_NOISE, row) = model->noise_variance;
  if (model->noise_variance > 0) {
    run->out.gain += 0.5 * log1p(sd * sd / model->noise_variance);
    *rg_trial_cell(run, RG_COLUMN_INFORMATION_GAIN, row) = run->out.gain;
  }
  /* An earlier query of the same data may have recorded the fit of the last update. */
  if (model->report.refitted && run->rows.history.n != run->out.fit_recorded) {
    *rg_trial_cell(run, RG_COLUMN_LOG_LIKELIHOOD, row) = model->report.log_likelihood;
    if (model->report.iterations)
      *rg_trial_cell(run, RG_COLUMN_FIT_DATA, row) = model->report.fit_data;
    if (run->algorithm.first > 1)
      *rg_trial_cell(run, RG_COLUMN_FIT_FROM, row) = run->algorithm.first;
  }
  run->out.fit_recorded = run->rows.history.n;
  *rg_trial_cell(run, RG_COLUMN_JITTER, row) = model->report.jitter;
  if (model->report.iterations) {
    *rg_trial_cell(run, RG_COLUMN_SOLVER_ITERATIONS, row) = model->report.iterations;
    *rg_trial_cell(run, RG_COLUMN_SOLVER_RESIDUAL, row) = model->report.residual;
  }
  record_kernel(run, &model->kernel, row);
  record_shape(run, model, row);
  return 0;
}

void rg_trial_record_time(RgTrialRun *run, int row)
{
  static const int columns[RG_STAGE_COUNT][2] = {
    [RG_STAGE_FIT] = {RG_COLUMN_WALL_FIT, RG_COLUMN_CPU_FIT},
    [RG_STAGE_ACQUIRE] = {RG_COLUMN_WALL_ACQUIRE, RG_COLUMN_CPU_ACQUIRE},
    [RG_STAGE_EVALUATE] = {RG_COLUMN_WALL_EVALUATE, RG_COLUMN_CPU_EVALUATE}};

  for (int stage = 0; stage < RG_STAGE_COUNT; stage++) {
    double *wall = rg_trial_cell(run, columns[stage][0], row);
    double *cpu = rg_trial_cell(run, columns[stage][1], row);
    *wall = (isnan(*wall) ? 0 : *wall) + run->clock.wall[stage];
    *cpu = (isnan(*cpu) ? 0 : *cpu) + run->clock.cpu[stage];
  }
  if (run->algorithm.memory > 0)
    *rg_trial_cell(run, RG_COLUMN_PROGRAM_MEMORY, row) = run->algorithm.memory;
  rg_clock_reset(&run->clock);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* In explanations the full text follows this character, which no reason has. */
static const char text_follows = '\r';
#define TEXTS_MAX (1 << 20) /* bytes of full texts in a record */

PetscErrorCode rg_trial_describe_failure(RgTrialRun *run, const char *reason)
{
  RgText *account = &run->out.account, *explanation = &run->out.explanation;

  PetscCall(rg_text_clear(explanation));
  PetscCall(rg_text_add(explanation, "%s", reason));
  while (account->length && isspace((unsigned char)account->data[account->length - 1]))
    account->data[--account->length] = '\0';
  if (account->length && !strstr(reason, account->data)) {
    PetscCall(rg_text_add_bytes(explanation, &text_follows, 1));
    PetscCall(rg_text_add_json(explanation, account->data, account->length));
  }
  return rg_text_clear(account);
}

PetscErrorCode rg_trial_add_failure(RgTrialRun *run, int submission, bool reasoned,
                                    const char *explanation)
{
  const size_t length = strcspn(explanation, (const char[]){text_follows, '\0'});
  const char *json = explanation[length] ? explanation + length + 1 : NULL;
  RgText *texts = &run->out.texts;

  if (reasoned)
    PetscCall(rg_text_add(&run->out.failures, "%d: %.*s\n", submission, (int)length, explanation));
  if (!json) return 0;
  /* Append a line with the full text, or with the number of an evaluation that has the same one. */
  const size_t n = strlen(json);
  for (const char *line = texts->data; line && *line; line = strchr(line, '\n') + 1) {
    const char *own = strchr(line, ' ') + 1;
    if (!strncmp(own, json, n) && own[n] == '\n')
      return rg_text_add(texts, "%d: %d\n", submission, atoi(line));
  }
  return texts->length + n < TEXTS_MAX ? rg_text_add(texts, "%d: %s\n", submission, json) : 0;
}

/* Count a reason `count` more times. */
static void add_reason(RgReasons *reasons, const char *text, int count)
{
  int k = 0;

  while (k < reasons->n && strcmp(reasons->list[k].text, text)) k++;
  if (k == RG_REASONS_MAX) {
    reasons->others += count;
    return;
  }
  if (k == reasons->n) {
    snprintf(reasons->list[k].text, sizeof(reasons->list[k].text), "%s", text);
    reasons->n++;
  }
  reasons->list[k].count += count;
}

void rg_reasons_join(RgReasons *reasons, const RgReasons *more)
{
  for (int k = 0; k < more->n; k++) add_reason(reasons, more->list[k].text, more->list[k].count);
  reasons->others += more->others;
}

PetscErrorCode rg_trial_record_failure(RgTrialRun *run, int submission, const char *reason)
{
  const RgTrialServices *host = run->of.host;
  const RgCell *cell = run->of.cell;
  const bool program = run->log || run->answers; /* otherwise the record has the full text */
  RgText line = {0};

  PetscCall(rg_trial_describe_failure(run, reason));
  PetscCall(rg_trial_add_failure(run, submission, true, run->out.explanation.data));
  if (host->reasons) add_reason(host->reasons, reason, 1);
  if (!host->log || !program) return 0;
  PetscCall(rg_text_add(&line, "trial %s (%s on %s, seed %llu), evaluation %d: %s\n",
                        run->of.trial->id, cell->algorithm_label, cell->problem_label,
                        (unsigned long long)run->of.trial->seed, submission, reason));
  (void)rg_file_append(host->log, line.data, line.length); /* results don't depend on this log */
  return rg_text_clear(&line);
}
