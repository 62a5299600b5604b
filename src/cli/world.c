/* The commands that need MPI and PETSc, and the number of ranks. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/world.h"

/* The variables by which launchers, or their libraries for MPI, number the processes of a job. */
typedef struct {
  const char *rank, *size;
} Variables;

/* The variables of the launcher that has started this process; NULL: no launcher has. Slurm sets
   SLURM_PROCID in batch scripts, too, and in interactive shells (`srun --pty bash`), which are one
   process. */
static const Variables *launcher(void)
{
  static const Variables known[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                    {"PMI_RANK", "PMI_SIZE"},
                                    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"},
                                    {"PALS_RANKID", "PMI_SIZE"},
                                    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
                                    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
    if (getenv(known[i].rank)) return &known[i];
  return NULL;
}

bool rg_world_needed(int argc, char **argv)
{
  const RgCommandEntry *entry = rg_commands;

  while (entry->name && (argc < 2 || strcmp(argv[1], entry->name))) entry++;
  if (!entry->name) return false;
  for (int i = 2; i < argc; i++) {
    const int option = rg_option_find(entry->command->options, argv[i]);
    if (!strcmp(argv[i], rg_only_plugins[0].name) || rg_arguments_petsc_knows(argv[i])) return true;
    if (option >= 0 && entry->command->world >> option & 1) return true;
  }
  return entry->command->place == RG_ON_ALL;
}

static int number_of(const char *variable, int fallback)
{
  const char *value = variable ? getenv(variable) : NULL;

  return value ? atoi(value) : fallback;
}

/* Whether MPI, whose tools interface is open, has a variable of this name. */
static bool has_variable(const char *name)
{
  int which;

  return MPI_T_cvar_get_index(name, &which) == MPI_SUCCESS;
}

/* Whether Open MPI before version 5, which alone has a framework `ess`, can't connect processes
   that it has not started itself, nor PMIx: it lacks the component for PMI: s1, cray, or s2 for
   PMI-2, where PMI_FD is set. Then MPI_Init() would end a process of srun, and leave others alone,
   whose daemons may meet in one folder. */
static bool is_stranded(void)
{
  int provided;

  return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS &&
         has_variable("ess_base_verbose") && !has_variable("pmix_s1_major_version") &&
         !has_variable("pmix_cray_major_version") &&
         !(getenv("PMI_FD") && has_variable("pmix_s2_major_version"));
}

/* Set a variable of Open MPI through MPI's tools interface, which stays open because closing it
   would undo the change. A process that will be alone must not open it: in containers, Open MPI
   then chooses a component by a variable that it reads only when the interface is closed. */
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

/* Say on the first process that MPI can't connect the processes that a launcher has started. */
static void say_apart(const Variables *variables)
{
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "MPI";
  int length;

  (void)MPI_Get_library_version(library, &length);
  library[strcspn(library, ",\n")] = '\0';
  char *tab = strchr(library, '\t'); /* in the name of MPICH */
  if (tab) *tab = ' ';
  if (!number_of(variables->rank, 0))
    rg_warn("regatta: %d processes were started, but %s can't connect them: start them by its own "
            "mpirun%s\n",
            number_of(variables->size, 1), library,
            getenv("SLURM_STEP_ID") ? ", or by `srun --mpi=pmix` if `srun --mpi=list` has it" : "");
}

bool rg_world_prepare(void)
{
  const Variables *variables = launcher();
  const bool connected =
               getenv("PMIX_NAMESPACE") || getenv("OMPI_COMM_WORLD_RANK") || getenv("FLUX_JOB_ID"),
             several = variables && number_of(variables->size, 1) > 1,
             step = several && getenv("SLURM_STEP_ID");

  if (several && !connected && is_stranded()) {
    say_apart(variables);
    return false;
  }
  if (step || connected) allow_counters();
  else (void)unsetenv("SLURM_NODELIST"); /* Open MPI 4.1 takes it for a sign of srun */
  return true;
}

bool rg_world_check(void)
{
  const Variables *variables = launcher();
  int rank, size;
  const bool apart =
    variables && rg_world(&rank, &size) && size == 1 && number_of(variables->size, 1) > 1;

  if (apart) say_apart(variables);
  return !apart;
}

PetscErrorCode rg_world_find_speaker(bool mistaken, int *speaker)
{
  PetscCallMPI(MPI_Comm_rank(MPI_COMM_WORLD, speaker));
  if (!mistaken) *speaker = INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, speaker, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  if (*speaker == INT_MAX) *speaker = -1;
  return 0;
}

bool rg_world_is_first_of_host(void)
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
