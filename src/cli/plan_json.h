/* A plan as data, for programs. */
#ifndef RG_CLI_PLAN_JSON_H
#define RG_CLI_PLAN_JSON_H

#include "study/plan/plan.h"

/* Append one line: a JSON object with the name of the study and its cells. done: RgStatus of each
   trial of the plan. */
PetscErrorCode rg_plan_json(const RgPlan *plan, const unsigned char *done, RgText *text);

#endif
