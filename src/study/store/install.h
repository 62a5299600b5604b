/* Replacement of a file by a finished one, only if the old file is the expected one: two runs
   may work on one results file. No locks. */
#ifndef RG_STUDY_STORE_INSTALL_H
#define RG_STUDY_STORE_INSTALL_H

#include <sys/stat.h>

#include "base/fault.h"

/* The identity of a file that is known without reading it. */
typedef struct {
  bool exists;
  struct stat status;
} RgFileState;

/* The current state of a path. */
RgFileState rg_install_state(const char *path);
/* Whether two states belong to the same unchanged file, or both to no file. */
bool rg_install_same(const RgFileState *a, const RgFileState *b);
/* Rename `temporary` (finished, durable, in the same directory) to `path` if the file there is
   still `expected`, and sync the directory. RG_FAULT_INCOMPLETE: there is another file by now,
   which stays; other faults come from the disk. `temporary` no longer exists afterwards. */
void rg_install(const char *temporary, const char *path, const char *directory,
                const RgFileState *expected, RgFault *fault);
/* Set RG_FAULT_INCOMPLETE unless `path` has the state `expected`. */
void rg_install_check(const char *path, const RgFileState *expected, RgFault *fault);

#endif
