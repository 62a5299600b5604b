/* damped_cosine: the one-dimensional illustration of the kernel-regression paper.

   f(x) = -exp(-1.4 x) cos(3.5 pi x) on [0, 1]. Maximum 0.675760831379788 at
   (pi - arctan(0.4/pi))/(3.5 pi) = 0.274196693792634; a local maximum 0.3036389 at 0.8456253,
   minimum -1 at 0. With `levels` the design is that many equispaced points: the arms of theorem
   4.10.
   Source: arXiv:2502.06178, figures 1, 4 and 5. */
#include "problem/box_problem.h"

#include <math.h>

static double damped_cosine(const void *options, int dim, const double *x, double *gradient)
{
  const double decay = exp(-1.4 * x[0]), angle = 3.5 * M_PI * x[0];

  (void)options, (void)dim;
  if (gradient) gradient[0] = decay * (1.4 * cos(angle) + 3.5 * M_PI * sin(angle));
  return -decay * cos(angle);
}

typedef struct {
  int levels;
} Options;

static const RgParam params[] = {
  RG_INT("levels", Options, levels, "0", 0, 100000, "|X|",
         "equispaced points of a finite design, the ends included; 0: the whole interval"),
  {0},
};

static const RgBoxFunction box = {
  .formula = damped_cosine,
  .dim = 1,
  .lower = (const double[]){0},
  .upper = (const double[]){1},
  .best = 0.67576083137978782463,
  .n_best = 1,
  .best_at = (const double[]){0.27419669379263342753},
};

static PetscErrorCode cosine_check(const RgProblemClass *class, const void *options, RgPlace place,
                                   RgDiagnostics *diagnostics)
{
  if (((const Options *)options)->levels == 1)
    rg_diagnostics_add(diagnostics, place, "%s: levels is 0 (an interval) or at least 2",
                       class->name);
  return 0;
}

static PetscErrorCode cosine_domain(const RgProblemClass *class, const void *options,
                                    RgDomain *domain)
{
  const int levels = ((const Options *)options)->levels;
  double *axis;

  (void)class;
  if (!levels) {
    PetscCall(rg_box_function_domain(&box, domain));
    return 0;
  }
  PetscCall(PetscMalloc1(levels, &axis));
  for (int i = 0; i < levels; i++) axis[i] = (double)i / (levels - 1);
  PetscCall(rg_space_grid(&domain->design, 1, &levels, axis, box.lower, box.upper));
  PetscCall(PetscFree(axis));
  return 0;
}

/* The best of the arms replaces the maximum. */
static PetscErrorCode cosine_create(RgProblem *problem, RgFailure *failure)
{
  const RgSpace *design = &problem->domain.design;
  RgBoxFunction function = box;
  int best = 0;

  (void)failure;
  if (rg_space_is_finite(design)) {
    for (int i = 1; i < design->size; i++)
      if (damped_cosine(NULL, 1, &design->points[i], NULL) >
          damped_cosine(NULL, 1, &design->points[best], NULL))
        best = i;
    function.best_at = &design->points[best];
    function.best = damped_cosine(NULL, 1, function.best_at, NULL);
  }
  PetscCall(rg_box_function_create(&function, problem));
  return 0;
}

const RgProblemClass rg_problem_damped_cosine = {
  RG_ABOUT("damped_cosine", "Damped cosine", 1,
           "-exp(-1.4 x) cos(3.5 pi x) on [0, 1], or at equispaced points of it; two maxima",
           "Zhu, Zhou, Jin, Xu, Yuan, Ji 2025, arXiv:2502.06178, section 3"),
  RG_OPTIONS(Options, params),
  RG_DOMAIN(cosine_domain, cosine_check),
  .create = cosine_create,
  RG_BOX_METHODS,
};
