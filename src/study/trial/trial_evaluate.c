/* One evaluation of a trial, made now or read from the log of an earlier run. */
#include <math.h>

#include "base/clock.h"
#include "base/inputs.h"
#include "study/trial/trial_internal.h"

#define ROUNDING 1e-12 /* relative error of a conversion from the unit cube */

/* The stop function of a waiting evaluation. */
bool rg_trial_hear_stop(void *closure)
{
  RgTrialRun *run = closure;

  if (run->host->stop && run->host->stop(run->host->stop_closure)) run->stop_heard = true;
  return run->stop_heard;
}

static const double patience = 600.0; /* seconds to wait for a disk that refuses the log */

PetscErrorCode rg_trial_log(RgTrialRun *run, RgEvaluationLog *log, int number, const double *x,
                            const double *c, double value, const double *more, double seconds)
{
  const double until = rg_wall_seconds() + patience;

  PetscFunctionBeginUser;
  for (double pause = 0.05;; pause = PetscMin(2 * pause, 1.0)) {
    run->host->trouble = (RgFault){0};
    PetscCall(rg_evaluation_log_add(log, number, x, c, value, more, seconds, &run->host->trouble));
    if (!run->host->trouble.code) break;
    if (rg_trial_hear_stop(run) || rg_wall_seconds() > until) {
      run->abandoned = true;
      PetscFunctionReturn(0);
    }
    PetscCall(PetscSleep(pause));
  }
  PetscFunctionReturn(0);
}

/* Log an answer: it must be on the disk before it is used. */
static PetscErrorCode log_answer(RgTrialRun *run, const RgPoint *point, int row, double f,
                                 double seconds)
{
  PetscFunctionBeginUser;
  if (!run->log) PetscFunctionReturn(0);
  rg_evaluation_log_explain(run->log, run->tolerated.failed ? run->tolerated.message : NULL);
  PetscCall(rg_trial_log(run, run->log, row + 1, point->x, point->c, f, run->constraints, seconds));
  PetscFunctionReturn(0);
}

/* Evaluate f and the constraints at a point; NaN if the evaluation fails and the trial tolerates
   it. */
static PetscErrorCode ask_value(RgTrialRun *run, const RgPoint *point, int row, double *f)
{
  RgFailure *failure = &run->failure;

  PetscFunctionBeginUser;
  run->tolerated = (RgFailure){0};
  run->problem->task.evaluation = row + 1;
  run->problem->task.lost = false;
  PetscCall(rg_problem_evaluate(run->problem, 1, point, f, failure));
  if (!failure->failed)
    PetscCall(rg_problem_constrain(run->problem, point, run->constraints, failure));
  rg_trial_keep_time(run, row, true);
  if (!failure->failed) PetscFunctionReturn(0);
  run->abandoned = run->stop_heard && run->cell->problem->traits & RG_PROBLEM_COSTLY;
  if (run->abandoned || run->problem->task.lost || !rg_trial_tolerates(run)) PetscFunctionReturn(0);
  PetscCall(rg_trial_note(run, row + 1, failure->message));
  run->tolerated = *failure;
  *failure = (RgFailure){0};
  *f = NAN;
  for (int k = 0; k < run->problem->domain.n_constraints; k++) run->constraints[k] = NAN;
  for (int k = 0; k < rg_cell_numbers(run->cell).n; k++) run->problem->task.numbers[k] = NAN;
  PetscFunctionReturn(0);
}

/* f at a point: from the log of an earlier run, else from the problem. */
static PetscErrorCode find_value(RgTrialRun *run, const RgPoint *point, int row, double *f)
{
  const RgEvaluationLog *known = run->cell->problem->traits & RG_PROBLEM_COSTLY && run->host->known
                                   ? run->host->known
                                   : run->log;
  double seconds, start = rg_wall_seconds();

  PetscFunctionBeginUser;
  if (known &&
      rg_evaluation_log_find(known, row + 1, point->x, point->c, f, run->constraints, &seconds)) {
    const char *reason = rg_evaluation_log_reason(known, row + 1);
    if (reason) PetscCall(rg_trial_keep_failure(run, row + 1, reason));
    run->clock.wall[RG_STAGE_EVALUATE] += seconds;
    run->seconds += seconds;
    rg_trial_keep_time(run, row, false);
    PetscFunctionReturn(0);
  }
  if (known && known == run->host->known) {
    rg_failure_set(&run->failure, "the record has another point here than the one asked for");
    if (run->duration.kind == RG_DURATION_REPORTED) run->times[row] = RG_TIME_MAX; /* in flight */
    PetscFunctionReturn(0);
  }
  const double before = run->problem->task.cpu;
  PetscCall(ask_value(run, point, row, f));
  run->clock.cpu[RG_STAGE_EVALUATE] += run->problem->task.cpu - before;
  seconds = rg_wall_seconds() - start;
  run->seconds += seconds;
  if (!run->failure.failed) PetscCall(log_answer(run, point, row, *f, seconds));
  PetscFunctionReturn(0);
}

/* The query in native units. A given design keeps the values of its file for coordinates that
   count, because the conversion from the unit cube may change the last bits. Coordinates that
   don't count are settled. A method with a model or a search is told the design that is evaluated;
   the steps of others would be too small for that. */
static void find_native(RgTrialRun *run, int row)
{
  const RgSpace *design = &run->problem->domain.design;
  const RgGiven *given = &run->cell->given;
  const size_t at = (size_t)row * design->dim;

  const bool snaps = run->cell->algorithm->reads && !rg_space_is_finite(design);

  if (snaps) rg_space_snap(design, run->query.x, NULL);
  else rg_space_settle(design, run->query.x, NULL);
  rg_space_to_native(design, run->query.x, run->native_x);
  for (int j = 0; j < design->dim; j++) {
    double *native = &run->native_x[j];
    const double rounded = rint(*native);

    if (row < given->n && run->query.x[j] == given->x[at + j]) *native = given->native[at + j];
    else if (snaps && design->inputs && design->inputs[j].kind == RG_INPUT_INTEGER &&
             fabs(*native - rounded) <= ROUNDING * fmax(1, fabs(rounded)))
      *native = rounded;
  }
}

PetscErrorCode rg_trial_draw_context(RgTrialRun *run, int row)
{
  RgRandom random = rg_stream_at(&run->contexts, (uint64_t)row);

  PetscFunctionBeginUser;
  PetscCall(rg_problem_at(run->problem, row + 1));
  PetscCall(run->problem->class->draw_context(run->problem, &random, run->native_c,
                                              &run->query.context_index));
  rg_space_to_unit(&run->problem->domain.context, run->native_c, run->query.c);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_trial_evaluate(RgTrialRun *run, int row)
{
  const RgDomain *domain = &run->problem->domain;
  RgPoint point = {.index = run->query.index, .x = run->native_x, .context_index = -1};
  double f = NAN, y, deviation = sqrt(run->cell->run.noise_variance);

  PetscFunctionBeginUser;
  PetscCall(rg_clock_begin(&run->clock, RG_STAGE_EVALUATE));
  find_native(run, row);
  if (domain->context.dim) {
    point.c = run->native_c;
    if (domain->control == RG_CONTEXT_NATURE) PetscCall(rg_trial_draw_context(run, row));
    if (domain->control == RG_CONTEXT_SIMULATOR)
      rg_space_to_native(&domain->context, run->query.c, run->native_c);
    point.context_index = run->query.context_index;
  }
  const bool known = rg_trial_knows(run, row);
  if (known) f = run->cell->given.y[row];
  else PetscCall(find_value(run, &point, row, &f));
  RgRandom random = rg_stream_at(&run->noise, (uint64_t)row);
  y = deviation > 0 && !known ? f + deviation * rg_random_normal(&random) : f;
  PetscCall(rg_clock_end(&run->clock, RG_STAGE_EVALUATE));
  if (run->abandoned) PetscFunctionReturn(0);

  PetscCall(rg_history_append(&run->asked, run->query.x, run->query.index,
                              domain->context.dim ? run->unit_c : NULL, point.context_index,
                              run->failure.failed ? NAN : y));
  PetscCall(rg_history_judge(&run->asked, y, run->constraints));
  PetscCall(PetscArraycpy(rg_trial_cell(run, RG_COLUMN_X, row), run->native_x, domain->design.dim));
  if (domain->context.dim)
    PetscCall(
      PetscArraycpy(rg_trial_cell(run, RG_COLUMN_C, row), run->native_c, domain->context.dim));
  for (int k = 0; k < rg_cell_numbers(run->cell).n; k++)
    run->record->extra[run->numbers + k][row] = known ? NAN : run->problem->task.numbers[k];
  *rg_trial_cell(run, RG_COLUMN_F, row) = f;
  *rg_trial_cell(run, RG_COLUMN_Y, row) = y;
  PetscFunctionReturn(0);
}
