/* What files, the system and other people's data refuse: a value for the caller to act on. */
#ifndef RG_BASE_FAULT_H
#define RG_BASE_FAULT_H

#include "base/core.h"

typedef enum {
  RG_FAULT_NONE,
  RG_FAULT_FULL,       /* no space (ENOSPC, EDQUOT): nothing is lost, retry later */
  RG_FAULT_ERROR,      /* the system says no (EIO and the rest): nothing is lost, retry later */
  RG_FAULT_FOREIGN,    /* the user's to mend, nothing was written: a file is not what it must be */
  RG_FAULT_INCOMPLETE, /* something is not there yet, nothing was written */
  RG_FAULT_VANISHED,   /* a file does not exist (any more) */
  RG_FAULT_DAMAGED,    /* a file is not what was once written: truncated, altered, unreadable */
  RG_FAULT_NEWER       /* a file of a newer schema */
} RgFaultCode;

/* Zero-initialise. A message without a code is a warning worth printing. */
typedef struct {
  RgFaultCode code;
  int error;         /* errno, where the system refused; else 0 */
  char message[512]; /* one line: what went wrong and where */
} RgFault;

/* Record a fault unless there is one already (the first cause is the one worth reporting). */
void rg_fault_set(RgFault *fault, RgFaultCode code, const char *format, ...)
  __attribute__((format(printf, 3, 4)));
/* Make a recorded fault one of `code`, its message "where: message". */
void rg_fault_judge(RgFault *fault, RgFaultCode code, const char *where);
/* The same for errno `error` (0: nothing happens): "cannot <what> <path>: why (needs 8.1 MiB, 12
   KiB free)", with the space free at `directory`; needed 0: nothing about space. */
void rg_fault_file(RgFault *fault, const char *path, const char *what, int error,
                   const char *directory, uint64_t needed);

#endif
