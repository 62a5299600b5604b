/* rosenbrock: Rosenbrock's valley in any dimension, negated.

   V(x) = sum_{i<d} 100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2.
   plain: f = -V on [lower, upper]^d, by default [-5, 10]^4; maximum 0 at (1, .., 1).
   standardised (d = 4): f = -(V(15 u - 5) - 382658.057227524) / 375264.858362295 on [0, 1]^4, mean
   0 and variance 1 under uniform u; maximum 1.01970128217572 at (0.4, .., 0.4).
   Sources: H. H. Rosenbrock 1960 (plain); V. Picheny, T. Wagner, D. Ginsbourger, A benchmark of
   kriging-based infill criteria for noisy optimization, 2013 (standardised). */
#include "problem/box_problem.h"

#include <math.h>

static double plain(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; gradient && j < dim; j++) gradient[j] = 0;
  for (int i = 0; i + 1 < dim; i++) {
    const double valley = x[i + 1] - x[i] * x[i], ramp = 1 - x[i];
    if (gradient) {
      gradient[i] += -400 * valley * x[i] - 2 * ramp;
      gradient[i + 1] += 200 * valley;
    }
    sum += 100 * valley * valley + ramp * ramp;
  }
  return sum;
}

static double standardised(const void *options, int dim, const double *u, double *gradient)
{
  const double mean = 382658.057227524, deviation = 375264.858362295;
  double x[4];

  for (int j = 0; j < 4; j++) x[j] = 15 * u[j] - 5;
  const double v = plain(options, dim, x, gradient);
  for (int j = 0; gradient && j < 4; j++) gradient[j] *= 15 / deviation;
  return (v - mean) / deviation;
}

static const char *const variant_names[] = {"plain", "standardised", NULL};

static const RgCubeFunction functions[] = {
  {"plain", plain, .lower = -5, .upper = 10, .best = 0, .each = 1},
  {"standardised", standardised, 4, 0, 1, .best = -1.0197012821757248689, .each = 0.4},
};

static const RgParam params[] = {
  RG_CHOICE("variant", RgCubeOptions, variant, "plain", variant_names, "",
            "plain: -V; standardised: zero mean and unit variance on [0,1]^4"),
  RG_INT("dim", RgCubeOptions, dim, "4", 2, 1000, "d",
         "number of coordinates; 4 in the standardised variant"),
  RG_CUBE_BOUNDS("auto", ", plain variant; auto: -5", "auto", ", plain variant; auto: 10"),
  {0},
};

const RgProblemClass rg_problem_rosenbrock = {
  RG_ABOUT("rosenbrock", "Rosenbrock", 1,
           "-sum_{i<d} [100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2] on [lower, upper]^d; or its\n"
           "standardised form on [0, 1]^4",
           "Rosenbrock 1960; standardised: Picheny, Wagner and Ginsbourger 2013"),
  .params = params,
  RG_CUBES(functions),
};
