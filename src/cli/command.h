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

/* Where a subcommand runs. */
typedef enum {
  RG_ON_RANK_0, /* the others wait for its exit code */
  RG_ON_ALL,    /* collective on MPI_COMM_WORLD, with the same exit code on every rank; for the
                   others MPI and PETSc may not be started (world.h) */
  RG_SHIELDED   /* on rank 0, in a child process: it reads files that may make HDF5 crash */
} RgCommandPlace;

/* A subcommand: how it is called, and what it does. */
typedef struct {
  const char *usage;
  const RgOption *options; /* with RG_OPTION_PLUGIN among them plug-ins are loaded before */
  int least, most;         /* positional arguments */
  RgCommandPlace place;
  unsigned world; /* 1 << entry of each option that needs MPI and PETSc (world.h) */
  /* `registry` has the plug-ins, NULL without. *exit_code is RG_EXIT_OK before. Only rank 0
     prints. */
  PetscErrorCode (*run)(const RgArguments *arguments, const RgRegistry *registry, int *exit_code);
} RgCommand;

#define RG_USAGE(usage_, options_, least_, most_)                                                  \
  .usage = (usage_), .options = (options_), .least = (least_), .most = (most_)

/* In a table of options that is empty but for the plug-ins. */
extern const RgOption rg_only_plugins[];

#define RG_COMMAND(name, doc) extern const RgCommand rg_command_##name;
#include "cli/list.h"
#undef RG_COMMAND

/* The subcommands; a NULL name at the end. */
typedef struct {
  const char *name;
  const RgCommand *command;
  const char *doc;
} RgCommandEntry;
extern const RgCommandEntry rg_commands[];
/* NULL, and a complaint with the nearest name, when there is none. */
const RgCommandEntry *rg_commands_find(const char *name);
/* Run one with its command line (argv[0]: its name). Collective on the ranks there are (world.h);
   every rank returns the same exit code. */
PetscErrorCode rg_commands_run(const RgCommand *command, int argc, char **argv, int *exit_code);

#endif
