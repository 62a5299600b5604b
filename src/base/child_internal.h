/* Between child.c, which talks, and child_spawn.c, which deals with processes. */
#ifndef RG_BASE_CHILD_INTERNAL_H
#define RG_BASE_CHILD_INTERNAL_H

#include <sys/types.h>

#include "regatta/error.h"

/* Start a program in a process group of its own: our ends of its standard streams, not blocking.
   *error: errno of the step that failed, 0. */
PetscErrorCode rg_child_spawn(const char *const *words, pid_t *pid, int *in, int *out, int *err,
                              int *error);
/* CPU seconds so far of a process, its children and theirs. Where there is no /proc: its own. */
double rg_child_tree_seconds(pid_t pid);
/* Largest resident set of a process; 0 where there is no /proc. */
double rg_child_peak_bytes(pid_t pid);
/* write(2) that never raises SIGPIPE. */
ssize_t rg_child_write(int fd, const char *bytes, size_t length);

#endif
