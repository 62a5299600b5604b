/* What trials cost by the clock of those that are finished, in place of the estimate from the
   algebra (study/plan/cost.h). */
#ifndef RG_STUDY_PLAN_CALIBRATION_H
#define RG_STUDY_PLAN_CALIBRATION_H

#include "base/text.h"
#include "study/plan/plan.h"

/* By cell of the study: CPU seconds of finished trials. Arrays owned. */
typedef struct {
  int n_cells, n_trials; /* trials: that were added */
  int *n;
  double *seconds; /* sums */
} RgCalibration;

/* The clock of a study of which no trial has been timed yet. */
PetscErrorCode rg_calibration_create(const RgStudy *study, RgCalibration *calibration);
PetscErrorCode rg_calibration_destroy(RgCalibration *calibration);

/* A complete trial of the cell took so many seconds; negative or infinite ones do not count. */
void rg_calibration_add(RgCalibration *calibration, int cell, double seconds);

/* Replace the costs of the plan's trials (`cost`, not the order they are in): of a cell with
   finished trials by their mean, of the others by the estimate times the geometric mean of recorded
   over estimated of the cells with the same method, else of all cells. Nothing without trials.
   O(cells^2). */
PetscErrorCode rg_calibration_apply(const RgCalibration *calibration, RgPlan *plan);

/* Append what the costs come from, `from the clock of N finished trials`, or `from the algebra`. */
PetscErrorCode rg_calibration_describe(const RgCalibration *calibration, RgText *text);

#endif
