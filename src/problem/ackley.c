/* ackley: Ackley's function in any dimension, negated.

   f(x) = 20 exp(-0.2 sqrt(sum x_j^2 / d)) + exp(sum cos(2 pi x_j) / d) - 20 - e on
   [lower, upper]^d, by default [-32.768, 32.768]^4. Maximum 0 at the origin, a cusp; the origin is
   the centre of the default box, which favours designs that look there first.
   Source: D. H. Ackley, A connectionist machine for genetic hillclimbing, 1987; IRGP-UCB study
   (arXiv:2409.00979), section 5.2. */
#include "problem/box_problem.h"

#include <math.h>

/* Written with expm1 so that the value at the origin is 0 and small values keep their digits. */
static double ackley(const void *options, int dim, const double *x, double *gradient)
{
  double squares = 0, cosines = 0;

  (void)options;
  for (int j = 0; j < dim; j++) {
    squares += x[j] * x[j];
    cosines += cos(2 * M_PI * x[j]);
  }
  const double r = sqrt(squares / dim), c = cosines / dim - 1;
  for (int j = 0; gradient && j < dim; j++) {
    const double cone = r > 0 ? 4 * exp(-0.2 * r) * x[j] / (r * dim) : 0;
    gradient[j] = cone + exp(1 + c) * 2 * M_PI * sin(2 * M_PI * x[j]) / dim;
  }
  return -20 * expm1(-0.2 * r) - M_E * expm1(c);
}

typedef struct {
  int dim;
  double lower, upper;
} Options;

static const RgParam params[] = {
  {"dim", RG_PARAM_INT, offsetof(Options, dim), "4", 1, 1000, NULL, "d", "number of coordinates"},
  {"lower", RG_PARAM_REAL, offsetof(Options, lower), "-32.768", -1e6, 1e6, NULL, "",
   "lower bound of every coordinate"},
  {"upper", RG_PARAM_REAL, offsetof(Options, upper), "32.768", -1e6, 1e6, NULL, "",
   "upper bound of every coordinate"},
  {0},
};

static PetscErrorCode ackley_check(const void *options, RgPlace place, RgDiagnostics *diagnostics)
{
  const Options *o = options;

  PetscFunctionBeginUser;
  PetscCall(rg_box_check_bounds("ackley", o->lower, o->upper, place, diagnostics));
  PetscFunctionReturn(0);
}

static PetscErrorCode ackley_domain(const void *options, RgDomain *domain)
{
  const Options *o = options;

  PetscFunctionBeginUser;
  PetscCall(rg_box_cube_domain(o->dim, o->lower, o->upper, domain));
  PetscFunctionReturn(0);
}

static PetscErrorCode ackley_create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  double *origin;

  PetscFunctionBeginUser;
  (void)failure;
  PetscCall(PetscCalloc1(o->dim, &origin));
  const RgBoxFunction function = {
    .formula = ackley, .minimised = true, .dim = o->dim, .best = 0, .n_best = 1, .best_at = origin};
  PetscCall(rg_box_function_create(&function, problem));
  PetscCall(PetscFree(origin));
  PetscFunctionReturn(0);
}

const RgProblemClass rg_problem_ackley = {
  .name = "ackley",
  .title = "Ackley",
  .summary = "20 exp(-0.2 sqrt(sum x_j^2/d)) + exp(sum cos(2 pi x_j)/d) - 20 - e on\n"
             "[lower, upper]^d",
  .reference = "Ackley 1987, A connectionist machine for genetic hillclimbing",
  .revision = 1,
  .params = params,
  .options_size = sizeof(Options),
  .check = ackley_check,
  .domain = ackley_domain,
  .create = ackley_create,
  RG_BOX_METHODS,
};
