/* gardner: the two simulations of constrained Bayesian optimisation, negated.

   1: f(x) = -[cos 2x1 cos x2 + sin x1], constraint cos x1 cos x2 - sin x1 sin x2 - 0.5 <= 0,
      that is cos(x1 + x2) <= 0.5. Maximum 2 at (3 pi/2, 0); a third of the square is infeasible.
   2: f(x) = -[sin x1 + x2], constraint sin x1 sin x2 + 0.95 <= 0. Maximum 1 - arcsin 0.95 =
      -0.253235897503375 at (3 pi/2, arcsin 0.95), on the boundary of two small regions that are
      1.8 percent of the square.
   Both on [0, 6]^2.
   Source: Gardner, Kusner, Xu, Weinberger, Cunningham (2014), Bayesian optimization with inequality
   constraints, ICML, section 4.1. Its constraints are c <= lambda; here c - lambda. */
#include "problem/box_problem.h"

#include <math.h>

static double simulation_1(const void *options, int dim, const double *x, double *gradient)
{
  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = -2 * sin(2 * x[0]) * cos(x[1]) + cos(x[0]);
    gradient[1] = -cos(2 * x[0]) * sin(x[1]);
  }
  return cos(2 * x[0]) * cos(x[1]) + sin(x[0]);
}

static double simulation_2(const void *options, int dim, const double *x, double *gradient)
{
  (void)options, (void)dim;
  if (gradient) {
    gradient[0] = cos(x[0]);
    gradient[1] = 1;
  }
  return sin(x[0]) + x[1];
}

#define ARCSIN_95 1.25323589750337531
#define SQUARE                                                                                     \
  .minimised = true, .dim = 2, .lower = (const double[]){0, 0}, .upper = (const double[]){6, 6},   \
  .n_best = 1

static const RgBoxFunction simulations[] = {
  {SQUARE, .formula = simulation_1, .best = -2, .best_at = (const double[]){1.5 * M_PI, 0}},
  {SQUARE, .formula = simulation_2, .best = ARCSIN_95 - 1,
   .best_at = (const double[]){1.5 * M_PI, ARCSIN_95}}};

static const char *const names[] = {"1", "2", NULL};

static const RgParam params[] = {RG_BOX_VARIANT("simulation", "1", names, "", "which of the two"),
                                 {0}};

static PetscErrorCode gardner_domain(const RgProblemClass *class, const void *options,
                                     RgDomain *domain)
{
  static const char *const constraint[] = {"c"};

  PetscCall(rg_box_domain(class, options, domain));
  PetscCall(rg_domain_constrain(domain, 1, constraint));
  return 0;
}

static PetscErrorCode gardner_constrain(RgProblem *problem, int m, const RgPoint *points,
                                        double *constraints, RgFailure *failure)
{
  const RgBoxOptions *options = problem->options;

  (void)failure;
  for (int i = 0; i < m; i++) {
    const double *x = points[i].x;
    constraints[i] = options->variant ? sin(x[0]) * sin(x[1]) + 0.95
                                      : cos(x[0]) * cos(x[1]) - sin(x[0]) * sin(x[1]) - 0.5;
  }
  return 0;
}

const RgProblemClass rg_problem_gardner = {
  RG_ABOUT(
    "gardner", "Gardner", 1,
    "1: -[cos 2x1 cos x2 + sin x1] where cos(x1 + x2) <= 0.5; 2: -[sin x1 + x2] where\n"
    "sin x1 sin x2 <= -0.95; on [0, 6]^2, with one outcome constraint",
    "Gardner, Kusner, Xu, Weinberger, Cunningham 2014, Bayesian optimization with inequality "
    "constraints, ICML, section 4.1"),
  RG_OPTIONS(RgBoxOptions, params),
  .family = simulations,
  .domain = gardner_domain,
  .create = rg_box_create,
  .evaluate = rg_box_evaluate,
  .constrain = gardner_constrain,
  .gradient = rg_box_gradient,
};
