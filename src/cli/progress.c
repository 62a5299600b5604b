#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

static const double terminal_period = 0.5, plain_period = 10.0;

void rg_progress_begin(RgProgressMeter *meter, bool enabled)
{
  *meter = (RgProgressMeter){
    .enabled = enabled, .terminal = isatty(STDERR_FILENO) == 1, .start = rg_wall_seconds()};
  meter->next = meter->start + (meter->terminal ? terminal_period : plain_period);
}

static void format_seconds(double seconds, char *out, size_t size)
{
  if (seconds < 90) snprintf(out, size, "%.0f s", seconds);
  else if (seconds < 5400) snprintf(out, size, "%.0f min", seconds / 60);
  else snprintf(out, size, "%.1f h", seconds / 3600);
}

void rg_progress_show(RgProgressMeter *meter, RgSchedule *schedule, bool last)
{
  RgProgress p;
  char left[32] = "?", elapsed[32], failed[48] = "";
  double now;

  if (!meter->enabled) return;
  now = rg_wall_seconds();
  if (now < meter->next && !(last && meter->shown)) return;
  meter->next = now + (meter->terminal ? terminal_period : plain_period);
  if (rg_schedule_progress(schedule, &p)) return;

  double spent = now - meter->start;
  if (p.cost_finished > 0)
    format_seconds(spent * PetscMax(p.cost_total / p.cost_finished - 1.0, 0.0), left, sizeof(left));
  format_seconds(spent, elapsed, sizeof(elapsed));
  if (p.n_failed) snprintf(failed, sizeof(failed), ", %d failed", p.n_failed);
  fprintf(stderr, "%s%d of %d trials%s, %s elapsed, %s left%s%s", meter->terminal ? "\r" : "",
          p.n_finished, p.n_total, failed, elapsed, left, meter->terminal ? "\033[K" : "\n",
          meter->terminal && last ? "\n" : "");
  fflush(stderr);
  meter->shown = true;
}
