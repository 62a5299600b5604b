/* Failures of trials: the first cause is kept. */
#include "regatta/error.h"

#include <stdarg.h>
#include <stdio.h>

void rg_failure_set(RgFailure *failure, const char *format, ...)
{
  va_list arguments;

  if (failure->failed) return;
  failure->failed = true;
  va_start(arguments, format);
  vsnprintf(failure->message, sizeof failure->message, format, arguments);
  va_end(arguments);
  for (char *c = failure->message; *c; c++) {
    if (*c == '\n' || *c == '\r') *c = ' ';
  }
}
