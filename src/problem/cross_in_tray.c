/* cross_in_tray: the cross-in-tray function, negated.

   f(x) = 0.0001 (|sin x1 sin x2 exp|100 - |x|/pi|| + 1)^0.1 on [-10, 10]^2, |x| the Euclidean norm.
   Maximum 2.06261187082274 at (+-1.34940661715391, +-1.34940661715391); the next local maxima are
   1.8899381 at (4.4190759, 1.4706222) and 1.7906017 at (4.4909993, 4.4909993) and their mirror
   images. Falls to 1e-4 on the axes, with a kink.
   Source: S. K. Mishra, Some new test functions for global optimization, 2006; IRGP-UCB study
   (arXiv:2409.00979), section 5.2. */
#include "problem/box_problem.h"

#include <math.h>

static double sign_of(double v)
{
  return (v > 0) - (v < 0);
}

/* |x| < 100 pi on the domain, so the inner absolute value is its argument. */
static double cross_in_tray(const void *options, int dim, const double *x, double *gradient)
{
  const double r = hypot(x[0], x[1]), e = exp(100 - r / M_PI);
  const double s = sin(x[0]) * sin(x[1]), q = fabs(s) * e + 1;

  (void)options, (void)dim;
  if (gradient) {
    const double outer = -1e-5 * pow(q, -0.9);
    const double radial = r > 0 ? -fabs(s) * e / (M_PI * r) : 0;
    gradient[0] = outer * (sign_of(s) * cos(x[0]) * sin(x[1]) * e + radial * x[0]);
    gradient[1] = outer * (sign_of(s) * sin(x[0]) * cos(x[1]) * e + radial * x[1]);
  }
  return -1e-4 * pow(q, 0.1);
}

#define X1 1.3494066171539107918

static const RgBoxFunction box = {
  .formula = cross_in_tray,
  .minimised = true,
  .dim = 2,
  .lower = (const double[]){-10, -10},
  .upper = (const double[]){10, 10},
  .best = -2.0626118708227368778,
  .n_best = 4,
  .best_at = (const double[]){X1, X1, X1, -X1, -X1, X1, -X1, -X1},
};

const RgProblemClass rg_problem_cross_in_tray = {
  RG_ABOUT("cross_in_tray", "Cross-in-tray", 1,
           "0.0001 (|sin x1 sin x2 exp|100 - sqrt(x1^2 + x2^2)/pi|| + 1)^0.1 on [-10, 10]^2;\n"
           "four maximisers",
           "Mishra 2006, Some new test functions for global optimization"),
  RG_BOX_FIXED(box),
};
