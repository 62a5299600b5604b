/* The interface between child.c (conversation) and child_spawn.c, child_cpu.c (processes). */
#ifndef RG_BASE_CHILD_INTERNAL_H
#define RG_BASE_CHILD_INTERNAL_H

#include <sys/types.h>

#include "regatta/error.h"

/* Start a program in its own process group. in, out, err: our non-blocking ends of its standard
   streams. *error: errno of the step that failed, or 0. */
PetscErrorCode rg_child_spawn(const char *const *words, pid_t *pid, int *in, int *out, int *err,
                              int *error);
/* CPU seconds so far of a process and its descendants; without /proc only of the process. */
double rg_child_tree_seconds(pid_t pid);
/* Peak resident set of a process; 0 without /proc. */
double rg_child_peak_bytes(pid_t pid);
/* write(2) that never raises SIGPIPE. */
ssize_t rg_child_write(int fd, const char *bytes, size_t length);

#endif
