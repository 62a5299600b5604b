/* Reasons to stop early: signals, the STOP file, the wall-time limit, the observer (conventions,
   5). */
#ifndef RG_STUDY_RUN_STOP_H
#define RG_STUDY_RUN_STOP_H

#include "regatta/error.h"
#include "regatta/run.h"

/* What one rank looks at. */
typedef struct {
  double deadline;            /* rg_wall_seconds; 0: none */
  char file[4200];            /* looked for at most once a second; "": none */
  const RgObserver *observer; /* borrowed; NULL: nobody */
  double next_look;           /* for the file */
  RgStopReason reason;        /* sticky */
} RgStop;

/* Cheap enough for every iteration. */
RgStopReason rg_stop_requested(RgStop *stop);

#endif
