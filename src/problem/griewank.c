/* griewank: Griewank's function in any dimension, negated.

   f(x) = -[sum_i x_i^2/4000 - prod_i cos(x_i/sqrt i) + 1] on [lower, upper]^d, by default
   [-600, 600]^4. Maximum 0 at the origin, which is the centre of the default box; that favours
   designs that look there first.
   Source: A. O. Griewank, Generalized descent for global optimization, 1981. */
#include "problem/box_problem.h"

#include <math.h>

/* prod_i cos(x_i/sqrt i) without the factor `skip`. */
static double product_without(int skip, int dim, const double *x)
{
  double product = 1;

  for (int j = 0; j < dim; j++)
    if (j != skip) product *= cos(x[j] / sqrt(j + 1));
  return product;
}

static double griewank(const void *options, int dim, const double *x, double *gradient)
{
  double squares = 0;

  (void)options;
  for (int j = 0; j < dim; j++) squares += x[j] * x[j];
  for (int j = 0; gradient && j < dim; j++) {
    const double root = sqrt(j + 1);
    gradient[j] = x[j] / 2000 + sin(x[j] / root) / root * product_without(j, dim, x);
  }
  return squares / 4000 + (1 - product_without(-1, dim, x));
}

static const RgParam params[] = {
  RG_INT("dim", RgCubeOptions, dim, "4", 1, 1000, "d", "number of coordinates"),
  RG_CUBE_BOUNDS("-600", "", "600", ""),
  {0},
};

static const RgCubeFunction functions[] = {{.formula = griewank}};

const RgProblemClass rg_problem_griewank = {
  RG_ABOUT("griewank", "Griewank", 1,
           "-[sum_i x_i^2/4000 - prod_i cos(x_i/sqrt i) + 1] on [lower, upper]^d",
           "Griewank 1981, Generalized descent for global optimization"),
  .params = params,
  RG_CUBES(functions),
};
