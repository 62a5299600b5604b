/* Measured times of trials. */
#include "study/schedule/calibration.h"

#include <math.h>
#include <string.h>

/* Less of a trial than this says nothing of what it takes. */
#define LEAST_SHARE 0.02

PetscErrorCode rg_calibration_create(const RgStudy *study, RgCalibration *calibration)
{
  *calibration = (RgCalibration){.study = study};
  PetscCall(PetscCalloc1(study->n_cells, &calibration->cells));
  return 0;
}

PetscErrorCode rg_calibration_destroy(RgCalibration *calibration)
{
  return PetscFree(calibration->cells);
}

static void add(RgCellTimes *cell, double seconds, int *count)
{
  if (!(seconds >= 0) || isinf(seconds)) return;
  cell->n++;
  cell->seconds += seconds;
  (*count)++;
}

void rg_calibration_add(RgCalibration *calibration, int cell, double seconds)
{
  add(&calibration->cells[cell], seconds, &calibration->n_trials);
}

void rg_calibration_probe(RgCalibration *calibration, int cell, double seconds)
{
  add(&calibration->cells[cell], seconds, &calibration->n_probes);
}

static double cost_of(const RgCalibration *calibration, int c)
{
  enum { ANY, METHOD, PROBLEM, N_LIKENESS }; /* cells that have nothing, ... in common with c */
  const RgCell *cells = calibration->study->cells;
  const RgCellTimes *own = &calibration->cells[c];
  double sum[N_LIKENESS] = {0};
  int n[N_LIKENESS] = {0}, likeness = PROBLEM;

  if (own->n >= LEAST_SHARE) return own->seconds / own->n;
  for (int i = 0; i < calibration->study->n_cells; i++) {
    const RgCellTimes *timed = &calibration->cells[i];
    if (!(timed->n >= LEAST_SHARE && timed->seconds > 0 && timed->nominal > 0)) continue;
    const double ratio = log(timed->seconds / timed->n / timed->nominal);
    const bool method = cells[i].algorithm == cells[c].algorithm;
    const bool problem = method && !strcmp(cells[i].problem_label, cells[c].problem_label);
    for (int k = ANY; k <= (problem ? PROBLEM : method ? METHOD : ANY); k++) {
      sum[k] += ratio;
      n[k]++;
    }
  }
  while (likeness > ANY && !n[likeness]) likeness--;
  return n[likeness] ? own->nominal * exp(sum[likeness] / n[likeness]) : own->nominal;
}

PetscErrorCode rg_calibration_apply(RgCalibration *calibration, RgPlan *plan)
{
  const int n = calibration->study->n_cells;

  if (!calibration->n_trials && !calibration->n_probes) return 0;
  for (int c = 0; c < n; c++) calibration->cells[c].nominal = plan->cells[c].cost;
  plan->cost = 0;
  for (int c = 0; c < n; c++) {
    plan->cells[c].cost = cost_of(calibration, c);
    plan->cost += plan->cells[c].n * plan->cells[c].cost;
  }
  return 0;
}

PetscErrorCode rg_calibration_describe(const RgCalibration *calibration, bool all, RgText *text)
{
  const int trials = calibration->n_trials, probes = calibration->n_probes;
  const int n = calibration->study->n_cells;
  int timed = 0;

  for (int c = 0; c < n; c++) timed += calibration->cells[c].n > 0;
  if (!trials && !probes)
    PetscCall(rg_text_add(text, "a rough count of operations; nothing was timed"));
  if (trials)
    PetscCall(
      rg_text_add(text, "from the clock of %d finished trial%s", trials, trials > 1 ? "s" : ""));
  if (probes)
    PetscCall(rg_text_add(text, "%s %d short probe%s on this machine", trials ? " and" : "from",
                          probes, probes > 1 ? "s" : ""));
  if (timed && timed < n)
    PetscCall(rg_text_add(text, "; %d of %d cells have none and %s", n - timed, n,
                          all ? "follow the others" : "are not in the sum"));
  return 0;
}

double rg_calibration_left(const RgCalibration *calibration, double ranks)
{
  double timed = 0, work = 0, open = 0;

  for (int c = 0; c < calibration->study->n_cells; c++) {
    const RgCellTimes *cell = &calibration->cells[c];
    timed += cell->n;
    open += fmax(cell->open, 0) * cell->ranks;
    if (cell->left > 0) work += cell->left * cost_of(calibration, c) * cell->ranks;
  }
  if (!(open > 0)) return 0;
  return timed >= LEAST_SHARE ? work / fmin(open, ranks) : NAN;
}
