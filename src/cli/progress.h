/* Progress of a run on rank 0: one line that refreshes on a terminal, plain lines otherwise. */
#ifndef RG_CLI_PROGRESS_H
#define RG_CLI_PROGRESS_H

#include "study/run/schedule.h"

typedef struct {
  bool enabled, terminal, shown;
  double start, next; /* monotonic seconds: of the run, of the next line */
} RgProgressMeter;

void rg_progress_begin(RgProgressMeter *meter, bool enabled);
/* Print if it is due, or (`last`) end the line. Cheap when it is not. */
void rg_progress_show(RgProgressMeter *meter, RgSchedule *schedule, bool last);

#endif
