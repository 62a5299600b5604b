/* What the files of the trial loop share. */
#ifndef RG_STUDY_TRIAL_TRIAL_INTERNAL_H
#define RG_STUDY_TRIAL_TRIAL_INTERNAL_H

#include "base/clock.h"
#include "study/trial/instances.h"
#include "study/trial/trial.h"

/* Everything one trial holds while it runs. */
typedef struct {
  const RgStudy *study;
  const RgCell *cell;
  const RgTrial *trial;
  RgInstances *instances; /* of the study, or of this trial alone */
  RgInstance *instance;
  RgProblem *problem; /* of the instance */
  RgAlgorithm algorithm;
  RgHistory history;
  RgClock clock;
  RgStream noise, contexts;
  RgQuery query; /* storage below */
  double *unit_x, *unit_c, *native_x, *native_c, *extra;
  int n_extra;
  RgRecordColumn *columns;    /* those of the algorithm, then those of outcomes */
  char (*names)[RG_NAME_MAX]; /* of the latter */
  double *constraints;        /* of the evaluation at hand */
  RgTrialHost *host;
  RgEvaluationLog *log;     /* of a costly problem; else NULL */
  RgEvaluationLog *answers; /* of a method that is a program; NULL: nothing was asked */
  RgKeeper keeper;          /* of them, for the algorithm */
  bool stop_heard;          /* the host wants a stop */
  bool abandoned;           /* for which the trial was cut short: there will be no record */
  int *recommended;         /* index of the recommended design per row, -1 on a box */
  int stage;                /* number of the evaluation at hand, for messages */
  double gain;              /* realised information gain so far */
  RgRecord *record;
  RgFailure failure;
} RgTrialRun;

/* Where standard column `column` of row `row` stands in the record. */
static inline double *rg_trial_cell(RgTrialRun *run, int column, int row)
{
  return run->record->column[column] + (size_t)row * rg_record_width(run->record, column);
}

/* Whether the trial is scored by score number s. */
static inline bool rg_trial_is_scored(const RgTrialRun *run, int s)
{
  return run->cell->score < 0 || run->cell->score == s;
}

/* Who keeps the answers of a method that is a program: a log in the study directory, if the host
   has one. */
RgKeeper rg_trial_keeper(RgTrialRun *run);
/* Add to a log of the trial. While the disk says no there is time to make room, as with the store;
   after ten minutes or with a stop the trial is abandoned. */
PetscErrorCode rg_trial_log(RgTrialRun *run, RgEvaluationLog *log, int number, const double *x,
                            const double *c, double value, const double *more, double seconds);
/* Whether the host wants a stop; what a waiting evaluation asks. context: the run. */
bool rg_trial_hear_stop(void *closure);
/* Whether the trial goes on where an evaluation fails. */
bool rg_trial_tolerates(const RgTrialRun *run);
/* The columns of the record beside the standard ones, and room for constraints. */
PetscErrorCode rg_trial_columns(RgTrialRun *run);
/* The newest evaluation of the history, row `row`, as it was observed (NaN: it failed), with
   run->constraints: judge it, decide what is told, record its outcome. */
PetscErrorCode rg_trial_outcome(RgTrialRun *run, int row, double observed);
/* Evaluate the query as row `row`: context, f, noise; appended to the history unless it failed or
   was abandoned. */
PetscErrorCode rg_trial_evaluate(RgTrialRun *run, int row);
/* F and regret of the rows there are. */
PetscErrorCode rg_trial_regret(RgTrialRun *run);

#endif
