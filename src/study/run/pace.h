/* How fast a study goes by what its finished trials tell, and when it will be over. */
#ifndef RG_STUDY_RUN_PACE_H
#define RG_STUDY_RUN_PACE_H

#include "study/plan/plan.h"

/* What a finished trial tells of when and where it ran. */
typedef struct {
  double started, wall; /* Unix time, seconds */
  int rank, ranks;      /* the first of its team; of the job */
} RgPaceTrial;

/* Of the run that is under way, or was the last. */
typedef struct {
  int ranks;         /* of the job; 0: nothing is known */
  int heard;         /* of these, how many have finished a trial in this run */
  double begun, end; /* Unix time: of its first start, of its last end so far */
  double busy;       /* part of the ranks' time in between that went into finished trials */
  double over;       /* when the last trial should end, Unix time; NaN: unknown */
} RgPace;

/* status: RgStatus of the trials of the plan; trials: the same, of those that are finished. The run
   under way is what began after the last pause of all ranks of more than a minute. The rest is
   handed out to its ranks in the order of the plan, at the costs of the plan (seconds of wall
   time). O(n log n). */
PetscErrorCode rg_pace(const RgPlan *plan, const unsigned char *status, const RgPaceTrial *trials,
                       RgPace *pace);

#endif
