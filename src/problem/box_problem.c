/* Families given by a formula on a box: domain, optimum, evaluation and the one negation. */
#include "problem/box_problem.h"

#include <math.h>

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

/* That of the family which the options choose. */
static const RgBoxFunction *function_of(const RgProblemClass *class, const RgBoxOptions *options)
{
  const RgBoxFunction *functions = class->family;

  return &functions[class->options_size ? options->variant : 0];
}

PetscErrorCode rg_box_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  return rg_box_function_domain(function_of(class, options), domain);
}

PetscErrorCode rg_box_create(RgProblem *problem, RgFailure *failure)
{
  (void)failure;
  return rg_box_function_create(function_of(problem->class, problem->options), problem);
}

PetscErrorCode rg_box_function_domain(const RgBoxFunction *function, RgDomain *domain)
{
  return rg_space_box(&domain->design, function->dim, function->lower, function->upper);
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

/* ---- cubes --------------------------------------------------------------------------------- */

static const RgCubeFunction *cube_of(const RgProblemClass *class, const RgCubeOptions *options)
{
  return (const RgCubeFunction *)class->family + options->variant;
}

static double lower_of(const RgCubeFunction *function, const RgCubeOptions *options)
{
  return isnan(options->lower) ? function->lower : options->lower;
}

static double upper_of(const RgCubeFunction *function, const RgCubeOptions *options)
{
  return isnan(options->upper) ? function->upper : options->upper;
}

PetscErrorCode rg_cube_check(const RgProblemClass *class, const void *options, RgPlace place,
                             RgDiagnostics *diagnostics)
{
  const RgCubeOptions *o = options;
  const RgCubeFunction *function = cube_of(class, o);
  const double lower = lower_of(function, o), upper = upper_of(function, o);

  PetscFunctionBeginUser;
  if (!(lower < upper))
    rg_diagnostics_add(diagnostics, place, "%s: lower = %g must be less than upper = %g",
                       class->name, lower, upper);
  if (function->dim && o->dim != function->dim)
    rg_diagnostics_add(diagnostics, place, "%s: variant %s has dim = %d, not %d", class->name,
                       function->name, function->dim, o->dim);
  if (function->dim && !(isnan(o->lower) && isnan(o->upper)))
    rg_diagnostics_add(
      diagnostics, place,
      "%s: variant %s has the bounds [0, 1]; lower and upper belong to variant plain", class->name,
      function->name);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_cube_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const RgCubeOptions *o = options;
  const RgCubeFunction *function = cube_of(class, o);

  return rg_space_cube(&domain->design, o->dim, lower_of(function, o), upper_of(function, o));
}

PetscErrorCode rg_cube_create(RgProblem *problem, RgFailure *failure)
{
  const RgCubeOptions *options = problem->options;
  const RgCubeFunction *from = cube_of(problem->class, options);
  double *best_at;

  (void)failure;
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(options->dim, &best_at));
  for (int j = 0; j < options->dim; j++) best_at[j] = from->best_at ? from->best_at[j] : from->each;
  const RgBoxFunction function = {.formula = from->formula,
                                  .minimised = true,
                                  .dim = options->dim,
                                  .best = from->best,
                                  .n_best = 1,
                                  .best_at = best_at};
  PetscCall(rg_box_function_create(&function, problem));
  PetscCall(PetscFree(best_at));
  PetscFunctionReturn(0);
}
