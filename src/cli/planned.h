/* How many trials the study of a results file or study directory has. */
#ifndef RG_CLI_PLANNED_H
#define RG_CLI_PLANNED_H

#include "study/spec/registry.h"
#include "study/store/store.h"

/* Count the trials of the study whose text is in `info`. registry: the plug-ins; NULL: there are
   none. *n is -1 where the text can't be planned here: it may name files or plug-ins that are
   elsewhere. */
PetscErrorCode rg_planned_trials(const RgRegistry *registry, const RgStoreInfo *info, int *n);

#endif
