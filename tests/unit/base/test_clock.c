#include "test_main.h"

#include "base/clock.h"

#include <time.h>

#define ROUNDING 1e-9 /* rounding error of times since the machine started */

/* Occupies the CPU for some seconds of wall time, and a little more. */
static void spin(double seconds)
{
  double end = rg_wall_seconds() + seconds + 1e-6;

  while (rg_wall_seconds() < end) continue;
}

static void pause_for(double seconds)
{
  struct timespec time = {0, (long)(seconds * 1e9)};

  nanosleep(&time, NULL);
}

RG_TEST(clocks_advance)
{
  double wall = rg_wall_seconds(), cpu = rg_cpu_seconds();

  spin(0.01);
  assert_true(rg_wall_seconds() - wall >= 0.01);
  assert_true(rg_cpu_seconds() > cpu);
}

RG_TEST(inner_stage_suspends_the_outer)
{
  RgClock clock = {0};

  rg_clock_reset(&clock);
  double start = rg_wall_seconds();
  RG_OK(rg_clock_begin(&clock, RG_STAGE_ACQUIRE));
  spin(0.01);
  RG_OK(rg_clock_begin(&clock, RG_STAGE_FIT));
  spin(0.03);
  RG_OK(rg_clock_end(&clock, RG_STAGE_FIT));
  spin(0.01);
  RG_OK(rg_clock_end(&clock, RG_STAGE_ACQUIRE));
  double total = rg_wall_seconds() - start;
  spin(0.01); /* outside every stage */

  assert_true(clock.wall[RG_STAGE_ACQUIRE] >= 0.02);
  assert_true(clock.wall[RG_STAGE_FIT] >= 0.03);
  assert_true(clock.wall[RG_STAGE_EVALUATE] == 0.0);
  /* The parts add up to the whole: nothing is counted twice. */
  double sum = clock.wall[RG_STAGE_ACQUIRE] + clock.wall[RG_STAGE_FIT];
  assert_true(sum <= total + ROUNDING);
  assert_true(sum >= 0.05);
}

RG_TEST(sleeping_is_wall_but_not_cpu)
{
  RgClock clock = {0};

  RG_OK(rg_clock_begin(&clock, RG_STAGE_EVALUATE));
  pause_for(0.05);
  RG_OK(rg_clock_end(&clock, RG_STAGE_EVALUATE));
  assert_true(clock.wall[RG_STAGE_EVALUATE] >= 0.05);
  assert_true(clock.cpu[RG_STAGE_EVALUATE] < 0.04);
  assert_true(clock.cpu[RG_STAGE_EVALUATE] >= 0.0);
}

RG_TEST(reset_keeps_the_running_stage)
{
  RgClock clock = {0};

  RG_OK(rg_clock_begin(&clock, RG_STAGE_FIT));
  spin(0.02);
  double before = rg_wall_seconds();
  rg_clock_reset(&clock);
  spin(0.005);
  RG_OK(rg_clock_end(&clock, RG_STAGE_FIT));
  assert_true(clock.wall[RG_STAGE_FIT] >= 0.005);
  assert_true(clock.wall[RG_STAGE_FIT] <= rg_wall_seconds() - before + ROUNDING);
  assert_int_equal(clock.depth, 0);
}

RG_TEST(wrong_order_is_an_error)
{
  RgClock clock = {0};

  RG_FAILS(rg_clock_end(&clock, RG_STAGE_FIT), PETSC_ERR_ORDER);
  RG_OK(rg_clock_begin(&clock, RG_STAGE_FIT));
  RG_FAILS(rg_clock_end(&clock, RG_STAGE_ACQUIRE), PETSC_ERR_ORDER);
  for (int i = 0; i < 3; i++) RG_OK(rg_clock_begin(&clock, RG_STAGE_FIT));
  RG_FAILS(rg_clock_begin(&clock, RG_STAGE_FIT), PETSC_ERR_ORDER);
}

#if defined(PETSC_USE_LOG)
/* The last of the tests, because every stage is logged from here on. */
RG_TEST(stages_are_petsc_events)
{
  RgClock clock = {0};
  PetscLogEvent event;
  PetscEventPerfInfo info;

  RG_OK(PetscLogDefaultBegin());
  RG_OK(rg_clock_initialize());
  RG_OK(rg_clock_begin(&clock, RG_STAGE_EVALUATE));
  RG_OK(rg_clock_begin(&clock, RG_STAGE_FIT));
  spin(0.01);
  RG_OK(rg_clock_end(&clock, RG_STAGE_FIT));
  RG_OK(rg_clock_end(&clock, RG_STAGE_EVALUATE));

  RG_OK(PetscLogEventGetId("RegattaFit", &event));
  RG_OK(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  assert_int_equal(info.count, 1);
  assert_true(info.time >= 0.009);
  RG_OK(PetscLogEventGetId("RegattaEvaluate", &event));
  RG_OK(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  assert_int_equal(info.count, 2); /* suspended once */
  RG_OK(PetscLogEventGetId("RegattaAcquire", &event));
  assert_true(event >= 0);
}
#endif
