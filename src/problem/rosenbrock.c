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

enum { PLAIN, STANDARDISED };
static const char *const variant_names[] = {"plain", "standardised", NULL};

typedef struct {
  int variant, dim;
  double lower, upper; /* NaN: those of the variant */
} Options;

static const RgParam params[] = {
  {"variant", RG_PARAM_CHOICE, offsetof(Options, variant), "plain", 0, 0, variant_names, "",
   "plain: -V; standardised: zero mean and unit variance on [0,1]^4"},
  {"dim", RG_PARAM_INT, offsetof(Options, dim), "4", 2, 1000, NULL, "d",
   "number of coordinates; 4 in the standardised variant"},
  {"lower", RG_PARAM_REAL, offsetof(Options, lower), "auto", -1e6, 1e6, NULL, "",
   "lower bound of every coordinate, plain variant; auto: -5"},
  {"upper", RG_PARAM_REAL, offsetof(Options, upper), "auto", -1e6, 1e6, NULL, "",
   "upper bound of every coordinate, plain variant; auto: 10"},
  {0},
};

static void bounds(const Options *o, double *lower, double *upper)
{
  *lower = !isnan(o->lower) ? o->lower : o->variant == PLAIN ? -5 : 0;
  *upper = !isnan(o->upper) ? o->upper : o->variant == PLAIN ? 10 : 1;
}

static PetscErrorCode rosenbrock_check(const void *options, RgPlace place,
                                       RgDiagnostics *diagnostics)
{
  const Options *o = options;
  double lower, upper;

  PetscFunctionBeginUser;
  bounds(o, &lower, &upper);
  PetscCall(rg_box_check_bounds("rosenbrock", lower, upper, place, diagnostics));
  if (o->variant == PLAIN) PetscFunctionReturn(0);
  PetscCall(rg_box_check_variant("rosenbrock", variant_names[o->variant], o->dim, 4,
                                 isnan(o->lower) && isnan(o->upper), place, diagnostics));
  PetscFunctionReturn(0);
}

static PetscErrorCode rosenbrock_domain(const void *options, RgDomain *domain)
{
  const Options *o = options;
  double lower, upper;

  PetscFunctionBeginUser;
  bounds(o, &lower, &upper);
  PetscCall(rg_box_cube_domain(o->dim, lower, upper, domain));
  PetscFunctionReturn(0);
}

static PetscErrorCode rosenbrock_create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  double *best_at;

  PetscFunctionBeginUser;
  (void)failure;
  PetscCall(PetscMalloc1(o->dim, &best_at));
  for (int j = 0; j < o->dim; j++) best_at[j] = o->variant == PLAIN ? 1 : 0.4;
  const RgBoxFunction function = {
    .formula = o->variant == PLAIN ? plain : standardised,
    .minimised = true,
    .dim = o->dim,
    .best = o->variant == PLAIN ? 0 : -1.0197012821757248689,
    .n_best = 1,
    .best_at = best_at,
  };
  PetscCall(rg_box_function_create(&function, problem));
  PetscCall(PetscFree(best_at));
  PetscFunctionReturn(0);
}

const RgProblemClass rg_problem_rosenbrock = {
  .name = "rosenbrock",
  .title = "Rosenbrock",
  .summary = "-sum_{i<d} [100 (x_{i+1} - x_i^2)^2 + (1 - x_i)^2] on [lower, upper]^d; or its\n"
             "standardised form on [0, 1]^4",
  .reference = "Rosenbrock 1960; standardised: Picheny, Wagner and Ginsbourger 2013",
  .revision = 1,
  .params = params,
  .options_size = sizeof(Options),
  .check = rosenbrock_check,
  .domain = rosenbrock_domain,
  .create = rosenbrock_create,
  RG_BOX_METHODS,
};
