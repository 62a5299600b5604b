/* Methods that are programs, tried before a study is begun. */
#include "study/plan/probe.h"

#include <math.h>

static bool same_place(RgPlace a, RgPlace b)
{
  return a.line == b.line && a.column == b.column;
}

/* The settings that were swept differ, the program and its problem don't. */
static bool is_tried(const RgStudy *study, int cell)
{
  for (int i = 0; i < cell; i++)
    if (same_place(study->cells[i].algorithm_place, study->cells[cell].algorithm_place) &&
        same_place(study->cells[i].problem_place, study->cells[cell].problem_place))
      return true;
  return false;
}

/* On another problem: that is told once. */
static bool has_failed(RgPlace place, const RgDiagnostics *diagnostics)
{
  for (int i = 0; i < diagnostics->n && i < RG_DIAGNOSTICS_MAX; i++)
    if (same_place(diagnostics->list[i].place, place)) return true;
  return false;
}

static PetscErrorCode probe_cell(const RgCell *cell, RgText *mistake)
{
  RgDomain domain = {0};
  RgAlgorithm algorithm;

  PetscFunctionBeginUser;
  PetscCall(cell->problem->domain(cell->problem, cell->problem_options, &domain));
  const RgSetup setup = {
    .domain = &domain,
    .surrogate = &cell->surrogate,
    .maximiser = &cell->maximiser,
    .noise_variance = cell->run.noise_known ? cell->run.noise_variance : NAN,
    .n_initial = cell->run.initial_points,
    .n_iterations = cell->run.iterations,
  };
  PetscCall(rg_algorithm_create(cell->algorithm, cell->algorithm_options, &setup, &algorithm));
  PetscCall(cell->algorithm->probe(&algorithm, mistake));
  PetscCall(rg_algorithm_destroy(&algorithm));
  PetscCall(rg_domain_destroy(&domain));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_study_probe(const RgStudy *study, RgDiagnostics *diagnostics)
{
  PetscFunctionBeginUser;
  for (int i = 0; i < study->n_cells; i++) {
    const RgCell *cell = &study->cells[i];
    RgText mistake = {0};
    if (!cell->algorithm->probe || is_tried(study, i)) continue;
    if (has_failed(cell->algorithm_place, diagnostics)) continue;
    PetscCall(probe_cell(cell, &mistake));
    if (mistake.length)
      rg_diagnostics_add(diagnostics, cell->algorithm_place, "the program of '%s' %s (on '%s')",
                         cell->algorithm_label, mistake.data, cell->problem_label);
    PetscCall(rg_text_clear(&mistake));
  }
  PetscFunctionReturn(0);
}
