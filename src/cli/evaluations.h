/* The evaluations a results file or study directory holds, for trials that can't ask again. */
#ifndef RG_CLI_EVALUATIONS_H
#define RG_CLI_EVALUATIONS_H

#include "study/store/evaluation_log.h"
#include "study/plan/plan.h"

/* Those of one trial, as a log in memory; owned by the caller. Without such a trial it is empty. */
PetscErrorCode rg_evaluations_of(const char *path, const RgTrial *trial, const RgCell *cell,
                                 RgEvaluationLog **log);

#endif
