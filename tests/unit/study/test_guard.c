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
  Left *left = closure;

  if (atomic_load(&left->count)) return;
  assert_int_equal(rank, 3);
  snprintf(left->text, sizeof(left->text), "%s", text);
  atomic_store(&left->count, 1);
}

/* Trials on the disk; HDF5 serves one thread at a time. */
static int on_disk(Bench *bench, RgGuard *guard)
{
  rg_guard_lock(guard);
  const int n = bench_visit(bench, bench->shards).n;
  rg_guard_unlock(guard);
  return n;
}

static RgGuard *watch(Bench *bench, double deadline, double grace, const RgObserver *observer)
{
  const RgGuardOptions options = {.store = bench->store,
                                  .observer = observer,
                                  .rank = 3,
                                  .commits = true,
                                  .deadline = deadline,
                                  .grace = grace};
  RgGuard *guard;

  RG_OK(rg_guard_create(&options, &guard));
  return guard;
}

/* A trial that has waited for a second is committed while the rank computes, and again the next
   one. */
RG_TEST(finished_trials_do_not_wait_for_a_long_iteration)
{
  Bench bench;
  RgGuard *guard;

  bench_create(2, &bench);
  guard = watch(&bench, 0, 1e9, NULL);
  for (int n = 1; n <= 2; n++) {
    rg_guard_lock(guard);
    bench_add(&bench, n, false);
    rg_guard_unlock(guard);
    rg_guard_begin_pause(guard, RG_STOP_NONE);
    while (on_disk(&bench, guard) < n) RG_OK(PetscSleep(0.02));
  }
  RG_OK(rg_guard_destroy(&guard));
  RG_OK(rg_guard_destroy(&guard));
  bench_destroy(&bench);
}

/* The wall-time limit passes, or the rank hears of a stop, and it does not come back. */
RG_TEST(a_rank_that_does_not_end_leaves)
{
  for (int heard = 0; heard < 2; heard++) {
    Left left = {0};
    const RgObserver observer = {.closure = &left, .leave = leave};
    Bench bench;
    RgGuard *guard;

    bench_create(2, &bench);
    bench_add(&bench, 0, false);
    guard = watch(&bench, heard ? 0 : rg_wall_seconds(), 0.5, &observer);
    if (heard) rg_guard_begin_pause(guard, RG_STOP_FILE);
    while (!atomic_load(&left.count)) RG_OK(PetscSleep(0.02));
    assert_non_null(strstr(left.text, "its finished trials are committed"));
    assert_int_equal(on_disk(&bench, guard), 1);
    RG_OK(rg_guard_destroy(&guard));
    bench_destroy(&bench);
  }
}

/* The rank is stuck inside the store, because its disk does not answer. The rank ends
   nevertheless. */
RG_TEST(a_rank_that_is_stuck_in_the_store_leaves)
{
  Left left = {0};
  const RgObserver observer = {.closure = &left, .leave = leave};
  Bench bench;
  RgGuard *guard;

  bench_create(2, &bench);
  bench_add(&bench, 0, false);
  guard = watch(&bench, 0, 0.1, &observer);
  rg_guard_begin_pause(guard, RG_STOP_SIGNAL);
  rg_guard_lock(guard);
  while (!atomic_load(&left.count)) RG_OK(PetscSleep(0.02));
  assert_non_null(strstr(left.text, "could not be committed"));
  rg_guard_unlock(guard);
  RG_OK(rg_guard_destroy(&guard));
  bench_destroy(&bench);
}
