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
  int64_t finished_us; /* sum of the finished trials' wall times in microseconds */
  /* Seconds per trial by the plan, used until a trial of the cell has finished. */
  double nominal;
  double ranks; /* average number of ranks per trial */
} RgCellClock;

/* The number of ranks, of `ranks`, that work on the trials which are not finished. */
double rg_ranks_at_work(int n_cells, const RgCellClock *cells, int ranks);
/* Seconds until the last trial ends, after `ranks` ranks have worked for `worked` seconds, the sum
   over ranks. NaN until a trial has finished, 0 when all have. Work beyond the finished trials
   belongs to trials in flight. These have a ninth of that time left where they take longer than
   their cells' trials did: the longer they run, the less is known of their end. */
double rg_time_left(int n_cells, const RgCellClock *cells, int ranks, double worked);

#endif
