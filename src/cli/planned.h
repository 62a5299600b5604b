/* The number of trials in the study of a results file or study directory. */
#ifndef RG_CLI_PLANNED_H
#define RG_CLI_PLANNED_H

#include "study/file/registry.h"
#include "study/store/store.h"

/* Count the trials of the study text in `info`. registry: the plug-ins; NULL: no plug-ins. *n is
   -1 if the text can't be planned here, for example because it names missing files or plug-ins. */
PetscErrorCode rg_planned_trials(const RgRegistry *registry, const RgStoreInfo *info, int *n);

#endif
