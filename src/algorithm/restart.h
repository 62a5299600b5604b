/* Restarts of a method whose search has stalled (`surrogate: {restart_after: N}`): the method
   begins again with a new initial design, and forgets all evaluations before it. A search has
   stalled when each of the last N queries neither promised nor brought an improvement that
   counts. */
#ifndef RG_ALGORITHM_RESTART_H
#define RG_ALGORITHM_RESTART_H

#include "regatta/algorithm.h"

/* The evaluations since the last restart, which are all that the method sees. */
typedef struct RgRestart RgRestart;

/* NULL if the study's surrogate block asks for no restarts, or the method has no model. */
PetscErrorCode rg_restart_create(const RgAlgorithm *algorithm, RgRestart **restart);
PetscErrorCode rg_restart_destroy(RgRestart **restart);

/* Take in what was told since the last call, before query t. *due: the search has stalled, so the
   method must begin again; nothing that was submitted before query t is seen after that. *seen: the
   history for the method, borrowed until the next call. *design: query t in unit coordinates if it
   is a point of a new initial design, borrowed likewise; else NULL. O(1) per evaluation, O(n) per
   one that is the best so far. */
PetscErrorCode rg_restart_look(RgRestart *restart, const RgAlgorithm *algorithm, int t,
                               const RgHistory *history, bool *due, const RgHistory **seen,
                               const double **design);
/* Submission of the first query since the last restart; 1: no restart yet, or NULL. */
int rg_restart_first(const RgRestart *restart);
/* Count the query at x (unit coordinates), which the method chose from the history seen, as idle if
   its expected improvement is too small to count. O(n^2). */
PetscErrorCode rg_restart_judge(RgRestart *restart, const RgAlgorithm *algorithm, const double *x);

#endif
