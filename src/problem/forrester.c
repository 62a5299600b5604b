/* forrester: the one-dimensional function of Forrester et al., negated.

   f(x) = -(6 x - 2)^2 sin(12 x - 4) on [0, 1]. Maximum 6.02074005576708 at 0.757248757841856; a
   local maximum 0.9863254 at 0.1425893.
   Source: A. Forrester, A. Sobester, A. Keane, Engineering Design via Surrogate Modelling, 2008. */
#include "problem/box_problem.h"

#include <math.h>

static double forrester(const void *options, int dim, const double *x, double *gradient)
{
  const double p = 6 * x[0] - 2, s = sin(2 * p);

  (void)options, (void)dim;
  if (gradient) gradient[0] = 12 * p * s + 12 * p * p * cos(2 * p);
  return p * p * s;
}

static const RgBoxFunction box = {
  .formula = forrester,
  .minimised = true,
  .dim = 1,
  .lower = (const double[]){0},
  .upper = (const double[]){1},
  .best = -6.0207400557670827866,
  .n_best = 1,
  .best_at = (const double[]){0.75724875784185587005},
};

const RgProblemClass rg_problem_forrester = {
  RG_ABOUT("forrester", "Forrester", 1, "-(6 x - 2)^2 sin(12 x - 4) on [0, 1]",
           "Forrester, Sobester and Keane 2008, Engineering Design via Surrogate Modelling"),
  RG_BOX_FIXED(box),
};
