/* Wall and CPU seconds of one trial, by stage. */
#ifndef RG_BASE_CLOCK_H
#define RG_BASE_CLOCK_H

#include "regatta/error.h"

/* Stages exclude each other: a stage suspends the one that it interrupts. */
typedef enum { RG_STAGE_FIT, RG_STAGE_ACQUIRE, RG_STAGE_EVALUATE, RG_STAGE_COUNT } RgStage;

typedef struct RgClock {
  double wall[RG_STAGE_COUNT], cpu[RG_STAGE_COUNT]; /* seconds since the last reset */
  double wall_start, cpu_start;
  RgStage stack[4];
  int depth;
} RgClock;

/* Register the PETSc events of the stages (for -log_view). Call after PetscInitialize; further
   calls change nothing. */
PetscErrorCode rg_clock_initialize(void);

void rg_clock_reset(RgClock *clock); /* set the sums to zero; running stages go on */
/* Begin a stage: until its end, time counts for `stage` and not for the stage that it
   interrupts. */
PetscErrorCode rg_clock_begin(RgClock *clock, RgStage stage);
PetscErrorCode rg_clock_end(RgClock *clock, RgStage stage);

double rg_wall_seconds(void); /* from a monotonic clock */
double rg_cpu_seconds(void);  /* CPU seconds of the process */

#endif
