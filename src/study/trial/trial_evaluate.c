/* One evaluation of a trial, made now or read from the log of an earlier run. */
#include <math.h>

#include "base/clock.h"
#include "study/trial/trial_internal.h"

bool rg_trial_poll_stop(void *closure)
{
  RgTrialRun *run = closure;
  RgTrialServices *host = run->of.host;

  host->n = run->rows.history.n;
  if (host->stop && host->stop(host->stop_closure)) run->stop_requested = true;
  return run->stop_requested;
}

static const double patience = 600.0; /* seconds to wait for a disk that refuses the log */

bool rg_trial_retry(RgTrialRun *run, RgTrialRetry *retry)
{
  RgFault *trouble = &run->of.host->trouble;
  const double now = rg_wall_seconds();

  if (!retry->until) { /* the first try */
    *retry = (RgTrialRetry){now + patience, 0.05};
  } else if (!trouble->code) {
    return false;
  } else if (rg_fault_lasts(trouble) || rg_trial_poll_stop(run) || now > retry->until) {
    run->abandoned = true;
    return false;
  } else {
    (void)PetscSleep(retry->pause);
    retry->pause = PetscMin(2 * retry->pause, 1.0);
  }
  *trouble = (RgFault){0};
  return true;
}

RgPoint rg_trial_point(RgTrialRun *run, int submission)
{
  const RgHistory *history = &run->rows.history;
  const int row = rg_trial_row(run, submission);

  return (RgPoint){.index = history->index[row],
                   .x = rg_trial_cell(run, RG_COLUMN_X, row),
                   .context_index = history->context_index[row],
                   .c = history->context_dim ? rg_trial_cell(run, RG_COLUMN_C, row) : NULL};
}

/* Keep the duration that a program reports for a submission. An evaluation that failed takes no
   time if it is not known. asked: the program was asked now. */
static void keep_duration(RgTrialRun *run, int submission, bool asked)
{
  double *reported = run->rows.numbers + run->rows.history.n_constraints;

  if (run->out.at[RG_EXTRA_REPORTED] < 0) return;
  if (asked) *reported = run->of.problem->task.duration;
  if (isnan(*reported) && !run->failure.failed)
    rg_failure_set(&run->failure, "external: the answer has no \"duration\", which 'duration: "
                                  "reported' needs");
  if (isnan(*reported)) *reported = 0;
  rg_trial_record_extra(run, RG_EXTRA_REPORTED, 0, rg_trial_row(run, submission), *reported);
}

PetscErrorCode rg_trial_measure(RgTrialRun *run, int submission, double *f)
{
  RgProblem *problem = run->of.problem;
  const RgPoint point = rg_trial_point(run, submission);

  problem->task.evaluation = submission;
  problem->task.lost = false;
  PetscCall(rg_text_clear(&run->out.account));
  PetscCall(rg_problem_evaluate(problem, 1, &point, f, &run->failure));
  if (!run->failure.failed)
    PetscCall(rg_problem_constrain(problem, &point, run->rows.numbers, &run->failure));
  keep_duration(run, submission, true);
  return 0;
}

/* Store f, the observation y, and the numbers that came with it. */
static PetscErrorCode store_value(RgTrialRun *run, int submission, double f, double y)
{
  RgHistory *history = &run->rows.history;
  const int row = rg_trial_row(run, submission), n = history->n_constraints;
  const bool known = rg_trial_knows(run, submission);

  history->y[row] = run->failure.failed ? NAN : y;
  PetscCall(PetscArraycpy(history->constraints + (size_t)row * n, run->rows.numbers, n));
  for (int k = 0; k < rg_cell_numbers(run->of.cell).n; k++)
    rg_trial_record_extra(run, RG_EXTRA_NUMBER, k, row,
                          known ? NAN : run->of.problem->task.numbers[k]);
  *rg_trial_cell(run, RG_COLUMN_F, row) = f;
  *rg_trial_cell(run, RG_COLUMN_Y, row) = y;
  return 0;
}

/* Observe f with noise. */
static PetscErrorCode observe(RgTrialRun *run, int submission, double f)
{
  const RgNoise *noise = &run->of.noise_law;
  RgRandom random = rg_stream_at(&run->of.noise, (uint64_t)submission - 1);
  RgText mistake = {0};
  double variance;

  PetscCall(rg_noise_variance(noise, rg_trial_point(run, submission).x, &variance, &mistake));
  if (mistake.length && !run->failure.failed)
    rg_failure_set(&run->failure, "the variance of the noise: %s", mistake.data);
  PetscCall(rg_text_clear(&mistake));
  return store_value(run, submission, f,
                     variance > 0 ? f + rg_noise_draw(noise, variance, &random) : f);
}

PetscErrorCode rg_trial_find_value(RgTrialRun *run, int submission, bool *found)
{
  const RgTrialServices *host = run->of.host;
  RgProblem *problem = run->of.problem;
  const bool costly = problem->class->traits & RG_PROBLEM_COSTLY;
  const RgEvaluationLog *log = costly && host->known ? host->known : run->log;
  const RgPoint point = rg_trial_point(run, submission);

  *found = rg_trial_knows(run, submission);
  if (*found) { /* the file of given designs has y, whose noise is not known where f is costly */
    const double y = run->of.cell->given.y[submission - 1];
    double f = y;
    RgFailure failure = {0};
    if (!costly) PetscCall(rg_problem_evaluate(problem, 1, &point, &f, &failure));
    return store_value(run, submission, failure.failed ? NAN : f, y);
  }
  const RgLoggedEvaluation *entry =
    log ? rg_evaluation_log_find(log, submission, point.x, point.c) : NULL;
  *found = entry != NULL;
  if (entry) {
    PetscCall(PetscArraycpy(run->rows.numbers, entry->more, log->n_more));
    if (entry->reason) PetscCall(rg_trial_add_failure(run, submission, true, entry->reason));
    run->clock.wall[RG_STAGE_EVALUATE] += entry->numbers[RG_LOG_SECONDS];
    run->rows.seconds += entry->numbers[RG_LOG_SECONDS];
    keep_duration(run, submission, false);
    PetscCall(observe(run, submission, entry->numbers[RG_LOG_VALUE]));
  } else if (log && log == host->known) {
    rg_failure_set(&run->failure, "the record has another point here than the one asked for");
    rg_trial_record_extra(run, RG_EXTRA_REPORTED, 0, rg_trial_row(run, submission),
                          RG_TIME_MAX); /* in flight */
    PetscCall(observe(run, submission, NAN));
    *found = true;
  }
  return 0;
}

/* After a failure: NaN if the trial tolerates it. */
static PetscErrorCode tolerate(RgTrialRun *run, int submission, double *f)
{
  RgProblem *problem = run->of.problem;

  run->rows.tolerated = (RgFailure){0};
  if (!run->failure.failed) return 0;
  run->abandoned = run->stop_requested && run->of.cell->problem->traits & RG_PROBLEM_COSTLY;
  if (run->abandoned || problem->task.lost || !rg_trial_tolerates(run)) return 0;
  PetscCall(rg_trial_record_failure(run, submission, run->failure.message));
  run->rows.tolerated = run->failure;
  run->failure = (RgFailure){0};
  *f = NAN;
  for (int k = 0; k < problem->domain.n_constraints; k++) run->rows.numbers[k] = NAN;
  for (int k = 0; k < rg_cell_numbers(run->of.cell).n; k++) problem->task.numbers[k] = NAN;
  return 0;
}

PetscErrorCode rg_trial_keep_value(RgTrialRun *run, int submission, double f, double seconds)
{
  const RgPoint point = rg_trial_point(run, submission);
  RgTrialRetry retry = {0};

  PetscCall(tolerate(run, submission, &f));
  run->rows.seconds += seconds;
  if (!run->failure.failed && run->log) { /* the answer must be on the disk before it is used */
    run->log->reason = run->rows.tolerated.failed ? run->out.explanation.data : NULL;
    while (rg_trial_retry(run, &retry))
      PetscCall(rg_evaluation_log_add(run->log, submission, point.x, point.c, f, run->rows.numbers,
                                      seconds, &run->of.host->trouble));
  }
  if (!run->abandoned) PetscCall(observe(run, submission, f));
  return 0;
}

PetscErrorCode rg_trial_keep_failure(RgTrialRun *run, int submission)
{
  RgTrialRows *rows = &run->rows;

  if (!run->failure.failed || run->abandoned) return 0;
  PetscCall(rg_trial_describe_failure(run, run->failure.message));
  PetscCall(rg_trial_add_failure(run, submission, false, run->out.explanation.data));
  if (!rows->broken) PetscCall(PetscCalloc1(run->of.trial->n_evaluations, &rows->broken));
  rows->broken[submission - 1] = run->failure;
  run->failure = (RgFailure){0};
  return 0;
}

PetscErrorCode rg_trial_evaluate(RgTrialRun *run, int submission)
{
  const double start = rg_wall_seconds(), before = run->of.problem->task.cpu;
  bool found;
  double f = NAN;

  PetscCall(rg_trial_find_value(run, submission, &found));
  if (found) return 0;
  PetscCall(rg_trial_measure(run, submission, &f));
  run->clock.cpu[RG_STAGE_EVALUATE] += run->of.problem->task.cpu - before;
  return rg_trial_keep_value(run, submission, f, rg_wall_seconds() - start);
}
