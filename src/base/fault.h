/* Faults: refusals by files, the system or other people's data, as values for the caller. */
#ifndef RG_BASE_FAULT_H
#define RG_BASE_FAULT_H

#include "regatta/error.h"

/* Record a fault unless one is recorded already: the first cause is kept. */
void rg_fault_set(RgFault *fault, RgFaultCode code, const char *format, ...)
  __attribute__((format(printf, 3, 4)));
/* Give a recorded fault the code `code` and the message "where: message". */
void rg_fault_restate(RgFault *fault, RgFaultCode code, const char *where);
/* Whether a later attempt can't succeed either: something else stands in the place of a directory.
   */
bool rg_fault_lasts(const RgFault *fault);
/* Record errno `error` (0: do nothing) as "cannot <what> <path>: why (needs 8.1 MiB, 12 KiB
   free)". The free space is the space at `directory`; needed 0: the message omits the space. */
void rg_fault_file(RgFault *fault, const char *path, const char *what, int error,
                   const char *directory, uint64_t needed);

#endif
