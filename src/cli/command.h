/* Subcommands of the regatta program: one file each, one line in cli/list.h. */
#ifndef RG_CLI_COMMAND_H
#define RG_CLI_COMMAND_H

#include "cli/arguments.h"
#include "cli/plugins.h"

/* Exit codes (conventions, 5). */
enum {
  RG_EXIT_OK = 0,
  RG_EXIT_FAILED_TRIALS = 1,
  RG_EXIT_BAD_INPUT = 2,
  RG_EXIT_STORAGE = 3,
  RG_EXIT_FAILED_CELLS = 4, /* of a cell nothing but failed trials came */
  RG_EXIT_INTERNAL = 70,
  RG_EXIT_INCOMPLETE = 75
};

/* argv[0] is the name of the subcommand. Collective on MPI_COMM_WORLD; only rank 0 prints. Every
   rank returns the same exit code. */
typedef PetscErrorCode (*RgCommand)(int argc, char **argv, int *exit_code);

#define RG_COMMAND(name, doc)                                                                      \
  PetscErrorCode rg_command_##name(int argc, char **argv, int *exit_code);
#include "cli/list.h"
#undef RG_COMMAND

/* The subcommands; a NULL name at the end. */
typedef struct {
  const char *name;
  RgCommand command;
  const char *doc;
} RgCommandEntry;
extern const RgCommandEntry rg_commands[];
/* NULL, and a complaint with the nearest name, when there is none. */
const RgCommandEntry *rg_commands_find(const char *name);

#endif
