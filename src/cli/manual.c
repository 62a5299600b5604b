/* regatta help [COMMAND]: list the commands or explain one; also as man pages, and as completion
   scripts for bash, zsh and fish. */
#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

static const struct {
  const char *name, *doc;
} environment[] = {{"REGATTA_DATA", "folder of data sets"}, {NULL, NULL}};

const RgManualExit rg_manual_exits[] = {
  {RG_EXIT_OK, "finished, or stopped cleanly as asked"},
  {RG_EXIT_FAILED_TRIALS, "trials failed, with -strict"},
  {RG_EXIT_BAD_INPUT, "a mistake in the command line, a study or a file"},
  {RG_EXIT_STORAGE, "results could not be stored"},
  {RG_EXIT_FAILED_CELLS, "every trial of some cell failed"},
  {RG_EXIT_FAILED_STUDY, "every trial of the study failed"},
  {RG_EXIT_INTERNAL, "an internal error"},
  {RG_EXIT_INCOMPLETE, "status: the study is not complete"},
  {-1, NULL}};

enum { MAN, BASH, ZSH, FISH, N_FORMS };
static const char *const forms[] = {"man", "bash", "zsh", "fish"};
static const char *const words[] = {"--man", "--complete-bash", "--complete-zsh",
                                    "--complete-fish"};

static int form_of(const char *word)
{
  int form = 0;
  while (form < N_FORMS && strcmp(word, words[form])) form++;
  return form;
}

static const char *manual_word(const char *form)
{
  for (int i = 0; i < N_FORMS; i++)
    if (!strcmp(form, forms[i])) return words[i];
  return NULL;
}

/* Print `text` with `before` in front of every character in `special`, and every quote as
   `quote`. */
static void say_escaped(const char *text, const char *special, const char *before,
                        const char *quote)
{
  for (; *text; text++) {
    if (*text == '\'' && quote) rg_say("%s", quote);
    else rg_say("%s%c", strchr(special, *text) ? before : "", *text);
  }
}

/* ---- man pages ------------------------------------------------------------------------------- */

static void say_roff(const char *text)
{
  if (*text == '.' || *text == '\'') rg_say("\\&");
  for (; *text; text++) {
    if (*text == '\\') rg_say("\\e");
    else rg_say("%s%c", *text == '-' ? "\\" : "", *text);
  }
}

static void say_entry(const char *name, const char *value, const char *doc)
{
  rg_say(".TP\n.B ");
  say_roff(name);
  if (value) {
    rg_say(" \\fI");
    say_roff(value);
    rg_say("\\fR");
  }
  rg_say("\n");
  say_roff(doc);
  rg_say("\n");
}

static void say_head(const char *page, const char *doc, const char *usage)
{
  rg_say(".TH \"%s\" 1 \"\" \"regatta %s\" \"Regatta\"\n.SH NAME\n", page, RG_VERSION);
  say_roff(page);
  rg_say(" \\- ");
  say_roff(doc);
  rg_say("\n.SH SYNOPSIS\n.B regatta\n");
  say_roff(usage);
  rg_say("\n");
}

static void say_exits(void)
{
  char code[16];

  rg_say(".SH EXIT STATUS\n");
  for (const RgManualExit *e = rg_manual_exits; e->doc; e++) {
    snprintf(code, sizeof(code), "%d", e->code);
    say_entry(code, NULL, e->doc);
  }
}

static void man_command(const RgCommandEntry *entry, const char *usage, const RgOption *options)
{
  char page[64];

  snprintf(page, sizeof(page), "regatta-%s", entry->name);
  say_head(page, entry->doc, usage);
  if (options->name) rg_say(".SH OPTIONS\n");
  for (; options->name; options++) say_entry(options->name, options->value, options->doc);
  say_exits();
  rg_say(".SH SEE ALSO\n.BR regatta (1)\n");
}

/* ---- completion ------------------------------------------------------------------------------ */

/* Print the literal alternatives of the first argument: the lower-case words of ONE|two|three in
   the usage. */
static void say_alternatives(const char *usage)
{
  const char *at = strchr(usage, ' ');
  const char *separator = "";

  if (!at++ || !strchr(at, '|') || strcspn(at, " [") < strcspn(at, "|")) return;
  for (size_t length; *at && *at != ' '; at += length + (at[length] == '|')) {
    length = strcspn(at, "| ");
    if (islower((unsigned char)*at)) rg_say("%s%.*s", separator, (int)length, at);
    if (islower((unsigned char)*at)) separator = " ";
  }
}

static void bash_command(const RgCommandEntry *entry, const char *usage, const RgOption *options)
{
  rg_say("  %s)\n    words='", entry->name);
  say_alternatives(usage);
  rg_say("'\n    options='");
  for (; options->name; options++) rg_say("%s ", options->name);
  rg_say("-help' ;;\n");
}

static void zsh_command(const RgCommandEntry *entry, const char *usage, const RgOption *options)
{
  rg_say("  %s)\n    _arguments", entry->name);
  for (; options->name; options++) {
    rg_say(" \\\n      '*%s[", options->name);
    say_escaped(options->doc, "[]:\\", "\\", "'\\''");
    rg_say("]");
    if (options->value) rg_say(":%s:_files", options->value);
    rg_say("'");
  }
  rg_say(" \\\n      '*:argument:");
  const char *at = strchr(usage, ' ');
  const bool alternatives = at && strcspn(at + 1, "|") < strcspn(at + 1, " [");
  rg_say("%s", alternatives ? "(" : "_files");
  say_alternatives(usage);
  rg_say("%s' ;;\n", alternatives ? ")" : "");
}

static void fish_command(const RgCommandEntry *entry, const char *usage, const RgOption *options)
{
  rg_say("complete -c regatta -n __fish_use_subcommand -a %s -d '", entry->name);
  say_escaped(entry->doc, "\\", "\\", "\\'");
  rg_say("'\ncomplete -c regatta -n '__fish_seen_subcommand_from %s' -a '", entry->name);
  say_alternatives(usage);
  rg_say("'\n");
  for (; options->name; options++) {
    rg_say("complete -c regatta -n '__fish_seen_subcommand_from %s' -%c %s %s-d '", entry->name,
           options->name[2] ? 'o' : 's', options->name + 1, options->value ? "-r " : "");
    say_escaped(options->doc, "\\", "\\", "\\'");
    rg_say("'\n");
  }
}

static void completion_begin(const char *word)
{
  const int form = form_of(word);

  if (form == BASH) {
    rg_say("# bash completion of regatta\n_regatta() {\n  local current=${COMP_WORDS[COMP_CWORD]} "
           "words= options=\n  if [ \"$COMP_CWORD\" = 1 ]; then\n    words='");
    for (const RgCommandEntry *c = rg_commands; c->name; c++) rg_say("%s ", c->name);
    rg_say("'\n  fi\n  case $([ \"$COMP_CWORD\" = 1 ] || echo \"${COMP_WORDS[1]}\") in\n");
  } else if (form == ZSH) {
    rg_say("#compdef regatta\n_regatta() {\n  local -a commands\n  commands=(\n");
    for (const RgCommandEntry *c = rg_commands; c->name; c++) {
      rg_say("    '%s:", c->name);
      say_escaped(c->doc, ":\\", "\\", "'\\''");
      rg_say("'\n");
    }
    rg_say("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
           "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
  } else {
    rg_say("# fish completion of regatta\n");
  }
}

bool rg_manual_command(const char *word, const char *command, const char *usage,
                       const RgOption *options)
{
  static void (*const print[])(const RgCommandEntry *, const char *, const RgOption *) = {
    man_command, bash_command, zsh_command, fish_command};
  const int form = form_of(word);

  if (form == N_FORMS) return false;
  for (const RgCommandEntry *c = rg_commands; c->name; c++)
    if (!strcmp(c->name, command)) print[form](c, usage, options);
  return true;
}

/* ---- the command ----------------------------------------------------------------------------- */

enum { OPT_MAN, OPT_COMPLETION };

static const RgOption options[] = {
  {"-man", NULL, "as a man page"},
  {"-completion", "SHELL", "completion of all commands for bash, zsh or fish"},
  {NULL, NULL, NULL},
};

/* Explain a command in the form that `word` requests. */
static PetscErrorCode print_help(const RgCommandEntry *entry, const char *word, int *exit_code)
{
  const RgCommand *command = entry->command;
  char *line[] = {(char *)entry->name, (char *)word, NULL};
  RgArguments arguments;

  PetscCall(rg_arguments_parse(2, line, command->usage, command->options, command->least,
                               command->most, &arguments, exit_code));
  return rg_arguments_clear(&arguments);
}

static PetscErrorCode print_completion(const char *shell, int *exit_code)
{
  const char *word = manual_word(shell);

  if (!word) {
    rg_complain("help: no completion for '%s'; accepted: bash, zsh, fish", shell);
    *exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  completion_begin(word);
  for (const RgCommandEntry *c = rg_commands; c->name; c++)
    PetscCall(print_help(c, word, exit_code));
  const int form = form_of(word);
  if (form == BASH)
    rg_say("  esac\n  case $current in\n  -*) words=$options ;;\n  esac\n"
           "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
           "complete -o default -F _regatta regatta\n");
  if (form == ZSH) rg_say("  esac\n}\n_regatta \"$@\"\n");
  return 0;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const bool man = arguments->option[OPT_MAN] != NULL;
  if (arguments->option[OPT_COMPLETION]) {
    PetscCall(print_completion(arguments->option[OPT_COMPLETION], exit_code));
  } else if (arguments->n == 0) {
    if (man) {
      say_head("regatta", "Bayesian-optimisation regret studies", "COMMAND ...");
      rg_say(".SH COMMANDS\n");
      for (const RgCommandEntry *c = rg_commands; c->name; c++) say_entry(c->name, NULL, c->doc);
      rg_say(".SH ENVIRONMENT\n");
      for (int i = 0; environment[i].name; i++)
        say_entry(environment[i].name, NULL, environment[i].doc);
      say_exits();
      rg_say(".SH SEE ALSO\n");
      for (const RgCommandEntry *c = rg_commands; c->name; c++)
        rg_say(".BR regatta\\-%s (1)%s\n", c->name, c[1].name ? "," : "");
    } else {
      rg_say("regatta %s: Bayesian-optimisation regret studies\n\nusage: regatta COMMAND ...\n\n",
             RG_VERSION);
      for (const RgCommandEntry *c = rg_commands; c->name; c++)
        rg_say("  %-10s %s\n", c->name, c->doc);
      rg_say("\nregatta help COMMAND explains a command.\n\nEnvironment:\n");
      for (int i = 0; environment[i].name; i++)
        rg_say("  %-14s %s\n", environment[i].name, environment[i].doc);
      rg_say("\nExit codes:\n");
      for (const RgManualExit *e = rg_manual_exits; e->doc; e++)
        rg_say("  %2d  %s\n", e->code, e->doc);
    }
  } else {
    const RgCommandEntry *entry = rg_commands_find(arguments->positional[0]);
    if (entry) PetscCall(print_help(entry, man ? manual_word("man") : "-help", exit_code));
    else *exit_code = RG_EXIT_BAD_INPUT;
  }
  return 0;
}

const RgCommand rg_command_help = {
  RG_USAGE("help [COMMAND] [-man | -completion SHELL]", options, 0, 1), .place = RG_ON_RANK_0,
  .run = run};
