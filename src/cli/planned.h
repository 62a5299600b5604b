/* The study of a results file or study directory. */
#ifndef RG_CLI_PLANNED_H
#define RG_CLI_PLANNED_H

#include "study/file/registry.h"
#include "study/store/store.h"

typedef struct RgPlan RgPlan; /* study/plan/plan.h */

/* Plan the study text in `info`, which is of the results at `path` (borrowed by the study).
   registry: the plug-ins; NULL: no plug-ins. plan->n is 0 if the text can't be planned here, for
   example because it names missing files or plug-ins. One line names data that is not opened. */
PetscErrorCode rg_planned_load(const RgRegistry *registry, const char *path,
                               const RgStoreInfo *info, RgStudy *study, RgPlan *plan);
PetscErrorCode rg_planned_clear(RgStudy *study, RgPlan *plan);

#endif
