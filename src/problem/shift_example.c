/* shift_example: the distribution-shift example of the Wasserstein paper.

   f(x, c) = 1 - |c - 0.5| / (|x| + 0.2) - sqrt(|x| + 0.05), x in [-1, 1]. Nature draws c from
   `law`, by default N(0.6, 0.2^2) unclipped; the learner of the paper assumes N(0.5, 0.1^2).
   F(x) = 1 - a / (|x| + 0.2) - sqrt(|x| + 0.05), a = E|c - 0.5|. F is even in x, so maxima come
   in pairs. The paper does not say whether 0.1 and 0.2 are deviations; with this reading the
   example behaves as the paper says.
   Source: arXiv:2503.20341, section 5, Figure 1. */
#include "problem/context_problem.h"

#include <math.h>

static const RgParam params[] = {RG_CONTEXT_PARAMS("normal(0.6, 0.2)", "false", "raw"), {0}};

static double value(double x, double distance)
{
  return 1 - distance / (fabs(x) + 0.2) - sqrt(fabs(x) + 0.05);
}

static double formula(const void *options, const double *x, const double *c)
{
  return value(x[0], fabs(c[0] - 0.5));
}

static double distance(const void *closure, double c)
{
  return fabs(c - 0.5);
}

static PetscErrorCode exact(RgProblem *problem, int m, const RgPoint *points, double *F)
{
  const RgContextProblem *data = problem->data;
  const double *a = data->own;

  for (int i = 0; i < m; i++) F[i] = value(points[i].x[0], *a);
  return 0;
}

static PetscErrorCode prepare(RgProblem *problem, RgContextProblem *data)
{
  const double kink = 0.5;

  return rg_context_mean(&data->law[0], 100, 1, &kink, distance, NULL, data->own);
}

static const RgContextFunction function = {
  .dim = 1,
  .dim_c = 1,
  .grows = {{1, 1}},
  .lower = -1,
  .upper = 1,
  .formula = formula,
  .exact = exact,
  .own_size = sizeof(double),
  .prepare = prepare,
};

const RgProblemClass rg_problem_shift_example = {
  RG_ABOUT("shift_example", "Distribution shift", 1,
           "1 - |c - 0.5| / (|x| + 0.2) - sqrt(|x| + 0.05) on [-1, 1]; F(x) = E f(x, c)",
           "arXiv:2503.20341, section 5, Figure 1"),
  RG_OPTIONS(RgContextOptions, params),
  RG_CONTEXT_FORMULA(function),
};
