/* How long a run has to go, from the clock of its finished trials. */
#ifndef RG_STUDY_RUN_TIME_LEFT_H
#define RG_STUDY_RUN_TIME_LEFT_H

#include <stdint.h>

/* The trials of one cell in this run. */
typedef struct {
  int n, n_finished;
  int64_t finished_us; /* wall time of the finished ones, microseconds, summed */
  double nominal;      /* seconds of one by the plan, for a cell of which none has finished */
  double ranks;        /* that work on one, on average */
} RgCellClock;

/* Seconds until the last trial ends, `elapsed` seconds after the first could begin on `ranks`
   ranks; NaN while no trial has finished, 0 when all have. What the ranks have done beyond the
   finished trials they have done of those in flight, of which a tenth at least is still to do. */
double rg_time_left(int n_cells, const RgCellClock *cells, int ranks, double elapsed);

#endif
