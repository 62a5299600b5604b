/* A trial of a plan, in an expression. */
#ifndef RG_TESTS_TRIAL_AT_H
#define RG_TESTS_TRIAL_AT_H

#include "study/plan/plan.h"

static inline RgTrial trial_at(const RgPlan *plan, int index)
{
  RgTrial trial = {.index = -1};

  (void)rg_plan_trial(plan, index, &trial);
  return trial;
}

#endif
