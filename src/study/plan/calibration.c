/* Costs of a plan by the clock of finished trials. */
#include "study/plan/calibration.h"

#include <math.h>

PetscErrorCode rg_calibration_create(const RgStudy *study, RgCalibration *calibration)
{
  PetscFunctionBeginUser;
  *calibration = (RgCalibration){.n_cells = study->n_cells};
  PetscCall(PetscCalloc2(study->n_cells, &calibration->n, study->n_cells, &calibration->seconds));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_calibration_destroy(RgCalibration *calibration)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(calibration->n, calibration->seconds));
  PetscFunctionReturn(0);
}

void rg_calibration_add(RgCalibration *calibration, int cell, double seconds)
{
  if (!(seconds >= 0) || isinf(seconds)) return;
  calibration->n[cell]++;
  calibration->seconds[cell] += seconds;
  calibration->n_trials++;
}

/* Recorded over estimated of the measured cells, of one method or (NULL) of all; 0: none. */
static double ratio_of(const RgCalibration *calibration, const RgStudy *study,
                       const double *estimate, const RgAlgorithmClass *method)
{
  double sum = 0;
  int n = 0;

  for (int c = 0; c < study->n_cells; c++) {
    if (!calibration->n[c] || (method && study->cells[c].algorithm != method)) continue;
    const double recorded = calibration->seconds[c] / calibration->n[c];
    if (recorded <= 0 || estimate[c] <= 0) continue;
    sum += log(recorded / estimate[c]);
    n++;
  }
  return n ? exp(sum / n) : 0;
}

static double cost_of(const RgCalibration *calibration, const RgStudy *study,
                      const double *estimate, int cell)
{
  if (calibration->n[cell]) return calibration->seconds[cell] / calibration->n[cell];
  double ratio = ratio_of(calibration, study, estimate, study->cells[cell].algorithm);
  if (ratio <= 0) ratio = ratio_of(calibration, study, estimate, NULL);
  return estimate[cell] * (ratio > 0 ? ratio : 1);
}

PetscErrorCode rg_calibration_apply(const RgCalibration *calibration, RgPlan *plan)
{
  const int n = calibration->n_cells;
  double *estimate;

  PetscFunctionBeginUser;
  if (!calibration->n_trials) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(n, &estimate));
  for (int c = 0; c < n; c++) estimate[c] = plan->cells[c].cost;
  plan->cost = 0;
  for (int c = 0; c < n; c++) {
    plan->cells[c].cost = cost_of(calibration, plan->study, estimate, c);
    plan->cost += plan->cells[c].n * plan->cells[c].cost;
  }
  PetscCall(PetscFree(estimate));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_calibration_describe(const RgCalibration *calibration, RgText *text)
{
  int measured = 0;

  PetscFunctionBeginUser;
  for (int c = 0; c < calibration->n_cells; c++) measured += calibration->n[c] > 0;
  if (!calibration->n_trials) {
    PetscCall(rg_text_add(text, "from the algebra; finished trials make it better"));
    PetscFunctionReturn(0);
  }
  PetscCall(rg_text_add(text, "from the clock of %d finished %s", calibration->n_trials,
                        calibration->n_trials > 1 ? "trials" : "trial"));
  if (measured < calibration->n_cells)
    PetscCall(rg_text_add(text, "; %d of %d cells have none and follow the others",
                          calibration->n_cells - measured, calibration->n_cells));
  PetscFunctionReturn(0);
}
