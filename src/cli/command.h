/* Subcommands of the regatta program: one file each, one line in cli/list.h. */
#ifndef RG_CLI_COMMAND_H
#define RG_CLI_COMMAND_H

#include "regatta/error.h"

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

/* One option of a subcommand. A table ends with a NULL name. */
typedef struct {
  const char *name;  /* with its dash: "-o" */
  const char *value; /* placeholder of its value, NULL for a switch */
  const char *doc;
} RgOption;

#define RG_ARGUMENTS_MAX 64
typedef struct {
  int n;
  const char *positional[RG_ARGUMENTS_MAX]; /* borrowed from argv */
  const char *option[RG_ARGUMENTS_MAX]; /* by table entry: value, "" for a switch, NULL not given */
} RgArguments;

/* Sort argv[1..] into positional arguments and the options of `table`; PETSc's own options pass. On
   a mistake (unknown option, missing value, number of positional arguments not in [least, most])
   one line goes to stderr and *ok is false. `-help` prints `usage` and the table; *ok is false and
   *exit_code 0. */
PetscErrorCode rg_arguments_parse(int argc, char **argv, const char *usage, const RgOption *table,
                                  int least, int most, RgArguments *arguments, bool *ok,
                                  int *exit_code);

/* Every command that knows problems and algorithms takes plugins, any number of times. */
#define RG_OPTION_PLUGIN                                                                           \
  {                                                                                                \
    "-plugin", "LIB.so", "a shared library with problems or algorithms of your own; repeatable"    \
  }

/* Load the plugins of a command line; NULL is what comes of none. Collective; a mistake is told,
   *exit_code is set and the same on all ranks. To be destroyed (rg_registry_destroy) in any case.
 */
typedef struct RgRegistry RgRegistry;
PetscErrorCode rg_plugins_load(int argc, char **argv, RgRegistry **registry, int *exit_code);

/* Print one line to stderr on rank 0: `regatta: message`. */
void rg_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print to stdout on rank 0. */
void rg_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print to stderr on the calling rank. Like the two above it replaces control characters. */
void rg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print all diagnostics to stderr, one line each, on the calling rank. */
void rg_print_diagnostics(const RgDiagnostics *diagnostics);

#endif
