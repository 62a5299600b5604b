/* branin: the Branin (Branin-Hoo) function, negated.

   f(x) = -[(x2 - 5.1 x1^2 / (4 pi^2) + 5 x1 / pi - 6)^2 + 10 (1 - 1/(8 pi)) cos x1 + 10]
   on [-5, 10] x [0, 15]. Maximum -10/(8 pi) = -0.397887357729738 where the square vanishes and
   cos x1 = -1: at (-pi, 12.275), (pi, 2.275) and (3 pi, 2.475).
   Source: L. C. W. Dixon, G. P. Szego, Towards Global Optimisation 2, 1978. */
#include "problem/box_problem.h"

#include <math.h>

static double branin(const void *options, int dim, const double *x, double *gradient)
{
  const double b = 5.1 / (4 * M_PI * M_PI), c = 5 / M_PI, t = 10 * (1 - 1 / (8 * M_PI));
  const double q = x[1] - b * x[0] * x[0] + c * x[0] - 6;

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = 2 * q * (c - 2 * b * x[0]) - t * sin(x[0]);
    gradient[1] = 2 * q;
  }
  return q * q + t * cos(x[0]) + 10;
}

static const RgBoxFunction box = {
  .formula = branin,
  .minimised = true,
  .dim = 2,
  .lower = (const double[]){-5, 0},
  .upper = (const double[]){10, 15},
  .best = 0.39788735772973833942,
  .n_best = 3,
  .best_at = (const double[]){-M_PI, 12.275, M_PI, 2.275, 3 * M_PI, 2.475},
};

const RgProblemClass rg_problem_branin = {
  RG_ABOUT("branin", "Branin", 1,
           "-[(x2 - 5.1 x1^2/(4 pi^2) + 5 x1/pi - 6)^2 + 10 (1 - 1/(8 pi)) cos x1 + 10] on\n"
           "[-5, 10] x [0, 15]; three maximisers",
           "Dixon and Szego 1978, Towards Global Optimisation 2"),
  RG_BOX_FIXED(box),
};
