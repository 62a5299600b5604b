/* The rate is that of the last ten minutes in which trials ran, without pauses between two runs. */
#include "cli/pace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/arguments.h"
#include "study/schedule/calibration.h"

#define WINDOW 600.0 /* seconds */
#define PAUSE 60.0   /* between a trial's end and the next start: two runs */

PetscErrorCode rg_pace_add(RgPace *pace, const RgRecord *record)
{
  const RgProvenance *when = &record->provenance;

  PetscCall(RG_GROW(pace->n, pace->trials));
  RgPaceTrial *trial = &pace->trials[pace->n++];
  *trial = (RgPaceTrial){.start = when->started, .end = when->started + when->wall};
  memcpy(trial->id, record->id, sizeof(trial->id));
  return 0;
}

PetscErrorCode rg_pace_clear(RgPace *pace)
{
  return PetscFree(pace->trials);
}

/* The latest end first. */
static int compare(const void *left, const void *right)
{
  const RgPaceTrial *a = left, *b = right;

  return (a->end < b->end) - (a->end > b->end);
}

/* Seconds of the window that ends with the newest trial; *ended: trials that ended in it; *busy:
   trials that ran at once, on average. */
static double read_window(RgPace *pace, int *ended, double *busy)
{
  const RgPaceTrial *trials = pace->trials;
  double sum = 0;
  int n = 0;

  qsort(pace->trials, (size_t)pace->n, sizeof(*trials), compare);
  double from = trials[0].start;
  for (; n < pace->n && trials[n].end > fmax(from - PAUSE, trials[0].end - WINDOW); n++)
    from = fmin(from, trials[n].start);
  from = fmax(from, trials[0].end - WINDOW);
  for (int i = 0; i < n; i++) sum += trials[i].end - fmax(trials[i].start, from);
  *ended = n;
  *busy = sum / (trials[0].end - from);
  return trials[0].end - from;
}

/* Seconds until the missing trials have run, if so many run at once. */
static PetscErrorCode time_missing(const RgPace *pace, const RgPlan *plan, double busy,
                                   double *seconds)
{
  RgCalibration wall;
  int trial;

  PetscCall(rg_calibration_create(plan->study, &wall));
  for (int c = 0; c < plan->study->n_cells; c++) {
    const int n = plan->cells[c].n;
    wall.cells[c] = (RgCellTimes){.nominal = plan->cells[c].cost, .open = n, .left = n, .ranks = 1};
  }
  for (int i = 0; i < pace->n; i++) {
    PetscCall(rg_plan_find(plan, pace->trials[i].id, &trial));
    if (trial < 0) continue;
    const int cell = rg_plan_cell(plan, trial);
    wall.cells[cell].open = --wall.cells[cell].left;
    rg_calibration_add(&wall, cell, pace->trials[i].end - pace->trials[i].start);
  }
  *seconds = rg_calibration_left(&wall, busy);
  PetscCall(rg_calibration_destroy(&wall));
  return 0;
}

PetscErrorCode rg_pace_describe(RgPace *pace, const RgPlan *plan, bool at_work, RgText *text)
{
  static const struct {
    double seconds;
    const char *name;
  } units[] = {{1, "second"}, {60, "minute"}, {3600, "hour"}, {86400, "day"}};
  double busy, missing = NAN;
  char left[32];
  int ended, unit = 0;

  if (!pace->n) return 0;
  const double seconds = read_window(pace, &ended, &busy);
  if (!(seconds > 0)) return 0;
  while (unit < 3 && ended * units[unit].seconds < 2 * seconds) unit++;
  const double rate = ended * units[unit].seconds / seconds;
  PetscCall(rg_text_add(text, "; %s %.*f trials a %s",
                        at_work ? "a run is at work:" : "at the last rate of", rate < 10, rate,
                        units[unit].name));
  if (!plan->n) return 0;
  PetscCall(time_missing(pace, plan, busy, &missing));
  if (isnan(missing)) return 0;
  rg_duration_print(missing, left);
  PetscCall(rg_text_add(text, ", about %s left", left));
  return 0;
}
