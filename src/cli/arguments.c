/* Arguments and options of a subcommand, and the messages about mistakes in them. */
#include "base/number.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/world.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- values of options ----------------------------------------------------------------------- */

static bool refuse_value(const RgArguments *arguments, int option, const char *accepted)
{
  rg_complain("%s: %s must be %s, got '%s'", arguments->argv[0],
              arguments->command->options[option].name, accepted, arguments->option[option]);
  return false;
}

bool rg_argument_real(const RgArguments *arguments, int option, double least, double most,
                      const char *accepted, double *value)
{
  const char *word = arguments->option[option];
  double number;

  if (!word) return true;
  if (!rg_number_only(word, &number) || !(number >= least && number <= most))
    return refuse_value(arguments, option, accepted);
  *value = number;
  return true;
}

bool rg_argument_count(const RgArguments *arguments, int option, uint64_t least, uint64_t most,
                       const char *accepted, uint64_t *value)
{
  const char *word = arguments->option[option];
  char *end;

  if (!word) return true;
  errno = 0;
  const uint64_t number = strtoull(word, &end, 10);
  if (!isdigit((unsigned char)*word) || *end || errno || number < least || number > most)
    return refuse_value(arguments, option, accepted);
  *value = number;
  return true;
}

bool rg_argument_part(const RgArguments *arguments, int option, int *part, int *parts)
{
  const char *word = arguments->option[option];
  char *end, *rest = "";

  if (!word) return true;
  const long i = strtol(word, &end, 10), n = *end == '/' ? strtol(end + 1, &rest, 10) : 0;
  if (end == word || *end != '/' || rest == end + 1 || *rest || i < 1 || i > n || n > 1000000)
    return refuse_value(arguments, option, "I/N with I from 1 to N, such as 2/8, and N to 1000000");
  *part = (int)i;
  *parts = (int)n;
  return true;
}

void rg_duration_print(double seconds, char text[32])
{
  if (seconds < 90) rg_format(text, 32, "%.0f s", seconds);
  else if (seconds < 5400) rg_format(text, 32, "%.0f min", seconds / 60);
  else rg_format(text, 32, "%.1f h", seconds / 3600);
}

char *rg_pair_split(char *word, RgPlace place, RgDiagnostics *found)
{
  char *value = strchr(word, '=');

  if (value) *value++ = 0;
  else rg_diagnostics_add(found, place, "'%s' is not of the form KEY=VALUE", word);
  return value;
}

PetscErrorCode rg_pair_set(const RgParam *params, void *options, const char *key, char *value,
                           RgPlace place, RgDiagnostics *found)
{
  const char **values;
  const RgParam *entry;
  int n = 0;

  PetscCall(PetscMalloc1(strlen(value) + 1, &values));
  if (*value == '[') {
    for (char *at = strtok(value + 1, ", ]"); at; at = strtok(NULL, ", ]")) values[n++] = at;
  } else {
    values[n++] = value;
  }
  PetscCall(rg_params_set(params, options, key, n, values, place, found, &entry));
  return PetscFree(values);
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool on_rank_0(void)
{
  int rank, size;

  rg_world(&rank, &size);
  return rank == 0;
}

/* Labels and messages may come from any file, so escape codes in them must not reach the
   terminal, and a complaint stays one line. */
static void print(FILE *stream, const char *format, va_list arguments)
{
  char room[1024], *text = room; /* where memory is short, a message is cut and not lost */
  size_t size = sizeof(room);
  va_list again;

  va_copy(again, arguments);
  const int length = rg_format_list(NULL, 0, format, again);
  va_end(again);
  if (length < 0) return;
  if ((size_t)length >= size && !PetscMalloc1(length + 1, &text)) size = (size_t)length + 1;
  if (!text) text = room;
  rg_format_list(text, size, format, arguments);
  char *end = text + strlen(text);
  const bool ends = stream == stderr && end > text && end[-1] == '\n';
  if (ends) end[-1] = '\0';
  rg_text_disarm(text, stream != stderr);
  fputs(text, stream);
  if (ends) fputc('\n', stream);
  if (text != room) (void)PetscFree(text);
}

void rg_warn(const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  print(stderr, format, arguments);
  va_end(arguments);
}

static void complain(const char *format, va_list arguments)
{
  if (!on_rank_0()) return;
  fputs("regatta: ", stderr);
  print(stderr, format, arguments);
  fputc('\n', stderr);
}

void rg_complain(const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  complain(format, arguments);
  va_end(arguments);
}

PetscErrorCode rg_refuse(int *exit_code, const char *format, ...)
{
  va_list arguments;

  *exit_code = RG_EXIT_BAD_INPUT;
  va_start(arguments, format);
  complain(format, arguments);
  va_end(arguments);
  return 0;
}

void rg_say(const char *format, ...)
{
  va_list arguments;

  if (!on_rank_0()) return;
  va_start(arguments, format);
  print(stdout, format, arguments);
  va_end(arguments);
}

PetscErrorCode rg_say_table(RgTable *table)
{
  RgText text = {0};

  PetscCall(rg_table_print(table, &text));
  rg_say("%s", text.data);
  return rg_text_clear(&text);
}

void rg_print_diagnostics(const RgDiagnostics *diagnostics)
{
  for (int i = 0; i < diagnostics->n && i < RG_DIAGNOSTICS_MAX; i++) {
    const RgDiagnostic *d = &diagnostics->list[i];
    const char *file = d->place.file ? d->place.file : "?";
    if (d->place.line > 0)
      rg_warn("%s:%d:%d: %s\n", file, d->place.line, d->place.column, d->message);
    else rg_warn("%s: %s\n", file, d->message);
  }
  if (diagnostics->n > RG_DIAGNOSTICS_MAX)
    fprintf(stderr, "... and %d more\n", diagnostics->n - RG_DIAGNOSTICS_MAX);
}

const char *rg_suggest(const char *name, const char *const *names, char hint[RG_HINT_BYTES])
{
  const char *nearest = rg_text_nearest(name, names);

  hint[0] = '\0';
  if (nearest) rg_format(hint, RG_HINT_BYTES, ", did you mean '%.60s'?", nearest);
  return hint;
}

void rg_command_print_help(const RgCommand *command)
{
  rg_say("usage: regatta %s\n", command->usage);
  for (const RgOption *o = command->options; o->name; o++)
    rg_say("  %s %-*s %s\n", o->name, (int)(22 - strlen(o->name)), o->value ? o->value : "",
           o->doc);
  if (!command->notes) return;
  rg_say("\n%s\nExit codes:\n", command->notes);
  for (const RgExit *e = rg_exits; e->doc; e++) rg_say("  %2d  %s\n", e->code, e->doc);
}

/* ---- the command line ------------------------------------------------------------------------ */

static bool looks_like_option(const char *word)
{
  return word[0] == '-' && word[1] && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

bool rg_arguments_petsc_knows(const char *word)
{
  static const char *const taken[] = {"-log_view",     "-log_trace",      "-options_file",
                                      "-options_left", "-malloc_dump",    "-malloc_debug",
                                      "-malloc_view",  "-info",           "-memory_view",
                                      "-version",      "-on_error_abort", NULL};

  for (int i = 0; taken[i]; i++)
    if (!strcmp(word, taken[i])) return true;
  return !strncmp(word, "-gp_ksp_", 8) || !strncmp(word, "-gp_pc_", 7);
}

/* Whether `next` is the value of PETSc's option `word`. Options of the solver may have a value;
   the name of an existing file is not one. */
static bool is_petsc_value(const char *word, const char *next)
{
  if (!strcmp(word, "-options_file")) return true;
  return !strncmp(word, "-gp_", 4) && !looks_like_option(next) && access(next, F_OK) != 0;
}

int rg_option_find(const RgOption *table, const char *name)
{
  for (int i = 0; table[i].name; i++)
    if (!strcmp(name, table[i].name)) return i;
  return -1;
}

/* Whether the option has no value: it is a switch, or its [VALUE] is omitted (before another
   option, at the end, or while a file argument is still missing). next: the next word, or the
   option itself if it is the last. */
static bool takes_no_value(const RgOption *option, const char *next, bool file_due)
{
  return !option->value || (option->value[0] == '[' && (file_due || looks_like_option(next)));
}

PetscErrorCode rg_arguments_clear(RgArguments *arguments)
{
  return PetscFree(arguments->positional);
}

PetscErrorCode rg_arguments_parse(const RgCommand *command, int argc, char **argv,
                                  RgArguments *arguments, int *exit_code)
{
  const RgOption *table = command->options;

  *arguments = (RgArguments){.command = command, .argc = argc, .argv = argv};
  *exit_code = RG_EXIT_BAD_INPUT;
  PetscCall(PetscMalloc1(argc, &arguments->positional));
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "-help") || !strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
      rg_command_print_help(command);
      *exit_code = RG_EXIT_OK;
      return 0;
    }
    const int entry = rg_option_find(table, argv[i]);
    if (entry >= 0 && takes_no_value(&table[entry], argv[i + 1 < argc ? i + 1 : i],
                                     arguments->n < command->least)) {
      arguments->option[entry] = "";
    } else if (entry >= 0) {
      if (i + 1 == argc || rg_option_find(table, argv[i + 1]) >= 0) {
        rg_complain("%s: option '%s' needs a value: %s", argv[0], argv[i], table[entry].value);
        return 0;
      }
      arguments->option[entry] = argv[++i];
    } else if (looks_like_option(argv[i])) {
      if (!rg_arguments_petsc_knows(argv[i])) {
        const char *names[RG_OPTIONS_MAX] = {0};
        char hint[RG_HINT_BYTES];
        for (int k = 0; table[k].name && k < RG_OPTIONS_MAX - 1; k++) names[k] = table[k].name;
        rg_complain("%s: unknown option '%s'%s (regatta %s -help lists the options)", argv[0],
                    argv[i], rg_suggest(argv[i], names, hint), argv[0]);
        return 0;
      }
      if (i + 1 < argc && is_petsc_value(argv[i], argv[i + 1])) i++;
    } else {
      arguments->positional[arguments->n++] = argv[i];
    }
  }
  const bool missing = arguments->n < command->least;
  if (missing || arguments->n > command->most) {
    rg_complain("%s: %s; usage: regatta %s", argv[0],
                missing ? "an argument is missing" : "too many arguments", command->usage);
    return 0;
  }
  arguments->ok = true;
  *exit_code = RG_EXIT_OK;
  return 0;
}
