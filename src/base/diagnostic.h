/* Mistakes of the user, collected so that one run shows them all: `file:line:column: message`. */
#ifndef RG_BASE_DIAGNOSTIC_H
#define RG_BASE_DIAGNOSTIC_H

#include "base/core.h"

/* Where in a file something stands; line and column count from 1, 0 means unknown. */
typedef struct {
  const char *file; /* borrowed */
  int line, column;
} RgPlace;

typedef struct {
  RgPlace place;
  char message[512]; /* what is wrong, what is accepted, the nearest known name; one line */
} RgDiagnostic;

/* Zero-initialise. At most `RG_DIAGNOSTICS_MAX` are kept; `n` goes on counting. */
#define RG_DIAGNOSTICS_MAX 20
typedef struct {
  int n;
  RgDiagnostic list[RG_DIAGNOSTICS_MAX];
} RgDiagnostics;

/* Add one mistake. Control characters in the message are replaced by '?'. */
void rg_diagnostics_add(RgDiagnostics *diagnostics, RgPlace place, const char *format, ...)
  __attribute__((format(printf, 3, 4)));

#endif
