/* Families given by a formula on a box: domain, optimum, evaluation and the one negation. */
#include "problem/box_problem.h"

#include <math.h>

/* The part of an RgBoxFunction that an evaluation needs. */
typedef struct {
  RgFormula formula;
  bool minimised;
  int copies;
} RgBoxData;

enum { MOST_OPTIMISERS = 4096 }; /* kept of the sum of copies */

const RgParam rg_box_copies[] = {
  RG_ENTRY("copies", INT, RgBoxOptions, copies, int, "auto", 1, 1000, rg_param_later, "k",
           "f is the sum of k copies of the function, each in coordinates of its own; auto: 1"),
  RG_BOX_EMBED,
  {0},
};

/* The function of the family that the options choose, its dimension and bounds filled in. */
static RgBoxFunction function_of(const RgProblemClass *class, const RgBoxOptions *options)
{
  RgBoxFunction function = ((const RgBoxFunction *)class->family)[options->variant];

  if (function.dim) return function;
  function.dim = options->dim;
  if (options->lower == options->upper) return function; /* the table has no such parameters */
  if (!isnan(options->lower)) function.lower = options->lower;
  if (!isnan(options->upper)) function.upper = options->upper;
  return function;
}

PetscErrorCode rg_box_check(const RgProblemClass *class, const void *options, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const RgBoxOptions *o = options;
  const RgBoxFunction function = function_of(class, o);
  const double lower = isnan(o->lower) ? function.lower : o->lower;
  const double upper = isnan(o->upper) ? function.upper : o->upper;
  const char *variant = class->params->choices ? class->params->choices[o->variant] : "";

  if (!(lower < upper))
    rg_diagnostics_add(diagnostics, place, "%s: lower = %g must be less than upper = %g",
                       class->name, lower, upper);
  if (o->dim != function.dim)
    rg_diagnostics_add(diagnostics, place, "%s: variant %s has dim = %d, not %d", class->name,
                       variant, function.dim, o->dim);
  if (((const RgBoxFunction *)class->family)[o->variant].dim &&
      !(isnan(o->lower) && isnan(o->upper)))
    rg_diagnostics_add(
      diagnostics, place,
      "%s: variant %s has the bounds [0, 1]; lower and upper belong to variant plain", class->name,
      variant);
  return 0;
}

PetscErrorCode rg_box_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const RgBoxFunction function = function_of(class, options);
  const int n = function.dim * PetscMax(((const RgBoxOptions *)options)->copies, 1);
  double *lower, *upper;

  PetscCall(PetscMalloc2(n, &lower, n, &upper));
  for (int j = 0; j < n; j++) {
    const double *at = function.bounds ? function.bounds + j % function.dim : NULL;
    lower[j] = at ? at[0] : function.lower;
    upper[j] = at ? at[function.dim] : function.upper;
  }
  PetscCall(rg_space_box(&domain->design, n, lower, upper));
  return PetscFree2(lower, upper);
}

/* ---- create ---------------------------------------------------------------------------------- */

/* The one negation. 0 - v instead of -v: no negative zero at optima of value 0. */
static double maximised(const RgBoxData *data, double v)
{
  return data->minimised ? 0 - v : v;
}

/* The optimisers of the sum of copies: every combination of those of the function, of which the
   first MOST_OPTIMISERS are kept. inside: n x dim, those of one copy. */
static PetscErrorCode set_optimisers(RgProblem *problem, int copies, int dim, int n,
                                     const double *inside)
{
  size_t count = 1, width = (size_t)copies * (size_t)dim;

  for (int c = 0; c < copies && count < MOST_OPTIMISERS; c++) count *= (size_t)n;
  count = PetscMin(count, (size_t)MOST_OPTIMISERS);
  PetscCall(PetscMalloc1(count * width, &problem->optimisers));
  problem->n_optimisers = (int)count;
  for (size_t i = 0; i < count; i++) {
    size_t left = i;
    for (int c = copies - 1; c >= 0; c--, left /= (size_t)n)
      PetscCall(PetscArraycpy(problem->optimisers + i * width + (size_t)c * (size_t)dim,
                              inside + left % (size_t)n * (size_t)dim, dim));
  }
  return 0;
}

PetscErrorCode rg_box_function_create(const RgBoxFunction *function, int copies, RgProblem *problem)
{
  const RgSpace *box = &problem->domain.design;
  const int dim = box->dim / copies;
  RgBoxData *data;
  double *inside;
  int n = 0;

  PetscCall(PetscNew(&data));
  problem->data = data;
  *data = (RgBoxData){function->formula, function->minimised, copies};
  PetscCall(PetscMalloc1((size_t)dim * PetscMax(function->n_best, 1), &inside));
  for (int i = 0; i < PetscMax(function->n_best, 1); i++) {
    double *x = inside + (size_t)n * dim;
    bool is_inside = true;
    for (int j = 0; j < dim; j++) {
      x[j] = function->best_at ? function->best_at[(size_t)i * dim + j] : function->each;
      is_inside = is_inside && x[j] >= box->lower[j] && x[j] <= box->upper[j];
    }
    n += is_inside;
  }
  if (n) {
    PetscCall(set_optimisers(problem, copies, dim, n, inside));
    problem->optimum = maximised(data, copies * (function->best + dim * function->best_each));
  }
  return PetscFree(inside);
}

PetscErrorCode rg_box_create(RgProblem *problem, RgFailure *failure)
{
  const RgBoxOptions *options = problem->options;
  const RgBoxFunction function = function_of(problem->class, options);

  return rg_box_function_create(&function, PetscMax(options->copies, 1), problem);
}

/* ---- f --------------------------------------------------------------------------------------- */

/* The formula at every block of coordinates, summed, and its gradient (NULL: not wanted). */
static double sum_of_copies(const RgProblem *problem, const double *x, double *gradient)
{
  const RgBoxData *data = problem->data;
  const int dim = problem->domain.design.dim / data->copies;
  double sum = data->formula(problem->options, dim, x, gradient);

  for (int at = dim; at < problem->domain.design.dim; at += dim)
    sum += data->formula(problem->options, dim, x + at, gradient ? gradient + at : NULL);
  return sum;
}

PetscErrorCode rg_box_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  for (int i = 0; i < m; i++)
    f[i] = maximised(problem->data, sum_of_copies(problem, points[i].x, NULL));
  return 0;
}

PetscErrorCode rg_box_gradient(RgProblem *problem, const RgPoint *point, double *gradient)
{
  sum_of_copies(problem, point->x, gradient);
  for (int j = 0; j < problem->domain.design.dim; j++)
    gradient[j] = maximised(problem->data, gradient[j]);
  return 0;
}
