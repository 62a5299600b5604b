/* Checks of when a trial may end, and of cells whose objective differs between evaluations: the law
   of the contexts changes, or they are announced. */
#include <math.h>

#include "maths/law.h"
#include "study/file/draft.h"

/* Check that a trial's seconds are those of a program: they are saved with its answers, so that a
   resumed trial ends where it would have ended. */
static void check_stop(const RgCell *cell, RgDiagnostics *found)
{
  if (!isnan(cell->run.stop_seconds) && !(cell->problem->traits & RG_PROBLEM_COSTLY))
    rg_diagnostics_add(found, cell->problem_place,
                       "'stop' after seconds is for problems that a program evaluates; '%s' is not "
                       "one: use `iterations`, or `stop: {regret: VALUE}`",
                       cell->problem_label);
}

/* Whether the objective differs between evaluations. */
static bool is_dynamic(const RgDomain *domain)
{
  return domain->control == RG_CONTEXT_ANNOUNCED || rg_law_drifts(domain->n_laws, domain->laws);
}

void rg_draft_check_moments(const RgCell *cell, const RgDomain *domain, RgDiagnostics *found)
{
  check_stop(cell, found);
  if (!is_dynamic(domain)) return;
  if (!isnan(cell->run.stop_regret))
    rg_diagnostics_add(
      found, cell->problem_place,
      "'stop: {regret: ...}' needs one objective for all evaluations; that of '%s' "
      "changes: use `iterations`",
      cell->problem_label);
  if (rg_crew_counts(&cell->crew))
    rg_diagnostics_add(found, cell->problem_place,
                       "the objective of '%s' changes from one evaluation to the next: it takes "
                       "'workers: 1' and no 'duration'",
                       cell->problem_label);
}
