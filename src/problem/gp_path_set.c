/* gp_path_set: a sample path of a Gaussian process on an unstructured set of points.

   f = L z on N points of the unit cube, uniform or scrambled Sobol ones that depend on points_seed
   alone; L the lower Cholesky factor of the kernel matrix, z standard normal in point order from
   the instance's own stream. Every instance is another path on the same points; the optimum is
   found by scanning. No structure helps: the matrix has 8 N^2 bytes and costs N^3/3 operations,
   which a team of ranks takes (ranks_per_trial); rank and team draw the same path to rounding. */
#include "maths/design.h"
#include "gp/path/sample_path.h"
#include "regatta/problem.h"

typedef struct {
  int points, dim, design, points_seed, kernel;
  RgReals length_scale;
  double variance;
} Options;

static const char *const designs[] = {"uniform", "sobol", NULL};

// clang-format off
static const RgParam params[] = {
  {"points", RG_PARAM_INT, offsetof(Options, points), "2000", 2, 1e6, NULL, "N",
   "number of points"},
  {"dim", RG_PARAM_INT, offsetof(Options, dim), "3", 1, RG_SOBOL_MAX_DIM, NULL, "d",
   "number of coordinates"},
  {"design", RG_PARAM_CHOICE, offsetof(Options, design), "uniform", 0, 0, designs, "",
   "how the points are spread"},
  {"points_seed", RG_PARAM_INT, offsetof(Options, points_seed), "1", 0, 1e9, NULL, "",
   "another one: another set of points"},
  {"kernel", RG_PARAM_CHOICE, offsetof(Options, kernel), "matern52", 0, 0, rg_kernel_family_names,
   "k", "family of the covariance function"},
  {"length_scale", RG_PARAM_REALS, offsetof(Options, length_scale), "0.2", RG_POSITIVE, 1e6, NULL,
   "ell", "length scale, or one per coordinate"},
  {"variance", RG_PARAM_REAL, offsetof(Options, variance), "1", RG_POSITIVE, 1e12, NULL,
   "sigma_f^2", "variance of f at every point"},
  {0}};
// clang-format on

static PetscErrorCode check(const void *options, RgPlace place, RgDiagnostics *diagnostics)
{
  const Options *o = options;

  PetscFunctionBeginUser;
  if (o->length_scale.n != 1 && o->length_scale.n != o->dim)
    rg_diagnostics_add(diagnostics, place,
                       "gp_path_set: length_scale has %d values; 1 or dim = %d are accepted",
                       o->length_scale.n, o->dim);
  PetscFunctionReturn(0);
}

static PetscErrorCode domain(const void *options, RgDomain *domain)
{
  const Options *o = options;
  const RgStream stream = rg_stream((uint64_t)o->points_seed, "gp_path_set", 0, "points", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  double *points, *lower, *upper;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)o->points * o->dim, &points));
  PetscCall(PetscMalloc2(o->dim, &lower, o->dim, &upper));
  for (int j = 0; j < o->dim; j++) {
    lower[j] = 0;
    upper[j] = 1;
  }
  if (o->design) PetscCall(rg_design_sobol(&random, o->points, o->dim, points));
  else PetscCall(rg_design_uniform(&random, o->points, o->dim, points));
  PetscCall(rg_space_set(&domain->design, o->dim, o->points, points, lower, upper));
  PetscCall(PetscFree2(lower, upper));
  PetscCall(PetscFree(points));
  PetscFunctionReturn(0);
}

/* Native and unit coordinates are the same. */
static PetscErrorCode prior(const void *options, RgKernel *kernel)
{
  const Options *o = options;

  PetscFunctionBeginUser;
  PetscCall(rg_kernel_create((RgKernelFamily)o->kernel, o->dim, o->length_scale.n > 1,
                             o->length_scale.values, o->variance, kernel));
  PetscFunctionReturn(0);
}

static double dense_order(const void *options)
{
  return ((const Options *)options)->points;
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const RgSpace *set = &problem->domain.design;
  const size_t size = (size_t)set->size;
  RgRandom random = rg_stream_at(&problem->stream, 0);
  RgKernel kernel;
  double *z, *f, jitter;
  int best = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(size, &f));
  problem->data = f;
  PetscCall(PetscMalloc1(size, &z));
  rg_random_normals(&random, size, z);
  PetscCall(prior(problem->options, &kernel));
  PetscCall(rg_sample_path_on(problem->team, set, &kernel, z, f, &jitter, failure));
  PetscCall(rg_kernel_destroy(&kernel));
  PetscCall(PetscFree(z));
  if (failure->failed) PetscFunctionReturn(0);
  for (int i = 1; i < set->size; i++)
    if (f[i] > f[best]) best = i;
  problem->optimum = f[best];
  problem->n_optimisers = 1;
  PetscCall(PetscMalloc1(set->dim, &problem->optimisers));
  rg_space_to_native(set, set->points + (size_t)best * set->dim, problem->optimisers);
  PetscFunctionReturn(0);
}

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  const double *path = problem->data;

  PetscFunctionBeginUser;
  (void)failure;
  for (int i = 0; i < m; i++) f[i] = path[points[i].index];
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy(RgProblem *problem)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(problem->data));
  PetscFunctionReturn(0);
}

const RgProblemClass rg_problem_gp_path_set = {
  .name = "gp_path_set",
  .title = "GP sample path on a set",
  .summary = "a draw of a zero-mean Gaussian process on N points spread over the unit cube;\n"
             "every instance is another path on the same points",
  .reference = "the setting of arXiv:2409.00979, section 4.1, on a set without structure",
  .revision = 1,
  .params = params,
  .options_size = sizeof(Options),
  .random = true,
  .shared = true,
  .check = check,
  .domain = domain,
  .prior = prior,
  .dense_order = dense_order,
  .create = create,
  .evaluate = evaluate,
  .destroy = destroy,
};
