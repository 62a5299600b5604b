/* What the clock of a trial says, without its method. */
#ifndef RG_STUDY_TRIAL_TRIAL_CREW_H
#define RG_STUDY_TRIAL_TRIAL_CREW_H

#include "study/plan/plan.h"

typedef struct {
  double makespan, idle_share; /* as in the record of the trial */
  int n_rows, lost;            /* evaluations that are told; evaluations lost with their worker */
} RgForecast;

/* Let the clock of a trial run, with evaluations that have no points. *known is false without a
   simulated clock, where durations depend on the points or are data, and where the trial may end
   early. O(evaluations log workers). */
PetscErrorCode rg_trial_forecast(const RgStudy *study, const RgTrial *trial, RgForecast *forecast,
                                 bool *known);

#endif
