/* regatta help [COMMAND]: list the commands or explain one; also as man pages, and as completion
   scripts for bash, zsh and fish. */
#include "cli/command.h"

#include <ctype.h>
#include <string.h>

static const struct {
  const char *name, *doc;
} environment[] = {{"REGATTA_DATA", "folder of data sets"}, {NULL, NULL}};

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
  for (const RgExit *e = rg_exits; e->doc; e++) {
    snprintf(code, sizeof(code), "%d", e->code);
    say_entry(code, NULL, e->doc);
  }
}

static void print_page_of_command(const RgCommandEntry *entry)
{
  const RgOption *option = entry->command->options;
  char page[64];

  snprintf(page, sizeof(page), "regatta-%s", entry->name);
  say_head(page, entry->doc, entry->command->usage);
  if (option->name) rg_say(".SH OPTIONS\n");
  for (; option->name; option++) say_entry(option->name, option->value, option->doc);
  say_exits();
  rg_say(".SH SEE ALSO\n.BR regatta (1)\n");
}

static void print_page(void)
{
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
}

/* ---- completion ------------------------------------------------------------------------------ */

/* Print `text` with a backslash before every character in `special`, and every quote as `quote`. */
static void say_escaped(const char *text, const char *special, const char *quote)
{
  for (; *text; text++) {
    if (*text == '\'') rg_say("%s", quote);
    else rg_say("%s%c", strchr(special, *text) ? "\\" : "", *text);
  }
}

/* The literal alternatives of the first argument in a usage, ONE|two|three; NULL: it has none. */
static const char *find_alternatives(const char *usage)
{
  const char *at = strchr(usage, ' ');

  return at && strcspn(at + 1, "|") < strcspn(at + 1, " [") ? at + 1 : NULL;
}

/* Print those alternatives that are in lower case; the others stand for names. */
static void say_alternatives(const char *at)
{
  const char *separator = "";

  for (size_t length; at && *at && *at != ' '; at += length + (at[length] == '|')) {
    length = strcspn(at, "| ");
    if (!islower((unsigned char)*at)) continue;
    rg_say("%s%.*s", separator, (int)length, at);
    separator = " ";
  }
}

static void complete_bash(void)
{
  rg_say("# bash completion of regatta\n_regatta() {\n  local current=${COMP_WORDS[COMP_CWORD]} "
         "words= options=\n  if [ \"$COMP_CWORD\" = 1 ]; then\n    words='");
  for (const RgCommandEntry *c = rg_commands; c->name; c++) rg_say("%s ", c->name);
  rg_say("'\n  fi\n  case $([ \"$COMP_CWORD\" = 1 ] || echo \"${COMP_WORDS[1]}\") in\n");
  for (const RgCommandEntry *c = rg_commands; c->name; c++) {
    rg_say("  %s)\n    words='", c->name);
    say_alternatives(find_alternatives(c->command->usage));
    rg_say("'\n    options='");
    for (const RgOption *o = c->command->options; o->name; o++) rg_say("%s ", o->name);
    rg_say("-help' ;;\n");
  }
  rg_say("  esac\n  case $current in\n  -*) words=$options ;;\n  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
         "complete -o default -F _regatta regatta\n");
}

static void complete_zsh(void)
{
  static const char quote[] = "'\\''";

  rg_say("#compdef regatta\n_regatta() {\n  local -a commands\n  commands=(\n");
  for (const RgCommandEntry *c = rg_commands; c->name; c++) {
    rg_say("    '%s:", c->name);
    say_escaped(c->doc, ":\\", quote);
    rg_say("'\n");
  }
  rg_say("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
  for (const RgCommandEntry *c = rg_commands; c->name; c++) {
    rg_say("  %s)\n    _arguments", c->name);
    for (const RgOption *o = c->command->options; o->name; o++) {
      rg_say(" \\\n      '*%s[", o->name);
      say_escaped(o->doc, "[]:\\", quote);
      rg_say("]");
      if (o->value) rg_say(":%s:_files", o->value);
      rg_say("'");
    }
    rg_say(" \\\n      '*:argument:");
    const char *alternatives = find_alternatives(c->command->usage);
    rg_say("%s", alternatives ? "(" : "_files");
    say_alternatives(alternatives);
    rg_say("%s' ;;\n", alternatives ? ")" : "");
  }
  rg_say("  esac\n}\n_regatta \"$@\"\n");
}

static void complete_fish(void)
{
  static const char quote[] = "\\'";

  rg_say("# fish completion of regatta\n");
  for (const RgCommandEntry *c = rg_commands; c->name; c++) {
    rg_say("complete -c regatta -n __fish_use_subcommand -a %s -d '", c->name);
    say_escaped(c->doc, "\\", quote);
    rg_say("'\ncomplete -c regatta -n '__fish_seen_subcommand_from %s' -a '", c->name);
    say_alternatives(find_alternatives(c->command->usage));
    rg_say("'\n");
    for (const RgOption *o = c->command->options; o->name; o++) {
      rg_say("complete -c regatta -n '__fish_seen_subcommand_from %s' -%c %s %s-d '", c->name,
             o->name[2] ? 'o' : 's', o->name + 1, o->value ? "-r " : "");
      say_escaped(o->doc, "\\", quote);
      rg_say("'\n");
    }
  }
}

enum { OPT_MAN, OPT_COMPLETION };

static const RgOption options[] = {
  {"-man", NULL, "as a man page"},
  {"-completion", "SHELL", "completion of all commands for bash, zsh or fish"},
  {NULL, NULL, NULL},
};

static const struct {
  const char *name;
  void (*complete)(void);
} shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};

static void print_list(void)
{
  rg_say("regatta %s: Bayesian-optimisation regret studies\n\nusage: regatta COMMAND ...\n\n",
         RG_VERSION);
  for (const RgCommandEntry *c = rg_commands; c->name; c++) rg_say("  %-10s %s\n", c->name, c->doc);
  rg_say("\nregatta help COMMAND explains a command.\n\nEnvironment:\n");
  for (int i = 0; environment[i].name; i++)
    rg_say("  %-14s %s\n", environment[i].name, environment[i].doc);
  rg_say("\nExit codes:\n");
  for (const RgExit *e = rg_exits; e->doc; e++) rg_say("  %2d  %s\n", e->code, e->doc);
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  const char *shell = arguments->option[OPT_COMPLETION];
  const bool man = arguments->option[OPT_MAN] != NULL;

  if (shell) {
    for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
      if (strcmp(shell, shells[i].name)) continue;
      shells[i].complete();
      return 0;
    }
    return rg_refuse(exit_code, "help: no completion for '%s'; accepted: bash, zsh, fish", shell);
  }
  if (!arguments->n && man) print_page();
  else if (!arguments->n) print_list();
  if (!arguments->n) return 0;
  const RgCommandEntry *entry = rg_commands_find(arguments->positional[0]);
  if (!entry) *exit_code = RG_EXIT_BAD_INPUT;
  else if (man) print_page_of_command(entry);
  else rg_command_print_help(entry->command);
  return 0;
}

const RgCommand rg_command_help = {
  RG_USAGE("help [COMMAND] [-man | -completion SHELL]", options, 0, 1), .place = RG_ON_RANK_0,
  .run = run};
