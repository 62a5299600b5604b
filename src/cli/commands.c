/* The subcommands as a table, and how a word of the command line finds its own. */
#include "cli/command.h"

#include "base/text.h"

const RgCommandEntry rg_commands[] = {
#define RG_COMMAND(name, doc) {#name, rg_command_##name, doc},
#include "cli/list.h"
#undef RG_COMMAND
  {NULL, NULL, NULL}};

const RgCommandEntry *rg_commands_find(const char *name)
{
  const char *names[sizeof(rg_commands) / sizeof(rg_commands[0])] = {0};

  for (int i = 0; rg_commands[i].name; i++) {
    names[i] = rg_commands[i].name;
    if (!strcmp(name, names[i])) return &rg_commands[i];
  }
  const char *nearest = rg_text_nearest(name, names);
  rg_complain("unknown command '%s'%s%s%s (regatta help lists the commands)", name,
              nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return NULL;
}
