/* The guard of a rank: a thread that commits finished trials while the rank is inside a long
   iteration, and ends the process when a stop is not obeyed in time, for example because MPI waits
   for a host that has gone silent. It never calls MPI. */
#ifndef RG_STUDY_RUN_GUARD_H
#define RG_STUDY_RUN_GUARD_H

#include "regatta/run.h"
#include "study/store/store.h"

typedef struct RgGuard RgGuard;

/* The settings of a guard, and the objects that it uses. */
typedef struct {
  RgStore *store;             /* borrowed; must outlive the guard, like the observer */
  const RgObserver *observer; /* borrowed; NULL or without `leave`: the process goes on */
  int rank;
  bool commits;    /* commit while the rank is away; false: only before it leaves */
  double deadline; /* rg_wall_seconds of the wall-time limit, 0: no limit */
  double grace;    /* seconds from a stop until observer->leave is called */
} RgGuardOptions;

/* Start the guard of this rank. */
PetscErrorCode rg_guard_create(const RgGuardOptions *options, RgGuard **guard);
/* End the guard; NULL is fine. It does nothing any more afterwards. */
PetscErrorCode rg_guard_destroy(RgGuard **guard);

/* The rank uses the store between these two calls, and the guard does not. NULL is fine. */
void rg_guard_lock(RgGuard *guard);
void rg_guard_unlock(RgGuard *guard);
/* The rank begins an iteration, or another pause in which it polls nothing. stop: the reason, as
   far as the rank knows. */
void rg_guard_begin_pause(RgGuard *guard, RgStopReason stop);

#endif
