/* Stands in for the other files of this folder in a build without them (REGATTA_ITERATIVE=OFF).
   Study files that ask for the iterative posterior are refused (rg_surrogate_check). */
#include "gp/posterior/iterative/iterative_ops.h"

const RgPosteriorOps rg_iterative_ops = {.name = "matrix-free"};

bool rg_iterative_present(void)
{
  return false;
}

PetscErrorCode rg_iterative_state_create(const RgSpace *points, const RgSolverOptions *options,
                                         struct RgIterativeState **state)
{
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This build has no iterative posterior");
}

PetscErrorCode rg_iterative_work(MPI_Comm comm, const RgTeamTask *task, void **state)
{
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This build has no iterative posterior");
}
