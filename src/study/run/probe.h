/* Short trials before a study is begun: whether methods that are programs work, and what trials
   take on this machine. No result depends on either. */
#ifndef RG_STUDY_RUN_PROBE_H
#define RG_STUDY_RUN_PROBE_H

#include "study/plan/calibration.h"

/* Take every method that is a program through one query on every problem entry, with evaluations
   made up: start, ask, tell. The initial design has inputs that don't count. What goes wrong is
   added to `diagnostics`, once per method. Starts programs. Not collective. */
PetscErrorCode rg_probe_programs(const RgStudy *study, RgDiagnostics *diagnostics);

/* Time one cell of every method and problem entry that `calibration` has no trial of, and add what
   a trial would take: CPU seconds, wall time of a program. A trial of up to 0.3 s runs to its end;
   of a longer one some queries are timed at its beginning, in its middle and at its end, with
   initial designs in place of the queries before, and what lies between is interpolated. Costly
   problems are not evaluated: they take what they declare. Left out: cells for teams of ranks,
   cells of more than 20 nominal seconds per query, all that are due after a minute, and the search
   for an optimum that the problem does not know. */
PetscErrorCode rg_probe_costs(const RgPlan *plan, RgCalibration *calibration);

#endif
