/* regatta help [COMMAND]: list the commands or explain one; also as man pages and shell
   completion. */
#include "cli/command.h"

#include <string.h>

#include "cli/manual.h"

enum { OPT_MAN, OPT_COMPLETION };

static const RgOption options[] = {
  {"-man", NULL, "as a man page"},
  {"-completion", "SHELL", "completion of all commands for bash, zsh or fish"},
  {NULL, NULL, NULL},
};

static void print_usage(void)
{
  rg_say("regatta %s: Bayesian-optimisation regret studies\n\nusage: regatta COMMAND ...\n\n",
         RG_VERSION);
  for (const RgCommandEntry *c = rg_commands; c->name; c++) rg_say("  %-10s %s\n", c->name, c->doc);
  rg_say("\nregatta help COMMAND explains a command.\n\nEnvironment:\n");
  for (const RgManualVariable *v = rg_manual_environment; v->name; v++)
    rg_say("  %-14s %s\n", v->name, v->doc);
  rg_say("\nExit codes:\n");
  for (const RgManualExit *e = rg_manual_exits; e->doc; e++) rg_say("  %2d  %s\n", e->code, e->doc);
}

/* Explain a command in the form that `word` requests. */
static PetscErrorCode explain(const RgCommandEntry *entry, const char *word, int *exit_code)
{
  const RgCommand *command = entry->command;
  char *words[] = {(char *)entry->name, (char *)word, NULL};
  RgArguments arguments;

  PetscCall(rg_arguments_parse(2, words, command->usage, command->options, command->least,
                               command->most, &arguments, exit_code));
  PetscCall(rg_arguments_clear(&arguments));
  return 0;
}

static PetscErrorCode print_completion(const char *shell, int *exit_code)
{
  const char *word = rg_manual_word(shell);

  if (!word) {
    rg_complain("help: no completion for '%s'; accepted: bash, zsh, fish", shell);
    *exit_code = RG_EXIT_BAD_INPUT;
    return 0;
  }
  rg_manual_begin(word);
  for (const RgCommandEntry *c = rg_commands; c->name; c++) PetscCall(explain(c, word, exit_code));
  rg_manual_end(word);
  return 0;
}

static PetscErrorCode run(const RgArguments *arguments, const RgRegistry *registry, int *exit_code)
{
  (void)registry;
  const bool man = arguments->option[OPT_MAN] != NULL;
  if (arguments->option[OPT_COMPLETION]) {
    PetscCall(print_completion(arguments->option[OPT_COMPLETION], exit_code));
  } else if (arguments->n == 0) {
    if (man) rg_manual_page();
    else print_usage();
  } else {
    const RgCommandEntry *entry = rg_commands_find(arguments->positional[0]);
    if (entry) PetscCall(explain(entry, man ? rg_manual_word("man") : "-help", exit_code));
    else *exit_code = RG_EXIT_BAD_INPUT;
  }
  return 0;
}

const RgCommand rg_command_help = {
  RG_USAGE("help [COMMAND] [-man | -completion SHELL]", options, 0, 1), .place = RG_ON_RANK_0,
  .run = run};
