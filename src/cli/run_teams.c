/* The teams of a run. */
#include "cli/run_session.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

PetscErrorCode rg_session_plan_teams(RgSession *s)
{
  char message[RG_TEAMS_MESSAGE];
  MPI_Comm host;
  int ranks_here, first;

  PetscFunctionBeginUser;
  PetscCall(rg_teams_create(&s->plan, s->ranks, &s->teams, message));
  if (!message[0]) {
    PetscCallMPI(
      MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL, &host));
    PetscCallMPI(MPI_Comm_size(host, &ranks_here));
    PetscCallMPI(MPI_Comm_free(&host));
    rg_teams_check_memory(&s->plan, &s->teams,
                          (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
                          ranks_here, message);
  }
  first = message[0] ? s->rank : INT_MAX;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
  if (first == INT_MAX) PetscFunctionReturn(0);
  if (s->rank == first) fprintf(stderr, "regatta: run: %s\n", message);
  s->exit_code = RG_EXIT_BAD_INPUT;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_form_teams(RgSession *s)
{
  PetscFunctionBeginUser;
  for (int level = 0; level < s->teams.n; level++) {
    const int size = s->teams.size[level];
    const int crossover = s->crossover ? s->crossover : rg_team_measured_crossover(size);
    MPI_Comm comm;
    PetscCallMPI(MPI_Comm_split(MPI_COMM_WORLD, s->rank / size, s->rank, &comm));
    PetscCall(rg_team_create(comm, crossover, &s->team[level]));
    PetscCallMPI(MPI_Comm_free(&comm));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_disband_teams(RgSession *s)
{
  PetscFunctionBeginUser;
  for (int level = 0; level < s->teams.n; level++) PetscCall(rg_team_destroy(&s->team[level]));
  PetscCall(rg_teams_destroy(&s->teams));
  PetscFunctionReturn(0);
}
