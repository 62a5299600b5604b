/* Measured times of trials, which replace the counts of operations of a plan (study/plan/cost.h).
   A plan, the state of a study and the progress of a run all use them. */
#ifndef RG_STUDY_SCHEDULE_CALIBRATION_H
#define RG_STUDY_SCHEDULE_CALIBRATION_H

#include "base/text.h"
#include "study/plan/plan.h"

/* One cell of the study. */
typedef struct {
  double n,
    seconds;      /* trials that were timed, parts of trials as shares (rg_cost_share); their sum */
  double nominal; /* seconds of a trial before it was timed, at least in proportion */
  /* For rg_calibration_left: trials that have not ended, the same less the shares of those in
     flight, and ranks per trial. */
  double open, left, ranks;
} RgCellTimes;

typedef struct {
  const RgStudy *study;   /* borrowed */
  int n_trials, n_probes; /* number of measurements of each kind */
  RgCellTimes *cells;     /* by cell; owned */
} RgCalibration;

/* Begin without times, for a study. */
PetscErrorCode rg_calibration_create(const RgStudy *study, RgCalibration *calibration);
PetscErrorCode rg_calibration_destroy(RgCalibration *calibration);

/* Add the seconds of a complete trial of the cell; negative or infinite values are ignored. */
void rg_calibration_add(RgCalibration *calibration, int cell, double seconds);
/* Add the seconds of a probe (study/run/probe.h). */
void rg_calibration_probe(RgCalibration *calibration, int cell, double seconds);

/* Replace the costs of the plan's trials (`cost`), without a change of their order. A timed cell
   gets its mean. Other cells get the nominal cost times the geometric mean of measured over nominal
   cost: of cells with the same method and problem, else with the same method, else of all cells.
   Without measurements nothing changes. O(cells^2). */
PetscErrorCode rg_calibration_apply(RgCalibration *calibration, RgPlan *plan);

/* Append the source of the costs, such as `from the clock of N finished trials`. all: the costs of
   cells that nobody has timed count, too. */
PetscErrorCode rg_calibration_describe(const RgCalibration *calibration, bool all, RgText *text);

/* Seconds until the last trial ends, if so many ranks are at work, by the same costs. NaN until a
   fiftieth of a trial has been timed, 0 after the last. */
double rg_calibration_left(const RgCalibration *calibration, double ranks);

#endif
