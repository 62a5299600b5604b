/* Mistakes of the user, collected. */
#include "regatta/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Drop the UTF-8 sequence that truncation cut in two, if any. */
static void trim_partial_character(char *text)
{
  size_t length = strlen(text), start = length;

  while (start > 0 && ((unsigned char)text[start - 1] & 0xC0u) == 0x80u) --start;
  if (start == 0) return;
  unsigned char lead = (unsigned char)text[start - 1];
  size_t need = lead >= 0xF0u ? 4 : lead >= 0xE0u ? 3 : lead >= 0xC0u ? 2 : 1;
  if (need > 1 && length - (start - 1) < need) text[start - 1] = '\0';
}

/* ASCII controls, and the controls U+0080 to U+009F, which are C2 80 to C2 9F in UTF-8. */
static void replace_controls(char *text)
{
  for (unsigned char *c = (unsigned char *)text; *c; ++c) {
    if (*c < 0x20u || *c == 0x7Fu) *c = '?';
    if (*c == 0xC2u && c[1] >= 0x80u && c[1] <= 0x9Fu) c[0] = c[1] = '?';
  }
}

void rg_diagnostics_add(RgDiagnostics *diagnostics, RgPlace place, const char *format, ...)
{
  va_list arguments;
  int slot = diagnostics->n++;

  if (slot >= RG_DIAGNOSTICS_MAX) return;
  RgDiagnostic *entry = &diagnostics->list[slot];
  entry->place = place;
  va_start(arguments, format);
  int length = vsnprintf(entry->message, sizeof entry->message, format, arguments);
  va_end(arguments);
  if (length >= (int)sizeof entry->message) trim_partial_character(entry->message);
  replace_controls(entry->message);
}
