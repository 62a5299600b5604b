/* The reference: one L-BFGS-B object per start (maths/lbfgsb.h), all in lockstep. */
#include "acquisition/local_search.h"

#include "base/grow.h"
#include "base/poll.h"
#include "maths/lbfgsb.h"

#include <math.h>
#include <string.h>

#define MEMORY 10 /* correction pairs */

typedef struct {
  int m, n; /* number of starts, and of starts in the present round */
  RgLbfgsb *searches;
  int *id;           /* n: the search that each point belongs to */
  double *X, *F, *G; /* m x dim, m, m x dim */
} Lockstep;

static PetscErrorCode lockstep_create(const RgMaximiserOptions *options, int dim, int m,
                                      const double *x, const double *value, Lockstep *lockstep)
{
  RgLbfgsbLimits limits = {.factr = options->tolerance / PETSC_MACHINE_EPSILON,
                           .pgtol = 0.0,
                           .max_iterations = options->max_iterations,
                           .max_evaluations = 0};
  size_t size = (size_t)m * dim;
  double *cube;

  memset(lockstep, 0, sizeof *lockstep);
  lockstep->m = m;
  PetscCall(PetscCalloc1((size_t)m, &lockstep->searches));
  PetscCall(PetscMalloc1((size_t)m, &lockstep->id));
  PetscCall(PetscMalloc3(size, &lockstep->X, (size_t)m, &lockstep->F, size, &lockstep->G));
  PetscCall(PetscMalloc1(2 * (size_t)dim, &cube));
  for (int j = 0; j < dim; j++) {
    cube[j] = 0.0;
    cube[dim + j] = 1.0;
  }
  for (int i = 0; i < m; i++) {
    RgLbfgsbStatus status;
    PetscCall(rg_lbfgsb_create(dim, MEMORY, cube, cube + dim, &limits, &lockstep->searches[i]));
    PetscCall(rg_lbfgsb_begin(&lockstep->searches[i], x + (size_t)i * dim, &status));
    if (isfinite(value[i])) lockstep->id[lockstep->n++] = i;
  }
  PetscCall(PetscFree(cube));
  return 0;
}

static PetscErrorCode lockstep_destroy(Lockstep *lockstep)
{
  for (int i = 0; i < lockstep->m; i++) PetscCall(rg_lbfgsb_destroy(&lockstep->searches[i]));
  PetscCall(RG_FREE(&lockstep->searches, &lockstep->id));
  PetscCall(PetscFree3(lockstep->X, lockstep->F, lockstep->G));
  return 0;
}

/* Evaluate the point that every running search requests, and let each take its step. */
static PetscErrorCode lockstep_round(Lockstep *lockstep, int dim, RgBatchFunction function,
                                     void *closure)
{
  int running = 0;

  for (int k = 0; k < lockstep->n; k++)
    memcpy(lockstep->X + (size_t)k * dim, lockstep->searches[lockstep->id[k]].x,
           dim * sizeof(double));
  PetscCall(rg_poll());
  PetscCall(function(closure, lockstep->n, lockstep->X, lockstep->F, lockstep->G));
  for (int k = 0; k < lockstep->n; k++) {
    double *gradient = lockstep->G + (size_t)k * dim;
    RgLbfgsbStatus status;
    for (int j = 0; j < dim; j++) gradient[j] = -gradient[j];
    PetscCall(
      rg_lbfgsb_step(&lockstep->searches[lockstep->id[k]], -lockstep->F[k], gradient, &status));
    if (status == RG_LBFGSB_EVALUATE) lockstep->id[running++] = lockstep->id[k];
  }
  lockstep->n = running;
  return 0;
}

PetscErrorCode rg_local_search_lbfgsb(const RgMaximiserOptions *options, int dim, int m, double *x,
                                      double *value, RgBatchFunction function, void *closure)
{
  Lockstep lockstep;

  PetscCall(lockstep_create(options, dim, m, x, value, &lockstep));
  while (lockstep.n) PetscCall(lockstep_round(&lockstep, dim, function, closure));
  for (int i = 0; i < m; i++) {
    const RgLbfgsb *search = &lockstep.searches[i];
    if (!(-search->best_value >= value[i])) continue;
    value[i] = -search->best_value;
    memcpy(x + (size_t)i * dim, search->best_x, dim * sizeof(double));
  }
  PetscCall(lockstep_destroy(&lockstep));
  return 0;
}
