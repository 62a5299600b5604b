/* Which commands need MPI and PETSc, and the number of ranks. */
#include "cli/world.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

/* Every launcher, or the library by which it talks to MPI, sets one of these variables. */
static bool is_launched(void)
{
  static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                          "MPI_LOCALRANKID",      "PALS_RANKID", "SLURM_PROCID"};

  for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
    if (getenv(variables[i])) return true;
  return false;
}

static bool needs_world(const RgCommand *command, const char *word)
{
  if (!strcmp(word, rg_only_plugins[0].name) || rg_arguments_petsc_knows(word)) return true;
  for (int i = 0; command->options[i].name; i++)
    if (command->world >> i & 1 && !strcmp(word, command->options[i].name)) return true;
  return false;
}

bool rg_world_needed(int argc, char **argv)
{
  const RgCommandEntry *entry = rg_commands;

  if (is_launched()) return true;
  while (entry->name && (argc < 2 || strcmp(argv[1], entry->name))) entry++;
  if (!entry->name) return false;
  for (int i = 2; i < argc; i++)
    if (needs_world(entry->command, argv[i])) return true;
  return entry->command->place == RG_ON_ALL;
}

/* Set the variable through MPI's tools interface, which stays open because closing it would undo
   the change. */
void rg_world_prepare(void)
{
  static const char debian[] = "^ucx,pt2pt", ours[] = "^ucx";
  MPI_T_cvar_handle osc;
  char value[4096] = "";
  int provided, which, length;

  if (!is_launched() || getenv("OMPI_MCA_osc") ||
      MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS ||
      MPI_T_cvar_get_index("osc", &which) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(which, NULL, &osc, &length) != MPI_SUCCESS)
    return;
  if (length <= (int)sizeof(value) && MPI_T_cvar_read(osc, value) == MPI_SUCCESS &&
      !strcmp(value, debian))
    (void)MPI_T_cvar_write(osc, ours);
  (void)MPI_T_cvar_handle_free(&osc);
}

void rg_world(int *rank, int *size)
{
  int started = 0;

  *rank = 0;
  *size = 1;
  if (MPI_Initialized(&started) != MPI_SUCCESS || !started) return;
  (void)MPI_Comm_rank(MPI_COMM_WORLD, rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, size);
}
