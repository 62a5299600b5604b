/* Problems whose designs and contexts are on equal grids: `levels` equally spaced values of [lower,
   upper] per coordinate. The problems of arXiv:2504.03172, section 5.1. */
#include "gp/kernel/kernel.h"
#include "gp/path/sample_path.h"
#include "maths/blas.h"
#include "maths/normal.h"
#include "problem/finite_context.h"

#include <math.h>

typedef struct {
  RgFiniteContextOptions common;
  int levels;
} Options;

#define PARAMS(levels_, most, doc)                                                                 \
  RG_FINITE_CONTEXT_PARAMS, RG_INT("levels", Options, levels, levels_, 2, most, "", doc)

/* The `family`: design and context have dim coordinates each; the probability of a context is
   proportional to the product of weight(k, w_k) over its coordinates k (NULL: equal). */
typedef struct {
  RgFiniteFill fill;
  int dim;
  double lower, upper;
  double (*weight)(int k, double w);
} Grid;

static PetscErrorCode check(const RgProblemClass *class, const void *options, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const int contexts =
    (int)pow(((const Options *)options)->levels, ((const Grid *)class->family)->dim);

  return rg_finite_context_check(options, contexts, place, diagnostics);
}

static PetscErrorCode domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const Grid *grid = class->family;
  const RgSpace *context = &domain->context;
  const int dim = grid->dim, levels = ((const Options *)options)->levels;
  double *p = NULL, *w;

  PetscCall(rg_finite_context_grid(&domain->design, dim, levels, grid->lower, grid->upper));
  PetscCall(rg_finite_context_grid(&domain->context, dim, levels, grid->lower, grid->upper));
  PetscCall(PetscMalloc1(dim, &w));
  if (grid->weight) PetscCall(PetscMalloc1(context->size, &p));
  for (int j = 0; grid->weight && j < context->size; j++) {
    rg_space_to_native(context, context->points + (size_t)dim * j, w);
    p[j] = 1.0;
    for (int k = 0; k < dim; k++) p[j] *= grid->weight(k, w[k]);
  }
  PetscCall(rg_finite_context_domain(options, p, domain));
  PetscCall(PetscFree(p));
  return PetscFree(w);
}

#define GRID(params_, ...)                                                                         \
  RG_OPTIONS(Options, params_), .family = &(const Grid){__VA_ARGS__}, RG_DOMAIN(domain, check),    \
                                RG_FINITE_CONTEXT_METHODS

/* himmelblau_composite: Himmelblau's function of x1 + w1 and x2 + w2/2, standardised.

     f = (104.8905 - (a^2 + b - 11)^2 - (a + b^2 - 7)^2) / sqrt(3281.531),
     a = x1 + w1, b = x2 + w2/2

   on [-2.5, 2.5]^4 (15 levels: mean 0 and variance 1 over the grid); w1 and w2 independent with
   weights 0.25 phi(w - 1) + 0.75 phi(w + 5), phi the standard normal density. */

static const RgParam himmelblau_params[] = {
  PARAMS("15", 101, "grid levels per coordinate: levels^2 designs, as many contexts"), {0}};

static double himmelblau_weight(int k, double w)
{
  return 0.25 * rg_normal_pdf(w - 1.0) + 0.75 * rg_normal_pdf(w + 5.0);
}

static PetscErrorCode himmelblau_fill(RgProblem *problem, double *f, RgFailure *failure)
{
  const RgSpace *design = &problem->domain.design, *context = &problem->domain.context;
  double x[2], w[2];

  for (int i = 0; i < design->size; i++) {
    rg_space_to_native(design, design->points + 2 * i, x);
    for (int j = 0; j < context->size; j++) {
      rg_space_to_native(context, context->points + 2 * j, w);
      const double a = x[0] + w[0], b = x[1] + 0.5 * w[1];
      const double r = a * a + b - 11.0, s = a + b * b - 7.0;
      *f++ = (104.8905 - r * r - s * s) / sqrt(3281.531);
    }
  }
  return 0;
}

const RgProblemClass rg_problem_himmelblau_composite = {
  RG_ABOUT("himmelblau_composite", "Himmelblau composite", 2,
           "Himmelblau's function, standardised, of x1 + w1 and x2 + w2/2 on a grid of\n"
           "[-2.5, 2.5]^4; a robustness measure over (w1, w2)",
           "Inatsu 2025, arXiv:2504.03172, 5.1"),
  GRID(himmelblau_params, himmelblau_fill, 2, -2.5, 2.5, himmelblau_weight),
};

/* gp_path_context: a Gaussian process path over one design and one context coordinate.

   f = S Z S, S the symmetric root of the levels' kernel matrix exp(-(a - b)^2/2), Z standard
   normal: a path with kernel exp(-|(x, w) - (x', w')|^2/2). The contexts are equally likely. */

static const RgParam context_params[] = {
  PARAMS("50", 500, "grid levels of the design, and of the context"), {0}};

/* S with S S = K, K_ij = exp(-(a_i - a_j)^2/2): singular to rounding, so no Cholesky factor. */
static PetscErrorCode symmetric_root(int n, double *S)
{
  double *U, *lambda;

  PetscCall(PetscMalloc2((size_t)n * n, &U, n, &lambda));
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double difference = 10.0 * (i - j) / (n - 1);
      U[(size_t)i * n + j] = exp(-0.5 * difference * difference);
    }
  }
  PetscCheck(LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', n, U, n, lambda) == 0, PETSC_COMM_SELF,
             PETSC_ERR_LIB, "Eigenvalues of the kernel matrix");
  for (int k = 0; k < n; k++) { /* U diag(lambda^(1/4)), so that S = U U' */
    double root = sqrt(sqrt(lambda[k] > 0.0 ? lambda[k] : 0.0));
    for (int i = 0; i < n; i++) U[(size_t)i * n + k] *= root;
  }
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1.0, U, n, U, n, 0.0, S, n);
  return PetscFree2(U, lambda);
}

static PetscErrorCode context_fill(RgProblem *problem, double *f, RgFailure *failure)
{
  const int n = ((const Options *)problem->options)->levels;
  const size_t size = (size_t)n * n;
  RgRandom random = rg_stream_at(&problem->stream, 0);
  double *S, *Z, *SZ;

  PetscCall(PetscMalloc3(size, &S, size, &Z, size, &SZ));
  PetscCall(symmetric_root(n, S));
  rg_random_normals(&random, size, Z);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, S, n, Z, n, 0.0, SZ, n);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0, SZ, n, S, n, 0.0, f, n);
  return PetscFree3(S, Z, SZ);
}

static PetscErrorCode context_prior(const void *options, RgKernel *kernel)
{
  const double length_scale = 0.1; /* share of the range [-5, 5] */

  return rg_kernel_create(RG_KERNEL_GAUSSIAN, 2, false, &length_scale, 1.0, kernel);
}

const RgProblemClass rg_problem_gp_path_context = {
  RG_ABOUT("gp_path_context", "GP path with context", 2,
           "a draw of a Gaussian process over (x, w) on a grid of [-5, 5]^2, kernel\n"
           "exp(-r^2/2); a robustness measure over w",
           "Inatsu 2025, arXiv:2504.03172, 5.1"),
  .traits = RG_PROBLEM_RANDOM,
  .prior = context_prior,
  GRID(context_params, context_fill, 1, -5.0, 5.0, NULL),
};

/* gp_path_sum: a sum of four Gaussian process paths on overlapping triples of coordinates.

   f1..f4 are independent with kernel exp(-|.|^2/1.75); w1, w2, w3 are independent with weights
   phi(w - 1), phi(w), phi(w + 1). */

enum { TERMS = 4 };

static const RgParam sum_params[] = {
  PARAMS("7", 12, "grid levels per coordinate: levels^3 designs, as many contexts"), {0}};

static double sum_weight(int k, double w)
{
  return rg_normal_pdf(w + (k - 1));
}

static PetscErrorCode sum_fill(RgProblem *problem, double *f, RgFailure *failure)
{
  const RgSpace *triple = &problem->domain.design;
  const size_t n = (size_t)triple->size,
               levels = (size_t)((const Options *)problem->options)->levels;
  const double length_scale = sqrt(1.75 / 2.0) / 4.0; /* unit coordinates of [-2, 2] */
  RgKernel kernel;
  double *paths, *z, jitter;

  PetscCall(PetscMalloc2(TERMS * n, &paths, n, &z));
  PetscCall(rg_kernel_create(RG_KERNEL_GAUSSIAN, 3, false, &length_scale, 1.0, &kernel));
  for (int t = 0; t < TERMS && !failure->failed; t++) { /* one path per term on its triple */
    RgRandom random = rg_stream_at(&problem->stream, (uint64_t)t);
    rg_random_normals(&random, n, z);
    PetscCall(rg_sample_path(NULL, triple, &kernel, z, paths + t * n, &jitter, failure));
  }
  PetscCall(rg_kernel_destroy(&kernel));
  for (size_t i = 0; i < n && !failure->failed; i++) {
    for (size_t j = 0; j < n; j++) {
      size_t first = j / (levels * levels), two = j / levels;     /* w1 and (w1, w2) */
      size_t last_two = i % (levels * levels), last = i % levels; /* (x2, x3) and x3 */
      f[i * n + j] = paths[i] + paths[n + last_two * levels + first] +
                     paths[2 * n + last * levels * levels + two] + paths[3 * n + j];
    }
  }
  return PetscFree2(paths, z);
}

const RgProblemClass rg_problem_gp_path_sum = {
  RG_ABOUT("gp_path_sum", "Sum of GP paths", 2,
           "f1(x1,x2,x3) + f2(x2,x3,w1) + f3(x3,w1,w2) + f4(w1,w2,w3), Gaussian process paths\n"
           "on a grid of [-2, 2]^6; a robustness measure over (w1, w2, w3)",
           "Inatsu 2025, arXiv:2504.03172, 5.1"),
  .traits = RG_PROBLEM_RANDOM,
  GRID(sum_params, sum_fill, 3, -2.0, 2.0, sum_weight),
};
