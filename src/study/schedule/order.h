/* The order in which the teams of a level take trials: seed by seed, most expensive first within
   a seed. Cheap trials of the last seeds move to the end. An order takes four bytes per trial. */
#ifndef RG_STUDY_SCHEDULE_ORDER_H
#define RG_STUDY_SCHEDULE_ORDER_H

#include "study/schedule/teams.h"

typedef struct RgOrder RgOrder;

/* Order the trials of a level that are not in `left_out` (by trial). O(n log cells). */
PetscErrorCode rg_order_create(const RgPlan *plan, const RgTeams *teams, int level,
                               PetscBT left_out, RgOrder **order);
PetscErrorCode rg_order_destroy(RgOrder **order);
/* Number of trials in the order. */
int rg_order_size(const RgOrder *order);
/* The trial at a place, from 0; -1: beyond the end. */
int rg_order_take(const RgOrder *order, int64_t place);

#endif
