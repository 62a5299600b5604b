/* ackley: Ackley's function in any dimension, negated.

   f(x) = 20 exp(-0.2 sqrt(sum x_j^2 / d)) + exp(sum cos(2 pi x_j) / d) - 20 - e on
   [lower, upper]^d, by default [-32.768, 32.768]^4. Maximum 0 at the origin, a cusp; the origin is
   the centre of the default box, which favours designs that look there first.
   Source: D. H. Ackley, A connectionist machine for genetic hillclimbing, 1987; IRGP-UCB study
   (arXiv:2409.00979), section 5.2. */
#include "problem/box_problem.h"

#include <math.h>

/* Written with expm1 so that the value at the origin is 0 and small values keep their digits. */
static double ackley(const void *options, int dim, const double *x, double *gradient)
{
  double squares = 0, cosines = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    squares += x[j] * x[j];
    cosines += cos(2 * M_PI * x[j]);
  }
  const double r = sqrt(squares / dim), c = cosines / dim - 1;
  for (int j = 0; gradient && j < dim; j++) {
    const double cone = r > 0 ? 4 * exp(-0.2 * r) * x[j] / (r * dim) : 0;
    gradient[j] = cone + exp(1 + c) * 2 * M_PI * sin(2 * M_PI * x[j]) / dim;
  }
  return -20 * expm1(-0.2 * r) - M_E * expm1(c);
}

static const RgParam params[] = {
  RG_INT("dim", RgCubeOptions, dim, "4", 1, 10000, "d", "number of coordinates"),
  RG_CUBE_BOUNDS("-32.768", "", "32.768", ""),
  {0},
};

static const RgCubeFunction functions[] = {{.formula = ackley}};

const RgProblemClass rg_problem_ackley = {
  RG_ABOUT("ackley", "Ackley", 1,
           "20 exp(-0.2 sqrt(sum x_j^2/d)) + exp(sum cos(2 pi x_j)/d) - 20 - e on\n"
           "[lower, upper]^d",
           "Ackley 1987, A connectionist machine for genetic hillclimbing"),
  .params = params,
  RG_CUBES(functions),
};
