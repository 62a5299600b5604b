/* holder_table: Holder's table, negated.

   f(x) = |sin x1 cos x2 exp|1 - |x|/pi|| on [-10, 10]^2, |x| the Euclidean norm. Maximum
   19.2085025678867 at (+-8.05502347573656, +-9.66459001924127); the next local maxima are
   16.2678329 at (10, 9.6422273), 11.0695512 and 9.5046770 and their mirror images. Not smooth where
   a factor vanishes and on the circle |x| = pi.
   Source: S. K. Mishra, Some new test functions for global optimization, 2006; IRGP-UCB study
   (arXiv:2409.00979), section 5.2. */
#include "problem/box_problem.h"

#include <math.h>

static double sign_of(double v)
{
  return (v > 0) - (v < 0);
}

static double holder_table(const void *options, int dim, const double *x, double *gradient)
{
  const double r = hypot(x[0], x[1]), a = 1 - r / M_PI, e = exp(fabs(a));
  const double s = sin(x[0]) * cos(x[1]);

  (void)options, (void)dim;
  if (gradient) {
    const double radial = r > 0 ? -sign_of(a) * fabs(s) * e / (M_PI * r) : 0;
    gradient[0] = -(sign_of(s) * cos(x[0]) * cos(x[1]) * e + radial * x[0]);
    gradient[1] = -(-sign_of(s) * sin(x[0]) * sin(x[1]) * e + radial * x[1]);
  }
  return -fabs(s) * e;
}

#define X1 8.0550234757365634198
#define X2 9.66459001924127289

static const RgBoxFunction box = {
  .formula = holder_table,
  .minimised = true,
  .dim = 2,
  .lower = (const double[]){-10, -10},
  .upper = (const double[]){10, 10},
  .best = -19.208502567886731832,
  .n_best = 4,
  .best_at = (const double[]){X1, X2, X1, -X2, -X1, X2, -X1, -X2},
};

const RgProblemClass rg_problem_holder_table = {
  RG_ABOUT("holder_table", "Holder table", 1,
           "|sin x1 cos x2 exp|1 - sqrt(x1^2 + x2^2)/pi|| on [-10, 10]^2; four maximisers",
           "Mishra 2006, Some new test functions for global optimization"),
  RG_BOX_FIXED(box),
};
