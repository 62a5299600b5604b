/* The remaining time of a run, from the times of its finished trials. */
#ifndef RG_STUDY_SCHEDULE_TIME_LEFT_H
#define RG_STUDY_SCHEDULE_TIME_LEFT_H

#include <stdint.h>

/* The trials of one cell in this run. */
typedef struct {
  int n, n_finished;
  int64_t finished_us; /* sum of the finished trials' wall times in microseconds */
  /* Seconds per trial by the plan, used until a trial of the cell has finished. */
  double nominal;
  double ranks; /* average number of ranks per trial */
} RgCellClock;

/* Seconds until the last trial ends, `elapsed` seconds after the first trial could begin on
   `ranks` ranks. NaN until a trial has finished, 0 when all have. Work of the ranks beyond the
   finished trials belongs to trials in flight; each of these has at least a tenth left. */
double rg_time_left(int n_cells, const RgCellClock *cells, int ranks, double elapsed);

#endif
