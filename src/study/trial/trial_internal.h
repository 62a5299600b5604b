/* The state of a running trial, in parts, and the steps of its loop by file. A file calls those of
   the files above it; trial.c calls the last three. Private to study/trial. */
#ifndef RG_STUDY_TRIAL_TRIAL_INTERNAL_H
#define RG_STUDY_TRIAL_TRIAL_INTERNAL_H

#include <math.h>

#include "base/clock.h"
#include "study/schedule/crew.h"
#include "study/trial/instances.h"
#include "study/trial/trial.h"

/* Why a trial ended before its budget, as recorded in the column `stopped`. */
typedef enum { RG_ENDED_NOT, RG_ENDED_REGRET, RG_ENDED_SECONDS, RG_ENDED_RULE } RgEnded;

/* Facts that stay fixed while the trial runs. */
typedef struct {
  const RgStudy *study;
  const RgCell *cell;
  const RgTrial *trial;
  RgTrialServices *host;
  RgInstances *instances; /* the host's, or the trial's own */
  RgInstance *instance;
  RgProblem *problem; /* belongs to `instance` */
  RgStream noise, contexts;
  RgNoise noise_law;
  int n_designed; /* submissions of the initial design, and first queries drawn with it */
  double *design; /* n_designed x dim */
  int *design_index;
} RgTrialParts;

/* The evaluations. The first history.n rows of the history, and of the record, are those that the
   method was told, in the order of telling. The rows up to n_asked are in flight, in the order of
   submission, which history.timings has. The method does not see them. */
typedef struct {
  RgHistory history;
  int n_asked;
  RgFailure *broken; /* by submission, from 0: why its evaluation failed; NULL: all succeeded */
  int *recommended;  /* index of the recommended design per row, -1 on a box */
  double least, least_feasible; /* smallest observations so far; infinite without */
  double best;                  /* largest F of the first n_scored rows, to check the end */
  int n_scored;
  double seconds; /* wall time of all evaluations, also of those of earlier runs */
  /* Of the current evaluation: constraints, then its reported duration, then its further numbers */
  double *numbers;
  double *native_x, *native_c; /* its point in native units */
  RgFailure tolerated;         /* its failure, if the trial goes on */
} RgTrialRows;

/* Columns of the record for what evaluations give beside the standard ones. */
enum {
  RG_EXTRA_FAILED,
  RG_EXTRA_FEASIBLE,
  RG_EXTRA_CONSTRAINT, /* the first of them */
  RG_EXTRA_REPORTED,
  RG_EXTRA_NUMBER, /* the first of them */
  RG_EXTRA_OTHERWISE,
  RG_EXTRA_KNOWN,
  RG_EXTRA_STOPPED,
  RG_EXTRA_COUNT
};

/* The recorder. */
typedef struct {
  RgRecord *record;
  int n_own;              /* columns of the algorithm, which come first */
  int at[RG_EXTRA_COUNT]; /* places of the other columns; -1: the trial has no such column */
  int fit_recorded;       /* number of data whose fit is recorded */
  double gain;            /* realised information gain so far */
  RgText account;         /* full text of the newest failure, not kept yet; "": no text */
  RgText explanation;     /* text of the newest failure for the log of evaluations */
  RgText failures, texts; /* for the record: a line for each failure; for each full text */
} RgTrialRecorder;

typedef struct RgTrialCrew RgTrialCrew; /* the workers and their clock (trial_clock.c) */
typedef struct RgReal RgReal;           /* the same on the real clock (trial_real.c) */

typedef struct {
  RgTrialParts of;
  RgTrialRows rows;
  RgTrialRecorder out;
  RgTrialCrew *crew;
  RgReal *real; /* NULL: the clock is simulated */
  RgAlgorithm algorithm;
  RgKeeper keeper;          /* access of the algorithm to `answers` */
  RgEvaluationLog *answers; /* answers of an external method; NULL: there are no answers yet */
  RgEvaluationLog *log;     /* for a costly problem; else NULL */
  RgQuery query;            /* the current one */
  RgClock clock;            /* of the machine, for timing */
  int stage;                /* number of the current evaluation, for messages */
  RgFailure failure;        /* of the trial */
  bool stop_requested;      /* by the host */
  bool abandoned;           /* the trial was cut short and will have no record */
  RgEnded ended;            /* by the study's `stop` */
} RgTrialRun;

/* ---- what is fixed ---- */

/* Whether score number s scores the trial. */
static inline bool rg_trial_is_scored(const RgTrialRun *run, int s)
{
  return run->of.cell->score < 0 || run->of.cell->score == s;
}

/* Whether the trial may end before its budget. */
static inline bool rg_trial_may_end(const RgCell *cell)
{
  return !isnan(cell->run.stop_regret) || !isnan(cell->run.stop_seconds) || cell->run.stop_rule;
}

/* Whether the trial continues after a failed evaluation. */
static inline bool rg_trial_tolerates(const RgTrialRun *run)
{
  return run->of.cell->on_failure.rule != RG_FAILURE_FAILS;
}

/* Whether the value of a submission is known from the file of given designs. */
static inline bool rg_trial_knows(const RgTrialRun *run, int submission)
{
  return run->of.cell->given.y && submission <= run->of.cell->given.n;
}

/* A stream of the trial that does not depend on the method. */
static inline RgStream rg_trial_stream(const RgTrialParts *of, const char *name)
{
  return rg_stream(of->study->seed, of->cell->problem->name, of->trial->instance, name,
                   of->trial->seed);
}

/* ---- rows ---- */

/* The row of a submission in flight. */
static inline int rg_trial_row(const RgTrialRun *run, int submission)
{
  int row = run->rows.history.n;

  while (run->rows.history.timings[row].submission != submission) row++;
  return row;
}

/* The place of standard column `column`, row `row`, in the record. */
static inline double *rg_trial_cell(RgTrialRun *run, int column, int row)
{
  RgRecord *record = run->out.record;

  return record->column[column] + (size_t)row * rg_record_width(record, column);
}

/* Whether the evaluation of a submission failed, as far as it has ended. */
static inline bool rg_trial_is_broken(const RgTrialRun *run, int submission)
{
  return run->rows.broken && run->rows.broken[submission - 1].failed;
}

/* ---- trial_record.c ---- */

/* Create the record with its extra columns, and room for the numbers of an evaluation. */
PetscErrorCode rg_trial_create_record(RgTrialRun *run);
/* Record a value in the column `which` + k (RG_EXTRA_...), if the trial has it. */
void rg_trial_record_extra(RgTrialRun *run, int which, int k, int row, double value);
/* Record the model that chose the query of row `row`, with the posterior deviation there. */
PetscErrorCode rg_trial_record_model(RgTrialRun *run, int row);
/* Copy the method's own columns from the query to their row, or back. */
void rg_trial_record_own(RgTrialRun *run, int row);
void rg_trial_read_own(RgTrialRun *run, int row);
/* Add the machine's time since the last call to a row. */
void rg_trial_record_time(RgTrialRun *run, int row);
/* Describe a failure in one line, which becomes out.explanation: its reason and, where that lacks
   it, the full text in out.account, which is then empty. */
PetscErrorCode rg_trial_describe_failure(RgTrialRun *run, const char *reason);
/* Add a described failure to the record; `reasoned`: with its reason. */
PetscErrorCode rg_trial_add_failure(RgTrialRun *run, int submission, bool reasoned,
                                    const char *explanation);
/* Count a failure of an evaluation for the host, and add it to the log of the host and to the
   record. */
PetscErrorCode rg_trial_record_failure(RgTrialRun *run, int submission, const char *reason);

/* ---- trial_evaluate.c ---- */

/* Whether the host requests a stop; waiting evaluations call it. closure: the run. */
bool rg_trial_poll_stop(void *closure);
/* Whether to add to a log of the trial now, with a fault in host->trouble: at first, and again,
   after a pause, where the disk has refused. After ten minutes or a stop the trial is abandoned. */
typedef struct {
  double until, pause; /* 0: before the first try */
} RgTrialRetry;
bool rg_trial_retry(RgTrialRun *run, RgTrialRetry *retry);
/* The point of a submission in flight; borrowed from the record. */
RgPoint rg_trial_point(RgTrialRun *run, int submission);
/* Give a submission in flight its value, with noise: NaN if the evaluation failed. */
PetscErrorCode rg_trial_evaluate(RgTrialRun *run, int submission);
/* rg_trial_evaluate in parts: the known or logged value, if one is *found; else measure f, which
   sets the failure of the trial if that fails, and keep f, on the disk if the trial has a log. */
PetscErrorCode rg_trial_find_value(RgTrialRun *run, int submission, bool *found);
PetscErrorCode rg_trial_measure(RgTrialRun *run, int submission, double *f);
PetscErrorCode rg_trial_keep_value(RgTrialRun *run, int submission, double f, double seconds);
/* Keep the failure of an evaluation until the method would be told its value. */
PetscErrorCode rg_trial_keep_failure(RgTrialRun *run, int submission);

/* ---- trial_ask.c ---- */

/* The keeper of an external method's answers: a log in the study directory, if the host has one. */
RgKeeper rg_trial_keeper(RgTrialRun *run);
/* A stop abandons a trial that the method of one rank works on, at the next rg_poll: `code` is what
   the method returned. The ranks of a team compute together, so none of them can leave. */
void rg_trial_begin_method(RgTrialRun *run);
PetscErrorCode rg_trial_end_method(RgTrialRun *run, PetscErrorCode code);
/* Whether the trial continues with another evaluation, if one is due. */
bool rg_trial_continues(RgTrialRun *run);
/* Draw the initial design, and the first queries that are drawn at the same time. */
PetscErrorCode rg_trial_draw_design(RgTrialRun *run);
/* Choose the query of a submission. *stop: the trial ends here. */
PetscErrorCode rg_trial_choose(RgTrialRun *run, int submission, bool *stop);
/* The query in native units, where its design counts as evaluated (trial_ask.c). */
void rg_trial_convert_query(RgTrialRun *run, int submission);
/* Append the query to the rows in flight, and record it. It has no value yet. */
PetscErrorCode rg_trial_place(RgTrialRun *run, int submission);

/* ---- trial_regret.c ---- */

/* *reached: the simple regret after row `row` is at most the target of the study. */
PetscErrorCode rg_trial_reaches(RgTrialRun *run, int row, bool *reached);
/* Compute F and regret of all finished rows. */
PetscErrorCode rg_trial_regret(RgTrialRun *run);

/* ---- trial_tell.c ---- */

/* Tell the method an evaluation that has ended. *stop: the trial ends here. */
PetscErrorCode rg_trial_tell(RgTrialRun *run, const RgCrewRow *told, bool *stop);

/* ---- trial_real.c ---- */

/* Create the state of a trial on the real clock. */
PetscErrorCode rg_real_create(RgTrialRun *run);
/* Replace the query of a submission by a logged one. Returns whether the two differ. */
bool rg_real_replace_query(RgTrialRun *run, int submission);
/* Answers to the crew's questions (RgCrewCallbacks); closure: the run. */
PetscErrorCode rg_real_start(void *closure, int submission, int attempt, int worker, int64_t *tick,
                             bool *stop);
PetscErrorCode rg_real_wait(void *closure, int64_t *tick, int *n, RgCrewNews *news, bool *stop);
/* End the programs, record the timeline, and destroy the state. */
PetscErrorCode rg_real_finish(RgTrialRun *run);

/* ---- trial_clock.c ---- */

/* The loop: initial design and queries on the workers, until all are told or the trial ends. */
PetscErrorCode rg_trial_run_crew(RgTrialRun *run);

#endif
