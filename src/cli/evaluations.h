/* The evaluations in a results file or study directory, for trials that can't evaluate again. */
#ifndef RG_CLI_EVALUATIONS_H
#define RG_CLI_EVALUATIONS_H

#include "study/store/evaluation_log.h"
#include "study/plan/plan.h"

/* Load the evaluations of one trial as a log in memory, and its timeline on the real clock (NULL:
   another clock); owned by the caller. They are empty if the file has no such trial. */
PetscErrorCode rg_evaluations_of(const char *path, const RgTrial *trial, const RgCell *cell,
                                 RgEvaluationLog **log, char **timeline);

#endif
