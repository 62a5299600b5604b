/* Parallel evaluation in a study file: the keys of workers and clock, and the blocks `crew` and
   `thinking`. */
#ifndef RG_STUDY_FILE_CREW_OPTIONS_H
#define RG_STUDY_FILE_CREW_OPTIONS_H

#include "regatta/domain.h"
#include "regatta/params.h"

typedef struct RgProblemClass RgProblemClass; /* regatta/problem.h */

typedef struct {
  int workers;
  int clock;        /* RgCrewClock */
  int release;      /* as RgRelease of study/schedule/crew.h */
  char *duration;   /* NULL: no clock; owned, as are all texts */
  int start;        /* RgCrewStart */
  int initial_time; /* RgInitialTime */
  double time;      /* NaN: no limit */
  char *death, *repair;
  int lost;          /* as RgLost */
  double time_limit; /* NaN: no limit */
  double think_a, think_b, think_p;
  char times[33]; /* set by the check: hash of durations that are data; "": no such durations */
} RgCrewSettings;

typedef enum { RG_CLOCK_SIMULATED, RG_CLOCK_REAL } RgCrewClock;
typedef enum { RG_START_ASK, RG_START_DESIGN } RgCrewStart;
typedef enum { RG_INITIAL_FREE, RG_INITIAL_COUNTED, RG_INITIAL_OVERLAPPED } RgInitialTime;

extern const RgParam rg_workers_params[]; /* keys beside those of a run */
extern const RgParam rg_crew_params[], rg_thinking_params[];

/* Whether evaluations take time: on the simulated or on the real clock. */
bool rg_crew_has_clock(const RgCrewSettings *crew);
/* Whether the trial is more than the sequential trial of today: several workers, or a clock. */
bool rg_crew_counts(const RgCrewSettings *crew);
/* Whether a parameter of rg_workers_params only counts with several workers. */
bool rg_crew_needs_several(const RgParam *param);
/* Whether two values of a choice of rg_workers_params mean the same with one worker. */
bool rg_crew_same_alone(const RgParam *param, const char *a, const char *b);
/* Whether the method takes time. */
bool rg_crew_thinks(const RgCrewSettings *crew);
/* Append the identity of the crew. A sequential trial without a clock appends nothing. */
PetscErrorCode rg_crew_identity(const RgCrewSettings *crew, RgText *text);

/* Check the settings for a problem with this design, and set crew->times. ranks: the number of
   ranks of a trial's team. */
PetscErrorCode rg_crew_check(const RgProblemClass *class, const void *options,
                             const RgSpace *design, RgPlace place, int ranks, RgCrewSettings *crew,
                             RgDiagnostics *found);
/* Read the durations by design of a class whose source is a table, for the caller to free. A
   mistake is appended to `mistake`; then *times is NULL. */
PetscErrorCode rg_crew_column(const RgProblemClass *class, const void *options, int n,
                              const char *name, double **times, RgText *mistake);

#endif
