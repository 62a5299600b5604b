/* Failures of trials, and the collected mistakes of the user. */
#include "base/number.h"
#include "base/text.h"
#include "regatta/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rg_failure_set(RgFailure *failure, const char *format, ...)
{
  va_list arguments;

  if (failure->failed) return;
  failure->failed = true;
  va_start(arguments, format);
  const int length = rg_format_list(failure->message, sizeof failure->message, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof failure->message) rg_utf8_trim(failure->message);
  for (char *c = failure->message; *c; c++)
    if (*c == '\n' || *c == '\r') *c = ' ';
}

PetscErrorCode rg_diagnostics_add(RgDiagnostics *diagnostics, RgPlace place, const char *format,
                                  ...)
{
  va_list arguments;
  int slot = diagnostics->n++;

  if (slot >= RG_DIAGNOSTICS_MAX) return 0;
  RgDiagnostic *entry = &diagnostics->list[slot];
  entry->place = place;
  va_start(arguments, format);
  int length = rg_format_list(entry->message, sizeof entry->message, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof entry->message) /* no UTF-8 character is cut in two */
    strcpy(entry->message + rg_utf8_cut(entry->message, sizeof entry->message - sizeof "..."),
           "...");
  for (unsigned char *c = (unsigned char *)entry->message; *c; c++) {
    if (*c < 0x20u || *c == 0x7Fu) *c = '?';
    if (*c == 0xC2u && c[1] >= 0x80u && c[1] <= 0x9Fu) c[0] = c[1] = '?'; /* U+0080 to U+009F */
  }
  return 0;
}
