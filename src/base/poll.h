/* Stops inside long computations. A search or a sum that may take seconds calls rg_poll once per
   round or block. A caller that can abandon it calls rg_poll_begin before and rg_poll_end after. */
#ifndef RG_BASE_POLL_H
#define RG_BASE_POLL_H

#include "regatta/error.h"

#define RG_POLL_POINTS 1024 /* points of a cheap loop between two polls */

/* Whether to stop; called at most ten times a second. */
typedef bool (*RgPollStop)(void *closure);

/* From now on rg_poll calls `stop`, which is borrowed with its closure. Pairs of rg_poll_begin and
   rg_poll_end are not nested. */
void rg_poll_begin(RgPollStop stop, void *closure);

/* Return an error code if the computation is to be abandoned, which rg_poll_end recognises. Callers
   pass it on as any other code; it prints nothing, and what they have allocated is lost. Outside
   rg_poll_begin and rg_poll_end return 0. Cost: one reading of the clock, about 20 ns. */
PetscErrorCode rg_poll(void);

/* code: what the computation returned. Return 0 and set *stopped if that is the code of rg_poll;
   else return the code. */
PetscErrorCode rg_poll_end(PetscErrorCode code, bool *stopped);

#endif
