/* The observer of `regatta run`. */
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/arguments.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void show(void *closure, const RgProgress *p, bool last)
{
  RgMeter *meter = closure;
  char left[32] = "?", elapsed[32], failed[48] = "";

  if (last && !meter->shown) return; /* too short to show */
  if (!isnan(p->seconds_left)) rg_duration_print(p->seconds_left, left);
  rg_duration_print(p->seconds, elapsed);
  if (p->n_failed) snprintf(failed, sizeof(failed), ", %d failed", p->n_failed);
  fprintf(stderr, "%s%d of %d trials%s, %s elapsed, %s left%s%s", meter->terminal ? "\r" : "",
          p->n_finished, p->n_total, failed, elapsed, left, meter->terminal ? "\033[K" : "\n",
          meter->terminal && last ? "\n" : "");
  fflush(stderr);
  meter->shown = true;
}

static void tell(void *closure, int rank, const char *text)
{
  (void)closure;
  if (rank < 0) rg_warn("regatta: %s\n", text);
  else rg_warn("regatta: rank %d: %s\n", rank, text);
}

/* The exit code is that of an incomplete study: the same command goes on. */
static void leave(void *closure, int rank, const char *text)
{
  tell(closure, rank, text);
  _exit(RG_EXIT_INCOMPLETE);
}

static void tell_of_failed(void *closure, const RgRunReport *report)
{
  const int n = report->n_earlier_failed;

  (void)closure;
  if (n)
    fprintf(stderr,
            "regatta: %d trial%s failed in an earlier run and %s kept so; -retry-failed runs %s "
            "again\n",
            n, n == 1 ? "" : "s", n == 1 ? "is" : "are", n == 1 ? "it" : "them");
}

RgObserver rg_progress_observer(RgMeter *meter, bool quiet)
{
  meter->terminal = isatty(STDERR_FILENO) == 1;
  return (RgObserver){.closure = meter,
                      .period = meter->terminal ? 0.5 : 10.0,
                      .begin = quiet ? NULL : tell_of_failed,
                      .progress = quiet ? NULL : show,
                      .message = tell,
                      .leave = leave};
}
