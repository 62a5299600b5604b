/* Subcommands of the regatta program: each has a file, and a line in cli/list.h. */
#ifndef RG_CLI_COMMAND_H
#define RG_CLI_COMMAND_H

#include "cli/arguments.h"
#include "cli/plugins.h"

enum {
  RG_EXIT_OK = 0,
  RG_EXIT_FAILED_TRIALS = 1,
  RG_EXIT_BAD_INPUT = 2,
  RG_EXIT_STORAGE = 3,
  RG_EXIT_FAILED_CELLS = 4, /* every trial of some cell failed */
  RG_EXIT_FAILED_STUDY = 5, /* every trial of the study failed */
  RG_EXIT_INTERNAL = 70,
  RG_EXIT_INCOMPLETE = 75
};

/* The exit codes in words; a NULL doc ends the table. */
typedef struct {
  int code;
  const char *doc;
} RgExit;
extern const RgExit rg_exits[];

/* The ranks and the process that run a subcommand. */
typedef enum {
  RG_ON_RANK_0, /* the other ranks wait for its exit code */
  /* Collective on MPI_COMM_WORLD, with the same exit code on every rank; all other places may run
     without MPI and PETSc (world.h). */
  RG_ON_ALL,
  RG_SHIELDED /* on rank 0, in a child process, because damaged files may make HDF5 crash */
} RgCommandPlace;

/* A subcommand: its command line and its function. */
struct RgCommand {
  const char *usage;
  const RgOption *options; /* with RG_OPTION_PLUGIN, plug-ins are loaded before `run` */
  int least, most;         /* limits on the number of positional arguments */
  RgCommandPlace place;
  /* Paragraphs of its help behind the options, followed by the exit codes; NULL: neither. */
  const char *notes;
  unsigned world; /* 1 << entry of each option that needs MPI and PETSc (world.h) */
  /* `registry` contains the plug-ins; NULL: no plug-ins. *exit_code is RG_EXIT_OK before the
     call. Only rank 0 prints. */
  PetscErrorCode (*run)(const RgArguments *arguments, const RgRegistry *registry, int *exit_code);
};

#define RG_USAGE(usage_, options_, least_, most_)                                                  \
  .usage = (usage_), .options = (options_), .least = (least_), .most = (most_)

/* A table of options with -plugin only. */
extern const RgOption rg_only_plugins[];

#define RG_COMMAND(name, doc) extern const RgCommand rg_command_##name;
#include "cli/list.h"
#undef RG_COMMAND

/* The table of subcommands; its last name is NULL. */
typedef struct {
  const char *name;
  const RgCommand *command;
  const char *doc;
} RgCommandEntry;
extern const RgCommandEntry rg_commands[];
/* Find a subcommand. For an unknown name, print the nearest name and return NULL. */
const RgCommandEntry *rg_commands_find(const char *name);
/* Run a subcommand with its command line (argv[0]: its name). Collective on all ranks (world.h);
   every rank returns the same exit code. */
PetscErrorCode rg_commands_run(const RgCommand *command, int argc, char **argv, int *exit_code);

/* Find a file or folder below share/regatta: in the installation that contains this program, even
   if it was moved, else at the configured place. False: it is in neither; `path` is the last place
   where it was looked for. */
enum { RG_SHARE_BYTES = 4200 };
bool rg_share_find(const char *name, char path[RG_SHARE_BYTES]);

#endif
