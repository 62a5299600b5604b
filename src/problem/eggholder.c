/* eggholder: the Eggholder function, negated.

   f(x) = (x2 + 47) sin sqrt|x2 + x1/2 + 47| + x1 sin sqrt|x1 - (x2 + 47)| on [-512, 512]^2. Maximum
   959.640662720850803 on the boundary, at (512, 404.231805113757811). Not smooth where the argument
   of a root vanishes.
   Source: D. Whitley et al., Evaluating evolutionary algorithms, 1996. */
#include "problem/box_problem.h"

#include <math.h>

/* sin sqrt|v| and its derivative by v. */
static double wave(double v, double *slope)
{
  const double r = sqrt(fabs(v));

  *slope = r > 0 ? cos(r) / (2 * r) * (v > 0 ? 1 : -1) : 0;
  return sin(r);
}

static double eggholder(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[1] + 47;
  double slope_a, slope_b;
  const double wave_a = wave(a + x[0] / 2, &slope_a), wave_b = wave(x[0] - a, &slope_b);

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = -a * slope_a / 2 - wave_b - x[0] * slope_b;
    gradient[1] = -wave_a - a * slope_a + x[0] * slope_b;
  }
  return -a * wave_a - x[0] * wave_b;
}

static const RgBoxFunction box = {
  .formula = eggholder,
  .minimised = true,
  .dim = 2,
  .lower = (const double[]){-512, -512},
  .upper = (const double[]){512, 512},
  .best = -959.64066272085080283,
  .n_best = 1,
  .best_at = (const double[]){512, 404.23180511375781093},
};

const RgProblemClass rg_problem_eggholder = {
  RG_ABOUT("eggholder", "Eggholder", 1,
           "(x2 + 47) sin sqrt|x2 + x1/2 + 47| + x1 sin sqrt|x1 - (x2 + 47)| on [-512, 512]^2;\n"
           "the maximiser is on the boundary",
           "Whitley et al. 1996, Evaluating evolutionary algorithms"),
  RG_BOX_FIXED(box),
};
