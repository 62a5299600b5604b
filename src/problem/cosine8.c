/* cosine8: the cosine mixture in eight dimensions.

   f(x) = 0.1 sum_j cos(5 pi x_j) - sum_j x_j^2 on [-1, 1]^8. Maximum 0.8 at the origin, which is
   the centre of the box; that favours designs that look there first.
   Source: L. Breiman, A. Cutler, A deterministic algorithm for global optimization, 1993. */
#include "problem/box_problem.h"

#include <math.h>

static double cosine_mixture(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    sum += 0.1 * cos(5 * M_PI * x[j]) - x[j] * x[j];
    if (gradient) gradient[j] = -0.5 * M_PI * sin(5 * M_PI * x[j]) - 2 * x[j];
  }
  return sum;
}

static const RgBoxFunction box = {
  .formula = cosine_mixture,
  .dim = 8,
  .lower = (const double[]){-1, -1, -1, -1, -1, -1, -1, -1},
  .upper = (const double[]){1, 1, 1, 1, 1, 1, 1, 1},
  .best = 0.8,
  .n_best = 1,
  .best_at = (const double[]){0, 0, 0, 0, 0, 0, 0, 0},
};

const RgProblemClass rg_problem_cosine8 = {
  RG_ABOUT("cosine8", "Cosine 8", 1, "0.1 sum_j cos(5 pi x_j) - sum_j x_j^2 on [-1, 1]^8",
           "Breiman and Cutler 1993, A deterministic algorithm for global optimization"),
  RG_BOX_FIXED(box),
};
