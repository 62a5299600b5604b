/* goldstein_price: the Goldstein-Price function, negated.

   G(a, b) = [1 + (a + b + 1)^2 (19 - 14 a + 3 a^2 - 14 b + 6 a b + 3 b^2)]
           * [30 + (2 a - 3 b)^2 (18 - 32 a + 12 a^2 + 48 b - 36 a b + 27 b^2)].
   plain: f = -G on [-2, 2]^2, maximum -3 at (0, -1).
   standardised: f = -(log G(4 u1 - 2, 4 u2 - 2) - 8.6928) / 2.4269 on [0, 1]^2, mean 0 and variance
   1 under uniform u; maximum (8.6928 - log 3) / 2.4269 at (0.5, 0.25).
   Sources: Dixon and Szego 1978 (plain); V. Picheny, T. Wagner, D. Ginsbourger, A benchmark of
   kriging-based infill criteria for noisy optimization, 2013 (standardised). */
#include "problem/box_problem.h"

#include <math.h>

static double plain(const void *options, int dim, const double *x, double *gradient)
{
  const double a = x[0], b = x[1];
  const double s = a + b + 1, t = 2 * a - 3 * b;
  const double p = 19 - 14 * a + 3 * a * a - 14 * b + 6 * a * b + 3 * b * b;
  const double q = 18 - 32 * a + 12 * a * a + 48 * b - 36 * a * b + 27 * b * b;
  const double left = 1 + s * s * p, right = 30 + t * t * q;

  (void)options, (void)dim;
  if (gradient) {
    const double left_ab = 2 * s * p + s * s * (-14 + 6 * a + 6 * b); /* the same in a and in b */
    const double right_a = 4 * t * q + t * t * (-32 + 24 * a - 36 * b);
    const double right_b = -6 * t * q + t * t * (48 - 36 * a + 54 * b);
    gradient[0] = left_ab * right + left * right_a;
    gradient[1] = left_ab * right + left * right_b;
  }
  return left * right;
}

static double standardised(const void *options, int dim, const double *u, double *gradient)
{
  const double mean = 8.6928, deviation = 2.4269;
  const double x[2] = {4 * u[0] - 2, 4 * u[1] - 2};
  const double g = plain(options, dim, x, gradient);

  if (gradient)
    for (int j = 0; j < 2; j++) gradient[j] *= 4 / (g * deviation);
  return (log(g) - mean) / deviation;
}

static const RgBoxFunction variants[] = {
  {
    .formula = plain,
    .minimised = true,
    .dim = 2,
    .lower = (const double[]){-2, -2},
    .upper = (const double[]){2, 2},
    .best = 3,
    .n_best = 1,
    .best_at = (const double[]){0, -1},
  },
  {
    .formula = standardised,
    .minimised = true,
    .dim = 2,
    .lower = (const double[]){0, 0},
    .upper = (const double[]){1, 1},
    .best = -3.1291720760360502322,
    .n_best = 1,
    .best_at = (const double[]){0.5, 0.25},
  },
};

static const char *const variant_names[] = {"plain", "standardised", NULL};

static const RgParam params[] = {
  RG_BOX_VARIANT("variant", "plain", variant_names, "",
                 "plain: -G on [-2,2]^2; standardised: -(log G - 8.6928)/2.4269 on [0,1]^2"),
  {0},
};

const RgProblemClass rg_problem_goldstein_price = {
  RG_ABOUT("goldstein_price", "Goldstein-Price", 1,
           "-G(x), G the product of two quartic factors, on [-2, 2]^2; or its standardised\n"
           "logarithm on [0, 1]^2",
           "Dixon and Szego 1978; standardised: Picheny, Wagner and Ginsbourger 2013"),
  .params = params,
  .gradient = rg_box_gradient,
  RG_BOX_VARIANTS(variants),
};
