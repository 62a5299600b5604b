/* The display of `regatta run`: one line that refreshes on a terminal, plain lines otherwise,
   and messages for the user. */
#ifndef RG_CLI_PROGRESS_H
#define RG_CLI_PROGRESS_H

#include "regatta/run.h"

typedef struct {
  bool terminal, shown;
} RgMeter;

/* An observer that prints to stderr; quiet: messages only. meter: zeroed, borrowed. */
RgObserver rg_progress_observer(RgMeter *meter, bool quiet);

#endif
