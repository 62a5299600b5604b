/* What files, the system and other people's data refuse: a value for the caller to act on. */
#ifndef RG_BASE_FAULT_H
#define RG_BASE_FAULT_H

#include "regatta/error.h"

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
