/* gp_norm: a function of known norm, like a Gaussian process path, with contexts of any law.

   f = sum_j alpha_j k(z_j, .) over n scrambled Sobol points z_j of the unit cube, z = (x, c), k
   Gaussian: the interpolation of a path drawn at the z_j. So alpha = U L^(-1/2) g with K = U L U',
   g standard normal (without directions of eigenvalues below 1e-8 of the largest), and |f|_k^2 =
   alpha' K alpha = g' g. With `norm: B` it is scaled to |f|_k = B. F(x) = E f(x, c) is exact: k
   factors, and E k_c(z_j, c) is a quadrature. Every instance is another function.
   For theorems that know the norm: arXiv:2503.20341 (equation 7), and for paths:
   arXiv:2312.10423. */
#include "maths/blas.h"
#include "maths/design.h"
#include "problem/context_problem.h"

#include <math.h>

#include "base/grow.h"

typedef struct {
  RgContextSizes sizes;
  int points;
  double length_scale, norm;
} Options;

static const RgParam params[] = {
  RG_INT("dim", Options, sizes.dim, "1", 1, 10, "D_x", "design coordinates"),
  RG_INT("context_dim", Options, sizes.context_dim, "1", 1, 10, "D_c", "context coordinates"),
  RG_REAL("length_scale", Options, length_scale, "0.3", RG_POSITIVE, 1e6, "ell",
          "length scale of every coordinate"),
  RG_INT("points", Options, points, "200", 1, 2000, "n", "points at which the path is drawn"),
  RG_REAL("norm", Options, norm, "auto", RG_POSITIVE, 1e6, "B",
          "norm of f in the space of the kernel; auto: as drawn"),
  RG_CONTEXT_PARAMS("uniform(0, 1)", "true", "clipped"),
  {0},
};

typedef struct {
  double *z, *alpha; /* n x (dim + context_dim), n; owned */
  double *mean;      /* n: alpha_j E k_c(z_j, c); owned */
} Own;

/* exp(-sum of squares / (2 ell^2)) over `dim` coordinates. */
static double kernel(double length_scale, int dim, const double *a, const double *b)
{
  double squares = 0;

  for (int j = 0; j < dim; j++) squares += (a[j] - b[j]) * (a[j] - b[j]);
  return exp(-squares / (2 * length_scale * length_scale));
}

/* alpha from the eigenvectors U (rows of K on entry) of the kernel matrix. */
static PetscErrorCode weigh(const RgProblem *problem, double *K, Own *own)
{
  const Options *o = problem->options;
  const int n = o->points;
  RgRandom random = rg_stream_at(&problem->stream, 1);
  double *lambda, *g, squares = 0;

  PetscCall(PetscMalloc2(n, &lambda, n, &g));
  PetscCheck(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', n, K, n, lambda) == 0, PETSC_COMM_SELF,
             PETSC_ERR_LIB, "Eigenvalues of the kernel matrix");
  rg_random_normals(&random, (size_t)n, g);
  for (int k = 0; k < n; k++) {
    const bool counts = lambda[k] > 1e-8 * lambda[n - 1];
    squares += counts ? g[k] * g[k] : 0;
    g[k] = counts ? g[k] / sqrt(lambda[k]) : 0;
  }
  const double scale = isnan(o->norm) ? 1 : o->norm / sqrt(squares);
  cblas_dgemv(CblasColMajor, CblasNoTrans, n, n, scale, K, n, g, 1, 0, own->alpha, 1);
  return PetscFree2(lambda, g);
}

/* A factor of k_c(z_j, .) in one coordinate. */
typedef struct {
  double at, length_scale;
} Factor;

static double factor_at(const void *closure, double c)
{
  const Factor *factor = closure;

  return kernel(factor->length_scale, 1, &factor->at, &c);
}

static PetscErrorCode prepare(RgProblem *problem, RgContextProblem *data)
{
  const Options *o = problem->options;
  const int n = o->points, dim = o->sizes.dim + o->sizes.context_dim;
  RgRandom random = rg_stream_at(&problem->stream, 0);
  Own *own = data->own;
  double *K, factor;

  PetscCall(PetscMalloc1((size_t)n * dim, &own->z));
  PetscCall(PetscMalloc1(n, &own->alpha));
  PetscCall(PetscMalloc1(n, &own->mean));
  PetscCall(PetscMalloc1((size_t)n * n, &K));
  PetscCall(rg_design_sobol(&random, n, dim, own->z));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      K[(size_t)i * n + j] =
        kernel(o->length_scale, dim, own->z + (size_t)i * dim, own->z + (size_t)j * dim);
  PetscCall(weigh(problem, K, own));
  PetscCall(PetscFree(K));
  for (int i = 0; i < n; i++) {
    own->mean[i] = own->alpha[i];
    for (int k = 0; k < o->sizes.context_dim; k++) {
      const Factor of = {own->z[(size_t)i * dim + o->sizes.dim + k], o->length_scale};
      PetscCall(rg_context_mean(&data->law[k], 40, factor_at, &of, &factor));
      own->mean[i] *= factor;
    }
  }
  return 0;
}

static PetscErrorCode clear(void *closure)
{
  Own *own = closure;

  return RG_FREE(&own->z, &own->alpha, &own->mean);
}

static PetscErrorCode exact(RgProblem *problem, const RgContextProblem *data, const double *x,
                            double *F)
{
  const Options *o = problem->options;
  const Own *own = data->own;
  const size_t dim = (size_t)(o->sizes.dim + o->sizes.context_dim);

  *F = 0;
  for (int j = 0; j < o->points; j++)
    *F += own->mean[j] * kernel(o->length_scale, o->sizes.dim, x, own->z + j * dim);
  return 0;
}

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  const Options *o = problem->options;
  const Own *own = ((const RgContextProblem *)problem->data)->own;
  const int dim = o->sizes.dim + o->sizes.context_dim;
  double z[20];

  for (int i = 0; i < m; i++) {
    for (int j = 0; j < dim; j++) {
      const double c = j < o->sizes.dim ? points[i].x[j] : points[i].c[j - o->sizes.dim];
      z[j] = j >= o->sizes.dim && o->sizes.context.clip ? fmin(fmax(c, 0), 1) : c;
    }
    f[i] = 0;
    for (int j = 0; j < o->points; j++)
      f[i] += own->alpha[j] * kernel(o->length_scale, dim, z, own->z + (size_t)j * dim);
  }
  return 0;
}

const RgProblemClass rg_problem_gp_norm = {
  RG_ABOUT(
    "gp_norm", "GP path of known norm", 1,
    "sum of alpha_j k(z_j, (x, c)) on [0, 1]^dim, k Gaussian: a Gaussian process path drawn\n"
    "at the z_j and interpolated, of known norm; F(x) = E f(x, c)",
    "for the theorems of arXiv:2312.10423 and arXiv:2503.20341"),
  RG_OPTIONS(Options, params),
  .traits = RG_PROBLEM_RANDOM,
  .evaluate = evaluate,
  RG_CONTEXT_METHODS(.exact = exact, .own_size = sizeof(Own), .prepare = prepare, .clear = clear),
};
