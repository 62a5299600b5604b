/* currin_exp: the exponential function of Currin et al.

   f(x) = (1 - exp(-1/(2 x2))) (2300 x1^3 + 1900 x1^2 + 2092 x1 + 60)
          / (100 x1^3 + 500 x1^2 + 4 x1 + 20)
   on [0, 1]^2, where the first factor is 1 at x2 = 0. Maximum 13.7987220447284345 at (13/60, 0).
   Source: C. Currin, T. Mitchell, M. Morris, D. Ylvisaker, Bayesian prediction of deterministic
   functions, with applications to the design and analysis of computer experiments, 1991. */
#include "problem/box_problem.h"

#include <math.h>

static double currin_exp(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[0], b = x[1];
  const double p = ((2300 * a + 1900) * a + 2092) * a + 60, q = ((100 * a + 500) * a + 4) * a + 20;
  const double tail = b > 0 ? exp(-1 / (2 * b)) : 0;

  (void)options, (void)dim;
  if (gradient) {
    const double p_a = (6900 * a + 3800) * a + 2092, q_a = (300 * a + 1000) * a + 4;
    gradient[0] = (1 - tail) * (p_a * q - p * q_a) / (q * q);
    gradient[1] = tail > 0 ? -tail / (2 * b * b) * p / q : 0;
  }
  return (1 - tail) * p / q;
}

static const RgBoxFunction box = {
  .formula = currin_exp,
  .dim = 2,
  .lower = (const double[]){0, 0},
  .upper = (const double[]){1, 1},
  .best = 13.798722044728434505,
  .n_best = 1,
  .best_at = (const double[]){13.0 / 60, 0},
};

const RgProblemClass rg_problem_currin_exp = {
  RG_ABOUT("currin_exp", "Currin exponential", 1,
           "(1 - exp(-1/(2 x2))) (2300 x1^3 + 1900 x1^2 + 2092 x1 + 60)/(100 x1^3 + 500 x1^2 +\n"
           "4 x1 + 20) on [0, 1]^2",
           "Currin, Mitchell, Morris and Ylvisaker 1991"),
  RG_BOX_FIXED(box),
};
