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

/* The one negation. 0 - v instead of -v: no negative zero at optima of value 0. */
static double maximised(const RgBoxData *data, double v)
{
  return data->minimised ? 0 - v : v;
}

/* The function of the family that the options choose. */
static const RgBoxFunction *function_of(const RgProblemClass *class, const RgBoxOptions *options)
{
  return (const RgBoxFunction *)class->family + options->variant;
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

/* Whether the first `dim` coordinates allow x. */
static bool is_inside(const RgSpace *box, int dim, const double *x)
{
  for (int j = 0; j < dim; j++)
    if (x[j] < box->lower[j] || x[j] > box->upper[j]) return false;
  return true;
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

static PetscErrorCode create_copies(const RgBoxFunction *function, int copies, RgProblem *problem)
{
  const RgSpace *box = &problem->domain.design;
  const size_t dim = (size_t)function->dim;
  RgBoxData *data;
  double *inside;
  int n = 0;

  PetscCheck(box->dim == copies * function->dim, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s: formula in %d coordinates on a domain of %d", problem->class->name,
             copies * function->dim, box->dim);
  PetscCall(PetscNew(&data));
  problem->data = data;
  *data = (RgBoxData){function->formula, function->minimised, copies};
  PetscCall(PetscMalloc1(dim * (size_t)function->n_best, &inside));
  for (int i = 0; i < function->n_best; i++) {
    const double *x = function->best_at + (size_t)i * dim;
    if (!is_inside(box, function->dim, x)) continue;
    PetscCall(PetscArraycpy(inside + (size_t)n * dim, x, dim));
    n++;
  }
  if (n) {
    PetscCall(set_optimisers(problem, copies, function->dim, n, inside));
    problem->optimum = maximised(data, copies * function->best);
  }
  PetscCall(PetscFree(inside));
  return 0;
}

PetscErrorCode rg_box_function_create(const RgBoxFunction *function, RgProblem *problem)
{
  return create_copies(function, 1, problem);
}

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
  const RgBoxData *data = problem->data;

  (void)failure;
  for (int i = 0; i < m; i++) f[i] = maximised(data, sum_of_copies(problem, points[i].x, NULL));
  return 0;
}

PetscErrorCode rg_box_gradient(RgProblem *problem, const RgPoint *point, double *gradient)
{
  const RgBoxData *data = problem->data;
  const int dim = problem->domain.design.dim;

  sum_of_copies(problem, point->x, gradient);
  for (int j = 0; j < dim; j++) gradient[j] = maximised(data, gradient[j]);
  return 0;
}

/* ---- copies -------------------------------------------------------------------------------- */

const RgParam rg_box_copies[] = {
  RG_ENTRY("copies", INT, RgBoxCopies, copies, int, "auto", 1, 1000, rg_param_later, "k",
           "f is the sum of k copies of the function, each in coordinates of its own; auto: 1"),
  {0},
};

static int copies_of(const void *options)
{
  return PetscMax(((const RgBoxCopies *)options)->copies, 1);
}

PetscErrorCode rg_box_copies_domain(const RgProblemClass *class, const void *options,
                                    RgDomain *domain)
{
  const RgBoxFunction *function = class->family;
  const int copies = copies_of(options), dim = function->dim;
  double *lower, *upper;

  PetscCall(PetscMalloc2((size_t)copies * dim, &lower, (size_t)copies * dim, &upper));
  for (int j = 0; j < copies * dim; j++) {
    lower[j] = function->lower[j % dim];
    upper[j] = function->upper[j % dim];
  }
  PetscCall(rg_space_box(&domain->design, copies * dim, lower, upper));
  PetscCall(PetscFree2(lower, upper));
  return 0;
}

PetscErrorCode rg_box_copies_create(RgProblem *problem, RgFailure *failure)
{
  (void)failure;
  return create_copies(problem->class->family, copies_of(problem->options), problem);
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
  return 0;
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
  PetscCall(PetscMalloc1(options->dim, &best_at));
  for (int j = 0; j < options->dim; j++) best_at[j] = from->best_at ? from->best_at[j] : from->each;
  const RgBoxFunction function = {.formula = from->formula,
                                  .minimised = true,
                                  .dim = options->dim,
                                  .best = from->best + options->dim * from->best_each,
                                  .n_best = 1,
                                  .best_at = best_at};
  PetscCall(rg_box_function_create(&function, problem));
  PetscCall(PetscFree(best_at));
  return 0;
}
