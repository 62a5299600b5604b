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
/* Count a finished trial; waits for nobody. */
PetscErrorCode rg_schedule_finished(RgSchedule *schedule, const RgTrial *trial, bool failed);

/* What this rank has counted is known to all from then on. */
PetscErrorCode rg_schedule_settle(RgSchedule *schedule);

/* All but the seconds. Not collective. */
PetscErrorCode rg_schedule_progress(RgSchedule *schedule, RgProgress *progress);
/* Collective. */
PetscErrorCode rg_schedule_destroy(RgSchedule **schedule);

#endif
