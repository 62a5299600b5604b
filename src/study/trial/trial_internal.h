/* Declarations shared by the files of the trial loop. */
#ifndef RG_STUDY_TRIAL_TRIAL_INTERNAL_H
#define RG_STUDY_TRIAL_TRIAL_INTERNAL_H

#include <math.h>

#include "base/clock.h"
#include "study/file/crew_options.h"
#include "study/schedule/crew.h"
#include "study/trial/instances.h"
#include "study/trial/trial.h"

/* Why a trial ended before its budget, as recorded in the column `stopped`. */
typedef enum { RG_ENDED_NOT, RG_ENDED_REGRET, RG_ENDED_SECONDS } RgEnded;

typedef struct RgReal RgReal; /* further state of a trial on the real clock (trial_real.c) */

/* The state of a running trial. */
typedef struct {
  const RgStudy *study;
  const RgCell *cell;
  const RgTrial *trial;
  RgInstances *instances; /* the host's, or the trial's own */
  RgInstance *instance;
  RgProblem *problem; /* belongs to `instance` */
  RgAlgorithm algorithm;
  RgHistory history; /* evaluations that the method knows */
  RgHistory asked;   /* all evaluations, in the order of submission */
  int *order;        /* submission of each row of `history` */
  RgFailure *broken; /* by submission, from 0: why its evaluation failed; NULL: all succeeded */
  RgClock clock;
  RgStream noise, contexts;
  RgQuery query; /* its arrays are below */
  double *unit_x, *unit_c, *native_x, *native_c, *extra;
  int n_extra, n_columns; /* columns of the algorithm; with those of outcomes */
  int n_designed;         /* submissions of the initial design, and first queries drawn with it */
  double *design;         /* n_designed x dim */
  int *design_index;
  RgDuration duration; /* law of durations on the simulated clock */
  double *times;       /* durations by design or by submission, if they are data */
  int n_times;
  RgDistribution death, repair;
  RgStream durations, deaths, repairs;
  double *pending_x, *pending_c; /* points in flight, during an ask */
  int *pending_index, *pending_context;
  double *seen;               /* the design of an evaluation as the problem sees it */
  RgRecordColumn *columns;    /* columns of the algorithm, then columns of outcomes */
  char (*names)[RG_NAME_MAX]; /* names of the outcome columns */
  /* Constraints of the current evaluation, then its reported duration, then its further numbers */
  double *constraints;
  int numbers; /* column of the first further number in the record's extra columns */
  RgTrialHost *host;
  RgEvaluationLog *log;     /* for a costly problem; else NULL */
  RgEvaluationLog *answers; /* answers of an external method; NULL: there are no answers yet */
  RgKeeper keeper;          /* access of the algorithm to `answers` */
  RgReal *real;             /* on the real clock; else NULL */
  int otherwise;            /* extra column `asked_otherwise` of a trial on the real clock */
  bool stop_heard;          /* the host requested a stop */
  bool abandoned;           /* the trial was cut short and will have no record */
  int *recommended;         /* index of the recommended design per row, -1 on a box */
  RgEnded ended;            /* by the study's `stop` */
  int n_scored;             /* rows whose F is computed to check the end */
  double seconds;           /* wall time of all evaluations, also of those of earlier runs */
  int stage;                /* number of the current evaluation, for messages */
  int fit_recorded;         /* number of data whose fit is recorded */
  double gain;              /* realised information gain so far */
  RgRecord *record;
  RgFailure failure, tolerated; /* failures of the trial and of the newest evaluation */
  RgText account;               /* full text of the newest failure, not kept yet; "": no text */
  RgText explanation;           /* text of the newest failure for the log of evaluations */
  RgText failures, texts;       /* for the record: a line for each failure; for each full text */
} RgTrialRun;

/* The place of standard column `column`, row `row`, in the record. */
static inline double *rg_trial_cell(RgTrialRun *run, int column, int row)
{
  return run->record->column[column] + (size_t)row * rg_record_width(run->record, column);
}

/* Whether score number s scores the trial. */
static inline bool rg_trial_is_scored(const RgTrialRun *run, int s)
{
  return run->cell->score < 0 || run->cell->score == s;
}

/* Whether the trial may end before its budget. */
static inline bool rg_trial_may_end(const RgTrialRun *run)
{
  return !isnan(run->cell->run.stop_regret) || !isnan(run->cell->run.stop_seconds);
}

/* Whether the value of a row is known from the file of given designs. */
static inline bool rg_trial_knows(const RgTrialRun *run, int row)
{
  return run->cell->given.y && row < run->cell->given.n;
}

/* A stream of the trial that does not depend on the method. */
static inline RgStream rg_trial_stream(const RgTrialRun *run, const char *name)
{
  return rg_stream(run->study->seed, run->cell->problem->name, run->trial->instance, name,
                   run->trial->seed);
}

/* A uniform random number of a stream at (iteration, index). */
static inline double rg_trial_uniform(const RgStream *stream, int iteration, int index)
{
  RgRandom random = rg_stream_at(stream, (uint64_t)iteration);

  random.index = (uint64_t)index;
  return rg_random_uniform(&random);
}

/* The keeper of an external method's answers: a log in the study directory, if the host has one. */
RgKeeper rg_trial_keeper(RgTrialRun *run);
/* Add to a log of the trial by `write`. If the disk refuses, the function retries like the store;
   after ten minutes or a stop the trial is abandoned. */
typedef PetscErrorCode (*RgTrialWriting)(void *closure, RgFault *fault);
PetscErrorCode rg_trial_insist(RgTrialRun *run, RgTrialWriting write, void *closure);
/* Whether the host requests a stop; waiting evaluations call it. closure: the run. */
bool rg_trial_hear_stop(void *closure);
/* Whether the trial continues after a failed evaluation. */
bool rg_trial_tolerates(const RgTrialRun *run);
/* Count a failure of an evaluation for the host, and add it to the log of the host and to the
   record. */
PetscErrorCode rg_trial_note(RgTrialRun *run, int evaluation, const char *reason);
/* Explain a failure in one line, which becomes run->explanation: its reason and, where that lacks
   it, the full text in run->account, which is then empty. */
PetscErrorCode rg_trial_explain(RgTrialRun *run, const char *reason);
/* Add an explained failure to the record; `reasoned`: with its reason. */
PetscErrorCode rg_trial_keep_failure(RgTrialRun *run, int evaluation, bool reasoned,
                                     const char *explanation);
/* Create the record's extra columns, and room for constraints. */
PetscErrorCode rg_trial_columns(RgTrialRun *run);
/* Process the newest evaluation of the history (row `row`): judge the observed value (NaN: it
   failed) and run->constraints, decide what the method learns, record the outcome. */
PetscErrorCode rg_trial_outcome(RgTrialRun *run, int row, double observed);
/* Draw the context of submission row + 1 for nature, by the law of that evaluation, into
   run->native_c and the query. */
PetscErrorCode rg_trial_draw_context(RgTrialRun *run, int row);
/* Append the query of submission row + 1 to run->asked, with its context, and record it. It has no
   value yet. *otherwise: on the real clock the log has another point, which replaced the query. */
PetscErrorCode rg_trial_place(RgTrialRun *run, int row, bool *otherwise);
/* The point of a submission that has its place; borrowed from the record. */
RgPoint rg_trial_point(RgTrialRun *run, int row);
/* Give it its value, with noise: NaN if the evaluation failed. */
PetscErrorCode rg_trial_evaluate(RgTrialRun *run, int row);
/* rg_trial_evaluate in parts: the known or logged value, if one is *found; else measure f, which
   sets the failure of the trial if that fails, and keep f, on the disk if the trial has a log. */
PetscErrorCode rg_trial_recall(RgTrialRun *run, int row, bool *found);
PetscErrorCode rg_trial_measure(RgTrialRun *run, int row, double *f);
PetscErrorCode rg_trial_keep_value(RgTrialRun *run, int row, double f, double seconds);
/* Keep the failure of an evaluation until the method would be told its value. */
PetscErrorCode rg_trial_keep_broken(RgTrialRun *run, int row);
/* Add the time since the last call to the row of a submission. */
void rg_trial_record_clock(RgTrialRun *run, int row);
/* Decide whether the trial ends after row `row`, and record why. */
PetscErrorCode rg_trial_check_end(RgTrialRun *run, int row);
/* Draw the initial design, and the first queries that are drawn at the same time. */
PetscErrorCode rg_trial_draw_design(RgTrialRun *run);
/* Choose the query of a submission and evaluate it. *stop: the trial ends here. */
PetscErrorCode rg_trial_ask(RgTrialRun *run, int submission, bool *stop);
/* Hand an evaluation to the method. *stop: the trial ends here. */
PetscErrorCode rg_trial_tell(RgTrialRun *run, const RgCrewRow *told, bool *stop);
/* At the end of the loop: put the rows of the record in the order of telling. */
PetscErrorCode rg_trial_order_rows(RgTrialRun *run);
/* Keep the reported duration of the newest evaluation. `asked`: the program was asked now. */
void rg_trial_keep_time(RgTrialRun *run, int row, bool asked);
/* Create and destroy the laws and streams of the clock. */
PetscErrorCode rg_trial_create_crew(RgTrialRun *run);
PetscErrorCode rg_trial_destroy_crew(RgTrialRun *run);
/* Create and destroy the state of a trial on the real clock; at the end, record the timeline. */
PetscErrorCode rg_trial_create_real(RgTrialRun *run);
PetscErrorCode rg_trial_destroy_real(RgTrialRun *run);
PetscErrorCode rg_trial_finish_real(RgTrialRun *run);
/* Answers to the crew's questions on the real clock (RgCrewHost). */
PetscErrorCode rg_trial_start_attempt(void *closure, int submission, int attempt, int worker,
                                      int64_t *tick, bool *stop);
PetscErrorCode rg_trial_hear_workers(void *closure, int64_t *tick, int *n, RgCrewNews *news,
                                     bool *stop);
/* Replace the query of a submission by a logged query. Returns whether the two differ. */
bool rg_trial_recall_point(RgTrialRun *run, int submission);
/* Record the times of an evaluation. */
void rg_trial_record_crew(RgTrialRun *run, const RgCrewRow *told);
/* The loop: initial design and queries on the workers, until all are told or the trial ends. */
PetscErrorCode rg_trial_run_crew(RgTrialRun *run);
/* Compute F and regret of all finished rows. */
PetscErrorCode rg_trial_regret(RgTrialRun *run);
/* Whether F differs between the rows of a trial, and can be computed: the law of its contexts
   changes, or the contexts are announced. */
static inline bool rg_trial_follows(const RgTrialRun *run)
{
  if (rg_problem_is_observed(run->problem->class)) return false;
  return run->problem->epoch || run->problem->domain.control == RG_CONTEXT_ANNOUNCED;
}
/* For a trial whose F differs between rows: F of each row at its query and at the recommendation
   (n_rows; NaN without one), and the values from which the row's regret is measured. */
typedef struct {
  double *recommended, *optima, *best; /* n_rows each, owned by the caller */
  double accuracy;                     /* largest error of the optima */
} RgTrialMoments;
PetscErrorCode rg_trial_moments(RgTrialRun *run, RgTrialMoments *moments);

#endif
