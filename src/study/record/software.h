/* Versions of all software that results depend on. */
#ifndef RG_STUDY_RECORD_SOFTWARE_H
#define RG_STUDY_RECORD_SOFTWARE_H

#include "regatta/error.h"

/* Versions of regatta, its libraries and compiler, in one line separated by "; ". Owned by the
   caller (PetscFree). */
PetscErrorCode rg_software_describe(char **text);

#endif
