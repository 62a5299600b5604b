/* The first trial of a plan, to be timed. */
#ifndef RG_TESTS_BENCH_BENCH_TRIAL_H
#define RG_TESTS_BENCH_BENCH_TRIAL_H

#include "study/trial/trial.h"
#include "trial_at.h"

static inline PetscErrorCode bench_first_trial(const RgStudy *study, const RgPlan *plan)
{
  RgRecord record = {0};
  const RgTrial trial = trial_at(plan, 0);
  bool stopped;

  PetscCall(rg_trial_run(study, &trial, NULL, &record, &stopped));
  PetscCheck(record.status == RG_STATUS_COMPLETE, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "trial failed: %s", record.message);
  PetscCall(rg_record_destroy(&record));
  return 0;
}

#endif
