/* Wall and CPU time, and the stages that PETSc logs. */
#include "base/clock.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* PETSc's event numbers of the stages. This is the only mutable static of the library: PETSc's
   log is global to the process, and so are its event numbers. Results never depend on them. */
static PetscLogEvent events[RG_STAGE_COUNT] = {-1, -1, -1};

static const char *const event_names[RG_STAGE_COUNT] = {"RegattaFit", "RegattaAcquire",
                                                        "RegattaEvaluate"};

PetscErrorCode rg_clock_initialize(void)
{
  PetscClassId class_id;

  if (events[0] >= 0) return 0;
  PetscCall(PetscClassIdRegister("Regatta", &class_id));
  for (int i = 0; i < RG_STAGE_COUNT; i++)
    PetscCall(PetscLogEventRegister(event_names[i], class_id, &events[i]));
  return 0;
}

/* The time in multiples of 2^-30 s, about a nanosecond. Differences of such times are exact, and
   their last bits are zero, so that they take less space in a results file. */
static double seconds(clockid_t id)
{
  const double ticks = 1 << 30;
  struct timespec now;

  if (clock_gettime(id, &now)) return 0.0;
  return (double)now.tv_sec + rint(1e-9 * (double)now.tv_nsec * ticks) / ticks;
}

double rg_wall_seconds(void)
{
  return seconds(CLOCK_MONOTONIC);
}

double rg_cpu_seconds(void)
{
  return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void clock_restart(RgClock *clock)
{
  clock->wall_start = rg_wall_seconds();
  clock->cpu_start = rg_cpu_seconds();
}

/* Add the time since the last start to the running stage, if any, and start again. */
static void clock_book(RgClock *clock)
{
  double wall = clock->wall_start, cpu = clock->cpu_start;

  clock_restart(clock);
  if (clock->depth == 0) return;
  RgStage running = clock->stack[clock->depth - 1];
  clock->wall[running] += clock->wall_start - wall;
  clock->cpu[running] += clock->cpu_start - cpu;
}

/* Begin or end the event of the running stage; without rg_clock_initialize nothing is logged. */
static PetscErrorCode clock_log(const RgClock *clock, bool begin)
{
  if (clock->depth == 0) return 0;
  PetscLogEvent event = events[clock->stack[clock->depth - 1]];
  if (event < 0) return 0;
  if (begin) return PetscLogEventBegin(event, 0, 0, 0, 0);
  return PetscLogEventEnd(event, 0, 0, 0, 0);
}

void rg_clock_reset(RgClock *clock)
{
  memset(clock->wall, 0, sizeof clock->wall);
  memset(clock->cpu, 0, sizeof clock->cpu);
  clock_restart(clock);
}

PetscErrorCode rg_clock_begin(RgClock *clock, RgStage stage)
{
  PetscCheck(clock->depth < (int)(sizeof clock->stack / sizeof *clock->stack), PETSC_COMM_SELF,
             PETSC_ERR_ORDER, "stages are nested too deeply");
  clock_book(clock);
  PetscCall(clock_log(clock, false));
  clock->stack[clock->depth++] = stage;
  return clock_log(clock, true);
}

PetscErrorCode rg_clock_end(RgClock *clock, RgStage stage)
{
  PetscCheck(clock->depth > 0 && clock->stack[clock->depth - 1] == stage, PETSC_COMM_SELF,
             PETSC_ERR_ORDER, "the stage that ends is not the one that runs");
  clock_book(clock);
  PetscCall(clock_log(clock, false));
  clock->depth--;
  return clock_log(clock, true);
}
