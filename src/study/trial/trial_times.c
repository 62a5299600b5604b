/* The durations of a trial's evaluations. */
#include <math.h>

#include "study/trial/recorded.h"
#include "study/trial/trial_internal.h"

/* Find the durations of the recorded trial that serves this one. */
static PetscErrorCode find_recorded(RgTrialRun *run, const double **times, RgText *mistake)
{
  const RgTrial *trial = run->trial;
  const RgRecorded *recorded;

  PetscFunctionBeginUser;
  PetscCall(rg_instances_recorded(run->instances, run->duration.name, run->duration.label,
                                  &recorded, mistake));
  if (recorded)
    PetscCall(rg_recorded_find(recorded, run->cell->problem_label, trial->instance, trial->seed,
                               &run->n_times, times, mistake));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_trial_read_times(RgTrialRun *run)
{
  const double *times = NULL;
  RgText mistake = {0};

  PetscFunctionBeginUser;
  if (run->duration.kind == RG_DURATION_REPORTED) {
    run->n_times = run->trial->n_evaluations;
  } else if (run->duration.kind == RG_DURATION_COLUMN) {
    run->n_times = run->problem->domain.design.size;
    PetscCall(rg_instance_column(run->instance, run->cell, run->duration.name, &times, &mistake));
  } else if (run->duration.kind == RG_DURATION_RECORDED) {
    PetscCall(find_recorded(run, &times, &mistake));
  }
  PetscCall(PetscCalloc1(run->n_times, &run->times)); /* known values are reported to take 0 */
  if (times) PetscCall(PetscArraycpy(run->times, times, run->n_times));
  if (mistake.length) rg_failure_set(&run->failure, "'duration': %s", mistake.data);
  PetscCall(rg_text_clear(&mistake));
  PetscFunctionReturn(0);
}

/* An evaluation that failed takes no time if its duration is not known. */
void rg_trial_keep_time(RgTrialRun *run, int row, bool asked)
{
  double *reported = run->constraints + run->problem->domain.n_constraints;

  if (run->duration.kind != RG_DURATION_REPORTED) return;
  if (asked) *reported = run->problem->task.duration;
  if (isnan(*reported) && !run->failure.failed)
    rg_failure_set(&run->failure, "external: the answer has no \"duration\", which 'duration: "
                                  "reported' needs");
  if (isnan(*reported)) *reported = 0;
  run->times[row] = *reported;
}

double rg_trial_time(RgTrialRun *run, int submission, int attempt)
{
  const int row = submission - 1;

  switch (run->duration.kind) {
  case RG_DURATION_NONE: return 0;
  case RG_DURATION_LAW:
    rg_space_seen(&run->problem->domain.design, rg_trial_cell(run, RG_COLUMN_X, row), run->seen);
    return rg_duration_at(&run->duration, rg_trial_uniform(&run->durations, submission, attempt),
                          run->seen);
  case RG_DURATION_COLUMN: return run->times[run->asked.index[row]];
  case RG_DURATION_REPORTED: return run->times[row];
  case RG_DURATION_RECORDED:
    if (row < run->n_times && !isnan(run->times[row])) return run->times[row];
    rg_failure_set(&run->failure, "'duration': %s has no duration of submission %d",
                   run->duration.name, submission);
  }
  return NAN;
}
