/* A stop that reaches one rank stops all: a batch system may signal a single node, and ranks look
   at clocks and files of their own. */
#ifndef RG_STUDY_RUN_STOP_RELAY_H
#define RG_STUDY_RUN_STOP_RELAY_H

#include "study/run/stop.h"

typedef struct RgStopRelay RgStopRelay;

/* stop: what this rank looks at itself; copied. Collective on `comm`. */
PetscErrorCode rg_stop_relay_create(MPI_Comm comm, const RgStop *stop, RgStopRelay **relay);
/* Why to stop: this rank's own reason (rg_stop_requested) or that of another rank, which is passed
   on through rank 0. Never waits; a probe for messages, cheap enough for every iteration. Sticky.
   To be called now and then until rg_stop_relay_finish, also by ranks without work. */
PetscErrorCode rg_stop_relay_look(RgStopRelay *relay, RgStopReason *reason);
/* Collective, when all ranks are done: the reason on all ranks. No more looks afterwards. */
PetscErrorCode rg_stop_relay_finish(RgStopRelay *relay, RgStopReason *reason);
/* Collective. NULL is fine. */
PetscErrorCode rg_stop_relay_destroy(RgStopRelay **relay);

#endif
