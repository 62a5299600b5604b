/* Tell: an evaluation that has ended becomes the next row of the history. One that failed or
   violates an outcome constraint gets another value for the method. The method may recommend a
   design, and the trial may end. */
#include "study/trial/trial_internal.h"

#include <math.h>
#include <string.h>

/* ---- the row --------------------------------------------------------------------------------- */

/* Move an entry of an array forward; those that it passes move back by one place. */
static PetscErrorCode move_entry(void *array, size_t bytes, int from, int to)
{
  const size_t between = (size_t)(from - to) * bytes;
  char *first = (char *)array + (size_t)to * bytes, *moved;

  if (!array || !bytes) return 0;
  PetscCall(PetscMalloc(bytes, &moved));
  memcpy(moved, first + between, bytes);
  memmove(first + bytes, first, between);
  memcpy(first, moved, bytes);
  return PetscFree(moved);
}

/* Make a row in flight the first of them: then it is the next row of the history and the record. */
static PetscErrorCode bring_forward(RgTrialRun *run, int from)
{
  RgHistory *h = &run->rows.history;
  RgRecord *record = run->out.record;
  const size_t real = sizeof(double);
  const struct {
    void *array;
    size_t bytes;
  } arrays[] = {{h->x, real * h->dim},
                {h->c, real * h->context_dim},
                {h->index, sizeof(*h->index)},
                {h->context_index, sizeof(*h->context_index)},
                {h->y, real},
                {h->constraints, real * h->n_constraints},
                {h->timings, sizeof(*h->timings)}};

  if (from == h->n) return 0;
  for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
    PetscCall(move_entry(arrays[i].array, arrays[i].bytes, from, h->n));
  for (int c = 0; c < RG_COLUMN_COUNT; c++)
    PetscCall(move_entry(record->column[c], real * rg_record_width(record, c), from, h->n));
  for (int k = 0; k < record->n_extra; k++)
    PetscCall(move_entry(record->extra[k], real, from, h->n));
  return 0;
}

/* ---- the value ------------------------------------------------------------------------------- */

/* Check how the evaluation in row `row` ended. If it did not end well, the trial fails, or its
   value is forgotten. */
static PetscErrorCode check_ending(RgTrialRun *run, const RgCrewRow *told, int row)
{
  static const char *const words[] = {
    [RG_ENDED_TOO_LONG] = "it takes longer than 'time_limit'", [RG_ENDED_LOST] = "its worker died"};
  RgHistory *history = &run->rows.history;
  const int n = history->n_constraints;

  if (rg_trial_is_broken(run, told->submission))
    run->failure = run->rows.broken[told->submission - 1];
  if (told->ending == RG_ENDED_DONE) return 0;
  if (!rg_trial_tolerates(run)) {
    rg_failure_set(&run->failure, "%s", words[told->ending]);
    return 0;
  }
  PetscCall(rg_trial_record_failure(run, told->submission, words[told->ending]));
  history->y[row] = NAN;
  for (int k = 0; k < n; k++) history->constraints[(size_t)row * n + k] = NAN;
  *rg_trial_cell(run, RG_COLUMN_F, row) = *rg_trial_cell(run, RG_COLUMN_Y, row) = NAN;
  return 0;
}

/* Give the method its values; those of the initial design together, once it is complete. Where an
   evaluation is infeasible: the penalty of the study, or the smallest feasible observation so far;
   the smallest of all if none is feasible; 0 without observations. */
static void replace_infeasible(RgTrialRun *run, int row)
{
  RgTrialRows *rows = &run->rows;
  RgHistory *history = &rows->history;
  const RgOnFailure *on_failure = &run->of.cell->on_failure;
  const int first = row == history->n_initial - 1 ? 0 : row;
  const double observed = history->observed[row];

  if (!isnan(observed)) rows->least = fmin(rows->least, observed);
  if (history->feasible[row]) rows->least_feasible = fmin(rows->least_feasible, observed);
  const double worst = isfinite(rows->least_feasible) ? rows->least_feasible
                       : isfinite(rows->least)        ? rows->least
                                                      : 0;
  for (int i = first; i <= row; i++)
    if (!history->feasible[i])
      history->y[i] = on_failure->rule == RG_FAILURE_PENALTY ? on_failure->penalty : worst;
}

/* ---- the recommendation ---------------------------------------------------------------------- */

/* Record the recommendation after t queries, and that by every score; t = 0: after the initial
   design. */
static PetscErrorCode run_recommendation(RgTrialRun *run, int t, int row)
{
  const RgCell *cell = run->of.cell;
  const RgAlgorithmClass *class = cell->algorithm;
  const RgScoring *scores = cell->score < 0 ? class->scores : NULL;
  const RgHistory *history = &run->rows.history;
  int *recommended = &run->rows.recommended[row];

  PetscCall(class->recommend(&run->algorithm, t, history, &run->query, &run->failure));
  *recommended = run->failure.failed ? -1 : run->query.index;
  if (!run->failure.failed)
    rg_space_to_native(&run->of.problem->domain.design, run->query.x,
                       rg_trial_cell(run, RG_COLUMN_RECOMMENDATION, row));
  for (int s = 0; s < cell->n_scores && !run->failure.failed; s++) {
    if (!rg_trial_is_scored(run, s)) continue;
    if (scores)
      PetscCall(scores->recommend(&run->algorithm, t, history, s, &run->query, &run->failure));
    if (!run->failure.failed)
      rg_trial_cell(run, RG_COLUMN_SCORE_RECOMMENDED, row)[s] =
        scores ? run->query.index : *recommended;
  }
  return 0;
}

/* Ask the method for its recommendation after row `row`. Without one, skip the clock: each
   reading of CPU time is a system call. */
static PetscErrorCode ask_recommendation(RgTrialRun *run, int row)
{
  const int t = row + 1 - run->of.trial->n_initial;

  if (!run->of.cell->algorithm->recommend || t < 0) return 0;
  if (t) {
    rg_trial_read_own(run, row);
    PetscCall(rg_clock_begin(&run->clock, RG_STAGE_ACQUIRE));
  }
  rg_trial_begin_method(run);
  PetscCall(rg_trial_end_method(run, run_recommendation(run, t, row)));
  if (!t || run->abandoned) return 0; /* a stop may have come within a stage */
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_ACQUIRE));
  rg_trial_record_own(run, row);
  return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

PetscErrorCode rg_trial_tell(RgTrialRun *run, const RgCrewRow *told, bool *stop)
{
  RgHistory *history = &run->rows.history;
  const int row = history->n, from = rg_trial_row(run, told->submission);
  const int n0 = run->of.trial->n_initial, n = history->n_constraints;
  const double *constraints = history->constraints + (size_t)row * n;

  run->stage = told->submission;
  PetscCall(check_ending(run, told, from));
  *stop = run->failure.failed;
  if (*stop) return 0;
  PetscCall(bring_forward(run, from));
  history->n++;
  PetscCall(rg_history_set_outcome(history, history->y[row], constraints));
  replace_infeasible(run, row);
  rg_trial_record_extra(run, RG_EXTRA_FAILED, 0, row, isnan(history->observed[row]));
  rg_trial_record_extra(run, RG_EXTRA_FEASIBLE, 0, row, history->feasible[row]);
  for (int k = 0; k < n; k++)
    rg_trial_record_extra(run, RG_EXTRA_CONSTRAINT, k, row, constraints[k]);
  rg_trial_record_extra(run, RG_EXTRA_KNOWN, 0, row, rg_trial_knows(run, told->submission));
  rg_trial_record_extra(run, RG_EXTRA_STOPPED, 0, row, 0);
  PetscCall(ask_recommendation(run, row));
  rg_trial_record_time(run, row);
  if (row >= n0 || (row == n0 - 1 && rg_trial_continues(run))) {
    /* Decide whether the trial ends after row `row`, and record why. */
    const RgTrialSettings *settings = &run->of.cell->run;
    bool reached = false;
    if (!isnan(settings->stop_regret)) PetscCall(rg_trial_reaches(run, row, &reached));
    if (reached) run->ended = RG_ENDED_REGRET;
    else if (run->rows.seconds >= settings->stop_seconds) run->ended = RG_ENDED_SECONDS;
    if (run->ended) rg_trial_record_extra(run, RG_EXTRA_STOPPED, 0, row, run->ended);
  }
  *stop = run->failure.failed || run->abandoned || run->ended;
  return 0;
}
