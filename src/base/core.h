/* Ground floor of every Regatta file: PETSc's error discipline, and failures of trials as values.

   Four kinds of trouble, four ways to say it:
   - what should never happen (out of memory, a violated precondition): a PETSc error code from
     PetscCall / PetscCheck, with a stack trace, exit code 70;
   - a mistake of the user: an entry in RgDiagnostics (diagnostic.h), exit code 2;
   - what files and the system refuse: an RgFault (fault.h), exit code 2 or 3;
   - a trial that fails numerically: an RgFailure stored in its record; the study goes on. */
#ifndef RG_BASE_CORE_H
#define RG_BASE_CORE_H

#include <petscsys.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RG_VERSION "0.1.0"

/* Why a trial could not go on. Zero-initialise; `failed` false means all is well. */
typedef struct {
  bool failed;
  char message[256]; /* one line, no trailing newline; what happened and where */
} RgFailure;

/* Record a failure unless one is recorded already (the first cause is the one worth reporting). */
void rg_failure_set(RgFailure *failure, const char *format, ...)
  __attribute__((format(printf, 2, 3)));

#endif
