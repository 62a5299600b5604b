/* Work that copies of this process share: where its memory is all they need, no requests are. */
#ifndef RG_BASE_HELPERS_H
#define RG_BASE_HELPERS_H

#include "base/fault.h"
#include "base/text.h"

/* Items of work, none of which needs what another one does. */
typedef struct {
  /* Do an item. answer: NULL in this process; in a helper all that will be known of it here is what
     is appended to the answer, and the fault. */
  PetscErrorCode (*work)(void *closure, int item, RgText *answer, RgFault *fault);
  /* In this process: what a helper answered without a fault (borrowed). */
  PetscErrorCode (*take)(void *closure, int item, const char *answer, RgFault *fault);
  void *closure;
} RgWork;

/* Do items 0 to n - 1 in this process (helpers: 1 or less), or have so many children do them, each
   every so manieth; all answers are taken in the order of the items. The first item with a fault is
   the last one: *fault. What a helper did not answer for, since it died or could not be made, is
   done by this process. No helper is left when this returns, and none outlives its parent by more
   than an item (where there is Linux: at all). They communicate with nobody else, in MPI neither.
   Memory: the answer of one item in each process. */
PetscErrorCode rg_helpers_do(int helpers, int n, const RgWork *work, RgFault *fault);

#endif
