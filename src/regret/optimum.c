/* The optimum of an objective, by search if the problem doesn't know it. */
#include "regret/optimum.h"

#include <math.h>

#include "maths/design.h"
#include "maths/lbfgsb.h"
#include "problem/embedding.h"

enum {
  BATCH = 1024,         /* points per batch of evaluations */
  RAW = 4096,           /* raw points per coordinate in the first round */
  RAW_ZOOM = 1024,      /* raw points per coordinate in later rounds */
  RAW_MEMORY = 1 << 22, /* largest number of coordinates in memory */
  SOBOL_DIM = 40,       /* above this dimension raw points are uniform instead of Sobol points */
  STARTS = 10,          /* local searches in the first round */
  STARTS_ZOOM = 4,
  ROUNDS = 8
};

#define APART 0.05      /* minimum distance of starts, relative to the edge of the round's cube */
#define DIFFERENCE 1e-6 /* step of finite differences, unit cube */
#define COMPASS_FIRST 1e-3
#define COMPASS_LAST 1e-13
#define COMPASS_COSTLY 1e-7 /* last step if F is costly */

typedef struct {
  RgProblem *problem;
  RgFailure *failure;
  int dim;
  double *best;    /* dim: best point so far; owned by the caller; in native units at the end */
  double value;    /* F at the best point */
  double *native;  /* BATCH x dim */
  RgPoint *points; /* BATCH */
  /* Points (2 dim x dim) and values (2 dim) of finite differences. */
  double *stencil, *stencil_value;
} Search;

/* True also after a stop request, which sets the failure. */
static bool failed(const Search *search)
{
  return search->failure->failed;
}

/* Evaluate F at m points of the unit cube, all of them where the design is finite, and update the
   best point. */
static PetscErrorCode evaluate(Search *search, int m, const double *unit, double *value)
{
  const size_t dim = (size_t)search->dim;
  const RgSpace *space = &search->problem->domain.design;
  const bool finite = rg_space_is_finite(space);

  for (int first = 0; first < m && !failed(search); first += BATCH) {
    const int count = PetscMin(BATCH, m - first);
    for (int i = 0; i < count; i++) {
      double *native = search->native + (size_t)i * dim;
      rg_space_to_native(space, unit + (size_t)(first + i) * dim, native);
      search->points[i] =
        (RgPoint){.index = finite ? first + i : -1, .x = native, .context_index = -1};
    }
    PetscCall(
      rg_problem_objective(search->problem, count, search->points, value + first, search->failure));
    if (rg_problem_stopped(search->problem))
      rg_failure_set(search->failure, "the search for the optimum was stopped");
    for (int i = first; i < first + count && !failed(search); i++) {
      if (!(value[i] > search->value)) continue;
      search->value = value[i];
      PetscCall(PetscArraycpy(search->best, unit + (size_t)i * dim, dim));
    }
  }
  return 0;
}

/* Take central differences, one-sided at the faces of the cube. */
static PetscErrorCode difference_gradient(Search *search, const double *unit, double *gradient)
{
  const int dim = search->dim;
  double *stencil = search->stencil;

  for (int k = 0; k < 2 * dim; k++) {
    double *point = stencil + (size_t)k * dim;
    PetscCall(PetscArraycpy(point, unit, dim));
    point[k / 2] = k % 2 ? fmin(unit[k / 2] + DIFFERENCE, 1) : fmax(unit[k / 2] - DIFFERENCE, 0);
  }
  PetscCall(evaluate(search, 2 * dim, stencil, search->stencil_value));
  for (int j = 0; j < dim; j++) {
    const size_t below = (size_t)(2 * j) * dim + j, above = below + dim;
    gradient[j] = (search->stencil_value[2 * j + 1] - search->stencil_value[2 * j]) /
                  (stencil[above] - stencil[below]);
  }
  return 0;
}

/* Compute the gradient of F in unit coordinates. */
static PetscErrorCode gradient_at(Search *search, const double *unit, double *gradient)
{
  const RgProblemClass *class = search->problem->class;
  const RgSpace *space = &search->problem->domain.design;

  if (!class->gradient || class->objective) return difference_gradient(search, unit, gradient);
  rg_space_to_native(space, unit, search->native);
  const RgPoint point = {.index = -1, .x = search->native, .context_index = -1};
  PetscCall(class->gradient(search->problem, &point, gradient));
  for (int j = 0; j < search->dim; j++) gradient[j] *= rg_space_slope(space, j, search->native[j]);
  return 0;
}

/* Maximise F by L-BFGS-B from one start. */
static PetscErrorCode climb(Search *search, RgLbfgsb *lbfgsb, const double *start)
{
  RgLbfgsbStatus status;
  double *gradient, value;

  PetscCall(PetscMalloc1(search->dim, &gradient));
  PetscCall(rg_lbfgsb_begin(lbfgsb, start, &status));
  while (status == RG_LBFGSB_EVALUATE) {
    PetscCall(evaluate(search, 1, lbfgsb->x, &value));
    if (!failed(search)) PetscCall(gradient_at(search, lbfgsb->x, gradient));
    if (failed(search)) break;
    for (int j = 0; j < search->dim; j++) gradient[j] = -gradient[j];
    PetscCall(rg_lbfgsb_step(lbfgsb, -value, gradient, &status));
  }
  return PetscFree(gradient);
}

static bool is_apart(int dim, const double *a, const double *b, double distance)
{
  for (int j = 0; j < dim; j++)
    if (fabs(a[j] - b[j]) > distance) return true;
  return false;
}

/* Indices of up to `limit` best points, best first, no two within `distance`. Overwrites the
   values of excluded points. */
static int choose_starts(int m, int dim, const double *unit, double *value, double distance,
                         int limit, int *chosen)
{
  int n = 0;

  for (; n < limit; n++) {
    int best = -1;
    for (int i = 0; i < m; i++)
      if (isfinite(value[i]) && (best < 0 || value[i] > value[best])) best = i;
    if (best < 0) break;
    chosen[n] = best;
    for (int i = 0; i < m; i++)
      if (!is_apart(dim, unit + (size_t)i * dim, unit + (size_t)best * dim, distance))
        value[i] = -INFINITY;
  }
  return n;
}

/* Draw m raw points of the unit cube. For round > 0 they fill the cube of edge 2^-round around
   the best point, moved inside the unit cube. */
static PetscErrorCode draw(const Search *search, int round, int m, double *unit)
{
  const int dim = search->dim;
  const double edge = ldexp(1, -round);
  const RgStream stream = rg_stream(0, search->problem->class->name, 0, "optimum", 0);
  RgRandom random = rg_stream_at(&stream, (uint64_t)round);

  if (dim <= SOBOL_DIM) PetscCall(rg_design_sobol(&random, m, dim, unit));
  else PetscCall(rg_design_uniform(&random, m, dim, unit));
  for (int j = 0; round && j < dim; j++) {
    const double lower = fmin(fmax(search->best[j] - edge / 2, 0), 1 - edge);
    for (int i = 0; i < m; i++) {
      double *u = &unit[(size_t)i * dim + j];
      *u = lower + edge * *u;
    }
  }
  return 0;
}

static PetscErrorCode search_round(Search *search, int round, RgLbfgsb *lbfgsb)
{
  const int dim = search->dim, per_dim = round ? RAW_ZOOM : RAW;
  const int m = PetscMin(per_dim * dim, RAW_MEMORY / dim);
  int n, chosen[STARTS];
  double *unit, *value;

  PetscCall(PetscMalloc2((size_t)m * dim, &unit, m, &value));
  PetscCall(draw(search, round, m, unit));
  PetscCall(evaluate(search, m, unit, value));
  if (!failed(search)) {
    n = choose_starts(m, dim, unit, value, ldexp(APART, -round), round ? STARTS_ZOOM : STARTS,
                      chosen);
    for (int i = 0; i < n && !failed(search); i++)
      PetscCall(climb(search, lbfgsb, unit + (size_t)chosen[i] * dim));
  }
  return PetscFree2(unit, value);
}

/* Coordinate search: steps along the axes from the best point, halved when no step improves. */
static PetscErrorCode compass(Search *search, double last)
{
  const int dim = search->dim;

  for (double step = COMPASS_FIRST; step > last && !failed(search);) {
    const double before = search->value;
    for (int k = 0; k < 2 * dim; k++) {
      double *point = search->stencil + (size_t)k * dim;
      PetscCall(PetscArraycpy(point, search->best, dim));
      point[k / 2] = fmin(fmax(point[k / 2] + (k % 2 ? step : -step), 0), 1);
    }
    PetscCall(evaluate(search, 2 * dim, search->stencil, search->stencil_value));
    if (!(search->value > before)) step /= 2;
  }
  return 0;
}

/* Refine the optimum of the rough F by F itself. */
static PetscErrorCode from_draft(Search *search, RgLbfgsb *lbfgsb)
{
  double *start;

  search->problem->draft = false;
  PetscCall(PetscMalloc1(search->dim, &start));
  PetscCall(PetscArraycpy(start, search->best, search->dim));
  search->value = -INFINITY;
  if (!failed(search)) PetscCall(climb(search, lbfgsb, start));
  PetscCall(compass(search, COMPASS_COSTLY));
  return PetscFree(start);
}

static PetscErrorCode search_box(Search *search)
{
  static const RgLbfgsbLimits limits = {
    .factr = 1e4, .pgtol = 1e-7, .max_iterations = 500, .max_evaluations = 2000};
  const size_t dim = (size_t)search->dim;
  RgLbfgsb lbfgsb;
  double *bounds;

  PetscCall(PetscMalloc3(2 * dim * dim, &search->stencil, 2 * dim, &search->stencil_value, 2 * dim,
                         &bounds));
  for (size_t j = 0; j < dim; j++) {
    bounds[j] = 0;
    bounds[dim + j] = 1;
  }
  PetscCall(rg_lbfgsb_create(search->dim, 10, bounds, bounds + dim, &limits, &lbfgsb));
  search->problem->draft = search->problem->has_draft;
  for (int round = 0; round < ROUNDS && !failed(search); round++)
    PetscCall(search_round(search, round, &lbfgsb));
  if (search->problem->draft) PetscCall(from_draft(search, &lbfgsb));
  else PetscCall(compass(search, COMPASS_LAST));
  PetscCall(rg_lbfgsb_destroy(&lbfgsb));
  return PetscFree3(search->stencil, search->stencil_value, bounds);
}

PetscErrorCode rg_regret_optimum_at(RgProblem *problem, double *optimum, double *x,
                                    RgFailure *failure)
{
  const RgSpace *space = &problem->domain.design;
  Search search = {
    .problem = problem, .failure = failure, .dim = space->dim, .best = x, .value = -INFINITY};
  double *value;

  if (problem->core) { /* the problem in fewer inputs has the same optimum */
    double *own;
    PetscCall(PetscMalloc1(problem->core->domain.design.dim, &own));
    problem->core->task = problem->task;
    PetscCall(rg_regret_optimum_at(problem->core, optimum, own, failure));
    rg_embedding_lift(problem, own, x);
    return PetscFree(own);
  }
  *optimum = rg_regret_known(problem);
  for (int j = 0; j < space->dim; j++)
    x[j] = !isnan(*optimum) && problem->n_optimisers ? problem->optimisers[j] : NAN;
  if (!isnan(*optimum) || problem->class->traits & (RG_PROBLEM_COSTLY | RG_PROBLEM_UNKNOWN) ||
      problem->domain.n_constraints)
    return 0;
  PetscCall(PetscMalloc3((size_t)BATCH * space->dim, &search.native, BATCH, &search.points,
                         space->size, &value));
  if (rg_space_is_finite(space)) PetscCall(evaluate(&search, space->size, space->points, value));
  else PetscCall(search_box(&search));
  PetscCall(PetscFree3(search.native, search.points, value));
  if (!failed(&search)) *optimum = search.value;
  rg_space_to_native(space, x, x);
  return 0;
}

PetscErrorCode rg_regret_optimum(RgProblem *problem, double *optimum, double *accuracy,
                                 RgFailure *failure)
{
  double *x;

  PetscCall(PetscMalloc1(problem->domain.design.dim, &x));
  PetscCall(rg_regret_optimum_at(problem, optimum, x, failure));
  const bool searched =
    isnan(rg_regret_known(problem)) && !rg_space_is_finite(&problem->domain.design);
  if (accuracy) *accuracy = searched && !isnan(*optimum) ? 1e-8 * fmax(1, fabs(*optimum)) : 0;
  return PetscFree(x);
}
