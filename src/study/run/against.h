/* Results of others that pair with the trials of a study. */
#ifndef RG_STUDY_RUN_AGAINST_H
#define RG_STUDY_RUN_AGAINST_H

#include "base/fault.h"
#include "study/plan/plan.h"

/* Append a line for each path of `against` in the study: how many complete trials of how many other
   methods pair with trials of the plan. Two trials pair if they have the same problem and settings
   of the run, instance, seed and study seed; they share initial design, noise and contexts then. A
   path starts at the folder of the study file, or is as typed. A fault names a file that cannot be
   read, and a file without such a trial. O(trials of the files). */
PetscErrorCode rg_against_describe(const RgPlan *plan, RgText *text, RgFault *fault);

#endif
