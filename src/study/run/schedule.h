/* The schedule: ranks take trials dynamically, in the order of their level (study/run/order.h). */
#ifndef RG_STUDY_RUN_SCHEDULE_H
#define RG_STUDY_RUN_SCHEDULE_H

#include "regatta/run.h"
#include "study/run/teams.h"

/* A shared ticket counter (one-sided MPI): no rank is set aside as a manager. */
typedef struct RgSchedule RgSchedule;

/* Collective on `comm`. Trials with done[i] != 0 (plan->n on every rank) are left out, and those
   that are not in `share` (NULL: all are). */
PetscErrorCode rg_schedule_create(MPI_Comm comm, const RgPlan *plan, const RgTeams *teams,
                                  const unsigned char *done, PetscBT share, RgSchedule **schedule);
/* Whether all ranks reach a counter: Debian's Open MPI can't over TCP. Collective. */
PetscErrorCode rg_schedule_possible(MPI_Comm comm, bool *possible);
/* Next trial of a level of teams for this rank, -1 when none is left. Not collective. */
PetscErrorCode rg_schedule_next(RgSchedule *schedule, int level, int *trial);
/* Count a finished trial, which took `seconds` of wall time; waits for nobody. */
PetscErrorCode rg_schedule_finished(RgSchedule *schedule, const RgTrial *trial, bool failed,
                                    double seconds);

/* What this rank has counted is known to all from then on. */
PetscErrorCode rg_schedule_settle(RgSchedule *schedule);

/* The counts of trials. Not collective. */
PetscErrorCode rg_schedule_progress(RgSchedule *schedule, RgProgress *progress);
/* Seconds until the last trial ends, `elapsed` seconds after the first could begin (rg_time_left).
   Not collective; O(cells), for one rank now and then. */
PetscErrorCode rg_schedule_left(RgSchedule *schedule, double elapsed, double *seconds);
/* Collective. */
PetscErrorCode rg_schedule_destroy(RgSchedule **schedule);

#endif
