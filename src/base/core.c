/* Failures of trials: the first cause is kept. */
#include "regatta/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/number.h"
#include "base/unicode.h"

void rg_failure_set(RgFailure *failure, const char *format, ...)
{
  va_list arguments;

  if (failure->failed) return;
  failure->failed = true;
  va_start(arguments, format);
  const int length = rg_format_list(failure->message, sizeof failure->message, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof failure->message) rg_utf8_trim(failure->message);
  for (char *c = failure->message; *c; c++) {
    if (*c == '\n' || *c == '\r') *c = ' ';
  }
}
