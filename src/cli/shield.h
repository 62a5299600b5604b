/* Commands that only read files, safe from what HDF5 may do. */
#ifndef RG_CLI_SHIELD_H
#define RG_CLI_SHIELD_H

#include "cli/command.h"

/* Run a command that only reads files and prints, without MPI, in a child process. A file that
   makes HDF5 crash kills the child: this is reported in one line, with RG_EXIT_BAD_INPUT. What the
   child printed is printed when it has ended. Where no child can be made, the command runs here. */
PetscErrorCode rg_shield_command(const RgCommand *command, const RgArguments *arguments,
                                 const RgRegistry *registry, int *exit_code);

#endif
