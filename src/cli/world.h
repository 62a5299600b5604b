/* The ranks of a subcommand. MPI and PETSc start more slowly than `regatta list` runs, so only
   commands that need them start them. */
#ifndef RG_CLI_WORLD_H
#define RG_CLI_WORLD_H

#include <stdbool.h>

#include "regatta/error.h"

/* Whether a command line needs MPI and PETSc: the subcommand runs on all ranks, a plug-in is
   loaded, an option belongs to PETSc, or the subcommand says that an option needs them. */
bool rg_world_needed(int argc, char **argv);
/* Call before MPI starts. Trials are handed out by one-sided communication, which Debian's Open
   MPI disables over TCP; enable it, unless the user or the site chose otherwise. A process that no
   launcher has started becomes the only rank, also inside a Slurm job. False, with a message:
   another launcher has started several processes that this Open MPI can't connect. */
bool rg_world_prepare(void);
/* Call after MPI has started. False, with a message: a launcher of another MPI has started several
   processes, each of which is alone in MPI. */
bool rg_world_check(void);
/* Rank and number of ranks; true: MPI was started and says so. Otherwise the launcher's variables
   say it; 0 and 1 without a launcher. */
bool rg_world(int *rank, int *size);
/* Find the first rank with a mistake, which reports it; -1: no rank has one. Collective. */
PetscErrorCode rg_world_find_speaker(bool mistaken, int *speaker);
/* Whether this process is the first one of its job on this host. Works before MPI starts. */
bool rg_world_is_first_of_host(void);

#endif
