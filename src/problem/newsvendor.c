/* newsvendor: stock x, demand c, sold at 9, bought at 5, the rest returned at 1.

   f(x, c) = 9 min(x, c) + max(0, x - c) - 5 x, x in [0, 1]; demand Burr XII(2, 20) by default;
   F(x) = 8 E min(x, c) - 4 x with E min(x, c) = x - E max(x - c, 0). The maximum is at the median
   of the demand, where it lies in [0, 1].
   Sources: arXiv:2312.10423, section 5; arXiv:2503.20341, appendix. */
#include "problem/context_problem.h"

#include <math.h>

#define ROUNDING 1e-13 /* an error of F up to this is that of rounding */

static const RgParam params[] = {RG_CONTEXT_PARAMS("burr(2, 20)", "true", "raw"), {0}};

static double formula(const void *options, const double *x, const double *c)
{
  return 9 * fmin(x[0], c[0]) + fmax(0, x[0] - c[0]) - 5 * x[0];
}

static PetscErrorCode exact(RgProblem *problem, int m, const RgPoint *points, double *F)
{
  const RgContextProblem *data = problem->data;

  for (int i = 0; i < m; i++) {
    const double x = points[i].x[0];
    double shortfall, error;
    PetscCall(rg_distribution_shortfall(&data->law[0], x, &shortfall, &error));
    F[i] = 8 * (x - shortfall) - 4 * x;
    if (8 * error > ROUNDING) problem->objective_error = fmax(problem->objective_error, 8 * error);
  }
  return 0;
}

static PetscErrorCode prepare(RgProblem *problem, RgContextProblem *data)
{
  return rg_context_optimum(problem,
                            fmin(fmax(rg_distribution_quantile(&data->law[0], 0.5), 0), 1));
}

static const RgContextFunction function = {
  .dim = 1,
  .dim_c = 1,
  .grows = {{1, 0}},
  .formula = formula,
  .exact = exact,
  .prepare = prepare,
};

const RgProblemClass rg_problem_newsvendor = {
  RG_ABOUT("newsvendor", "Newsvendor", 2,
           "9 min(x, c) + max(0, x - c) - 5 x on [0, 1], c the demand; F(x) = E f(x, c)",
           "arXiv:2312.10423, section 5; arXiv:2503.20341, appendix"),
  RG_OPTIONS(RgContextOptions, params),
  RG_CONTEXT_FORMULA(function),
};
