/* gp_path and gp_path_set: sample paths of a Gaussian process on a product grid, and on a set of
   points without structure, in the unit cube.

   f = L z on the N points, L the lower Cholesky factor of the kernel matrix, z standard normal in
   point order from the instance's own stream. Every instance is another path on the same points;
   the optimum is found by scanning. The domain's bounds are [0, 1], so that native and unit-cube
   coordinates are the same.
   gp_path: x = spacing * (i_1, .., i_d), 0 <= i_j < levels, first coordinate slowest. The default
   is the synthetic problem of the IRGP-UCB study: grid {0, 0.1, .., 0.9}^3, Gaussian kernel, length
   scale 0.1, variance 1 (arXiv:2409.00979, section 5.1). Cost: O(N d levels) for the Gaussian
   kernel, O(N^3) for the others (d > 1), N = levels^d.
   gp_path_set: uniform or scrambled Sobol points that depend on points_seed alone. No structure
   helps: the matrix has 8 N^2 bytes and costs N^3/3 operations, which a team of ranks takes
   (ranks_per_trial); rank and team draw the same path to rounding. */
#include "gp/kernel/family.h"
#include "gp/kernel/kernel.h"
#include "gp/path/sample_path.h"
#include "maths/design.h"
#include "regatta/problem.h"

#include <math.h>

#define MAX_POINTS 4194304     /* 2^22 */
#define MAX_POINTS_DENSE 20000 /* a dense factor of 3.2 GB */

/* First member of the options. */
typedef struct {
  int dim, kernel;
  RgReals length_scale;
  double variance;
} PathOptions;

#define PATH_PARAMS(kernel_, length_scale_)                                                        \
  RG_CHOICE("kernel", PathOptions, kernel, kernel_, rg_kernel_family_names, "k",                   \
            "family of the covariance function"),                                                  \
    RG_REALS("length_scale", PathOptions, length_scale, length_scale_, RG_POSITIVE, 1e6, "ell",    \
             "length scale, or one per coordinate"),                                               \
    RG_REAL("variance", PathOptions, variance, "1", RG_POSITIVE, 1e12, "sigma_f^2",                \
            "variance of f at every point")

static PetscErrorCode path_check(const RgProblemClass *class, const void *options, RgPlace place,
                                 RgDiagnostics *diagnostics)
{
  const PathOptions *o = options;
  const int n = o->length_scale.n, dim = o->dim;

  if (n != 1 && n != dim)
    rg_diagnostics_add(diagnostics, place,
                       "%s: length_scale has %d values; 1 or dim = %d are accepted", class->name, n,
                       dim);
  return 0;
}

static PetscErrorCode path_prior(const void *options, RgKernel *kernel)
{
  const PathOptions *o = options;

  return rg_kernel_create((RgKernelFamily)o->kernel, o->dim, o->length_scale.n > 1,
                          o->length_scale.values, o->variance, kernel);
}

static PetscErrorCode path_create(RgProblem *problem, RgFailure *failure)
{
  const RgSpace *design = &problem->domain.design;
  const size_t size = (size_t)design->size;
  RgRandom random = rg_stream_at(&problem->stream, 0);
  RgKernel kernel;
  double *z, *f, jitter;

  PetscCall(PetscMalloc1(size, &f));
  problem->data = f;
  PetscCall(PetscMalloc1(size, &z));
  rg_random_normals(&random, size, z);
  PetscCall(path_prior(problem->options, &kernel));
  PetscCall(rg_sample_path(problem->team, design, &kernel, z, f, &jitter, failure));
  PetscCall(rg_kernel_destroy(&kernel));
  PetscCall(PetscFree(z));
  if (!failure->failed) PetscCall(rg_problem_scan(problem, f, 1));
  return 0;
}

static PetscErrorCode path_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                    RgFailure *failure)
{
  const double *path = problem->data;

  for (int i = 0; i < m; i++) f[i] = path[points[i].index];
  return 0;
}

#define PATH_METHODS .prior = path_prior, .create = path_create, .evaluate = path_evaluate

/* ---- on a grid ------------------------------------------------------------------------------- */

typedef struct {
  PathOptions gp;
  int levels;
  double spacing; /* NaN: 1/levels */
} GridOptions;

static const RgParam grid_params[] = {
  RG_INT("dim", PathOptions, dim, "3", 1, 20, "d", "number of coordinates"),
  RG_INT("levels", GridOptions, levels, "10", 2, 10000, "", "grid levels per coordinate"),
  RG_REAL("spacing", GridOptions, spacing, "auto", RG_POSITIVE, 1, "",
          "distance of neighbouring levels, the first at 0; auto: 1/levels"),
  PATH_PARAMS("gaussian", "0.1"),
  {0},
};

static double level(const GridOptions *o, int i)
{
  return isnan(o->spacing) ? (double)i / o->levels : i * o->spacing;
}

static PetscErrorCode grid_check(const RgProblemClass *class, const void *options, RgPlace place,
                                 RgDiagnostics *diagnostics)
{
  const GridOptions *o = options;
  const double size = pow(o->levels, o->gp.dim);
  const bool dense = !rg_kernel_classes[o->gp.kernel]->separable;
  const double most = dense ? MAX_POINTS_DENSE : MAX_POINTS;

  if (size > most)
    rg_diagnostics_add(diagnostics, place,
                       "%s: levels^dim = %.15g points; at most %.0f are possible with the %s "
                       "kernel",
                       class->name, size, most, rg_kernel_family_names[o->gp.kernel]);
  if (level(o, o->levels - 1) > 1 + 1e-12)
    rg_diagnostics_add(diagnostics, place,
                       "%s: spacing = %g takes %d levels beyond the unit cube; at most %g",
                       class->name, o->spacing, o->levels, 1.0 / (o->levels - 1));
  return path_check(class, options, place, diagnostics);
}

static PetscErrorCode grid_domain(const RgProblemClass *class, const void *options,
                                  RgDomain *domain)
{
  const GridOptions *o = options;
  const size_t dim = (size_t)o->gp.dim, n = (size_t)o->levels;
  double *axes, *lower, *upper;
  int *levels;

  PetscCall(PetscMalloc4(dim * n, &axes, dim, &lower, dim, &upper, dim, &levels));
  for (size_t j = 0; j < dim; j++) {
    levels[j] = o->levels;
    lower[j] = 0;
    upper[j] = 1;
    for (int i = 0; i < o->levels; i++) axes[j * n + i] = level(o, i);
  }
  PetscCall(rg_space_grid(&domain->design, o->gp.dim, levels, axes, lower, upper));
  return PetscFree4(axes, lower, upper, levels);
}

/* Separable kernels are products over coordinates. */
static void grid_cost(const void *options, RgProblemCost *cost)
{
  const GridOptions *o = options;

  const bool factors = rg_kernel_classes[o->gp.kernel]->separable || o->gp.dim == 1;

  cost->order = factors ? o->levels : pow(o->levels, o->gp.dim);
}

const RgProblemClass rg_problem_gp_path = {
  RG_ABOUT("gp_path", "GP sample path", 1,
           "a draw of a zero-mean Gaussian process on the grid spacing * {0, .., levels-1}^d\n"
           "in the unit cube; every instance is another path",
           "Takeno, Inatsu and Karasuyama 2024, arXiv:2409.00979, 5.1"),
  RG_OPTIONS(GridOptions, grid_params),
  RG_DOMAIN(grid_domain, grid_check),
  .traits = RG_PROBLEM_RANDOM,
  .cost = grid_cost,
  PATH_METHODS,
};

/* ---- on a set -------------------------------------------------------------------------------- */

typedef struct {
  PathOptions gp;
  int points, design, points_seed;
} SetOptions;

static const char *const set_designs[] = {"uniform", "sobol", NULL};

static const RgParam set_params[] = {
  RG_INT("points", SetOptions, points, "2000", 2, 1e6, "N", "number of points"),
  RG_INT("dim", PathOptions, dim, "3", 1, RG_SOBOL_MAX_DIM, "d", "number of coordinates"),
  RG_CHOICE("design", SetOptions, design, "uniform", set_designs, "", "how the points are spread"),
  RG_INT("points_seed", SetOptions, points_seed, "1", 0, 1e9, "",
         "another one: another set of points"),
  PATH_PARAMS("matern52", "0.2"),
  {0},
};

static PetscErrorCode set_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const SetOptions *o = options;
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
  return PetscFree(points);
}

static void set_cost(const void *options, RgProblemCost *cost)
{
  cost->order = ((const SetOptions *)options)->points;
}

const RgProblemClass rg_problem_gp_path_set = {
  RG_ABOUT("gp_path_set", "GP sample path on a set", 1,
           "a draw of a zero-mean Gaussian process on N points spread over the unit cube;\n"
           "every instance is another path on the same points",
           "the setting of arXiv:2409.00979, section 4.1, on a set without structure"),
  RG_OPTIONS(SetOptions, set_params),
  .traits = RG_PROBLEM_RANDOM | RG_PROBLEM_SHARED,
  RG_DOMAIN(set_domain, path_check),
  .cost = set_cost,
  PATH_METHODS,
};
