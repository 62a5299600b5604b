/* The guard commits while the rank computes, and ends a rank that can't end by itself. */
#include "study/run/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/grow.h"
#include "study/run/stop.h"

static const double tick = 0.1;    /* seconds between two checks of the guard */
static const double absence = 1.0; /* commit when the rank has been busy for this time */
static const double at_stop = 0.2; /* or for this time after a stop: mpirun kills after a second */
static const double due = 29.0;    /* with `absence` half a minute, the promise of the store */
static const double last_wait = 5.0; /* when leaving, wait so long for a store in use */

struct RgGuard {
  RgGuardOptions o;
  pthread_t thread;
  pthread_mutex_t store_lock; /* held while the store is in use */
  _Atomic double away;        /* rg_wall_seconds when the rank began its pause */
  atomic_bool stop;           /* the rank knows of a stop */
  pthread_mutex_t end_lock;
  pthread_cond_t end; /* `ended` has changed */
  bool ended;
  double stopped; /* rg_wall_seconds of the stop; 0: no stop yet. Only the guard uses this. */
  double retry;   /* no commit before this time */
};

void rg_guard_lock(RgGuard *guard)
{
  if (guard) (void)pthread_mutex_lock(&guard->store_lock);
}

void rg_guard_unlock(RgGuard *guard)
{
  if (guard) (void)pthread_mutex_unlock(&guard->store_lock);
}

void rg_guard_begin_pause(RgGuard *guard, RgStopReason stop)
{
  if (!guard) return;
  guard->away = rg_wall_seconds();
  guard->stop = stop != RG_STOP_NONE;
}

/* Commit what waits, if the rank is away for long, or for ever (`over`). The lock is held. A
   failure is repeated, and reported when the rank is back. */
static void commit(RgGuard *guard, double now, bool over)
{
  const double away = now - guard->away;
  RgFault fault = {0};

  if (now < guard->retry || (!guard->o.commits && !over)) return;
  if (guard->stopped > 0 && (over || away > at_stop))
    (void)rg_store_flush(guard->o.store, true, &fault);
  else if (away > absence) (void)rg_store_flush_ahead(guard->o.store, 0, due, &fault);
  if (fault.code) guard->retry = now + 1;
}

/* Leave for good. used: the rank uses the store, and does not release it. */
static void leave(RgGuard *guard, bool used, bool signalled_again)
{
  char text[256];
  double troubled;
  size_t bytes;
  int n = 0;

  if (!used) (void)rg_store_pending(guard->o.store, &n, &bytes, &troubled);
  snprintf(text, sizeof(text), "%s: this process ends now; %s; the same command resumes",
           signalled_again ? "a second signal asks for the end"
                           : "an iteration or a call of MPI did not end in time after the stop",
           used || n ? "trials that could not be committed will run again"
                     : "its finished trials are committed");
  guard->o.observer->leave(guard->o.observer->closure, guard->o.rank, text);
}

static void check_stop(RgGuard *guard)
{
  const double now = rg_wall_seconds();
  const bool signalled = rg_stop_signalled(), signalled_again = rg_stop_signalled_again();
  const bool locked = !pthread_mutex_trylock(&guard->store_lock);

  if (guard->stopped <= 0) {
    if (guard->o.deadline > 0 && now >= guard->o.deadline) guard->stopped = guard->o.deadline;
    else if (signalled || guard->stop) guard->stopped = now;
  }
  const double end = signalled_again ? guard->stopped : guard->stopped + guard->o.grace;
  const bool over = guard->stopped > 0 && now > end;
  if (locked) commit(guard, now, over);
  if (over && guard->o.observer && guard->o.observer->leave && (locked || now > end + last_wait))
    leave(guard, !locked, signalled_again);
  if (locked) rg_guard_unlock(guard);
}

static void *watch(void *closure)
{
  RgGuard *guard = closure;
  struct timespec next;

  (void)pthread_mutex_lock(&guard->end_lock);
  while (!guard->ended) {
    clock_gettime(CLOCK_MONOTONIC, &next);
    next.tv_nsec += (long)(tick * 1e9);
    next.tv_sec += next.tv_nsec / 1000000000;
    next.tv_nsec %= 1000000000;
    (void)pthread_cond_timedwait(&guard->end, &guard->end_lock, &next);
    if (guard->ended) break;
    (void)pthread_mutex_unlock(&guard->end_lock);
    check_stop(guard);
    (void)pthread_mutex_lock(&guard->end_lock);
  }
  (void)pthread_mutex_unlock(&guard->end_lock);
  return NULL;
}

/* The thread takes no signals: they interrupt what the rank waits for. */
static int start(RgGuard *guard)
{
  pthread_condattr_t monotonic;
  sigset_t all, before;
  int error;

  (void)pthread_mutex_init(&guard->store_lock, NULL);
  (void)pthread_mutex_init(&guard->end_lock, NULL);
  (void)pthread_condattr_init(&monotonic);
  (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  (void)pthread_cond_init(&guard->end, &monotonic);
  (void)pthread_condattr_destroy(&monotonic);
  sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  error = pthread_create(&guard->thread, NULL, watch, guard);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

PetscErrorCode rg_guard_create(const RgGuardOptions *options, RgGuard **guard)
{
  RgGuard *g;

  PetscCall(PetscNew(&g));
  g->o = *options;
  g->away = rg_wall_seconds();
  PetscCheck(!start(g), PETSC_COMM_SELF, PETSC_ERR_SYS, "cannot start a thread");
  rg_stop_guarded(true);
  *guard = g;
  return 0;
}

PetscErrorCode rg_guard_destroy(RgGuard **guard)
{
  RgGuard *g = *guard;

  if (!g) return 0;
  rg_stop_guarded(false);
  (void)pthread_mutex_lock(&g->end_lock);
  g->ended = true;
  (void)pthread_cond_signal(&g->end);
  (void)pthread_mutex_unlock(&g->end_lock);
  (void)pthread_join(g->thread, NULL);
  (void)pthread_cond_destroy(&g->end);
  (void)pthread_mutex_destroy(&g->end_lock);
  (void)pthread_mutex_destroy(&g->store_lock);
  return RG_FREE(guard);
}
