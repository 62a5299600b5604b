/* levy: Levy's function in any dimension, negated.

   f(x) = -[sin^2(pi w_1) + sum_{i<d} (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1))
            + (w_d - 1)^2 (1 + sin^2(2 pi w_d))],  w_i = 1 + (x_i - 1)/4,
   on [lower, upper]^d, by default [-10, 10]^4. Maximum 0 at (1, .., 1).
   Source: A. V. Levy, A. Montalvo, The tunneling algorithm for the global minimization of
   functions, 1985; M. Laguna, R. Marti, Experimental testing of advanced scatter search designs,
   2005. */
#include "problem/box_problem.h"

#include <math.h>

static double square(double v)
{
  return v * v;
}

static double levy(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    const double v = (x[j] - 1) / 4, w = 1 + v; /* w - 1 = v to full precision */
    const bool last = j == dim - 1;
    const double angle = last ? 2 * M_PI * v : M_PI * w + 1, weight = last ? 1 : 10;
    const double factor = 1 + weight * square(sin(angle));

    sum += v * v * factor;
    if (j == 0) sum += square(sin(M_PI * v));
    if (!gradient) continue;
    const double rate = last ? 2 * M_PI : M_PI;
    gradient[j] = (2 * v * factor + v * v * weight * sin(2 * angle) * rate) / 4;
    if (j == 0) gradient[j] += M_PI * sin(2 * M_PI * v) / 4;
  }
  return sum;
}

static const RgParam params[] = {
  RG_INT("dim", RgCubeOptions, dim, "4", 1, 1000, "d", "number of coordinates"),
  RG_CUBE_BOUNDS("-10", "", "10", ""),
  {0},
};

static const RgCubeFunction functions[] = {{.formula = levy, .each = 1}};

const RgProblemClass rg_problem_levy = {
  RG_ABOUT("levy", "Levy", 1,
           "-[sin^2(pi w_1) + sum_{i<d} (w_i - 1)^2 (1 + 10 sin^2(pi w_i + 1)) + (w_d - 1)^2\n"
           "(1 + sin^2(2 pi w_d))], w_i = 1 + (x_i - 1)/4, on [lower, upper]^d",
           "Levy and Montalvo 1985; Laguna and Marti 2005"),
  .params = params,
  RG_CUBES(functions),
};
