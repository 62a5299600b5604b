/* Short trials before a study begins. They test external methods, and measure the costs of
   trials on this machine. No result depends on them. */
#ifndef RG_STUDY_RUN_PROBE_H
#define RG_STUDY_RUN_PROBE_H

#include "study/schedule/calibration.h"

/* Run every external method through one query on every problem entry, with made-up evaluations:
   start, ask, tell. The initial design includes inputs that don't count. Mistakes are added to
   `diagnostics`, once per method. Starts programs. Not collective. */
PetscErrorCode rg_probe_programs(const RgStudy *study, RgDiagnostics *diagnostics);

/* Time one cell of every method and problem entry without trials in `calibration`, and add the
   estimated time of a trial: CPU seconds, or wall time for external methods. A trial of up to
   0.3 s runs to its end. For a longer trial some queries at its beginning, middle and end are
   timed, with initial designs instead of earlier queries, and the rest is interpolated. Costly
   problems are not evaluated; their declared times count. Not timed: cells for teams of ranks,
   cells with more than 20 nominal seconds per query, cells that remain after a minute, and the
   search for an unknown optimum. */
PetscErrorCode rg_probe_costs(const RgPlan *plan, RgCalibration *calibration);

#endif
