/* The timeline of a trial on the real clock: what happened, in the order in which the trial heard
   of it. With the values of its evaluations it replays the trial. During the trial it is a sealed
   log (sealed_log.h), and the longest of its files counts, because each begins with all earlier
   events. Then it is a text in the results file, a line for each event: its number, kind,
   submission, attempt, worker, tick, `detail`. In the log, unit coordinates and indices of the
   point follow a start. */
#ifndef RG_STUDY_STORE_TIMELINE_H
#define RG_STUDY_STORE_TIMELINE_H

#include "study/store/evaluation_log.h"

typedef enum {
  RG_TIMELINE_BEGIN, /* detail: Unix time in microseconds */
  RG_TIMELINE_START, /* an attempt starts */
  RG_TIMELINE_END,   /* an attempt has ended; detail: tick at which its answer arrived */
  RG_TIMELINE_LOST,  /* an attempt is lost with its worker */
  RG_TIMELINE_GAP    /* the trial was resumed; detail: microseconds in which it did not run */
} RgTimelineKind;

typedef struct {
  RgTimelineKind kind;
  int submission, attempt, worker;
  int64_t tick, detail;
  double *point; /* RG_TIMELINE_START of a first attempt in a log; else NULL; owned */
} RgTimelineEvent;

typedef struct {
  RgSealedLog log;
  int n_point; /* numbers of a point */
  int n;
  RgTimelineEvent *events; /* owned */
} RgTimeline;

/* Open the log of a trial, and read the longest of its files. directory, id: as for an evaluation
   log. */
PetscErrorCode rg_timeline_open(const char *directory, const char *id, int n_point,
                                RgTimeline *timeline);
/* Read the text of a record, up to the first line that is no event. */
PetscErrorCode rg_timeline_read(const char *text, RgTimeline *timeline);
PetscErrorCode rg_timeline_clear(RgTimeline *timeline);

/* Append an event, durably; its point is copied. After a fault it is not there. */
PetscErrorCode rg_timeline_add(RgTimeline *timeline, const RgTimelineEvent *event, RgFault *fault);
/* Append the text for a record. */
PetscErrorCode rg_timeline_write(const RgTimeline *timeline, RgText *text);

#endif
