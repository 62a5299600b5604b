/* Numbers in texts in the notation of C, by the C library in its locale "C". */
#include "base/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The calling thread takes the locale "C"; `leave` gives it back the one it had. */
typedef struct {
  locale_t c, before;
} Locale;

static Locale enter(void)
{
  Locale locale = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};

  if (locale.c) locale.before = uselocale(locale.c);
  return locale;
}

static void leave(Locale locale)
{
  if (!locale.c) return;
  uselocale(locale.before);
  freelocale(locale.c);
}

RgNumber rg_number_read(const char *text, const char **end, double *value)
{
  const int before = errno;
  const Locale locale = enter();
  char *last;

  errno = 0;
  *value = strtod(text, &last);
  const bool beyond = errno == ERANGE;
  errno = before;
  leave(locale);
  *end = last;
  if (last == text) return RG_NUMBER_NONE;
  if (beyond && isinf(*value)) return RG_NUMBER_TOO_LARGE;
  return beyond && *value == 0 ? RG_NUMBER_TOO_SMALL : RG_NUMBER_READ;
}

bool rg_number_only(const char *text, double *value)
{
  const char *end;
  const RgNumber found = rg_number_read(text, &end, value);

  return found == RG_NUMBER_READ && !*end && isfinite(*value);
}

int rg_format_list(char *text, size_t size, const char *format, va_list arguments)
{
  const Locale locale = enter();
  const int length = vsnprintf(text, size, format, arguments);

  leave(locale);
  return length;
}

int rg_format(char *text, size_t size, const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  const int length = rg_format_list(text, size, format, arguments);
  va_end(arguments);
  return length;
}
