/* Commands that only read files are protected from files that make HDF5 crash or hang. */
#ifndef RG_CLI_SHIELD_H
#define RG_CLI_SHIELD_H

#include "cli/command.h"

/* Run a command that only reads files and prints, without MPI, in a child process. A file that
   makes HDF5 crash kills only the child, and so does one that makes it compute beyond a limit that
   grows with the file's size, or wait beyond five times that. Each is reported in one line, with
   RG_EXIT_BAD_INPUT. The child dies with this process.
   The child's output is printed after its end. If no child can be created, the command runs in
   this process. */
PetscErrorCode rg_shield_command(const RgCommand *command, const RgArguments *arguments,
                                 const RgRegistry *registry, int *exit_code);

/* Leave with one line about the lack of memory, and RG_EXIT_BAD_INPUT. */
void rg_leave_without_memory(void);
/* Leave so where HDF5 crashes, or calls exit(), because an allocation failed. Call it again after
   the signals have got other handlers, for what other crashes do. */
void rg_watch_memory(void);

#endif
