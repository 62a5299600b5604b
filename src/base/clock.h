/* The honest clock: wall and CPU seconds of one trial, by stage. */
#ifndef RG_BASE_CLOCK_H
#define RG_BASE_CLOCK_H

#include "regatta/error.h"

/* Stages exclude each other: beginning one suspends the other until its end. */
typedef enum { RG_STAGE_FIT, RG_STAGE_ACQUIRE, RG_STAGE_EVALUATE, RG_STAGE_COUNT } RgStage;

typedef struct RgClock {
  double wall[RG_STAGE_COUNT], cpu[RG_STAGE_COUNT]; /* seconds since the last reset */
  double wall_start, cpu_start;
  RgStage stack[4];
  int depth;
} RgClock;

/* Register the PETSc events of the stages (for -log_view). After PetscInitialize; more
   calls change nothing. */
PetscErrorCode rg_clock_initialize(void);

void rg_clock_reset(RgClock *clock); /* zero the sums; running stages go on */
/* From here to its end the time goes to `stage`, not to the stage that it interrupts. */
PetscErrorCode rg_clock_begin(RgClock *clock, RgStage stage);
PetscErrorCode rg_clock_end(RgClock *clock, RgStage stage);

double rg_wall_seconds(void); /* monotonic */
double rg_cpu_seconds(void);  /* of this thread's process */

#endif
