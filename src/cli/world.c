/* Who needs MPI and PETSc, and the ranks there are. */
#include "cli/world.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

/* One of these is set by every launcher, or by the library through which it talks to MPI. */
static bool is_launched(void)
{
  static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                          "MPI_LOCALRANKID",      "PALS_RANKID", "SLURM_PROCID"};

  for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
    if (getenv(variables[i])) return true;
  return false;
}

static bool runs_on_all(const char *name)
{
  for (const RgCommandEntry *entry = rg_commands; entry->name; entry++)
    if (!strcmp(name, entry->name)) return entry->command->place == RG_ON_ALL;
  return false;
}

bool rg_world_needed(int argc, char **argv)
{
  if (is_launched() || (argc > 1 && runs_on_all(argv[1]))) return true;
  for (int i = 2; i < argc; i++)
    if (!strcmp(argv[i], rg_only_plugins[0].name) || rg_arguments_petsc_knows(argv[i])) return true;
  return false;
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
