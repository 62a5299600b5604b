/* The answers of an external method, stored beside the evaluations and read on resume. */
#include "study/trial/trial_internal.h"

static PetscErrorCode open_log(RgTrialRun *run, int n)
{
  PetscFunctionBeginUser;
  if (!run->answers)
    PetscCall(rg_evaluation_log_open(run->host->directory, RG_FOLDER_ANSWERS, run->trial->id,
                                     run->cell->outside, n, 0, 0, &run->answers));
  PetscFunctionReturn(0);
}

static PetscErrorCode find(void *closure, int number, int n, double *numbers, bool *found)
{
  RgTrialRun *run = closure;

  PetscFunctionBeginUser;
  PetscCall(open_log(run, n));
  const double *known = rg_evaluation_log_design(run->answers, number);
  *found = known != NULL;
  if (known) PetscCall(PetscArraycpy(numbers, known, n));
  PetscFunctionReturn(0);
}

/* Numbers to be logged. */
typedef struct {
  RgEvaluationLog *log;
  int number;
  const double *numbers;
} Entry;

static PetscErrorCode add_entry(void *closure, RgFault *fault)
{
  const Entry *e = closure;

  return rg_evaluation_log_add(e->log, e->number, e->numbers, NULL, 0, NULL, 0, fault);
}

static PetscErrorCode keep(void *closure, int number, int n, const double *numbers, bool *kept)
{
  RgTrialRun *run = closure;

  PetscFunctionBeginUser;
  PetscCall(open_log(run, n));
  PetscCall(rg_trial_insist(run, add_entry, &(Entry){run->answers, number, numbers}));
  *kept = !run->abandoned;
  PetscFunctionReturn(0);
}

RgKeeper rg_trial_keeper(RgTrialRun *run)
{
  return (RgKeeper){.closure = run,
                    .find = find,
                    .keep = keep,
                    .stop = rg_trial_hear_stop,
                    .log = run->host->log,
                    .account = &run->account};
}
