/* The check of cells whose objective differs between evaluations: the law of the contexts changes,
   or they are announced. */
#include <math.h>

#include "maths/law.h"
#include "study/file/draft.h"

void rg_draft_check_moments(const RgCell *cell, const RgDomain *domain, RgDiagnostics *found)
{
  if (!rg_domain_follows(domain)) return;
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
