/* The relay of stops: a stop on one rank stops all ranks. A batch system may signal a single
   node, and each rank has its own clock and files. */
#ifndef RG_STUDY_RUN_STOP_RELAY_H
#define RG_STUDY_RUN_STOP_RELAY_H

#include "study/run/stop.h"

typedef struct RgStopRelay RgStopRelay;

/* Create the relay. stop: sources on this rank, copied. Collective on `comm`. */
PetscErrorCode rg_stop_relay_create(MPI_Comm comm, const RgStop *stop, RgStopRelay **relay);
/* The reason to stop: this rank's own (rg_stop_requested), or another rank's, which rank 0
   passes on. Never waits: it only probes for messages, cheap enough for every iteration. Once
   set, the reason stays. Call it now and then until rg_stop_relay_finish, also on ranks without
   work. */
PetscErrorCode rg_stop_relay_look(RgStopRelay *relay, RgStopReason *reason);
/* Agree on the reason when all ranks are done; rg_stop_relay_look must not be called afterwards.
   Collective. */
PetscErrorCode rg_stop_relay_finish(RgStopRelay *relay, RgStopReason *reason);
/* Destroy the relay; NULL is fine. Collective. */
PetscErrorCode rg_stop_relay_destroy(RgStopRelay **relay);

#endif
