/* Stops inside long computations. A search or a sum that may take seconds calls rg_poll once per
   round or block; whoever can abandon it brackets the call with rg_poll_begin and rg_poll_end. */
#ifndef RG_BASE_POLL_H
#define RG_BASE_POLL_H

#include "regatta/error.h"

#define RG_POLL_POINTS 1024 /* points of a cheap loop between two polls */

/* Whether to stop; called at most ten times a second. */
typedef bool (*RgPollStop)(void *closure);

/* From now on rg_poll asks `stop` (borrowed, with its closure). Not nested. */
void rg_poll_begin(RgPollStop stop, void *closure);

/* Errors: a code that only rg_poll_end understands, when the computation is to be abandoned. It
   prints nothing on its way up, and what the functions on the way have allocated is lost. Outside
   rg_poll_begin and rg_poll_end it does nothing. Takes a few nanoseconds, or one reading of the
   clock inside. */
PetscErrorCode rg_poll(void);

/* code: what the computation returned. Return 0 in place of the code of rg_poll, with *stopped
   set; every other code as it is. */
PetscErrorCode rg_poll_end(PetscErrorCode code, bool *stopped);

#endif
