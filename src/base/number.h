/* Numbers in texts, read and written as in C whatever the locale of the program: a host or a
   plug-in may have called setlocale, after which strtod stops at the point of "0.5". No other file
   calls strtod or formats numbers of its own. */
#ifndef RG_BASE_NUMBER_H
#define RG_BASE_NUMBER_H

#include <stdarg.h>

#include "regatta/error.h"

/* The outcome of reading a number at the start of a text. */
typedef enum {
  RG_NUMBER_NONE,      /* no number */
  RG_NUMBER_READ,      /* a number, "inf" or "nan" */
  RG_NUMBER_TOO_LARGE, /* digits beyond the largest double; the value is infinite */
  RG_NUMBER_TOO_SMALL  /* digits other than 0 that no double but 0 is near; the value is 0 */
} RgNumber;

/* Read the number at the start of a text; white space may precede it. *end: what follows it; the
   text itself if there is none, and then *value is 0. */
RgNumber rg_number_read(const char *text, const char **end, double *value);

/* Whether the whole text is one finite number that is neither too large nor too small. *value: as
   rg_number_read sets it. */
bool rg_number_only(const char *text, double *value);

/* snprintf and vsnprintf. */
int rg_format(char *text, size_t size, const char *format, ...)
  __attribute__((format(printf, 3, 4)));
int rg_format_list(char *text, size_t size, const char *format, va_list arguments)
  __attribute__((format(printf, 3, 0)));

#endif
