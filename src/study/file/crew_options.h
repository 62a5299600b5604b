/* Parallel evaluation in a study file: the keys of workers and clock, and the blocks `crew` and
   `thinking`. */
#ifndef RG_STUDY_FILE_CREW_OPTIONS_H
#define RG_STUDY_FILE_CREW_OPTIONS_H

#include "maths/expression.h"
#include "maths/distribution.h"
#include "regatta/domain.h"
#include "regatta/params.h"

typedef enum {
  RG_DURATION_NONE, /* no clock */
  RG_DURATION_LAW,
  RG_DURATION_COLUMN,
  RG_DURATION_REPORTED,
  RG_DURATION_RECORDED
} RgDurationKind;

typedef struct {
  RgDurationKind kind;
  RgDistribution law;
  RgArithmetic formula; /* empty: the factor is 1 */
  char *name;           /* name of the column, or path of the recorded file; owned */
  char *label;          /* recorded: label of the algorithm; NULL: any; owned */
} RgDuration;

/* The kind of a text by its first word; NULL: no duration. */
RgDurationKind rg_duration_kind(const char *text);
/* Parse a text; NULL: no duration. A relative path counts from the folder of place.file, if the
   file is there. The first mistake is appended to `mistake`; then the duration is cleared. */
PetscErrorCode rg_duration_read(const char *text, const RgSpace *design, RgPlace place,
                                RgDuration *duration, RgText *mistake);
PetscErrorCode rg_duration_clear(RgDuration *duration);
/* The duration of a law at the uniform number u in (0, 1) and a design as the problem sees it
   (rg_space_seen). */
double rg_duration_at(const RgDuration *duration, double u, const double *seen);

#define RG_TIME_MAX 1e12 /* the longest duration */

/* Parse a law of times, which gives no negative number. */
PetscErrorCode rg_times_read(const char *text, RgDistribution *law, RgText *mistake);

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
