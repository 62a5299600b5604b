/* Checks of workers, clock and points in flight against the problem and the method. */
#include <math.h>

#include "study/file/draft.h"

PetscErrorCode rg_draft_methods_with(unsigned trait, RgText *text)
{
  int n;
  const RgAlgorithmClass *const *classes = rg_algorithm_classes(&n);

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++)
    if (classes[i]->traits & trait)
      PetscCall(rg_text_add(text, "%s%s", text->length ? ", " : "", classes[i]->name));
  PetscFunctionReturn(0);
}

/* Check the rule for points in flight. */
static PetscErrorCode check_pending(RgCell *cell, const RgDomain *domain, RgDiagnostics *found)
{
  const RgAlgorithmClass *class = cell->algorithm;
  const bool uses_context = domain->context.dim && !(class->needs & RG_NEEDS_NO_CONTEXT);
  RgText names = {0};

  PetscFunctionBeginUser;
  if (!rg_algorithm_reads(class, RG_BLOCK_PENDING)) PetscFunctionReturn(0);
  PetscCall(rg_pending_check(&cell->pending, cell->algorithm_place, found));
  if (cell->pending.rule == RG_PENDING_PENALISE && !(class->traits & RG_PENALISABLE)) {
    PetscCall(rg_draft_methods_with(RG_PENALISABLE, &names));
    rg_diagnostics_add(found, cell->algorithm_place,
                       "'%s' maximises no acquisition function that 'pending: {penalise: ...}' "
                       "could multiply; with it: %s",
                       cell->algorithm_label, names.data);
    PetscCall(rg_text_clear(&names));
  }
  if (cell->pending.rule && uses_context && domain->control == RG_CONTEXT_NATURE)
    rg_diagnostics_add(found, cell->algorithm_place,
                       "'%s' models the contexts, and those of points in flight are not known yet: "
                       "it takes 'pending: ignore' alone",
                       cell->algorithm_label);
  PetscFunctionReturn(0);
}

/* Report a method that needs answers before its next queries, if these workers can't give them. */
static void check_alternation(const RgCell *cell, RgDiagnostics *found)
{
  const RgAlgorithmClass *class = cell->algorithm;
  const int workers = cell->crew.workers;
  const RgTerms *terms = class->terms;
  const int points =
    terms && terms->generation ? terms->generation(cell->algorithm_options, cell->dim_x) : 1;
  const bool batches = cell->crew.release; /* not async */

  if (!(class->needs & RG_NEEDS_ALTERNATION)) return;
  if (points == 1)
    rg_diagnostics_add(found, cell->algorithm_place,
                       "'%s' chooses each query from the answer to the last one: it takes no "
                       "'workers: %d'",
                       cell->algorithm_label, workers);
  else if (!batches || points % workers)
    rg_diagnostics_add(
      found, cell->algorithm_place,
      "'%s' chooses generations of %d points in %d inputs: it takes 'release: sync' "
      "and a number of workers that divides %d, not %d with 'release: %s'",
      cell->algorithm_label, points, cell->dim_x, points, workers, batches ? "sync" : "async");
}

PetscErrorCode rg_draft_check_crew(RgCell *cell, const RgDomain *domain, RgDiagnostics *found)
{
  const int drawn =
    cell->run.initial_points + (cell->crew.start == RG_START_DESIGN ? cell->crew.workers : 0);

  PetscFunctionBeginUser;
  PetscCall(rg_crew_check(cell->problem, cell->problem_options, &domain->design,
                          cell->problem_place, cell->run.ranks_per_trial, &cell->crew, found));
  if (cell->algorithm->needs & RG_NEEDS_CLOCK && !rg_crew_has_clock(&cell->crew))
    rg_diagnostics_add(found, cell->algorithm_place,
                       "'%s' weighs the durations of evaluations, and '%s' has no 'duration'",
                       cell->algorithm_label, cell->problem_label);
  if (cell->crew.workers == 1) PetscFunctionReturn(0);
  PetscCall(check_pending(cell, domain, found));
  check_alternation(cell, found);
  if (cell->crew.initial_time == RG_INITIAL_OVERLAPPED && cell->algorithm->outside)
    rg_diagnostics_add(found, cell->algorithm_place,
                       "'%s' is told its initial design at the start: it takes no 'initial_time: "
                       "overlapped'",
                       cell->algorithm_label);
  if (cell->crew.initial_time == RG_INITIAL_OVERLAPPED &&
      cell->crew.workers > cell->run.initial_points)
    rg_diagnostics_add(found, cell->problem_place,
                       "'initial_time: overlapped' needs an initial point for each worker, so that "
                       "one is told before the first query: %d workers, %d initial points",
                       cell->crew.workers, cell->run.initial_points);
  if (!isnan(cell->run.stop_regret))
    rg_diagnostics_add(found, cell->problem_place,
                       "'stop: {regret: ...}' needs 'workers: 1': with several, evaluations in "
                       "flight would be cut off; use 'time'");
  if (cell->size_x && drawn > cell->size_x)
    rg_diagnostics_add(found, cell->problem_place,
                       "'start: design' draws %d designs for %d initial points and %d workers, but "
                       "'%s' has only %d",
                       drawn, cell->run.initial_points, cell->crew.workers, cell->problem_label,
                       cell->size_x);
  PetscFunctionReturn(0);
}
