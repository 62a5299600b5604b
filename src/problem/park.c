/* park1 and park2: the two functions of Park on [0, 1]^4.

   park1: f(x) = (x1/2) [sqrt(1 + (x2 + x3^2) x4/x1^2) - 1] + (x1 + 3 x4) exp(1 + sin x3), with its
          limit at x1 = 0. Maximum 25.5892541586065484 at (1, 1, 1, 1).
   park2: f(x) = (2/3) exp(x1 + x2) - x4 sin x3 + x3. Maximum 5.92603739928710015 at (1, 1, 1, 0).
   Both maxima are at corners.
   Source: J.-S. Park, Tuning complex computer codes to data and optimal designs, 1991; D. D. Cox,
   J.-S. Park, C. E. Singer, A statistical method for tuning a computer code to a data base,
   2001. */
#include "problem/box_problem.h"

#include <math.h>

static double park1(const void *options, int dim, const double *x, double *gradient)
{
  const double a = (x[1] + x[2] * x[2]) * x[3], root = sqrt(x[0] * x[0] + a);
  const double e = exp(1 + sin(x[2])), slope = root > 0 ? 1 / (4 * root) : 0; /* d root / d a */

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = 2 * slope * x[0] - 0.5 + e;
    gradient[1] = slope * x[3];
    gradient[2] = slope * 2 * x[2] * x[3] + (x[0] + 3 * x[3]) * e * cos(x[2]);
    gradient[3] = slope * (x[1] + x[2] * x[2]) + 3 * e;
  }
  return (root - x[0]) / 2 + (x[0] + 3 * x[3]) * e;
}

static double park2(const void *options, int dim, const double *x, double *gradient)
{
  const double e = exp(x[0] + x[1]) * 2 / 3;

  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = gradient[1] = e;
    gradient[2] = 1 - x[3] * cos(x[2]);
    gradient[3] = -sin(x[2]);
  }
  return e - x[3] * sin(x[2]) + x[2];
}

static const double zeros[4] = {0}, ones[4] = {1, 1, 1, 1};

static const RgBoxFunction box1 = {
  .formula = park1,
  .dim = 4,
  .lower = zeros,
  .upper = ones,
  .best = 25.589254158606548426,
  .n_best = 1,
  .best_at = ones,
};

static const RgBoxFunction box2 = {
  .formula = park2,
  .dim = 4,
  .lower = zeros,
  .upper = ones,
  .best = 5.9260373992871001487,
  .n_best = 1,
  .best_at = (const double[]){1, 1, 1, 0},
};

const RgProblemClass rg_problem_park1 = {
  RG_ABOUT("park1", "Park 1", 1,
           "(x1/2) [sqrt(1 + (x2 + x3^2) x4/x1^2) - 1] + (x1 + 3 x4) exp(1 + sin x3) on [0, 1]^4",
           "Park 1991; Cox, Park and Singer 2001"),
  RG_BOX_FIXED(box1),
};

const RgProblemClass rg_problem_park2 = {
  RG_ABOUT("park2", "Park 2", 1, "(2/3) exp(x1 + x2) - x4 sin x3 + x3 on [0, 1]^4",
           "Park 1991; Cox, Park and Singer 2001"),
  RG_BOX_FIXED(box2),
};
