/* The table of subcommands, and the search for the subcommand on the command line. */
#include "cli/command.h"
#include "cli/world.h"
#include "cli/shield.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/left_out.h"
#include "base/text.h"
#include "study/file/registry.h"

const RgCommandEntry rg_commands[] = {
#define RG_COMMAND(name, doc) {#name, &rg_command_##name, doc},
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
  if (rg_left_out(name)) {
    rg_complain(RG_LEFT_OUT, name, rg_left_out(name));
    return NULL;
  }
  const char *nearest = rg_text_nearest(name, names);
  rg_complain("unknown command '%s'%s%s%s (regatta help lists the commands)", name,
              nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return NULL;
}

const RgOption rg_only_plugins[] = {RG_OPTION_PLUGIN, {NULL, NULL, NULL}};

static bool takes_plugins(const RgOption *options)
{
  for (; options->name; options++)
    if (!strcmp(options->name, rg_only_plugins[0].name)) return true;
  return false;
}

PetscErrorCode rg_commands_run(const RgCommand *command, int argc, char **argv, int *exit_code)
{
  RgArguments arguments;
  RgRegistry *registry = NULL;
  int rank, size;

  const bool world = rg_world(&rank, &size);
  PetscCall(rg_arguments_parse(argc, argv, command->usage, command->options, command->least,
                               command->most, &arguments, exit_code));
  if (arguments.ok && takes_plugins(command->options))
    PetscCall(rg_plugins_load(argc, argv, &registry, exit_code));
  if (arguments.ok && *exit_code == RG_EXIT_OK && (rank == 0 || command->place == RG_ON_ALL)) {
    if (command->place == RG_SHIELDED)
      PetscCall(rg_shield_command(command, &arguments, registry, exit_code));
    else PetscCall(command->run(&arguments, registry, exit_code));
  }
  PetscCall(rg_registry_destroy(&registry));
  PetscCall(rg_arguments_clear(&arguments));
  if (arguments.ok && world && size > 1)
    PetscCallMPI(MPI_Bcast(exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD));
  return 0;
}

#ifndef RG_SHARE
#define RG_SHARE "/usr/local/share/regatta"
#endif

bool rg_share_find(const char *name, char path[RG_SHARE_BYTES])
{
  char self[RG_SHARE_BYTES - 100] = "";
  const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
  char *end = length > 0 ? strrchr(self, '/') : NULL;

  if (end) {
    *end = '\0';
    snprintf(path, RG_SHARE_BYTES, "%s/../share/regatta/%s", self, name);
    if (access(path, R_OK) == 0) return true;
  }
  snprintf(path, RG_SHARE_BYTES, "%s/%s", RG_SHARE, name);
  return access(path, R_OK) == 0;
}
