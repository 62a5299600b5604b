/* The ball of the methods that are robust in maximum mean discrepancy. */
#include "algorithm/mmd_ball.h"

#include <string.h>

/* K of the contexts: the model's kernel at equal x. */
static PetscErrorCode context_matrix(const RgModel *model, int n, const double *contexts, double *K)
{
  const int dim = model->kernel.dim, dim_c = model->domain->context.dim;
  double *Z;

  PetscCall(PetscCalloc1((size_t)n * dim, &Z));
  for (int i = 0; i < n; i++)
    PetscCall(
      PetscArraycpy(Z + (size_t)i * dim + dim - dim_c, contexts + (size_t)i * dim_c, dim_c));
  PetscCall(rg_kernel_matrix(&model->kernel, n, Z, K));
  PetscCall(PetscFree(Z));
  return 0;
}

static bool is_inside(int dim, const double *c)
{
  bool inside = true;

  for (int k = 0; k < dim; k++) inside = inside && c[k] >= 0 && c[k] <= 1;
  return inside;
}

/* Add the contexts that nature drew outside the box, each once. */
static PetscErrorCode add_outside(const RgHistory *history, int *n, double **points)
{
  const int dim = history->context_dim;
  double *all;

  PetscCall(PetscMalloc1((size_t)(*n + history->n) * dim, &all));
  PetscCall(PetscArraycpy(all, *points, (size_t)*n * dim));
  for (int i = 0, grid = *n; i < history->n; i++) {
    const double *c = history->c + (size_t)i * dim;
    bool known = is_inside(dim, c);
    for (int l = grid; l < *n && !known; l++)
      known = !memcmp(all + (size_t)l * dim, c, dim * sizeof(double));
    if (!known) PetscCall(PetscArraycpy(all + (size_t)(*n)++ * dim, c, dim));
  }
  PetscCall(PetscFree(*points));
  *points = all;
  return 0;
}

PetscErrorCode rg_mmd_ball_create(const RgAlgorithm *algorithm, const RgHistory *history, int size,
                                  RgMmdBall *ball)
{
  const RgMmdBallOptions *options = algorithm->options;
  const RgModel *model = algorithm->state;
  double *K, *p;

  PetscCall(
    rg_context_points(&model->domain->context, size, options->diagonal, &ball->n, &ball->contexts));
  if (!rg_space_is_finite(&model->domain->context))
    PetscCall(add_outside(history, &ball->n, &ball->contexts));
  PetscCall(PetscMalloc1((size_t)ball->n * ball->n, &K));
  PetscCall(PetscMalloc1(ball->n, &p));
  rg_context_histogram(history, ball->n, ball->contexts, p);
  PetscCall(context_matrix(model, ball->n, ball->contexts, K));
  PetscCall(rg_mmd_create(ball->n, K, p, options->jitter, &ball->mmd));
  ball->radius = rg_mmd_radius(options->gamma, history->n);
  PetscCall(PetscFree(p));
  return 0;
}

void rg_mmd_ball_cost(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  const RgMmdBallOptions *ball = options;
  const double N =
    size->size_c ? size->size_c : rg_context_grid_size(size->dim_c, ball->size, ball->diagonal);

  cost->contexts = size->size_c ? size->size_c : ball->size;
  cost->bytes = 16 * N * N + rg_context_table_bytes(N, size->n);
}

PetscErrorCode rg_mmd_ball_destroy(RgMmdBall *ball)
{
  PetscCall(rg_mmd_destroy(&ball->mmd));
  PetscCall(PetscFree(ball->contexts));
  return 0;
}
