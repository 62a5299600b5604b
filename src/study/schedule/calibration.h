/* Measured costs of trials, from finished trials or probes, which replace the nominal costs of a
   plan (study/plan/cost.h). */
#ifndef RG_STUDY_SCHEDULE_CALIBRATION_H
#define RG_STUDY_SCHEDULE_CALIBRATION_H

#include "base/text.h"
#include "study/plan/plan.h"

#include <stdint.h>

/* Measured seconds by cell of the study. Arrays are owned. */
typedef struct {
  int n_cells;
  int n_trials, n_probes; /* number of measurements of each kind */
  int *n;
  double *seconds; /* sums */
} RgCalibration;

/* Create an empty calibration for a study. */
PetscErrorCode rg_calibration_create(const RgStudy *study, RgCalibration *calibration);
PetscErrorCode rg_calibration_destroy(RgCalibration *calibration);

/* Add the seconds of a complete trial of the cell; negative or infinite values are ignored. */
void rg_calibration_add(RgCalibration *calibration, int cell, double seconds);
/* Add the seconds of a probe (study/run/probe.h). */
void rg_calibration_probe(RgCalibration *calibration, int cell, double seconds);

/* Replace the costs of the plan's trials (`cost`), without a change of their order. A measured
   cell gets its mean. Other cells get the nominal cost times the geometric mean of measured over
   nominal cost: of cells with the same method and problem, else with the same method, else of
   all cells. Without measurements nothing changes. O(cells^2). */
PetscErrorCode rg_calibration_apply(const RgCalibration *calibration, RgPlan *plan);

/* Append the source of the costs, such as `from the clock of N finished trials`. */
PetscErrorCode rg_calibration_describe(const RgCalibration *calibration, RgText *text);

/* The trials of one cell in this run. */
typedef struct {
  int n, n_finished;
  /* Trials that are done, with the shares of those in flight (rg_cost_share), and their wall time
     in seconds. */
  double done, seconds;
  double nominal; /* seconds per trial by the plan, used until some of a trial is done */
  double ranks;   /* average number of ranks per trial */
} RgCellClock;

/* Seconds until the last trial ends, with `ranks` ranks at work. What is left of a cell takes as
   long as what is done of it took. NaN until a fiftieth of a trial is done, 0 after the last. */
double rg_time_left(int n_cells, const RgCellClock *cells, int ranks);

#endif
