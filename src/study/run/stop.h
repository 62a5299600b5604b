/* Reasons to stop early: signals, the STOP file, the wall-time limit, the observer. */
#ifndef RG_STUDY_RUN_STOP_H
#define RG_STUDY_RUN_STOP_H

#include "regatta/error.h"
#include "regatta/run.h"

/* The sources of stops on one rank. */
typedef struct {
  double deadline;            /* rg_wall_seconds; 0: no limit */
  char file[4200];            /* STOP file, checked at most once a second; "": no file */
  const RgObserver *observer; /* borrowed; NULL: no observer */
  double next_check;          /* time of the next check of the file */
} RgStop;

/* Whether a signal asked for a stop, and whether a second TERM or INT asked for the end of the
   process. From any thread. */
bool rg_stop_signalled(void);
bool rg_stop_signalled_again(void);
/* Whether a guard will end the process after a second TERM or INT. Otherwise the signal ends it at
   once. */
void rg_stop_guarded(bool guarded);

typedef struct RgStopRelay RgStopRelay;

/* Create the relay. stop: sources on this rank, copied. Collective on `comm`. */
PetscErrorCode rg_stop_relay_create(MPI_Comm comm, const RgStop *stop, RgStopRelay **relay);
/* The reason to stop: this rank's own (RgStop), or another rank's, which rank 0
   passes on. Never waits: it only probes for messages, cheap enough for every iteration. Once
   set, the reason stays. Call it now and then until rg_stop_relay_finish, also on ranks without
   work. */
PetscErrorCode rg_stop_relay_poll(RgStopRelay *relay, RgStopReason *reason);
/* Agree on the reason when all ranks are done; rg_stop_relay_poll must not be called afterwards.
   Collective. */
PetscErrorCode rg_stop_relay_finish(RgStopRelay *relay, RgStopReason *reason);
/* Destroy the relay; NULL is fine. Collective. */
PetscErrorCode rg_stop_relay_destroy(RgStopRelay **relay);

#endif
