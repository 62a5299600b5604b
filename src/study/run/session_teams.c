/* The teams of a run, and the checks that they can run trials. */
#include <stdio.h>
#include <unistd.h>

#include "base/number.h"
#include "gp/posterior/posterior_team.h"
#include "maths/blas.h"
#include "study/plan/cost.h"
#include "study/run/session.h"

/* Bytes for the store: shards in memory, and what an allocator reserves. */
static const double store_bytes = 64e6;

/* Check that the limit of address space leaves what the trials will map. */
static void check_address_space(RgSession *session)
{
  const RgPlan *plan = session->plan;

  for (int c = 0; c < plan->study->n_cells && !session->message[0]; c++) {
    const RgCell *cell = &plan->study->cells[c];
    for (int level = 0; level < session->teams.n; level++) {
      if (!rg_teams_trials(&session->teams, plan, c, level)) continue;
      const double bytes = rg_cost_bytes(cell, session->teams.size[level]);
      if (!rg_blas_mappable(bytes - rg_cost_process_bytes + store_bytes))
        rg_format(session->message, sizeof(session->message),
                  "'%.80s' on '%.80s' needs %.1f GB per rank, more than the limit of address space "
                  "(ulimit -v, ulimit -d, h_vmem) leaves",
                  cell->algorithm_label, cell->problem_label, bytes / 1e9);
    }
  }
}

PetscErrorCode rg_session_plan_teams(RgSession *session)
{
  bool possible;

  PetscFunctionBeginUser;
  PetscCall(rg_schedule_possible(session->comm, &possible));
  if (!possible) {
    snprintf(
      session->message, sizeof(session->message),
      "the ranks can't share a counter of trials: MPI has no one-sided communication between "
      "their hosts; with Open MPI, set OMPI_MCA_osc=^ucx");
    session->outcome = RG_RUN_REFUSED;
    PetscFunctionReturn(0);
  }
  PetscCall(rg_teams_create(session->plan, session->ranks, session->options->crossover,
                            &session->teams, session->message));
  if (!session->message[0])
    rg_teams_check_memory(session->plan, &session->teams,
                          (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
                          session->ranks_here, session->message);
  if (!session->message[0]) check_address_space(session);
  if (session->message[0]) session->outcome = RG_RUN_REFUSED;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_session_form_teams(RgSession *session)
{
  PetscFunctionBeginUser;
  for (int level = 0; level < session->teams.n; level++) {
    const int size = session->teams.size[level], asked = session->options->crossover;
    MPI_Comm comm;
    PetscCallMPI(MPI_Comm_split(session->comm, session->rank / size, session->rank, &comm));
    PetscCall(rg_team_create(comm, asked ? asked : rg_team_measured_crossover(size),
                             &session->team[level]));
    rg_team_employ(session->team[level], rg_posterior_worker);
    PetscCallMPI(MPI_Comm_free(&comm));
  }
  PetscFunctionReturn(0);
}
