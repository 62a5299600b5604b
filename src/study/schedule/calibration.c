/* Measured costs of a plan. */
#include "study/schedule/calibration.h"

#include <math.h>
#include <string.h>

/* Less of a trial than this says nothing of what it takes. */
#define LEAST_SHARE 0.02

PetscErrorCode rg_calibration_create(const RgStudy *study, RgCalibration *calibration)
{
  *calibration = (RgCalibration){.n_cells = study->n_cells};
  PetscCall(PetscCalloc2(study->n_cells, &calibration->n, study->n_cells, &calibration->seconds));
  return 0;
}

PetscErrorCode rg_calibration_destroy(RgCalibration *calibration)
{
  PetscCall(PetscFree2(calibration->n, calibration->seconds));
  return 0;
}

static void add(RgCalibration *calibration, int cell, double seconds, int *count)
{
  if (!(seconds >= 0) || isinf(seconds)) return;
  calibration->n[cell]++;
  calibration->seconds[cell] += seconds;
  (*count)++;
}

void rg_calibration_add(RgCalibration *calibration, int cell, double seconds)
{
  add(calibration, cell, seconds, &calibration->n_trials);
}

void rg_calibration_probe(RgCalibration *calibration, int cell, double seconds)
{
  add(calibration, cell, seconds, &calibration->n_probes);
}

/* Geometric mean of measured over nominal cost in the measured cells of a method and a problem
   (NULL: any); 0: no such cell. */
static double ratio_of(const RgCalibration *calibration, const RgStudy *study,
                       const double *nominal, const RgAlgorithmClass *method, const char *problem)
{
  double sum = 0;
  int n = 0;

  for (int c = 0; c < study->n_cells; c++) {
    const RgCell *cell = &study->cells[c];
    if (!calibration->n[c] || (method && cell->algorithm != method)) continue;
    if (problem && strcmp(cell->problem_label, problem)) continue;
    const double timed = calibration->seconds[c] / calibration->n[c];
    if (timed <= 0 || nominal[c] <= 0) continue;
    sum += log(timed / nominal[c]);
    n++;
  }
  return n ? exp(sum / n) : 0;
}

static double cost_of(const RgCalibration *calibration, const RgStudy *study, const double *nominal,
                      int c)
{
  const RgAlgorithmClass *method = study->cells[c].algorithm;
  double ratio;

  if (calibration->n[c]) return calibration->seconds[c] / calibration->n[c];
  ratio = ratio_of(calibration, study, nominal, method, study->cells[c].problem_label);
  if (ratio <= 0) ratio = ratio_of(calibration, study, nominal, method, NULL);
  if (ratio <= 0) ratio = ratio_of(calibration, study, nominal, NULL, NULL);
  return nominal[c] * (ratio > 0 ? ratio : 1);
}

PetscErrorCode rg_calibration_apply(const RgCalibration *calibration, RgPlan *plan)
{
  const int n = calibration->n_cells;
  double *nominal;

  if (!calibration->n_trials && !calibration->n_probes) return 0;
  PetscCall(PetscMalloc1(n, &nominal));
  for (int c = 0; c < n; c++) nominal[c] = plan->cells[c].cost;
  plan->cost = 0;
  for (int c = 0; c < n; c++) {
    plan->cells[c].cost = cost_of(calibration, plan->study, nominal, c);
    plan->cost += plan->cells[c].n * plan->cells[c].cost;
  }
  PetscCall(PetscFree(nominal));
  return 0;
}

PetscErrorCode rg_calibration_describe(const RgCalibration *calibration, RgText *text)
{
  const int trials = calibration->n_trials, probes = calibration->n_probes;
  int timed = 0;

  for (int c = 0; c < calibration->n_cells; c++) timed += calibration->n[c] > 0;
  if (!trials && !probes)
    PetscCall(rg_text_add(text, "a rough count of operations; nothing was timed"));
  if (trials)
    PetscCall(
      rg_text_add(text, "from the clock of %d finished trial%s", trials, trials > 1 ? "s" : ""));
  if (probes)
    PetscCall(rg_text_add(text, "%s %d short probe%s on this machine", trials ? " and" : "from",
                          probes, probes > 1 ? "s" : ""));
  if (timed && timed < calibration->n_cells)
    PetscCall(rg_text_add(text, "; %d of %d cells have none and follow the others",
                          calibration->n_cells - timed, calibration->n_cells));
  return 0;
}

double rg_time_left(int n_cells, const RgCellClock *cells, int ranks)
{
  double seen = 0, done = 0, nominal = 0, work = 0, n_left = 0;

  for (int c = 0; c < n_cells; c++) {
    seen += cells[c].seconds;
    done += cells[c].done;
    nominal += cells[c].done * cells[c].nominal;
    n_left += fmax(cells[c].n - cells[c].n_finished, 0) * cells[c].ranks;
  }
  if (!(n_left > 0)) return 0;
  if (!(done >= LEAST_SHARE)) return NAN;
  for (int c = 0; c < n_cells; c++) {
    const RgCellClock *cell = &cells[c];
    const double each = cell->done >= LEAST_SHARE ? cell->seconds / cell->done
                                                  : cell->nominal * seen / fmax(nominal, 1e-300);
    work += fmax(cell->n - cell->done, 0) * each * cell->ranks;
  }
  return work / fmin(n_left, ranks);
}
