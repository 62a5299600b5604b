/* How fast a study advances: the rate of its latest trials, and the time that the others take. */
#ifndef RG_CLI_PACE_H
#define RG_CLI_PACE_H

#include "regatta/results.h"
#include "study/plan/plan.h"

/* When a finished trial ran. */
typedef struct {
  char id[RG_ID_LENGTH + 1];
  double start, end; /* Unix time, seconds */
} RgPaceTrial;

typedef struct {
  int n;
  RgPaceTrial *trials; /* owned */
} RgPace;

PetscErrorCode rg_pace_add(RgPace *pace, const RgRecord *record);
/* Append how many trials ended in a time, and what is left at that rate; nothing if no rate is
   known. A plan with n 0 is not known, nor is the time left then. at_work: a run is known to work
   on the study now. */
PetscErrorCode rg_pace_describe(RgPace *pace, const RgPlan *plan, bool at_work, RgText *text);
PetscErrorCode rg_pace_clear(RgPace *pace);

#endif
