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

const RgExit rg_exits[] = {{RG_EXIT_OK, "finished, or stopped cleanly as asked"},
                           {RG_EXIT_FAILED_TRIALS, "trials failed, with -strict"},
                           {RG_EXIT_BAD_INPUT, "a mistake in the command line, a study or a file"},
                           {RG_EXIT_STORAGE, "results could not be stored"},
                           {RG_EXIT_FAILED_CELLS, "every trial of some cell failed"},
                           {RG_EXIT_FAILED_STUDY, "every trial of the study failed"},
                           {RG_EXIT_INTERNAL, "an internal error"},
                           {RG_EXIT_INCOMPLETE, "status: the study is not complete"},
                           {-1, NULL}};

const RgCommandEntry *rg_commands_find(const char *name)
{
  const char *names[sizeof(rg_commands) / sizeof(rg_commands[0])] = {0};
  char hint[RG_HINT_BYTES];

  for (int i = 0; rg_commands[i].name; i++) {
    names[i] = rg_commands[i].name;
    if (!strcmp(name, names[i])) return &rg_commands[i];
  }
  if (rg_left_out(name)) rg_complain(RG_LEFT_OUT, name, rg_left_out(name));
  else
    rg_complain("unknown command '%s'%s (regatta help lists the commands)", name,
                rg_suggest(name, names, hint));
  return NULL;
}

const RgOption rg_only_plugins[] = {RG_OPTION_PLUGIN, {NULL, NULL, NULL}};

PetscErrorCode rg_commands_run(const RgCommand *command, int argc, char **argv, int *exit_code)
{
  RgArguments arguments;
  RgRegistry *registry = NULL;
  int rank, size;

  const bool world = rg_world(&rank, &size);
  PetscCall(rg_arguments_parse(command, argc, argv, &arguments, exit_code));
  if (arguments.ok && rg_option_find(command->options, rg_only_plugins[0].name) >= 0)
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
