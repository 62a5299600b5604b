/* styblinski_tang: the Styblinski-Tang function in any dimension, negated.

   f(x) = -sum_j (x_j^4 - 16 x_j^2 + 5 x_j)/2 on [lower, upper]^d, by default [-5, 5]^4. Maximum
   39.1661657037714155 d where every coordinate is -2.90353402777117710.
   Source: M. A. Styblinski, T.-S. Tang, Experiments in nonconvex optimization: stochastic
   approximation with function smoothing and simulated annealing, 1990. */
#include "problem/box_problem.h"

static double styblinski_tang(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    const double v = x[j];
    sum += (v * v * v * v - 16 * v * v + 5 * v) / 2;
    if (gradient) gradient[j] = 2 * v * v * v - 16 * v + 2.5;
  }
  return sum;
}

static const RgParam params[] = {
  RG_INT("dim", RgCubeOptions, dim, "4", 1, 1000, "d", "number of coordinates"),
  RG_CUBE_BOUNDS("-5", "", "5", ""),
  {0},
};

static const RgCubeFunction functions[] = {
  {.formula = styblinski_tang, .best_each = -39.166165703771415464, .each = -2.9035340277711770951},
};

const RgProblemClass rg_problem_styblinski_tang = {
  RG_ABOUT("styblinski_tang", "Styblinski-Tang", 1,
           "-sum_j (x_j^4 - 16 x_j^2 + 5 x_j)/2 on [lower, upper]^d",
           "Styblinski and Tang 1990, Experiments in nonconvex optimization"),
  .params = params,
  RG_CUBES(functions),
};
