/* The crew of a trial: workers that evaluate at the same time, on a simulated clock. The clock
   counts whole ticks, so that sums of durations neither make nor break ties. The order of events
   is a pure function of what the host answers: neither the machine's clock nor any order of
   messages takes part. On a real clock the host says when attempts start and end.

   One instant has this order: evaluations finish, by submission; workers die, by number; workers
   return, by number; the host is told; idle workers, by number, take a lost submission (the
   lowest first) or ask for a new one. With durations of zero the instant repeats. */
#ifndef RG_STUDY_SCHEDULE_CREW_H
#define RG_STUDY_SCHEDULE_CREW_H

#include "regatta/error.h"

#define RG_TICKS_PER_UNIT 1000000
#define RG_CREW_MAX 10000         /* workers */
#define RG_CREW_ATTEMPTS_MAX 1000 /* a submission that is lost more often ends the run */

/* async: a worker asks as soon as it is idle. sync: W new queries when the last W are reported. */
typedef enum { RG_RELEASE_ASYNC, RG_RELEASE_SYNC } RgRelease;
/* The fate of an evaluation whose worker dies: it runs again, or it fails. */
typedef enum { RG_LOST_RESUBMIT, RG_LOST_FAIL } RgLost;

typedef struct {
  int workers; /* 1 .. RG_CREW_MAX */
  RgRelease release;
  RgLost lost;
  int first, last; /* numbers of the first and last submission */
  /* Size of the initial design. Queries begin when all its evaluations are reported. */
  int n_initial;
  bool overlap;    /* asynchronous queries begin when the last initial point has started */
  int64_t time;    /* nothing starts at or after this tick; < 0: no limit */
  int64_t longest; /* a longer evaluation ends after this time as failed; < 0: no limit */
} RgCrewOptions;

/* A request for a new submission. */
typedef struct {
  int submission, worker;
  int64_t now;
  int n_pending;      /* submissions without a report */
  const int *pending; /* their numbers, ascending; valid during the call */
} RgCrewAsk;

typedef enum { RG_ENDED_DONE, RG_ENDED_TOO_LONG, RG_ENDED_LOST } RgEnding;

/* An evaluation that has ended. */
typedef struct {
  int submission, worker, attempts;
  int64_t dispatched, finished, told; /* ticks since the start; dispatched: the last attempt */
  int64_t idle;                       /* idle ticks of all workers up to `told` */
  RgEnding ending;
} RgCrewRow;

/* The end of an attempt on a real clock: it has finished, or is lost with its worker, which is
   idle again at once. */
typedef struct {
  int worker;
  bool lost;
  int64_t finished; /* not after the tick at which the crew learns of it */
} RgCrewNews;

/* Callbacks of the crew. One that sets *stop ends the run. */
typedef struct {
  void *closure;
  /* Choose the query of a new submission. */
  PetscErrorCode (*ask)(void *closure, const RgCrewAsk *ask, bool *stop);
  /* The ticks that an attempt (from 1) of a submission takes, >= 0. Called once per attempt. */
  PetscErrorCode (*duration)(void *closure, int submission, int attempt, int64_t *ticks,
                             bool *stop);
  /* The ticks that the method thinks about a submission before it starts, >= 0; queries are chosen
     one at a time. NULL: none. */
  int64_t (*think)(void *closure, int submission);
  /* The life of a worker from its start or its last return, and the time until it returns (< 0:
     never), in ticks. incarnation counts from 1. A life of no tick counts as one. NULL: workers
     don't die. */
  int64_t (*life)(void *closure, int worker, int incarnation);
  int64_t (*repair)(void *closure, int worker, int incarnation);
  /* Take in an evaluation. */
  PetscErrorCode (*tell)(void *closure, const RgCrewRow *row, bool *stop);
  /* On a real clock, in place of `duration`, `think` and `life`; NULL: the clock is simulated.
     start: start an attempt on a worker; *tick: now. wait: wait until attempts end; *tick is later
     than all ticks before, news (with room for all workers) has 1 to *n. */
  PetscErrorCode (*start)(void *closure, int submission, int attempt, int worker, int64_t *tick,
                          bool *stop);
  PetscErrorCode (*wait)(void *closure, int64_t *tick, int *n, RgCrewNews *news, bool *stop);
} RgCrewCallbacks;

typedef struct {
  int64_t makespan; /* end of the last reported evaluation */
  int64_t idle;     /* idle ticks of all workers up to the makespan */
  int in_flight;    /* submissions without a report */
  int lost;         /* evaluations that ended with their worker */
  bool deserted;    /* the run ended early because no worker was left */
  int hopeless;     /* submission that was lost too often, so that the run ended early; else 0 */
} RgCrewOutcome;

/* Run the crew until all submissions are reported, the time is over, or a callback stops it. O(log
   W) per event, plus the cost of the callbacks. */
PetscErrorCode rg_crew_run(const RgCrewOptions *options, const RgCrewCallbacks *host,
                           RgCrewOutcome *outcome);

/* Units of time to ticks, rounded; -1 if negative, not finite, or beyond 10^12 units. */
int64_t rg_ticks(double units);

#endif
