/* Ranks take trials dynamically, in the order of their level (study/schedule/schedule.h). */
#ifndef RG_STUDY_SCHEDULE_SCHEDULE_H
#define RG_STUDY_SCHEDULE_SCHEDULE_H

#include "regatta/run.h"
#include "study/schedule/teams.h"

/* Shared ticket counters (one-sided MPI), so that no rank is reserved as a manager. */
typedef struct RgSchedule RgSchedule;

/* Create the schedule. Trials with done[i] != 0 (plan->n on every rank), and trials outside
   `share` (NULL: all trials), are left out. Collective on `comm`. */
PetscErrorCode rg_schedule_create(MPI_Comm comm, const RgPlan *plan, const RgTeams *teams,
                                  const unsigned char *done, PetscBT share, RgSchedule **schedule);
/* Whether one-sided atomics work between all ranks: with Debian's Open MPI they don't over TCP.
   Collective. */
PetscErrorCode rg_schedule_possible(MPI_Comm comm, bool *possible);
/* The next trial of a level for this rank; -1 if no trial is left. Not collective. */
PetscErrorCode rg_schedule_next(RgSchedule *schedule, int level, int *trial);
/* Count what is done of this rank's trial: n evaluations, after `seconds` of wall time. It does not
   wait for other ranks, and counts at most once a second. */
PetscErrorCode rg_schedule_update(RgSchedule *schedule, const RgTrial *trial, int n,
                                  double seconds);
/* Count a finished trial with `seconds` of wall time; does not wait for other ranks. */
PetscErrorCode rg_schedule_finished(RgSchedule *schedule, const RgTrial *trial, bool failed,
                                    double seconds);

/* Complete this rank's counts, so that all ranks can read them. */
PetscErrorCode rg_schedule_complete(RgSchedule *schedule);

/* Read the counts of trials. Not collective. */
PetscErrorCode rg_schedule_progress(RgSchedule *schedule, RgProgress *progress);
/* Seconds until the last trial ends, `elapsed` seconds after the first could begin
   (rg_calibration_left). Not collective; O(cells^2), for one rank now and then. */
PetscErrorCode rg_schedule_left(RgSchedule *schedule, double elapsed, double *seconds);
/* Destroy the schedule. Collective. */
PetscErrorCode rg_schedule_destroy(RgSchedule **schedule);

typedef struct {
  int n;
  int *trials; /* owned, PetscFree */
} RgOrder;

/* Order the trials of a level that are not in `left_out` (by trial). O(n log cells). */
PetscErrorCode rg_order_create(const RgPlan *plan, const RgTeams *teams, int level,
                               PetscBT left_out, RgOrder *order);

#endif
