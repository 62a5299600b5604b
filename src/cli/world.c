/* Which commands need MPI and PETSc, and the number of ranks. */
#include "cli/world.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

/* The variables by which launchers, or their libraries for MPI, number the processes of a job. */
typedef struct {
  const char *rank, *size;
} Variables;

/* Whether Slurm numbers the processes of a job. It sets SLURM_PROCID in batch scripts, too, and in
   interactive shells (`srun --pty bash`), which are steps of one task. */
static bool is_slurm_step(void)
{
  const char *tasks = getenv("SLURM_STEP_NUM_TASKS");

  if (!tasks) tasks = getenv("SLURM_NTASKS");
  return getenv("SLURM_PROCID") && getenv("SLURM_STEP_ID") && tasks && strcmp(tasks, "1") != 0;
}

/* The variables of the launcher that has started this process; NULL: no launcher has. */
static const Variables *launcher(void)
{
  static const Variables known[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                    {"PMI_RANK", "PMI_SIZE"},
                                    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
                                    {"PALS_RANKID", "PMI_SIZE"},
                                    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}};
  static const Variables slurm = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"};

  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
    if (getenv(known[i].rank)) return &known[i];
  return is_slurm_step() ? &slurm : NULL;
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

  while (entry->name && (argc < 2 || strcmp(argv[1], entry->name))) entry++;
  if (!entry->name) return false;
  for (int i = 2; i < argc; i++)
    if (needs_world(entry->command, argv[i])) return true;
  return entry->command->place == RG_ON_ALL;
}

/* Set a variable of Open MPI through MPI's tools interface, which stays open because closing it
   would undo the change. */
static void allow_counters(void)
{
  static const char debian[] = "^ucx,pt2pt", ours[] = "^ucx";
  MPI_T_cvar_handle osc;
  char value[4096] = "";
  int provided, which, length;

  if (getenv("OMPI_MCA_osc") || MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS ||
      MPI_T_cvar_get_index("osc", &which) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(which, NULL, &osc, &length) != MPI_SUCCESS)
    return;
  if (length <= (int)sizeof(value) && MPI_T_cvar_read(osc, value) == MPI_SUCCESS &&
      !strcmp(value, debian))
    (void)MPI_T_cvar_write(osc, ours);
  (void)MPI_T_cvar_handle_free(&osc);
}

void rg_world_prepare(void)
{
  if (launcher()) allow_counters();
  else (void)unsetenv("SLURM_NODELIST"); /* Open MPI 4.1 takes it for a sign of srun */
}

static int number_of(const char *variable, int fallback)
{
  const char *value = variable ? getenv(variable) : NULL;

  return value ? atoi(value) : fallback;
}

bool rg_world_speaks_for_host(void)
{
  static const char *const variables[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "PALS_LOCAL_RANKID", "SLURM_LOCALID"};

  for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
    if (number_of(variables[i], 0)) return false;
  return true;
}

bool rg_world(int *rank, int *size)
{
  const Variables *variables;
  int started = 0;

  if (MPI_Initialized(&started) == MPI_SUCCESS && started) {
    (void)MPI_Comm_rank(MPI_COMM_WORLD, rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, size);
    return true;
  }
  variables = launcher();
  *rank = variables ? number_of(variables->rank, 0) : 0;
  *size = variables ? number_of(variables->size, 1) : 1;
  return false;
}
