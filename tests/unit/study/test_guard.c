/* The guard of a rank: what it does while the rank itself is away. */
#include <stdatomic.h>

#include "base/clock.h"
#include "store_bench.h"
#include "study/run/guard.h"

typedef struct {
  atomic_int count;
  char text[256];
} Left;

static void leave(void *closure, int rank, const char *text)
{
  Left *own = closure;

  if (atomic_load(&own->count)) return;
  assert_int_equal(rank, 3);
  snprintf(own->text, sizeof(own->text), "%s", text);
  atomic_store(&own->count, 1);
}

static Bench bench;
static RgGuard *guard;
static Left left;

/* A store with n trials that wait, and its guard. */
static void watch(int n, double deadline, double grace)
{
  static const RgObserver observer = {.closure = &left, .leave = leave};

  bench_create(2, &bench);
  for (int i = 0; i < n; i++) bench_add(&bench, i, false);
  left = (Left){0};
  RG_OK(rg_guard_create(&(RgGuardOptions){.store = bench.store,
                                          .observer = &observer,
                                          .rank = 3,
                                          .commits = true,
                                          .deadline = deadline,
                                          .grace = grace},
                        &guard));
}

static void destroy(void)
{
  RG_OK(rg_guard_destroy(&guard));
  RG_OK(rg_guard_destroy(&guard));
  bench_destroy(&bench);
}

/* Trials on the disk; HDF5 serves one thread at a time. */
static int on_disk(void)
{
  rg_guard_lock(guard);
  const int n = bench_visit(&bench, bench.shards).n;
  rg_guard_unlock(guard);
  return n;
}

/* A trial that has waited for a second is committed while the rank computes, and again the next
   one. */
RG_TEST(finished_trials_do_not_wait_for_a_long_iteration)
{
  watch(0, 0, 1e9);
  for (int n = 1; n <= 2; n++) {
    rg_guard_lock(guard);
    bench_add(&bench, n, false);
    rg_guard_unlock(guard);
    rg_guard_begin_pause(guard, RG_STOP_NONE);
    while (on_disk() < n) RG_OK(PetscSleep(0.02));
  }
  destroy();
}

/* The wall-time limit passes, or the rank polls a stop, and it does not come back. Or the rank is
   stuck inside the store, because its disk does not answer. It leaves nevertheless. */
RG_TEST(a_rank_that_does_not_end_leaves)
{
  static const struct {
    RgStopReason stop; /* NONE: the wall-time limit has passed */
    double grace;
    bool stuck;
    const char *says;
  } cases[] = {{RG_STOP_NONE, 0.5, false, "its finished trials are committed"},
               {RG_STOP_FILE, 0.5, false, "its finished trials are committed"},
               {RG_STOP_SIGNAL, 0.1, true, "could not be committed"}};

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    watch(1, cases[k].stop ? 0 : rg_wall_seconds(), cases[k].grace);
    if (cases[k].stop) rg_guard_begin_pause(guard, cases[k].stop);
    if (cases[k].stuck) rg_guard_lock(guard);
    while (!atomic_load(&left.count)) RG_OK(PetscSleep(0.02));
    assert_non_null(strstr(left.text, cases[k].says));
    if (cases[k].stuck) rg_guard_unlock(guard);
    else assert_int_equal(on_disk(), 1);
    destroy();
  }
}
