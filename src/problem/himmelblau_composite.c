/* himmelblau_composite: Himmelblau's function of x1 + w1 and x2 + w2/2, standardised.

     f = (104.8905 - (a^2 + b - 11)^2 - (a + b^2 - 7)^2) / sqrt(3281.531),
     a = x1 + w1, b = x2 + w2/2

   on the grid of `levels` equally spaced values of [-2.5, 2.5] per coordinate (15: mean 0 and
   variance 1 over the grid); w1 and w2 independent with weights 0.25 phi(w - 1) + 0.75 phi(w + 5),
   phi the standard normal density. The 4D problem of arXiv:2504.03172, section 5.1. */
#include "maths/normal.h"
#include "problem/finite_context.h"

#include <math.h>

enum { LEVELS_MAX = 101 };

static const RgParam params[] = {
  RG_FINITE_GRID_PARAMS("15", LEVELS_MAX,
                        "grid levels per coordinate: levels^2 designs, as many contexts"),
  {0}};

static double weight(int k, double w)
{
  return 0.25 * rg_normal_pdf(w - 1.0) + 0.75 * rg_normal_pdf(w + 5.0);
}

static const RgFiniteGrid grid = {2, -2.5, 2.5, weight};

static double himmelblau(double a, double b)
{
  double r = a * a + b - 11.0, s = a + b * b - 7.0;

  return (104.8905 - r * r - s * s) / sqrt(3281.531);
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const RgSpace *design = &problem->domain.design, *context = &problem->domain.context;
  RgFiniteContext *data;
  double x[2], w[2];

  PetscCall(rg_finite_context_create(problem, &data));
  for (int i = 0; i < design->size; i++) {
    rg_space_to_native(design, design->points + 2 * i, x);
    for (int j = 0; j < context->size; j++) {
      rg_space_to_native(context, context->points + 2 * j, w);
      data->f[(size_t)i * context->size + j] = himmelblau(x[0] + w[0], x[1] + 0.5 * w[1]);
    }
  }
  PetscCall(rg_finite_context_finish(problem));
  return 0;
}

const RgProblemClass rg_problem_himmelblau_composite = {
  RG_ABOUT("himmelblau_composite", "Himmelblau composite", 2,
           "Himmelblau's function, standardised, of x1 + w1 and x2 + w2/2 on a grid of\n"
           "[-2.5, 2.5]^4; a robustness measure over (w1, w2)",
           "Inatsu 2025, arXiv:2504.03172, 5.1"),
  .params = params,
  .create = create,
  RG_FINITE_GRID(grid),
};
