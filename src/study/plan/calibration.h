/* What trials take by the clock of finished ones or of probes, in place of the nominal seconds of a
   plan (study/plan/cost.h). */
#ifndef RG_STUDY_PLAN_CALIBRATION_H
#define RG_STUDY_PLAN_CALIBRATION_H

#include "base/text.h"
#include "study/plan/plan.h"

/* By cell of the study: seconds of finished trials, or of a probe. Arrays owned. */
typedef struct {
  int n_cells;
  int n_trials, n_probes; /* that were added */
  int *n;
  double *seconds; /* sums */
} RgCalibration;

/* The clock of a study of which no trial has been timed yet. */
PetscErrorCode rg_calibration_create(const RgStudy *study, RgCalibration *calibration);
PetscErrorCode rg_calibration_destroy(RgCalibration *calibration);

/* A complete trial of the cell took that time; negative or infinite seconds do not count. */
void rg_calibration_add(RgCalibration *calibration, int cell, double seconds);
/* The same by a probe (study/run/probe.h). */
void rg_calibration_probe(RgCalibration *calibration, int cell, double seconds);

/* Replace the costs of the plan's trials (`cost`, not the order they are in): of a cell that was
   timed by the mean, of the others by the nominal cost times the geometric mean of timed over
   nominal of the cells with the same method and problem, else the same method, else of all cells.
   Nothing where nothing was timed. O(cells^2). */
PetscErrorCode rg_calibration_apply(const RgCalibration *calibration, RgPlan *plan);

/* Append what the costs come from, such as `from the clock of N finished trials`. */
PetscErrorCode rg_calibration_describe(const RgCalibration *calibration, RgText *text);

#endif
