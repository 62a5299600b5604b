/* A forecast of the simulated clock of a trial, without running its method. */
#ifndef RG_STUDY_TRIAL_TRIAL_CREW_H
#define RG_STUDY_TRIAL_TRIAL_CREW_H

#include "study/plan/plan.h"

typedef struct {
  double makespan, idle_share; /* as in the record of the trial */
  int n_rows, lost;            /* evaluations that are told; evaluations lost with their worker */
} RgForecast;

/* Run the simulated clock of a trial alone. Times are in units of the clock. *known is false, and
   *forecast counts for nothing, if the trial has no simulated clock, if its durations depend on the
   points or are data, or if it may end early. O(evaluations log workers). */
PetscErrorCode rg_trial_forecast(const RgStudy *study, const RgTrial *trial, RgForecast *forecast,
                                 bool *known);

#endif
