/* The programs of trials on the real clock. */
#ifndef RG_STUDY_RUN_PROGRAMS_H
#define RG_STUDY_RUN_PROGRAMS_H

#include "study/trial/trial.h"

/* Programs that this process starts itself. They go on from one trial to the next. log: file for
   their standard error; borrowed. */
PetscErrorCode rg_programs_here(const char *log, RgPrograms *programs);
/* End them; programs that were not created are fine. */
PetscErrorCode rg_programs_end(RgPrograms *programs);

#endif
