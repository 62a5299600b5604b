/* Reasons to stop early: signals, the STOP file, the wall-time limit, the observer. */
#ifndef RG_STUDY_RUN_STOP_H
#define RG_STUDY_RUN_STOP_H

#include "regatta/error.h"
#include "regatta/run.h"

/* The sources of stops on one rank. */
typedef struct {
  double deadline;            /* rg_wall_seconds; 0: no limit */
  char file[4200];            /* STOP file, checked at most once a second; "": no file */
  const RgObserver *observer; /* borrowed; NULL: no observer */
  double next_look;           /* time of the next check of the file */
  RgStopReason reason;        /* once set, it stays */
} RgStop;

/* Check all sources; cheap enough for every iteration. */
RgStopReason rg_stop_requested(RgStop *stop);

/* Whether a signal asked for a stop, and whether a second TERM or INT asked for the end of the
   process. From any thread. */
bool rg_stop_signalled(void);
bool rg_stop_hurried(void);
/* Whether a guard will end the process after a second TERM or INT. Otherwise the signal ends it at
   once. */
void rg_stop_guarded(bool guarded);

#endif
