/* The order in which the teams of a level take its trials: seed by seed, dearest first within a
   seed; cheap trials of the last seeds are put back for the end. It takes four bytes per trial. */
#ifndef RG_STUDY_RUN_ORDER_H
#define RG_STUDY_RUN_ORDER_H

#include "study/run/teams.h"

typedef struct RgOrder RgOrder;

/* The trials of a level that are not in `left_out` (by trial). O(n log cells). */
PetscErrorCode rg_order_create(const RgPlan *plan, const RgTeams *teams, int level,
                               PetscBT left_out, RgOrder **order);
PetscErrorCode rg_order_destroy(RgOrder **order);
/* How many there are. */
int rg_order_size(const RgOrder *order);
/* The trial at a place from 0; -1: beyond the last. */
int rg_order_take(const RgOrder *order, int64_t place);

#endif
