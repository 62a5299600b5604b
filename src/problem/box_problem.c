#include "problem/box_problem.h"

/* What evaluation needs of an RgBoxFunction. */
typedef struct {
  RgFormula formula;
  bool minimised;
} RgBoxData;

/* The one negation. 0 - v instead of -v: no negative zero at optima of value 0. */
static double maximised(const RgBoxData *data, double v)
{
  return data->minimised ? 0 - v : v;
}

const RgParam rg_box_no_params[] = {{0}};

PetscErrorCode rg_box_function_domain(const RgBoxFunction *function, RgDomain *domain)
{
  PetscFunctionBeginUser;
  PetscCall(rg_space_box(&domain->design, function->dim, function->lower, function->upper));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_box_cube_domain(int dim, double lower, double upper, RgDomain *domain)
{
  double *bounds;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(2 * (size_t)dim, &bounds));
  for (int j = 0; j < dim; j++) {
    bounds[j] = lower;
    bounds[dim + j] = upper;
  }
  PetscCall(rg_space_box(&domain->design, dim, bounds, bounds + dim));
  PetscCall(PetscFree(bounds));
  PetscFunctionReturn(0);
}

static bool is_inside(const RgSpace *box, const double *x)
{
  for (int j = 0; j < box->dim; j++)
    if (x[j] < box->lower[j] || x[j] > box->upper[j]) return false;
  return true;
}

PetscErrorCode rg_box_function_create(const RgBoxFunction *function, RgProblem *problem)
{
  const RgSpace *box = &problem->domain.design;
  const size_t dim = (size_t)function->dim;
  RgBoxData *data;

  PetscFunctionBeginUser;
  PetscCheck(box->dim == function->dim, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: formula in %d coordinates on a domain of %d", problem->class->name, function->dim,
             box->dim);
  PetscCall(PetscNew(&data));
  problem->data = data;
  data->formula = function->formula;
  data->minimised = function->minimised;
  PetscCall(PetscMalloc1(dim * (size_t)function->n_best, &problem->optimisers));
  for (int i = 0; i < function->n_best; i++) {
    const double *x = function->best_at + (size_t)i * dim;
    if (!is_inside(box, x)) continue;
    PetscCall(PetscArraycpy(problem->optimisers + (size_t)problem->n_optimisers * dim, x, dim));
    problem->n_optimisers++;
  }
  if (problem->n_optimisers) problem->optimum = maximised(data, function->best);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_box_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  const RgBoxData *data = problem->data;
  const int dim = problem->domain.design.dim;

  PetscFunctionBeginUser;
  (void)failure;
  for (int i = 0; i < m; i++)
    f[i] = maximised(data, data->formula(problem->options, dim, points[i].x, NULL));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_box_gradient(RgProblem *problem, const RgPoint *point, double *gradient)
{
  const RgBoxData *data = problem->data;
  const int dim = problem->domain.design.dim;

  PetscFunctionBeginUser;
  data->formula(problem->options, dim, point->x, gradient);
  for (int j = 0; j < dim; j++) gradient[j] = maximised(data, gradient[j]);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_box_destroy(RgProblem *problem)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(problem->data));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_box_check_bounds(const char *problem, double lower, double upper, RgPlace place,
                                   RgDiagnostics *diagnostics)
{
  PetscFunctionBeginUser;
  if (!(lower < upper))
    rg_diagnostics_add(diagnostics, place, "%s: lower = %g must be less than upper = %g", problem,
                       lower, upper);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_box_check_variant(const char *problem, const char *variant, int dim,
                                    int variant_dim, bool usual_bounds, RgPlace place,
                                    RgDiagnostics *diagnostics)
{
  PetscFunctionBeginUser;
  if (dim != variant_dim)
    rg_diagnostics_add(diagnostics, place, "%s: variant %s has dim = %d, not %d", problem, variant,
                       variant_dim, dim);
  if (!usual_bounds)
    rg_diagnostics_add(
      diagnostics, place,
      "%s: variant %s has the bounds [0, 1]; lower and upper belong to variant plain", problem,
      variant);
  PetscFunctionReturn(0);
}
