/* Short trials run before a study begins. They test external methods, and measure the costs of
   trials on this machine. No result depends on them. */
#ifndef RG_STUDY_RUN_PROBE_H
#define RG_STUDY_RUN_PROBE_H

#include "study/file/study.h"
#include "study/schedule/calibration.h"

/* Run every external method through one query on every problem entry, with made-up evaluations:
   start, ask, tell. The initial design includes inputs that don't count. Mistakes are added to
   `diagnostics`, once per method, and so are recorded durations that do not suffice. start: start
   programs; false: none. Not collective. */
PetscErrorCode rg_probe_programs(const RgStudy *study, bool start, RgDiagnostics *diagnostics);

/* Append a line about every problem that rg_probe_costs evaluates to time it, and about every one
   that it does not evaluate although nobody has declared how long that takes. */
PetscErrorCode rg_probe_calls(const RgPlan *plan, const RgCalibration *calibration, RgText *text);

/* Time one cell of every method and problem entry without trials in `calibration`, and add the
   estimated time of a trial. In the first 30 CPU seconds, trials of more
   than 5 seconds, without a program, are estimated with up to three of the study's seeds. Not
   timed: cells for teams of ranks, cells with more than 20 nominal seconds per query, and cells
   that remain after a minute. folder: where the run will write, for the time of the lines that
   trials with programs add to their logs; its probe leaves no file; NULL: no logs. Searches for
   unknown optima are not part of a trial: many trials share one. */
PetscErrorCode rg_probe_costs(const RgPlan *plan, const char *folder, RgCalibration *calibration);

/* Estimate the searches for unknown optima (regret/optimum.h) that the trials without a status in
   `done` (RgStatus by trial) share: their number, and their CPU seconds by the time of a few F. A
   job makes each once, if it takes longer than a tenth of a second. Not counted: problems for teams
   of ranks, and problems that remain after a minute. */
PetscErrorCode rg_probe_optima(const RgPlan *plan, const unsigned char *done, int *n,
                               double *seconds);

#endif
