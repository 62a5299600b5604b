/* gp_path_sum: a sum of four Gaussian process paths on overlapping triples of coordinates.

     f = f1(x1,x2,x3) + f2(x2,x3,w1) + f3(x3,w1,w2) + f4(w1,w2,w3)

   on the grid of `levels` equally spaced values of [-2, 2] per coordinate, f1..f4 independent with
   kernel exp(-|.|^2/1.75); w1, w2, w3 independent with weights phi(w - 1), phi(w), phi(w + 1).
   Every instance is another draw. The 6D problem of arXiv:2504.03172, section 5.1 (7 levels). */
#include "maths/normal.h"
#include "gp/kernel/kernel.h"
#include "gp/path/sample_path.h"
#include "problem/finite_context.h"

#include <math.h>

enum { TERMS = 4, LEVELS_MAX = 12 };

static const RgParam params[] = {
  RG_FINITE_GRID_PARAMS("7", LEVELS_MAX,
                        "grid levels per coordinate: levels^3 designs, as many contexts"),
  {0}};

static double weight(int k, double w)
{
  return rg_normal_pdf(w + (k - 1));
}

static const RgFiniteGrid grid = {3, -2.0, 2.0, weight};

/* One path per term on the grid of a triple: paths (TERMS x triple->size). */
static PetscErrorCode draw_paths(const RgProblem *problem, const RgSpace *triple, double *paths,
                                 RgFailure *failure)
{
  const double length_scale = sqrt(1.75 / 2.0) / 4.0; /* unit coordinates of [-2, 2] */
  RgKernel kernel;
  double *z, jitter;

  PetscCall(PetscMalloc1(triple->size, &z));
  PetscCall(rg_kernel_create(RG_KERNEL_GAUSSIAN, 3, false, &length_scale, 1.0, &kernel));
  for (int t = 0; t < TERMS && !failure->failed; t++) {
    RgRandom random = rg_stream_at(&problem->stream, (uint64_t)t);

    rg_random_normals(&random, (size_t)triple->size, z);
    PetscCall(
      rg_sample_path(triple, &kernel, z, paths + (size_t)t * triple->size, &jitter, failure));
  }
  PetscCall(rg_kernel_destroy(&kernel));
  PetscCall(PetscFree(z));
  return 0;
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const RgSpace *triple = &problem->domain.design;
  const RgFiniteGridOptions *o = problem->options;
  size_t n = (size_t)triple->size, levels = (size_t)o->levels;
  RgFiniteContext *data;
  double *paths;

  PetscCall(rg_finite_context_create(problem, &data));
  PetscCall(PetscMalloc1(TERMS * n, &paths));
  PetscCall(draw_paths(problem, triple, paths, failure));
  if (!failure->failed) {
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        size_t first = j / (levels * levels), two = j / levels;     /* w1 and (w1, w2) */
        size_t last_two = i % (levels * levels), last = i % levels; /* (x2, x3) and x3 */

        data->f[i * n + j] = paths[i] + paths[n + last_two * levels + first] +
                             paths[2 * n + last * levels * levels + two] + paths[3 * n + j];
      }
    }
    PetscCall(rg_finite_context_finish(problem));
  }
  PetscCall(PetscFree(paths));
  return 0;
}

const RgProblemClass rg_problem_gp_path_sum = {
  RG_ABOUT("gp_path_sum", "Sum of GP paths", 2,
           "f1(x1,x2,x3) + f2(x2,x3,w1) + f3(x3,w1,w2) + f4(w1,w2,w3), Gaussian process paths\n"
           "on a grid of [-2, 2]^6; a robustness measure over (w1, w2, w3)",
           "Inatsu 2025, arXiv:2504.03172, 5.1"),
  .params = params,
  .traits = RG_PROBLEM_RANDOM,
  .create = create,
  RG_FINITE_GRID(grid),
};
