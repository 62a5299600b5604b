/* PETSc's error discipline, failures of trials as values, mistakes of the user, texts. Every
   Regatta file includes this header. There are four kinds of trouble:
   - events that should never happen (out of memory, a violated precondition): a PETSc error code
   from PetscCall / PetscCheck, with a stack trace, exit code 70;
   - a mistake of the user: an entry in RgDiagnostics, exit code 2;
   - a refusal by files or the system: an RgFault, exit code 2 or 3;
   - a numerical failure of a trial: an RgFailure stored in its record; the study goes on. */
#ifndef RG_REGATTA_ERROR_H
#define RG_REGATTA_ERROR_H

#include <petscsys.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The build reads the version here; docs/versions.md says what it promises. */
#define RG_VERSION "1.0.0"

/* Marks symbols that the program and the library export; all others are hidden. */
#define RG_API __attribute__((visibility("default")))

/* Why a trial could not go on. Zero-initialise; `failed` false means all is well. */
typedef struct {
  bool failed;
  char message[256]; /* one line, no trailing newline; what happened and where */
} RgFailure;

/* Record a failure unless one is recorded already: the first cause is kept. */
RG_API void rg_failure_set(RgFailure *failure, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* ---- what files, the system and other people's data refuse: for the caller to act on ---- */

typedef enum {
  RG_FAULT_NONE,
  RG_FAULT_FULL,  /* no space (ENOSPC, EDQUOT): nothing is lost, retry later */
  RG_FAULT_ERROR, /* the system refuses (EIO and others): nothing is lost, retry later */
  /* A file has the wrong content: the user must mend it, nothing was written. */
  RG_FAULT_FOREIGN,
  RG_FAULT_INCOMPLETE, /* something does not exist yet, nothing was written */
  RG_FAULT_VANISHED,   /* a file does not exist, or no longer exists */
  RG_FAULT_DAMAGED,    /* a file differs from what was written: truncated, altered, unreadable */
  RG_FAULT_NEWER       /* a file of a newer schema */
} RgFaultCode;

/* Zero-initialise. A message without a code is a warning worth printing. */
typedef struct {
  RgFaultCode code;
  int error;         /* errno if the system refused, else 0 */
  char message[512]; /* one line: what went wrong and where */
} RgFault;

/* ---- mistakes of the user, collected so that one run shows them all ---- */

/* A place in a file. Line and column count from 1; 0 means unknown. */
typedef struct {
  const char *file; /* borrowed */
  int line, column;
} RgPlace;

typedef struct {
  RgPlace place;
  char message[512]; /* what is wrong, what is accepted, the nearest known name; one line */
} RgDiagnostic;

/* Zero-initialise. At most `RG_DIAGNOSTICS_MAX` mistakes are kept; `n` counts all. */
#define RG_DIAGNOSTICS_MAX 20
typedef struct {
  int n;
  RgDiagnostic list[RG_DIAGNOSTICS_MAX];
} RgDiagnostics;

/* Add one mistake. Control characters in the message are replaced by '?'. Returns 0, so that a
   check can end with it. */
RG_API PetscErrorCode rg_diagnostics_add(RgDiagnostics *diagnostics, RgPlace place,
                                         const char *format, ...)
  __attribute__((format(printf, 3, 4)));

/* ---- texts ---- */

/* A growing string, for canonical texts, messages and documentation. */
/* Zero-initialise. `data` is NULL until something is added, and NUL-terminated afterwards. */
typedef struct {
  char *data;      /* owned */
  size_t length;   /* without the NUL */
  size_t capacity; /* allocated bytes */
} RgText;

/* Append formatted text. Errors: PETSC_ERR_MEM. */
RG_API PetscErrorCode rg_text_add(RgText *text, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

/* Append a double so that it reads back to the same bits: shortest of %.15g, %.16g, %.17g;
   NaN is `nan`, infinities `inf` and `-inf`. */
RG_API PetscErrorCode rg_text_add_real(RgText *text, double value);

/* Free the storage; the text is empty and usable again. */
RG_API PetscErrorCode rg_text_clear(RgText *text);

#endif
