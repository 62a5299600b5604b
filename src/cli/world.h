/* The ranks a subcommand runs on. MPI and PETSc take longer to start than `regatta list` takes:
   they are started for those who need them. */
#ifndef RG_CLI_WORLD_H
#define RG_CLI_WORLD_H

#include <stdbool.h>

/* Whether MPI and PETSc must be started for a command line: the subcommand runs on all ranks, a
   launcher has started this process, a plug-in is loaded, or an option is PETSc's or one of those
   that the subcommand says need them. */
bool rg_world_needed(int argc, char **argv);
/* Before MPI starts: Open MPI as Debian configures it has no one-sided communication over TCP, by
   which trials are handed out. It is told to have it, unless the user or the site chose
   otherwise. */
void rg_world_prepare(void);
/* This rank and how many there are; 0 and 1 where MPI was not started. */
void rg_world(int *rank, int *size);

#endif
