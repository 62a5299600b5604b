/* michalewicz: Michalewicz's function in any dimension, negated.

   f(x) = sum_i sin(x_i) sin(i x_i^2/pi)^(2 m) on [0, pi]^d, by default d = 5 and m = 10. The sum is
   separable, so the maximum is found coordinate by coordinate: 1.8013034 for d = 2, 4.6876582 for
   d = 5, 9.6601517 for d = 10 (m = 10).
   Source: Z. Michalewicz, Genetic algorithms + data structures = evolution programs, 1992. */
#include "problem/box_problem.h"

#include <math.h>

typedef struct {
  int dim, steepness;
} Options;

static const RgParam params[] = {
  RG_INT("dim", Options, dim, "5", 1, 1000, "d", "number of coordinates"),
  RG_INT("steepness", Options, steepness, "10", 1, 1000, "m", "steepness of the valleys"),
  {0},
};

/* Term i = 1, 2, ... of the sum at x, and its derivative. */
static double term(int i, int steepness, double x, double *slope)
{
  const double angle = i * x * x / M_PI, s = sin(angle), power = pow(s * s, steepness - 1);

  *slope = cos(x) * power * s * s + sin(x) * 4 * steepness * i * x / M_PI * power * s * cos(angle);
  return sin(x) * power * s * s;
}

static double michalewicz(const void *options, int dim, const double *x, double *gradient)
{
  double sum = 0, slope;

  for (int j = 0; j < dim; j++) {
    sum += term(j + 1, ((const Options *)options)->steepness, x[j], &slope);
    if (gradient) gradient[j] = slope;
  }
  return sum;
}

/* The maximum of term i beside the peak of its power at x: a zero of the derivative of log f, which
   decreases there, by Newton's method. */
static double climb(int i, int steepness, double x)
{
  for (int k = 0; k < 100; k++) {
    const double rate = 2 * i / M_PI, tangent = tan(x), power_tangent = tan(i * x * x / M_PI);
    const double slope = 1 / tangent + 2 * steepness * rate * x / power_tangent;
    const double outer = 1 + 1 / (tangent * tangent);
    const double inner = 1 + 1 / (power_tangent * power_tangent);
    const double bend = -outer + 2 * steepness * rate * (1 / power_tangent - rate * x * x * inner);
    const double step = slope / bend;
    x -= step;
    if (fabs(step) < 1e-16) break;
  }
  return x;
}

/* The coordinate i of the maximiser: the best of the peaks. */
static double best_coordinate(int i, int steepness, double *best)
{
  double at = 0, slope;

  *best = -INFINITY;
  for (int k = 0; k < i; k++) {
    const double x = climb(i, steepness, M_PI * sqrt((k + 0.5) / i));
    const double value = term(i, steepness, x, &slope);
    if (value <= *best) continue;
    *best = value;
    at = x;
  }
  return at;
}

static PetscErrorCode domain_of(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  (void)class;
  return rg_space_cube(&domain->design, ((const Options *)options)->dim, 0, M_PI);
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  RgBoxFunction function = {.formula = michalewicz, .dim = o->dim, .n_best = 1};
  double *at, value;

  (void)failure;
  PetscCall(PetscMalloc1(o->dim, &at));
  for (int j = 0; j < o->dim; j++) {
    at[j] = best_coordinate(j + 1, o->steepness, &value);
    function.best += value;
  }
  function.best_at = at;
  PetscCall(rg_box_function_create(&function, problem));
  PetscCall(PetscFree(at));
  return 0;
}

const RgProblemClass rg_problem_michalewicz = {
  RG_ABOUT("michalewicz", "Michalewicz", 1, "sum_i sin(x_i) sin(i x_i^2/pi)^(2 m) on [0, pi]^d",
           "Michalewicz 1992, Genetic algorithms + data structures = evolution programs"),
  RG_OPTIONS(Options, params),
  .domain = domain_of,
  .create = create,
  RG_BOX_METHODS,
};
