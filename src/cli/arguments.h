/* Arguments and options of a subcommand, and messages to its user. */
#ifndef RG_CLI_ARGUMENTS_H
#define RG_CLI_ARGUMENTS_H

#include "base/table.h"
#include "base/text.h"
#include "regatta/error.h"
#include "regatta/params.h"

/* Cut KEY=VALUE at its '='. Returns the value; without '=', NULL and a diagnostic. */
char *rg_pair_split(char *word, RgPlace place, RgDiagnostics *found);
/* Set a parameter from VALUE or [VALUE, ...]; cuts `value`. Mistakes are added to `found`. */
PetscErrorCode rg_pair_set(const RgParam *params, void *options, const char *key, char *value,
                           RgPlace place, RgDiagnostics *found);

/* Print seconds in a suitable unit: `12 s`, `3 min`, `2.5 h`. */
void rg_duration_print(double seconds, char text[32]);

/* One option of a subcommand. A table ends with a NULL name. */
typedef struct {
  const char *name; /* with its dash: "-o" */
  /* Placeholder of its value, NULL for a switch. In brackets, the value may follow after the file
     arguments, or be omitted, which gives "". */
  const char *value;
  const char *doc;
} RgOption;

/* Find the entry with a name in a table. Returns its number, or -1. */
int rg_option_find(const RgOption *table, const char *name);

typedef struct RgCommand RgCommand;

/* The message of a command that ends because an allocation fails. Its exit code is 2. */
#define RG_NO_MEMORY                                                                               \
  "not enough memory (a limit of this process, such as ulimit -v, or the memory of this host)"

/* Whether an error of a command means that an allocation failed. Before PETSc starts, that error
   has the line of the caller as its code. */
static inline bool rg_is_short_of_memory(PetscErrorCode error)
{
  PetscBool started = PETSC_FALSE;

  if (error == PETSC_ERR_MEM) return true;
  return error && error != PETSC_ERR_PLIB && !PetscInitialized(&started) && !started;
}

#define RG_OPTIONS_MAX 64 /* entries of a table */
typedef struct {
  bool ok; /* the arguments have no mistake and don't ask for help */
  const RgCommand *command;
  int argc;    /* the command line, borrowed: argv[0] is the name of the subcommand */
  char **argv; /* argc */
  int n;
  const char **positional;            /* n, borrowed from argv; the array is owned */
  const char *option[RG_OPTIONS_MAX]; /* by table entry: value, "" for a switch, NULL not given */
} RgArguments;

/* Sort argv[1..] into positional arguments and options of the command; PETSc's own options pass. A
   mistake (unknown option, missing value, wrong number of positional arguments) prints one line to
   stderr and sets `ok` to false. `-help` prints the command's help, and sets `ok` to false and
   *exit_code to 0. The caller clears the arguments in any case. */
PetscErrorCode rg_arguments_parse(const RgCommand *command, int argc, char **argv,
                                  RgArguments *arguments, int *exit_code);

PetscErrorCode rg_arguments_clear(RgArguments *arguments);

/* Read the value of an option. An option that is not given leaves *value as it is. A word that is
   no number in [least, most] is reported, as not being what is `accepted`; then false. */
bool rg_argument_real(const RgArguments *arguments, int option, double least, double most,
                      const char *accepted, double *value);
bool rg_argument_count(const RgArguments *arguments, int option, uint64_t least, uint64_t most,
                       const char *accepted, uint64_t *value);
/* The same for part and number of parts, "2/8". */
bool rg_argument_part(const RgArguments *arguments, int option, int *part, int *parts);

/* The end of a complaint about an unknown name: the name in `names` (NULL-terminated) that is
   nearest, or "". Returns `hint`. */
enum { RG_HINT_BYTES = 96 };
const char *rg_suggest(const char *name, const char *const *names, char hint[RG_HINT_BYTES]);
/* Print usage, options and notes of a command. */
void rg_command_print_help(const RgCommand *command);

/* Whether a word is an option of PETSc that every subcommand accepts. */
bool rg_arguments_petsc_knows(const char *word);

/* Print one line to stderr on rank 0: `regatta: message`. */
void rg_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and set *exit_code to RG_EXIT_BAD_INPUT. Returns 0, so that a command can end so. */
PetscErrorCode rg_refuse(int *exit_code, const char *format, ...)
  __attribute__((format(printf, 2, 3)));
/* Print to stdout on rank 0. */
void rg_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print a table to stdout on rank 0, and clear its rows. */
PetscErrorCode rg_say_table(RgTable *table);
/* Print to stderr on the calling rank. Control characters are replaced, as in rg_complain and
   rg_say. */
void rg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Print all diagnostics to stderr, one line each, on the calling rank. */
void rg_print_diagnostics(const RgDiagnostics *diagnostics);

#endif
