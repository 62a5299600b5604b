/* The study of a results file or study directory. */
#include "cli/planned.h"

#include "cli/arguments.h"
#include "study/plan/plan.h"

PetscErrorCode rg_planned_load(const RgRegistry *registry, const char *path,
                               const RgStoreInfo *info, RgStudy *study, RgPlan *plan)
{
  RgDiagnostics diagnostics = {0};

  *study = (RgStudy){0};
  *plan = (RgPlan){0};
  if (!info->study || !info->study[0]) return 0;
  PetscCall(rg_study_parse_stored(registry, path, info->study, false, study, &diagnostics));
  if (!diagnostics.n) PetscCall(rg_plan_fill(study, plan));
  if (study->unopened) rg_print_diagnostics(&diagnostics);
  return 0;
}

PetscErrorCode rg_planned_clear(RgStudy *study, RgPlan *plan)
{
  if (plan->n) PetscCall(rg_plan_clear(plan));
  PetscCall(rg_study_destroy(study));
  return 0;
}
