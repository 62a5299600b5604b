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

PetscErrorCode rg_trial_insist(RgTrialRun *run, RgTrialWriting write, void *closure)
{
  const double until = rg_wall_seconds() + patience;

  for (double pause = 0.05;; pause = PetscMin(2 * pause, 1.0)) {
    run->host->trouble = (RgFault){0};
    PetscCall(write(closure, &run->host->trouble));
    if (!run->host->trouble.code) break;
    if (rg_fault_lasts(&run->host->trouble) || rg_trial_hear_stop(run) ||
        rg_wall_seconds() > until) {
      run->abandoned = true;
      return 0;
    }
    PetscCall(PetscSleep(pause));
  }
  return 0;
}

/* ---- the value ------------------------------------------------------------------------------- */

/* An answer to be logged. */
typedef struct {
  const RgTrialRun *run;
  RgPoint point;
  int row;
  double f, seconds;
} Answer;

static PetscErrorCode add_answer(void *closure, RgFault *fault)
{
  const Answer *a = closure;

  return rg_evaluation_log_add(a->run->log, a->row + 1, a->point.x, a->point.c, a->f,
                               a->run->constraints, a->seconds, fault);
}

/* Evaluate f and the constraints. */
PetscErrorCode rg_trial_measure(RgTrialRun *run, int row, double *f)
{
  RgFailure *failure = &run->failure;
  const RgPoint point = rg_trial_point(run, row);

  run->problem->task.evaluation = row + 1;
  run->problem->task.lost = false;
  PetscCall(rg_text_clear(&run->account));
  PetscCall(rg_problem_evaluate(run->problem, 1, &point, f, failure));
  if (!failure->failed)
    PetscCall(rg_problem_constrain(run->problem, &point, run->constraints, failure));
  rg_trial_keep_time(run, row, true);
  return 0;
}

/* After a failure: NaN if the trial tolerates it. */
static PetscErrorCode tolerate(RgTrialRun *run, int row, double *f)
{
  RgFailure *failure = &run->failure;

  run->tolerated = (RgFailure){0};
  if (!failure->failed) return 0;
  run->abandoned = run->stop_heard && run->cell->problem->traits & RG_PROBLEM_COSTLY;
  if (run->abandoned || run->problem->task.lost || !rg_trial_tolerates(run)) return 0;
  PetscCall(rg_trial_note(run, row + 1, failure->message));
  run->tolerated = *failure;
  *failure = (RgFailure){0};
  *f = NAN;
  for (int k = 0; k < run->problem->domain.n_constraints; k++) run->constraints[k] = NAN;
  for (int k = 0; k < rg_cell_numbers(run->cell).n; k++) run->problem->task.numbers[k] = NAN;
  return 0;
}

/* Store f, the observation y, and the numbers that came with it. */
static PetscErrorCode store_value(RgTrialRun *run, int row, double f, double y)
{
  const int n = run->asked.n_constraints;
  const bool known = rg_trial_knows(run, row);

  run->asked.y[row] = run->failure.failed ? NAN : y;
  PetscCall(PetscArraycpy(run->asked.constraints + (size_t)row * n, run->constraints, n));
  for (int k = 0; k < rg_cell_numbers(run->cell).n; k++)
    run->record->extra[run->numbers + k][row] = known ? NAN : run->problem->task.numbers[k];
  *rg_trial_cell(run, RG_COLUMN_F, row) = f;
  *rg_trial_cell(run, RG_COLUMN_Y, row) = y;
  return 0;
}

/* Observe f with noise. */
static PetscErrorCode observe(RgTrialRun *run, int row, double f)
{
  const double deviation = sqrt(run->cell->run.noise_variance);
  RgRandom random = rg_stream_at(&run->noise, (uint64_t)row);

  const double y = deviation > 0 ? f + deviation * rg_random_normal(&random) : f;
  PetscCall(store_value(run, row, f, y));
  return 0;
}

/* Take a value from the file of given designs. Its noise is not known where f is costly. */
static PetscErrorCode take_known(RgTrialRun *run, int row)
{
  const RgPoint point = rg_trial_point(run, row);
  const double y = run->cell->given.y[row];
  RgFailure failure = {0};
  double f = y;

  if (!(run->problem->class->traits & RG_PROBLEM_COSTLY))
    PetscCall(rg_problem_evaluate(run->problem, 1, &point, &f, &failure));
  PetscCall(store_value(run, row, failure.failed ? NAN : f, y));
  return 0;
}

PetscErrorCode rg_trial_keep_value(RgTrialRun *run, int row, double f, double seconds)
{
  Answer answer = {run, rg_trial_point(run, row), row, f, seconds};

  PetscCall(tolerate(run, row, &answer.f));
  run->seconds += seconds;
  if (!run->failure.failed && run->log) { /* the answer must be on the disk before it is used */
    rg_evaluation_log_explain(run->log, run->tolerated.failed ? run->explanation.data : NULL);
    PetscCall(rg_trial_insist(run, add_answer, &answer));
  }
  if (!run->abandoned) PetscCall(observe(run, row, answer.f));
  return 0;
}

PetscErrorCode rg_trial_recall(RgTrialRun *run, int row, bool *found)
{
  const RgEvaluationLog *known = run->cell->problem->traits & RG_PROBLEM_COSTLY && run->host->known
                                   ? run->host->known
                                   : run->log;
  const RgPoint point = rg_trial_point(run, row);
  double f = NAN, seconds = 0;

  *found = rg_trial_knows(run, row);
  if (*found) {
    PetscCall(take_known(run, row));
    return 0;
  }
  *found = known &&
           rg_evaluation_log_find(known, row + 1, point.x, point.c, &f, run->constraints, &seconds);
  if (*found) {
    const char *reason = rg_evaluation_log_reason(known, row + 1);
    if (reason) PetscCall(rg_trial_keep_failure(run, row + 1, true, reason));
    run->clock.wall[RG_STAGE_EVALUATE] += seconds;
    run->seconds += seconds;
    rg_trial_keep_time(run, row, false);
    PetscCall(observe(run, row, f));
  } else if (known && known == run->host->known) {
    rg_failure_set(&run->failure, "the record has another point here than the one asked for");
    if (run->duration.kind == RG_DURATION_REPORTED) run->times[row] = RG_TIME_MAX; /* in flight */
    PetscCall(observe(run, row, NAN));
    *found = true;
  }
  return 0;
}

/* ---- the point ------------------------------------------------------------------------------- */

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

  PetscCall(rg_problem_at(run->problem, row + 1));
  PetscCall(run->problem->class->draw_context(run->problem, &random, run->native_c,
                                              &run->query.context_index));
  rg_space_to_unit(&run->problem->domain.context, run->native_c, run->query.c);
  return 0;
}

PetscErrorCode rg_trial_place(RgTrialRun *run, int row, bool *otherwise)
{
  const RgDomain *domain = &run->problem->domain;
  const bool context = domain->context.dim > 0;

  find_native(run, row);
  *otherwise = rg_trial_recall_point(run, row + 1);
  if (*otherwise) find_native(run, row);
  if (domain->control == RG_CONTEXT_NATURE && context) PetscCall(rg_trial_draw_context(run, row));
  if (domain->control == RG_CONTEXT_SIMULATOR && context)
    rg_space_to_native(&domain->context, run->query.c, run->native_c);
  PetscCall(rg_history_append(&run->asked, run->query.x, run->query.index,
                              context ? run->unit_c : NULL, context ? run->query.context_index : -1,
                              NAN));
  PetscCall(PetscArraycpy(rg_trial_cell(run, RG_COLUMN_X, row), run->native_x, domain->design.dim));
  if (context)
    PetscCall(
      PetscArraycpy(rg_trial_cell(run, RG_COLUMN_C, row), run->native_c, domain->context.dim));
  return 0;
}

RgPoint rg_trial_point(RgTrialRun *run, int row)
{
  return (RgPoint){.index = run->asked.index[row],
                   .x = rg_trial_cell(run, RG_COLUMN_X, row),
                   .context_index = run->asked.context_index[row],
                   .c = run->asked.context_dim ? rg_trial_cell(run, RG_COLUMN_C, row) : NULL};
}

PetscErrorCode rg_trial_evaluate(RgTrialRun *run, int row)
{
  const double start = rg_wall_seconds();
  bool found;
  double f = NAN;

  PetscCall(rg_trial_recall(run, row, &found));
  if (found) return 0;
  const double before = run->problem->task.cpu;
  PetscCall(rg_trial_measure(run, row, &f));
  run->clock.cpu[RG_STAGE_EVALUATE] += run->problem->task.cpu - before;
  PetscCall(rg_trial_keep_value(run, row, f, rg_wall_seconds() - start));
  return 0;
}
