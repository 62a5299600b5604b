/* The number of trials in the study of a results file or study directory. */
#include "cli/planned.h"

#include <string.h>

#include "study/plan/plan.h"

PetscErrorCode rg_planned_trials(const RgRegistry *registry, const RgStoreInfo *info, int *n)
{
  RgStudy study = {0};
  RgPlan plan = {0};
  RgDiagnostics diagnostics = {0};

  PetscFunctionBeginUser;
  *n = -1;
  if (!info->study || !info->study[0]) PetscFunctionReturn(0);
  PetscCall(
    rg_study_parse(registry, info->name, info->study, strlen(info->study), &study, &diagnostics));
  if (!diagnostics.n) {
    PetscCall(rg_plan_fill(&study, &plan));
    *n = plan.n;
    PetscCall(rg_plan_clear(&plan));
  }
  PetscCall(rg_study_destroy(&study));
  PetscFunctionReturn(0);
}
