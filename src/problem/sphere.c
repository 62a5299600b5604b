/* sphere: sums of squares, negated.

   plain: f = -sum x_j^2 on [lower, upper]^d, by default [-5.12, 5.12]^6; maximum 0 at the origin.
   weighted (d = 6): f = -(sum_i 2^i u_i^2 - 1745) / 899 on [0, 1]^6; maximum 1745/899 at the
   origin, a corner. Circulates with the constants of the next one, which do not standardise it.
   standardised (d = 6): f = -(sum_i 2^i z_i^2 - 1745.3796) / 899.0367 on [0, 1]^6, where
   z = 10 u - 5 + (-5, -3, -1, 1, 3, 5) is then rotated by pi/8 in the planes (i, j), i < j in
   lexicographic order; mean 0 and variance 1 under uniform u; maximum 1745.3796/899.0367 at
   (1, 0.8, 0.6, 0.4, 0.2, 0).
   Source of the last: V. Picheny, T. Wagner, D. Ginsbourger, A benchmark of kriging-based infill
   criteria for noisy optimization, 2013. */
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

enum { PLAIN, WEIGHTED, STANDARDISED };
static const char *const variant_names[] = {"plain", "weighted", "standardised", NULL};

typedef struct {
  int variant, dim;
  double lower, upper; /* NaN: those of the variant */
} Options;

static const RgParam params[] = {
  {"variant", RG_PARAM_CHOICE, offsetof(Options, variant), "plain", 0, 0, variant_names, "",
   "plain; standardised: weighted, shifted, rotated, [0,1]^6; weighted: neither shifted nor "
   "rotated, [0,1]^6"},
  {"dim", RG_PARAM_INT, offsetof(Options, dim), "6", 1, 1000, NULL, "d",
   "number of coordinates; 6 unless plain"},
  {"lower", RG_PARAM_REAL, offsetof(Options, lower), "auto", -1e6, 1e6, NULL, "",
   "lower bound of every coordinate, plain variant; auto: -5.12"},
  {"upper", RG_PARAM_REAL, offsetof(Options, upper), "auto", -1e6, 1e6, NULL, "",
   "upper bound of every coordinate, plain variant; auto: 5.12"},
  {0},
};

static void bounds(const Options *o, double *lower, double *upper)
{
  *lower = !isnan(o->lower) ? o->lower : o->variant == PLAIN ? -5.12 : 0;
  *upper = !isnan(o->upper) ? o->upper : o->variant == PLAIN ? 5.12 : 1;
}

static PetscErrorCode sphere_check(const void *options, RgPlace place, RgDiagnostics *diagnostics)
{
  const Options *o = options;
  double lower, upper;

  PetscFunctionBeginUser;
  bounds(o, &lower, &upper);
  PetscCall(rg_box_check_bounds("sphere", lower, upper, place, diagnostics));
  if (o->variant == PLAIN) PetscFunctionReturn(0);
  PetscCall(rg_box_check_variant("sphere", variant_names[o->variant], o->dim, 6,
                                 isnan(o->lower) && isnan(o->upper), place, diagnostics));
  PetscFunctionReturn(0);
}

static PetscErrorCode sphere_domain(const void *options, RgDomain *domain)
{
  const Options *o = options;
  double lower, upper;

  PetscFunctionBeginUser;
  bounds(o, &lower, &upper);
  PetscCall(rg_box_cube_domain(o->dim, lower, upper, domain));
  PetscFunctionReturn(0);
}

static PetscErrorCode sphere_create(RgProblem *problem, RgFailure *failure)
{
  static const double shifted[6] = {1, 0.8, 0.6, 0.4, 0.2, 0};
  static const RgFormula formulas[] = {plain, weighted, standardised};
  static const double best[] = {0, -1.9410456062291434928, -1.9413885995977694793};
  const Options *o = problem->options;
  double *origin;

  PetscFunctionBeginUser;
  (void)failure;
  PetscCall(PetscCalloc1(o->dim, &origin));
  const RgBoxFunction function = {
    .formula = formulas[o->variant],
    .minimised = true,
    .dim = o->dim,
    .best = best[o->variant],
    .n_best = 1,
    .best_at = o->variant == STANDARDISED ? shifted : origin,
  };
  PetscCall(rg_box_function_create(&function, problem));
  PetscCall(PetscFree(origin));
  PetscFunctionReturn(0);
}

const RgProblemClass rg_problem_sphere = {
  .name = "sphere",
  .title = "Sphere",
  .summary = "-sum x_j^2 on [lower, upper]^d; or the weighted, shifted and rotated sphere of zero\n"
             "mean and unit variance on [0, 1]^6",
  .reference = "standardised: Picheny, Wagner and Ginsbourger 2013",
  .revision = 1,
  .params = params,
  .options_size = sizeof(Options),
  .check = sphere_check,
  .domain = sphere_domain,
  .create = sphere_create,
  RG_BOX_METHODS,
};
