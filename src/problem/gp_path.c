/* gp_path: a sample path of a Gaussian process on a product grid in the unit cube.

   f = L z on the points x = spacing * (i_1, .., i_d), 0 <= i_j < levels, first coordinate slowest;
   L the lower Cholesky factor of the kernel matrix, z standard normal in point order from the
   instance's own stream. One path per instance; the optimum is found by scanning.
   The default is the synthetic problem of the IRGP-UCB study: grid {0, 0.1, .., 0.9}^3, Gaussian
   kernel, length scale 0.1, variance 1 (arXiv:2409.00979, section 5.1). The domain's bounds are
   [0, 1] whatever the spacing, so that native and unit-cube coordinates are the same.
   Cost: O(N d levels) for the Gaussian kernel, O(N^3) for the others (d > 1), N = levels^d. */
#include "problem/gp_path.h"

#include "gp/kernel/family.h"
#include "gp/path/sample_path.h"
#include "regatta/problem.h"

#include <math.h>

#define MAX_POINTS 4194304     /* 2^22 */
#define MAX_POINTS_DENSE 20000 /* a dense factor of 3.2 GB */

PetscErrorCode rg_gp_path_check(const RgProblemClass *class, const void *options, RgPlace place,
                                RgDiagnostics *diagnostics)
{
  const RgGpPathOptions *o = options;
  const int n = o->length_scale.n, dim = o->dim;

  if (n != 1 && n != dim)
    rg_diagnostics_add(diagnostics, place,
                       "%s: length_scale has %d values; 1 or dim = %d are accepted", class->name, n,
                       dim);
  return 0;
}

PetscErrorCode rg_gp_path_prior(const void *options, RgKernel *kernel)
{
  const RgGpPathOptions *o = options;

  return rg_kernel_create((RgKernelFamily)o->kernel, o->dim, o->length_scale.n > 1,
                          o->length_scale.values, o->variance, kernel);
}

PetscErrorCode rg_gp_path_create(RgProblem *problem, RgFailure *failure)
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
  PetscCall(rg_gp_path_prior(problem->options, &kernel));
  PetscCall(rg_sample_path_on(problem->team, design, &kernel, z, f, &jitter, failure));
  PetscCall(rg_kernel_destroy(&kernel));
  PetscCall(PetscFree(z));
  if (!failure->failed) PetscCall(rg_problem_scan(problem, f, 1));
  return 0;
}

PetscErrorCode rg_gp_path_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                   RgFailure *failure)
{
  const double *path = problem->data;

  for (int i = 0; i < m; i++) f[i] = path[points[i].index];
  return 0;
}

/* ---- on a grid ------------------------------------------------------------------------------- */

typedef struct {
  RgGpPathOptions gp;
  int levels;
  double spacing; /* NaN: 1/levels */
} Options;

static const RgParam params[] = {
  RG_INT("dim", RgGpPathOptions, dim, "3", 1, 20, "d", "number of coordinates"),
  RG_INT("levels", Options, levels, "10", 2, 10000, "", "grid levels per coordinate"),
  RG_REAL("spacing", Options, spacing, "auto", RG_POSITIVE, 1, "",
          "distance of neighbouring levels, the first at 0; auto: 1/levels"),
  RG_GP_PATH_PARAMS("gaussian", "0.1"),
  {0},
};

/* Level i of a coordinate. */
static double level(const Options *o, int i)
{
  return isnan(o->spacing) ? (double)i / o->levels : i * o->spacing;
}

static PetscErrorCode gp_path_check(const RgProblemClass *class, const void *options, RgPlace place,
                                    RgDiagnostics *diagnostics)
{
  const Options *o = options;
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
  PetscCall(rg_gp_path_check(class, options, place, diagnostics));
  return 0;
}

static PetscErrorCode gp_path_domain(const RgProblemClass *class, const void *options,
                                     RgDomain *domain)
{
  const Options *o = options;
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
  PetscCall(PetscFree4(axes, lower, upper, levels));
  return 0;
}

/* Separable kernels are products over coordinates. */
static void gp_path_cost(const void *options, RgProblemCost *cost)
{
  const Options *o = options;

  const bool factors = rg_kernel_classes[o->gp.kernel]->separable || o->gp.dim == 1;

  cost->order = factors ? o->levels : pow(o->levels, o->gp.dim);
}

const RgProblemClass rg_problem_gp_path = {
  RG_ABOUT("gp_path", "GP sample path", 1,
           "a draw of a zero-mean Gaussian process on the grid spacing * {0, .., levels-1}^d\n"
           "in the unit cube; every instance is another path",
           "Takeno, Inatsu and Karasuyama 2024, arXiv:2409.00979, 5.1"),
  RG_OPTIONS(Options, params),
  RG_DOMAIN(gp_path_domain, gp_path_check),
  .traits = RG_PROBLEM_RANDOM,
  .cost = gp_path_cost,
  RG_GP_PATH_METHODS,
};
