/* unit_cube: a cube with a constant function, for designs that fill space.

   f = 0 on [0, 1]^d. The quantity of interest is the fill distance of the queries, which is
   recorded (regret/fill_distance.h).
   Source: arXiv:2502.06178, figure 3. */
#include "problem/box_problem.h"

typedef struct {
  int dim;
} Options;

static const RgParam params[] = {
  RG_INT("dim", Options, dim, "2", 1, 10, "d", "dimension"),
  {0},
};

static double zero(const void *options, int dim, const double *x, double *gradient)
{
  (void)options, (void)x;
  for (int j = 0; gradient && j < dim; j++) gradient[j] = 0;
  return 0;
}

static PetscErrorCode cube_domain(const RgProblemClass *class, const void *options,
                                  RgDomain *domain)
{
  (void)class;
  return rg_space_cube(&domain->design, ((const Options *)options)->dim, 0, 1);
}

static PetscErrorCode cube_create(RgProblem *problem, RgFailure *failure)
{
  static const double origin[10] = {0};
  const RgBoxFunction function = {
    .formula = zero, .dim = problem->domain.design.dim, .n_best = 1, .best_at = origin};

  (void)failure;
  return rg_box_function_create(&function, problem);
}

const RgProblemClass rg_problem_unit_cube = {
  RG_ABOUT("unit_cube", "Unit cube", 1,
           "f = 0 on [0, 1]^d: for space-filling designs, whose fill distance is recorded",
           "arXiv:2502.06178, figure 3"),
  .traits = RG_PROBLEM_FILLS_SPACE,
  RG_OPTIONS(Options, params),
  .domain = cube_domain,
  .create = cube_create,
  RG_BOX_METHODS,
};
