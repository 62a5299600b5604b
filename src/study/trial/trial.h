/* The trial loop: ask, evaluate, tell, record. */
#ifndef RG_STUDY_TRIAL_TRIAL_H
#define RG_STUDY_TRIAL_TRIAL_H

#include "study/file/duration.h"
#include "study/store/evaluation_log.h"
#include "study/trial/instances.h"
#include "study/trial/programs.h"
#include "study/trial/reasons.h"
#include "study/record/record.h"

/* Called after every evaluation, and now and then during a wait for one: true stops the trial
   without a record (it will run again). */
typedef bool (*RgStopFunction)(void *closure);

/* The environment of a trial. All pointers are borrowed; zeroed: no stop, nothing is kept. */
typedef struct {
  RgStopFunction stop; /* NULL: no stop */
  void *stop_closure;
  /* Called after every query with the number of evaluations: true ends the trial with a record
     up to there, without regret. For probes; NULL: the trial runs to its end. */
  bool (*enough)(void *closure, int n);
  void *enough_closure;
  const char *directory; /* study directory for logs of costly evaluations; NULL: no logs */
  /* Source of all costly evaluations; a missing one fails the trial. NULL: the trial makes them. */
  const RgEvaluationLog *known;
  const RgPrograms *programs; /* programs of trials on the real clock; NULL: replay */
  const char *timeline;       /* the timeline to replay, from a record */
  /* Program of external problems, kept between trials; NULL: each trial starts its own. */
  RgChild **child;
  /* File for standard error of programs and full texts of failures; NULL: no file */
  const char *log;
  RgReasons *reasons; /* failed evaluations and trials are counted here; NULL: nowhere */
  /* Problems and optima kept between trials; NULL: each trial makes its own. */
  RgInstances *instances;
  /* The team whose leader runs the trial while the others serve; NULL: no team. The bits are the
     same, unless the team takes part in the computation (rg_team_takes). */
  RgTeam *team;
  /* output: the log of evaluations could not be written for ten minutes, or until a stop, so the
     trial was abandoned */
  RgFault trouble;
} RgTrialHost;

/* Columns of what an evaluation gives beside f: outcome constraints by name, the duration with
   `duration: reported`, further numbers of a program by name. */
#define RG_CONSTRAINT_PREFIX "constraint_"
#define RG_REPORTED_COLUMN "reported_duration"
#define RG_ANSWER_PREFIX "answer_"

/* Number of these values, which the log of an evaluation has in this order. */
static inline int rg_trial_more(const RgCell *cell)
{
  return cell->constraints.n + (rg_duration_kind(cell->crew.duration) == RG_DURATION_REPORTED) +
         rg_cell_numbers(cell).n;
}

/* Run a trial. *stopped: it was interrupted, and there is no record. A numerical failure gives a
   record of status failed with the rows finished before. The bits are the same on any rank. host
   NULL means a zeroed host. Logged evaluations of costly problems are not repeated; new ones are
   on the disk before they are used. */
PetscErrorCode rg_trial_run(const RgStudy *study, const RgTrial *trial, RgTrialHost *host,
                            RgRecord *record, bool *stopped);

/* Whether F of a problem is only known where it was observed. */
static inline bool rg_problem_is_observed(const RgProblemClass *problem)
{
  return problem->traits & RG_PROBLEM_COSTLY && !problem->objective;
}
/* Change the optimum of a finished record of such a problem (NaN: unknown): regrets and message
   become those of a run with this optimum. Nothing is evaluated. */
PetscErrorCode rg_trial_rescore(const RgCell *cell, double optimum, RgRecord *record);

#endif
