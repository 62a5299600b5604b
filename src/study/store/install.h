/* Putting a finished file in the place of another one, but only of the one that was looked at: two
   runs may be at work on one results file. No locks. */
#ifndef RG_STUDY_STORE_INSTALL_H
#define RG_STUDY_STORE_INSTALL_H

#include <sys/stat.h>

#include "base/fault.h"

/* What can be told of a file without reading it. */
typedef struct {
  bool exists;
  struct stat status;
} RgFileState;

/* What stands at a path now. */
RgFileState rg_install_state(const char *path);
/* Whether two states are those of one and the same unchanged file, or of none. */
bool rg_install_same(const RgFileState *a, const RgFileState *b);
/* Give `temporary` (finished, durable, in the same directory) the name `path`, provided that the
   file there is still `expected`; the directory is synced. RG_FAULT_INCOMPLETE: it is another one
   by now, which stays; other faults are the disk's. `temporary` is gone afterwards in any case. */
void rg_install(const char *temporary, const char *path, const char *directory,
                const RgFileState *expected, RgFault *fault);
/* Set RG_FAULT_INCOMPLETE unless `path` is in the state `expected`. */
void rg_install_check(const char *path, const RgFileState *expected, RgFault *fault);

#endif
