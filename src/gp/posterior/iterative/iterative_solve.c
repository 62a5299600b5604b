/* Conjugate gradients for stacks of right-hand sides. A stack of s systems with one matrix is
   one system with a block-diagonal matrix. Its Krylov polynomial serves all of them, and an
   entry of the kernel, which costs more than a few products, is computed once for the stack. */
#include "gp/posterior/iterative/iterative_internal.h"

static PetscErrorCode note(int *n, int *room, double **curvature, double **product, bool first,
                           double value)
{
  PetscFunctionBeginUser;
  if (*n == *room) {
    *room = 2 * *room + 64;
    PetscCall(PetscRealloc((size_t)*room * sizeof(double), curvature));
    PetscCall(PetscRealloc((size_t)*room * sizeof(double), product));
  }
  (first ? *curvature : *product)[(*n)++] = value;
  PetscFunctionReturn(0);
}

static PetscErrorCode apply_matrix(Mat matrix, Vec in, Vec out)
{
  RgIterative *gp;
  const PetscScalar *mine;
  PetscScalar *result, curvature;
  double *all;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(matrix, &gp));
  PetscCall(PetscMalloc1((size_t)gp->n * gp->s, &all));
  PetscCall(VecGetArrayRead(in, &mine));
  PetscCall(rg_iterative_gather(gp, gp->s, mine, all));
  PetscCall(VecRestoreArrayRead(in, &mine));
  PetscCall(VecGetArray(out, &result));
  PetscCall(rg_iterative_multiply(gp, gp->s, all, result));
  PetscCall(VecRestoreArray(out, &result));
  PetscCall(PetscFree(all));
  PetscCall(VecDot(in, out, &curvature));
  PetscCall(note(&gp->n_curvature, &gp->room, &gp->curvature, &gp->product, true, curvature));
  PetscFunctionReturn(0);
}

static PetscErrorCode apply_preconditioner(PC pc, Vec in, Vec out)
{
  RgIterative *gp;
  const PetscScalar *residual;
  PetscScalar *result, product;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &gp));
  PetscCall(VecGetArrayRead(in, &residual));
  PetscCall(VecGetArray(out, &result));
  PetscCall(rg_iterative_precondition(gp, gp->s, residual, result));
  PetscCall(VecRestoreArray(out, &result));
  PetscCall(VecRestoreArrayRead(in, &residual));
  PetscCall(VecDot(in, out, &product));
  PetscCall(note(&gp->n_product, &gp->room, &gp->curvature, &gp->product, false, product));
  PetscFunctionReturn(0);
}

/* All entries are equal; needed for -gp_pc_type jacobi and similar options. */
static PetscErrorCode get_diagonal(Mat matrix, Vec diagonal)
{
  RgIterative *gp;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(matrix, &gp));
  PetscCall(VecSet(diagonal, rg_kernel_diagonal(gp->kernel) + gp->noise_variance));
  PetscFunctionReturn(0);
}

static PetscErrorCode solver_create(RgIterative *gp, Mat *matrix, KSP *ksp)
{
  const PetscInt local = gp->rows * gp->s, global = gp->n * gp->s;
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreateShell(gp->comm, local, local, global, global, gp, matrix));
  PetscCall(MatShellSetOperation(*matrix, MATOP_MULT, (void (*)(void))apply_matrix));
  PetscCall(MatShellSetOperation(*matrix, MATOP_GET_DIAGONAL, (void (*)(void))get_diagonal));
  PetscCall(KSPCreate(gp->comm, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "gp_"));
  PetscCall(KSPSetOperators(*ksp, *matrix, *matrix));
  PetscCall(KSPSetType(*ksp, KSPCG));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(
    KSPSetTolerances(*ksp, gp->options.tolerance, 0.0, PETSC_DEFAULT, gp->options.max_iterations));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, gp));
  PetscCall(PCShellSetApply(pc, apply_preconditioner));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_iterative_solve_stack(RgIterative *gp, int s, const double *B, bool guess,
                                        double *U, RgIterativeReport *report)
{
  const size_t local = (size_t)gp->rows * (size_t)s;
  Mat matrix;
  KSP ksp;
  Vec b, u;
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscReal residual, norm;
  const PetscScalar *solution;
  PetscScalar *right;

  PetscFunctionBeginUser;
  gp->s = s;
  gp->n_curvature = gp->n_product = 0;
  PetscCall(solver_create(gp, &matrix, &ksp));
  PetscCall(MatCreateVecs(matrix, &u, &b));
  PetscCall(VecGetArray(b, &right));
  PetscCall(PetscArraycpy(right, B, local));
  PetscCall(VecRestoreArray(b, &right));
  if (guess) {
    PetscCall(VecGetArray(u, &right));
    PetscCall(PetscArraycpy(right, U, local));
    PetscCall(VecRestoreArray(u, &right));
    PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  }
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(VecGetArrayRead(u, &solution));
  PetscCall(PetscArraycpy(U, solution, local));
  PetscCall(VecRestoreArrayRead(u, &solution));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetResidualNorm(ksp, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (report)
    *report = (RgIterativeReport){.converged = reason > 0,
                                  .iterations = (int)iterations,
                                  .residual = norm > 0 ? residual / norm : 0.0};
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&u));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(0);
}
