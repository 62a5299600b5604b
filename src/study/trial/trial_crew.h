/* A forecast of the simulated clock of a trial, without running its method. */
#ifndef RG_STUDY_TRIAL_TRIAL_CREW_H
#define RG_STUDY_TRIAL_TRIAL_CREW_H

#include "study/plan/plan.h"
#include "study/trial/instances.h"

typedef struct {
  double makespan, idle_share; /* as in the record of the trial */
  int n_rows, lost;            /* reported evaluations; evaluations lost with their worker */
  bool rough;    /* durations depend on the queries: here each is of a random design */
  bool reported; /* there is no forecast because a program reports the durations */
} RgForecast;

/* Run the simulated clock of a trial alone. Times are in units of the clock. *known is false, and
   only `reported` counts, if the trial has no simulated clock, if a program reports its durations,
   or if it may fail or end early. `instances` keeps data for the next trial. O(evaluations log
   workers) besides reading data. */
PetscErrorCode rg_trial_forecast(const RgStudy *study, const RgTrial *trial, RgInstances *instances,
                                 RgForecast *forecast, bool *known);

#endif
