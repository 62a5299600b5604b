/* Events are read from lines and written as lines, of a log or of a text in a record. */
#include "study/store/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "study/store/evaluation_log.h"

static const char *const kinds[] = {
  [RG_TIMELINE_BEGIN] = "begin", [RG_TIMELINE_START] = "start", [RG_TIMELINE_END] = "end",
  [RG_TIMELINE_LOST] = "lost",   [RG_TIMELINE_GAP] = "gap",     NULL};

/* ---- lines ----------------------------------------------------------------------------------- */

static PetscErrorCode write_event(const RgTimeline *timeline, int number, RgText *line)
{
  const RgTimelineEvent *e = &timeline->events[number];

  return rg_text_add(line, "%d %s %d %d %d %" PRId64 " %" PRId64, number + 1, kinds[e->kind],
                     e->submission, e->attempt, e->worker, e->tick, e->detail);
}

/* Microseconds, from before 1970 to far beyond any run, whose sums don't overflow. */
#define LONGEST ((int64_t)1 << 55)

/* Whether the numbers of an event are possible: an attempt has a submission, a number and a worker
   from 1 on, and only the Unix time of a beginning may be negative. */
static bool is_possible(const RgTimelineEvent *e)
{
  const bool attempt = e->kind != RG_TIMELINE_BEGIN && e->kind != RG_TIMELINE_GAP;
  const int64_t least = e->kind == RG_TIMELINE_BEGIN ? -LONGEST : 0;

  return (!attempt || (e->submission >= 1 && e->attempt >= 1 && e->worker >= 1)) && e->tick >= 0 &&
         e->tick <= LONGEST && e->detail >= least && e->detail <= LONGEST;
}

/* Read an event; false unless it is the event `number`. *rest: what follows. */
static bool read_event(const char *line, int number, RgTimelineEvent *event, const char **rest)
{
  char kind[8];
  int own, length = 0;

  *event = (RgTimelineEvent){0};
  if (sscanf(line, "%d %7s %d %d %d %" SCNd64 " %" SCNd64 "%n", &own, kind, &event->submission,
             &event->attempt, &event->worker, &event->tick, &event->detail, &length) != 7)
    return false;
  *rest = line + length;
  for (int k = 0; kinds[k]; k++) {
    event->kind = (RgTimelineKind)k;
    if (!strcmp(kinds[k], kind)) return own == number && is_possible(event);
  }
  return false;
}

static PetscErrorCode clear_events(RgTimeline *timeline)
{
  for (int i = 0; i < timeline->n; i++) PetscCall(PetscFree(timeline->events[i].point));
  PetscCall(PetscFree(timeline->events));
  timeline->n = 0;
  return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct {
  RgTimeline *longest, file; /* file: the events of the present file */
} Reading;

static PetscErrorCode keep_longer(Reading *reading)
{
  if (reading->file.n > reading->longest->n) {
    PetscCall(clear_events(reading->longest));
    reading->longest->n = reading->file.n;
    reading->longest->events = reading->file.events;
    reading->file = (RgTimeline){.n_point = reading->file.n_point};
  }
  return clear_events(&reading->file);
}

static PetscErrorCode read_line(void *closure, bool first, char *line)
{
  Reading *reading = closure;
  RgTimeline *file = &reading->file;
  RgTimelineEvent event;
  const char *rest;

  if (first) PetscCall(keep_longer(reading));
  if (!read_event(line, file->n + 1, &event, &rest)) return 0;
  if (*rest) PetscCall(PetscMalloc1(file->n_point, &event.point));
  for (int k = 0; event.point && k < file->n_point; k++)
    if (!rg_number_read(rest, &rest, &event.point[k])) /* another dimension: it is not ours */
      PetscCall(PetscFree(event.point));
  PetscCall(RG_GROW(file->n, file->events));
  file->events[file->n++] = event;
  return 0;
}

PetscErrorCode rg_timeline_open(const char *directory, const char *id, int n_point,
                                RgTimeline *timeline)
{
  Reading reading = {.longest = timeline, .file = {.n_point = n_point}};

  *timeline = (RgTimeline){.n_point = n_point};
  PetscCall(
    rg_sealed_open(directory, RG_FOLDER_TIMELINE, id, NULL, read_line, &reading, &timeline->log));
  return keep_longer(&reading);
}

PetscErrorCode rg_timeline_read(const char *text, RgTimeline *timeline)
{
  RgTimelineEvent event;
  const char *rest;

  *timeline = (RgTimeline){.log = {.fd = -1}};
  while (*text && read_event(text, timeline->n + 1, &event, &rest) && *rest == '\n') {
    PetscCall(RG_GROW(timeline->n, timeline->events));
    timeline->events[timeline->n++] = event;
    text = rest + 1;
  }
  return 0;
}

PetscErrorCode rg_timeline_clear(RgTimeline *timeline)
{
  PetscCall(rg_sealed_close(&timeline->log));
  return clear_events(timeline);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* A file begins with all earlier events. */
PetscErrorCode rg_timeline_add(RgTimeline *timeline, const RgTimelineEvent *event, RgFault *fault)
{
  RgText line = {0}, lines = {0};

  PetscCall(RG_GROW(timeline->n, timeline->events));
  RgTimelineEvent *new = &timeline->events[timeline->n++];
  *new = *event;
  if (event->point) {
    PetscCall(PetscMalloc1(timeline->n_point, &new->point));
    PetscCall(PetscArraycpy(new->point, event->point, timeline->n_point));
  }
  if (!timeline->log.folder) return 0;
  for (int i = timeline->log.fd < 0 ? 0 : timeline->n - 1; i < timeline->n; i++) {
    const double *point = timeline->events[i].point;
    line.length = 0;
    PetscCall(write_event(timeline, i, &line));
    for (int k = 0; point && k < timeline->n_point; k++)
      PetscCall(rg_text_add(&line, " %a", point[k]));
    PetscCall(rg_sealed_line(&timeline->log, line.data, &lines));
  }
  PetscCall(rg_sealed_write(&timeline->log, &lines, fault));
  if (fault->code) {
    PetscCall(PetscFree(new->point));
    timeline->n--;
  }
  PetscCall(rg_text_clear(&line));
  return rg_text_clear(&lines);
}

PetscErrorCode rg_timeline_write(const RgTimeline *timeline, RgText *text)
{
  for (int i = 0; i < timeline->n; i++) {
    PetscCall(write_event(timeline, i, text));
    PetscCall(rg_text_add(text, "\n"));
  }
  return 0;
}
