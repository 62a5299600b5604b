/* wdrbo_exact: WDRBO with the exact worst case in place of the Lipschitz penalty.

   x_t = argmax_x min { E_Q[U(x, c)] : W1(Q, P) <= eps_t }, U = mu + width sd, over distributions Q
   on the contexts of P and a grid of contexts. P is the centre of the ambiguity set (the contexts
   observed so far, or given laws), eps_t its radius, in units of the context box.
   No method of a paper: it shows how much of WDRBO's caution is in its bound E U - eps L, which is
   never above this value. Source: wdrbo 2.9 (duality: robust/wasserstein.h).
   Cost per acquisition value: that of the U (gp/context/context_posterior.h) for M = centre and
   grid, and O(n M) per piece of the dual.
   Needs contexts drawn by nature. Revision 6. */
#include "algorithm/contextual.h"
#include "maths/blas.h"
#include "robust/wasserstein.h"

#include <math.h>

typedef struct {
  RgWassersteinOptions ball;
  int grid;
} Options;

static const RgParam params[] = {
  RG_WASSERSTEIN_PARAMS(Options, ball),
  RG_CONTEXT_GRID_PARAM(Options, grid, "100"),
  {0},
};

/* The contexts of the centre, followed by the grid. */
typedef struct {
  int n, M;
  const double *weight; /* n */
  double *contexts;     /* M x dim */
  double *distance;     /* n x M */
  double radius;
} Inner;

static PetscErrorCode inner_create(const Options *options, const RgSpace *context,
                                   const RgContextCentre *centre, Inner *inner)
{
  const int dim = context->dim;
  double *grid;
  int size;

  PetscCall(rg_context_points(context, options->grid, false, &size, &grid));
  inner->n = centre->n;
  inner->M = centre->n + size;
  inner->weight = centre->weight;
  PetscCall(PetscMalloc2((size_t)inner->M * dim, &inner->contexts, (size_t)inner->n * inner->M,
                         &inner->distance));
  PetscCall(PetscArraycpy(inner->contexts, centre->contexts, (size_t)inner->n * dim));
  PetscCall(PetscArraycpy(inner->contexts + (size_t)inner->n * dim, grid, (size_t)size * dim));
  for (int i = 0; i < inner->n; i++)
    for (int s = 0; s < inner->M; s++)
      inner->distance[(size_t)i * inner->M + s] = sqrt(rg_squared_distance(
        dim, inner->contexts + (size_t)i * dim, inner->contexts + (size_t)s * dim));
  return PetscFree(grid);
}

/* Envelope theorem: the derivative by u is the worst distribution. */
static PetscErrorCode worst_case(void *closure, const double *u, const double *slope, double *value,
                                 double *u_bar, double *slope_bar)
{
  const Inner *inner = closure;

  *value = rg_wasserstein_worst(inner->n, inner->weight, inner->M, u, inner->distance,
                                inner->radius, u_bar);
  return 0;
}

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  PetscCall(rg_wasserstein_check(options, domain, place, diagnostics));
  if (((const Options *)options)->ball.schedule == RG_RADIUS_THEORY)
    rg_diagnostics_add(diagnostics, place,
                       "'schedule: theory' is that of wdrbo; accepted here: "
                       "root_n, constant, sequence");
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgContextCentre centre;
  Inner inner = {0};

  /* 1. Centre, radius and the contexts that mass may move to. */
  PetscCall(rg_centre_create(algorithm, t, history, &centre, failure));
  if (failure->failed) return 0;
  PetscCall(rg_wasserstein_ball_radius(&options->ball, &centre, t, &inner.radius, failure));
  if (failure->failed) return rg_centre_destroy(&centre);
  PetscCall(inner_create(options, &algorithm->setup.domain->context, &centre, &inner));
  /* 2. x_t = argmax of the worst case. */
  const RgContextual worst = {inner.M, 0, inner.contexts, worst_case, &inner, NULL};
  PetscCall(
    rg_contextual_acquire(algorithm, t, history, algorithm->options, &worst, NULL, query, failure));
  query->extra[RG_BALL_RADIUS] = inner.radius;
  PetscCall(PetscFree2(inner.contexts, inner.distance));
  return rg_centre_destroy(&centre);
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  const Options *o = options;
  const double centre =
    o->ball.centre.laws.n ? pow(12.0 * o->ball.centre.panels, size->dim_c) : size->n;
  const double M =
    centre + (size->size_c ? size->size_c : rg_context_grid_size(size->dim_c, o->grid, false));

  cost->contexts = rg_centre_size(options, size->n) + (size->size_c ? size->size_c : o->grid);
  cost->bytes = rg_context_table_bytes(M, size->n) + 8 * centre * M;
}

const RgAlgorithmClass rg_algorithm_wdrbo_exact = {
  RG_ABOUT("wdrbo_exact", "WDRBO, exact worst case", 6,
           "x_t = argmax of the worst expectation of U = mu + width sd over distributions\n"
           "within a Wasserstein distance eps_t of the contexts observed",
           "Micheli, Balta, Tsiamis, Lygeros (2025), arXiv:2503.20341, whose WDRBO bounds this "
           "value from below"),
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  RG_ASK(ask, rg_ball_columns),
  RG_WASSERSTEIN_NEEDS,
  .check = check,
  RG_CONTEXTUAL_STATE,
};
