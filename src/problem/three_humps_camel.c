/* three_humps_camel: the three-hump camel function, its second input an uncontrollable context.

   f(x, c) = -(2 u^2 - 1.05 u^4 + u^6/6 + u v + v^2), u = 2 x - 1, v = 2 c - 1, x and the (clipped)
   context in [0, 1]; F(x) = -(2 u^2 - 1.05 u^4 + u^6/6) - u E v - E v^2, maximum at x = 1/2 when
   E v = 0. Context: N(0.5, 0.2^2) as the paper's program has it; the text says uniform(0, 1).
   Source: arXiv:2503.20341, appendix. */
#include "problem/context_problem.h"

#include <math.h>

static const RgParam params[] = {RG_CONTEXT_PARAMS("normal(0.5, 0.2)", "true", "raw"), {0}};

static double humps(double u)
{
  const double s = u * u;

  return s * (2 - s * (1.05 - s / 6));
}

static double formula(const void *options, const double *x, const double *c)
{
  const double u = 2 * x[0] - 1, v = 2 * c[0] - 1;

  return -(humps(u) + u * v + v * v);
}

static double first(const void *closure, double c)
{
  return 2 * c - 1;
}

static double second(const void *closure, double c)
{
  return (2 * c - 1) * (2 * c - 1);
}

typedef struct {
  double mean, square; /* E v, E v^2 */
} Own;

static PetscErrorCode exact(RgProblem *problem, int m, const RgPoint *points, double *F)
{
  const RgContextProblem *data = problem->data;
  const Own *own = data->own;

  for (int i = 0; i < m; i++) {
    const double u = 2 * points[i].x[0] - 1;
    F[i] = -humps(u) - u * own->mean - own->square;
  }
  return 0;
}

static PetscErrorCode prepare(RgProblem *problem, RgContextProblem *data)
{
  Own *own = data->own;

  PetscCall(rg_context_mean(&data->law[0], 100, 0, NULL, first, NULL, &own->mean));
  PetscCall(rg_context_mean(&data->law[0], 100, 0, NULL, second, NULL, &own->square));
  if (fabs(own->mean) < 1e-13) own->mean = 0;
  if (own->mean == 0) PetscCall(rg_context_optimum(problem, 0.5));
  return 0;
}

static const RgContextFunction function = {
  .dim = 1,
  .dim_c = 1,
  .grows = {{2, 2}},
  .formula = formula,
  .exact = exact,
  .own_size = sizeof(Own),
  .prepare = prepare,
};

const RgProblemClass rg_problem_three_humps_camel = {
  RG_ABOUT("three_humps_camel", "Three-Humps Camel", 1,
           "-(2 u^2 - 1.05 u^4 + u^6/6 + u v + v^2), u = 2 x - 1, v = 2 c - 1, on [0, 1];\n"
           "F(x) = E f(x, c)",
           "arXiv:2503.20341, appendix"),
  RG_OPTIONS(RgContextOptions, params),
  RG_CONTEXT_FORMULA(function),
};
