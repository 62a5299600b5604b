/* sphere: sums of squares, negated.

   plain: f = -sum x_j^2 on [lower, upper]^d, by default [-5.12, 5.12]^6; maximum 0 at the
   origin.
   weighted (d = 6): f = -(sum_i 2^i u_i^2 - 1745) / 899 on [0, 1]^6; maximum 1745/899 at the
   origin, a corner. This function is in use with the constants of the next one, which do not
   standardise it.
   standardised (d = 6): f = -(sum_i 2^i z_i^2 - 1745.3796) / 899.0367 on [0, 1]^6, where z = 10
   u - 5 + (-5, -3, -1, 1, 3, 5) is then rotated by pi/8 in the planes (i, j), i < j in
   lexicographic order; mean 0 and variance 1 under uniform u; maximum 1745.3796/899.0367 at (1,
   0.8, 0.6, 0.4, 0.2, 0).
   Source of the last one: V. Picheny, T. Wagner, D. Ginsbourger, A benchmark of kriging-based
   infill criteria for noisy optimization, 2013. */
#include "problem/box_problem.h"

#include <math.h>

static double plain(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0;

  (void)options;
  for (int j = 0; j < dim; j++) sum += x[j] * x[j];
  for (int j = 0; gradient && j < dim; j++) gradient[j] = 2 * x[j];
  return sum;
}

/* sum_i 2^i z_i^2 over six coordinates, i = 1..6, and its gradient. */
static double weighted_squares(const double *z, double *gradient)
{
  double sum = 0, weight = 2;

  for (int i = 0; i < 6; i++, weight *= 2) {
    sum += weight * z[i] * z[i];
    if (gradient) gradient[i] = 2 * weight * z[i];
  }
  return sum;
}

static double weighted(const void *options, int dim, const double *u, double *gradient)
{
  (void)options, (void)dim;
  const double sum = weighted_squares(u, gradient);
  for (int j = 0; gradient && j < 6; j++) gradient[j] /= 899;
  return (sum - 1745) / 899;
}

/* Rotate coordinates i and j of z by pi/8 (direction +1) or back (-1). */
static void rotate(int i, int j, double direction, double *z)
{
  const double c = cos(M_PI / 8), s = direction * sin(M_PI / 8);
  const double zi = z[i], zj = z[j];

  z[i] = c * zi + s * zj;
  z[j] = -s * zi + c * zj;
}

static double standardised(const void *options, int dim, const double *u, double *gradient)
{
  const double mean = 1745.3796, deviation = 899.0367;
  double z[6];

  (void)options, (void)dim;
  for (int j = 0; j < 6; j++) z[j] = 10 * u[j] - 10 + 2 * j;
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 6; j++) rotate(i, j, 1, z);
  const double sum = weighted_squares(z, gradient);
  if (gradient) {
    for (int i = 4; i >= 0; i--)
      for (int j = 5; j > i; j--) rotate(i, j, -1, gradient);
    for (int j = 0; j < 6; j++) gradient[j] *= 10 / deviation;
  }
  return (sum - mean) / deviation;
}

static const char *const variant_names[] = {"plain", "weighted", "standardised", NULL};

static const RgCubeFunction functions[] = {
  {"plain", plain, .lower = -5.12, .upper = 5.12},
  {"weighted", weighted, 6, 0, 1, .best = -1.9410456062291434928},
  {"standardised", standardised, 6, 0, 1, .best = -1.9413885995977694793,
   .best_at = (const double[]){1, 0.8, 0.6, 0.4, 0.2, 0}},
};

static const RgParam params[] = {
  RG_CHOICE("variant", RgCubeOptions, variant, "plain", variant_names, "",
            "plain; standardised: weighted, shifted, rotated, [0,1]^6; weighted: neither shifted "
            "nor rotated, [0,1]^6"),
  RG_INT("dim", RgCubeOptions, dim, "6", 1, 1000, "d", "number of coordinates; 6 unless plain"),
  RG_CUBE_BOUNDS("auto", ", plain variant; auto: -5.12", "auto", ", plain variant; auto: 5.12"),
  {0},
};

const RgProblemClass rg_problem_sphere = {
  RG_ABOUT("sphere", "Sphere", 1,
           "-sum x_j^2 on [lower, upper]^d; or the weighted, shifted and rotated sphere of zero\n"
           "mean and unit variance on [0, 1]^6",
           "standardised: Picheny, Wagner and Ginsbourger 2013"),
  .params = params,
  RG_CUBES(functions),
};
