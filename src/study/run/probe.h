/* Short trials before a study begins. They test external methods, and measure the costs of
   trials on this machine. No result depends on them. */
#ifndef RG_STUDY_RUN_PROBE_H
#define RG_STUDY_RUN_PROBE_H

#include "study/file/study.h"
#include "study/schedule/calibration.h"

/* Run every external method through one query on every problem entry, with made-up evaluations:
   start, ask, tell. The initial design includes inputs that don't count. Mistakes are added to
   `diagnostics`, once per method. Starts programs. Not collective. */
PetscErrorCode rg_probe_programs(const RgStudy *study, bool start, RgDiagnostics *diagnostics);

/* Append a line about every problem that rg_probe_costs evaluates to time it, and about every one
   that it does not evaluate although nobody has declared how long that takes. */
PetscErrorCode rg_probe_calls(const RgPlan *plan, const RgCalibration *calibration, RgText *text);

/* Time one cell of every method and problem entry without trials in `calibration`, and add the
   estimated time of a trial (study/run/probe.h). In the first 30 CPU seconds, trials of more
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

/* Estimate the seconds of a trial of a cell: CPU seconds, or wall time where the method is a
   program or the problem costly. NaN: the trial fails. A trial of up to half a second runs to its
   end. Of a longer one, the beginning runs, and then a few queries in the middle and at the end.
   Their data continue the beginning, by queries with coarse searches, and by designs near the
   latest ones where these take too long: a model of data that crowd around an optimum costs another
   time than one of scattered data. Between these points, seconds per query follow a power law.
   Costly problems are not evaluated: a smooth function with the same domain takes their place, and
   `evaluation` is added for each. */
PetscErrorCode rg_rehearse(const RgStudy *study, const RgCell *cell, double evaluation,
                           double *seconds);

#endif
