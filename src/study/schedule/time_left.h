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

/* The number of ranks, of `ranks`, that work on the trials which are not finished. */
double rg_ranks_at_work(int n_cells, const RgCellClock *cells, int ranks);
/* Seconds until the last trial ends, after `ranks` ranks have worked for `worked` seconds, the sum
   over ranks. NaN until a trial has finished, 0 when all have. Work beyond the finished trials
   belongs to trials in flight. These have a ninth of that time left where they take longer than
   their cells' trials did: the longer they run, the less is known of their end. */
double rg_time_left(int n_cells, const RgCellClock *cells, int ranks, double worked);

#endif
