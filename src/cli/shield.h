/* Commands that only read files, safe from what HDF5 may do. */
#ifndef RG_CLI_SHIELD_H
#define RG_CLI_SHIELD_H

#include "cli/command.h"

/* Run a command that only reads files and prints, without MPI: in a child process, where a file
   that makes HDF5 crash does no harm and needs no probe; where the child dies, here, where every
   file is probed. What the child printed is printed when it has ended. */
PetscErrorCode rg_shield_command(const RgCommand *command, const RgArguments *arguments,
                                 const RgRegistry *registry, int *exit_code);

#endif
