/* gp_path_set: a sample path of a Gaussian process on an unstructured set of points.

   f = L z on N points of the unit cube, uniform or scrambled Sobol ones that depend on points_seed
   alone; L the lower Cholesky factor of the kernel matrix, z standard normal in point order from
   the instance's own stream. Every instance is another path on the same points; the optimum is
   found by scanning. No structure helps: the matrix has 8 N^2 bytes and costs N^3/3 operations,
   which a team of ranks takes (ranks_per_trial); rank and team draw the same path to rounding. */
#include "problem/gp_path.h"

#include "maths/design.h"
#include "gp/path/sample_path.h"
#include "regatta/problem.h"

typedef struct {
  RgGpPathOptions gp;
  int points, design, points_seed;
} Options;

static const char *const designs[] = {"uniform", "sobol", NULL};

static const RgParam params[] = {
  RG_INT("points", Options, points, "2000", 2, 1e6, "N", "number of points"),
  RG_INT("dim", RgGpPathOptions, dim, "3", 1, RG_SOBOL_MAX_DIM, "d", "number of coordinates"),
  RG_CHOICE("design", Options, design, "uniform", designs, "", "how the points are spread"),
  RG_INT("points_seed", Options, points_seed, "1", 0, 1e9, "",
         "another one: another set of points"),
  RG_GP_PATH_PARAMS("matern52", "0.2"),
  {0},
};

static PetscErrorCode domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const Options *o = options;
  const int dim = o->gp.dim;
  const RgStream stream = rg_stream((uint64_t)o->points_seed, class->name, 0, "points", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  double *points, *bounds;

  PetscCall(PetscMalloc1((size_t)o->points * dim, &points));
  PetscCall(PetscCalloc1(2 * (size_t)dim, &bounds));
  for (int j = 0; j < dim; j++) bounds[dim + j] = 1;
  if (o->design) PetscCall(rg_design_sobol(&random, o->points, dim, points));
  else PetscCall(rg_design_uniform(&random, o->points, dim, points));
  PetscCall(rg_space_set(&domain->design, dim, o->points, points, bounds, bounds + dim));
  PetscCall(PetscFree(bounds));
  PetscCall(PetscFree(points));
  return 0;
}

static void cost_of(const void *options, RgProblemCost *cost)
{
  cost->order = ((const Options *)options)->points;
}

const RgProblemClass rg_problem_gp_path_set = {
  RG_ABOUT("gp_path_set", "GP sample path on a set", 1,
           "a draw of a zero-mean Gaussian process on N points spread over the unit cube;\n"
           "every instance is another path on the same points",
           "the setting of arXiv:2409.00979, section 4.1, on a set without structure"),
  RG_OPTIONS(Options, params),
  .traits = RG_PROBLEM_RANDOM | RG_PROBLEM_SHARED,
  RG_DOMAIN(domain, rg_gp_path_check),
  .cost = cost_of,
  RG_GP_PATH_METHODS,
};
