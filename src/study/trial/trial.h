/* The trial loop: ask, evaluate, tell, record. */
#ifndef RG_STUDY_TRIAL_TRIAL_H
#define RG_STUDY_TRIAL_TRIAL_H

#include "regatta/error.h"
#include "regatta/problem.h"
#include "study/file/crew_options.h"
#include "study/plan/plan.h"
#include "study/record/record.h"
#include "study/store/evaluation_log.h"
#include "study/trial/instances.h"

/* An answer. The texts are borrowed until the next call. */
typedef struct {
  int worker;         /* 0: no program has answered */
  const char *answer; /* a line of `length` bytes; NULL: the program will not answer */
  size_t length;
  const char *mistake; /* why the program will not answer */
  const char *errors;  /* standard error since the question, `n_errors` bytes or NULL */
  size_t n_errors;
  bool unreachable; /* the program can't be started */
  double cpu;       /* CPU seconds of the program since its last answer */
} RgProgramAnswer;

typedef struct {
  void *closure;
  /* Send a question to the program of a worker, started if needed. Failures arrive as answers. */
  PetscErrorCode (*ask)(void *closure, int worker, const RgExchange *question);
  /* Wait at most `seconds` for an answer. */
  PetscErrorCode (*wait)(void *closure, double seconds, RgProgramAnswer *answer);
  /* End the program of a worker. A question without an answer is forgotten. */
  PetscErrorCode (*drop)(void *closure, int worker);
  PetscErrorCode (*destroy)(void *closure);
} RgPrograms;

enum { RG_REASONS_MAX = 12 };

/* Zeroed: no reasons. Has no pointers, so that ranks can send it. */
typedef struct {
  int n;
  struct {
    int count;
    char text[sizeof(((RgFailure *)0)->message)];
  } list[RG_REASONS_MAX]; /* in the order of their first occurrence */
  int others;             /* failures for reasons that the full list does not hold */
} RgReasons;

/* Count all reasons of another rank. */
void rg_reasons_join(RgReasons *reasons, const RgReasons *more);

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
  int n; /* output: evaluations that the method knows, at the call of `stop` */
  /* output: the log of evaluations could not be written for ten minutes, or until a stop, so the
     trial was abandoned */
  RgFault trouble;
} RgTrialServices;

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
PetscErrorCode rg_trial_run(const RgStudy *study, const RgTrial *trial, RgTrialServices *host,
                            RgRecord *record, bool *stopped);

/* Whether F of a problem is only known where it was observed. */
static inline bool rg_problem_is_observed(const RgProblemClass *problem)
{
  return problem->traits & RG_PROBLEM_COSTLY && !problem->objective;
}
/* Change the optimum of a finished record of such a problem (NaN: unknown): regrets and message
   become those of a run with this optimum. Nothing is evaluated. */
PetscErrorCode rg_trial_rescore(const RgCell *cell, double optimum, RgRecord *record);

typedef struct {
  double makespan, idle_share; /* as in the record of the trial */
  int n_rows, lost;            /* reported evaluations; evaluations lost with their worker */
  bool rough;    /* durations depend on the queries: here each is of a random design */
  bool reported; /* there is no forecast because a program reports the durations */
} RgForecast;

/* Run the simulated clock of a trial alone. Times are in units of the clock. *known is false, and
   only `reported` counts, if the trial has no simulated clock, if a program reports its durations,
   or if it may fail or end early. `instances` keeps data for the next trial. O(evaluations log
   workers) besides reading data. */
PetscErrorCode rg_trial_forecast(const RgStudy *study, const RgTrial *trial, RgInstances *instances,
                                 RgForecast *forecast, bool *known);

#endif
