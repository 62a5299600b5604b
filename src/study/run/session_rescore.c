/* An optimum in a study file does not affect a trial's identity. When it is corrected, the
   finished trials stay, and their regrets are recomputed. */
#include <math.h>

#include "study/run/session.h"
#include "study/trial/trial.h"

/* List the current optimum of each cell whose F is only observed. *some: there is such a cell. */
static PetscErrorCode list_optima(const RgStudy *study, double *optimum, bool *some)
{
  PetscFunctionBeginUser;
  *some = false;
  for (int c = 0; c < study->n_cells; c++) {
    const RgCell *cell = &study->cells[c];
    RgProblem problem = {0};
    RgFailure failure = {0};
    if (!rg_problem_is_observed(cell->problem)) continue;
    PetscCall(
      rg_problem_create(cell->problem, cell->problem_options, study->seed, 0, &problem, &failure));
    optimum[c] = problem.optimum;
    *some = true;
    PetscCall(rg_problem_destroy(&problem));
  }
  PetscFunctionReturn(0);
}

static bool same_optimum(double a, double b)
{
  return isnan(a) ? isnan(b) : a == b;
}

/* Rescore a finished trial; *count increases if it changed. The new record is of the next
   generation, so that it replaces the old one. */
static PetscErrorCode rescore(RgSession *session, const double *optimum, RgRecord *record,
                              int *count, RgFault *fault)
{
  const RgStudy *study = session->plan->study;
  int trial;

  PetscFunctionBeginUser;
  PetscCall(rg_plan_find(session->plan, record->id, &trial));
  if (trial < 0 || !session->done[trial]) PetscFunctionReturn(0);
  const int c = rg_plan_cell(session->plan, trial);
  if (!rg_problem_is_observed(study->cells[c].problem)) PetscFunctionReturn(0);
  if (same_optimum(record->optimum, optimum[c])) PetscFunctionReturn(0);
  PetscCall(rg_trial_rescore(&study->cells[c], optimum[c], record));
  record->provenance.generation++;
  PetscCall(rg_store_add(session->store, record, fault));
  (*count)++;
  PetscFunctionReturn(0);
}

static PetscErrorCode rescore_all(RgSession *session, const double *optimum)
{
  RgFault fault = {0};
  RgResults *results;
  RgRecord record = {0};
  int count = 0;

  PetscFunctionBeginUser;
  PetscCall(rg_results_open(session->options->output, &results, &fault));
  if (!results) PetscFunctionReturn(0); /* the files vanished after the scan */
  while (rg_results_next(results, &record)) {
    PetscCall(rescore(session, optimum, &record, &count, &fault));
    PetscCall(rg_record_destroy(&record));
  }
  PetscCall(rg_results_close(&results));
  if (!count) PetscFunctionReturn(0);
  PetscCall(rg_store_flush(session->store, true, &fault)); /* failed commits are repeated later */
  rg_session_tell(
    session, -1, "the study file has another optimum: regret of %d finished trial%s counts from it",
    count, count == 1 ? "" : "s");
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_rescore(RgSession *session)
{
  double *optimum;
  bool some;

  PetscFunctionBeginUser;
  if (!session->scan.n_done) PetscFunctionReturn(0);
  PetscCall(PetscMalloc1(session->plan->study->n_cells, &optimum));
  PetscCall(list_optima(session->plan->study, optimum, &some));
  if (some) PetscCall(rescore_all(session, optimum));
  PetscCall(PetscFree(optimum));
  PetscFunctionReturn(0);
}
