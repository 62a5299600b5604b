#include "gp/feature_path.h"
#include "base/blas.h"
#include "base/vector.h"

#include <math.h>

#define TWO_PI        6.283185307179586476925287
#define BLOCK         128    /* points at a time: their kernel values with the data stay in cache */
#define FREQUENCY_MAX 0x1p40 /* beyond it angles lose their fraction */

PetscErrorCode rg_feature_path_create(int dim, int n, RgFeaturePath *path)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(path, sizeof *path));
  path->dim = dim;
  path->n = n;
  PetscCall(PetscMalloc5((size_t)dim * n, &path->frequency, n, &path->phase, n, &path->amplitude,
                         n, &path->weight, 2 * n, &path->work));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_feature_path_destroy(RgFeaturePath *path)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree5(path->frequency, path->phase, path->amplitude, path->weight, path->work));
  PetscCall(PetscFree(path->alpha));
  PetscCall(PetscFree(path->kernel_work));
  PetscCall(PetscMemzero(path, sizeof *path));
  PetscFunctionReturn(0);
}

/* ---- the prior ------------------------------------------------------------------------------- */

/* 2 nu; 0 for the Gaussian kernel, the limit of infinite nu. */
static int degrees_of_freedom(RgKernelFamily family)
{
  switch (family) {
  case RG_KERNEL_MATERN12: return 1;
  case RG_KERNEL_MATERN32: return 3;
  case RG_KERNEL_MATERN52: return 5;
  default: return 0;
  }
}

/* stretch_m = sqrt(freedom / chi^2_m) / (2 pi): what makes normals Student t, in turns. */
static void draw_stretch(int freedom, int n, RgRandom *random, double *z, double *stretch)
{
  for (int m = 0; m < n; ++m) stretch[m] = freedom ? 0.0 : 1.0;
  for (int f = 0; f < freedom; ++f) {
    rg_vector_normals(random, (size_t)n, z);
    for (int m = 0; m < n; ++m) stretch[m] += z[m] * z[m];
  }
  for (int m = 0; m < n; ++m) stretch[m] = sqrt((freedom ? freedom : 1) / stretch[m]) / TWO_PI;
}

/* Adds the frequencies of one factor to features [first, first + n). z: 2 n scratch. */
static void draw_factor(const RgKernelFactor *factor, int first, int n, RgRandom *random,
                        RgFeaturePath *path, double *z)
{
  double *stretch = z + n;

  draw_stretch(degrees_of_freedom(factor->family), n, random, z, stretch);
  for (int k = 0; k < factor->n_inputs; ++k) {
    double *w = path->frequency + (size_t)factor->inputs[k] * path->n + first;
    double  inverse = 1.0 / factor->length_scale[factor->n_scales == 1 ? 0 : k];

    rg_vector_normals(random, (size_t)n, z);
    for (int m = 0; m < n; ++m) {
      double turns = w[m] + z[m] * stretch[m] * inverse;
      w[m] = fmin(fmax(turns, -FREQUENCY_MAX), FREQUENCY_MAX);
    }
  }
}

PetscErrorCode rg_feature_path_draw(RgFeaturePath *path, const RgKernel *kernel, RgRandom *random)
{
  int     n = path->n, terms = kernel->n_terms, first = 0;
  double *z;

  PetscFunctionBeginUser;
  PetscCheck(n >= terms && kernel->dim == path->dim, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%d features in %d dimensions for a kernel of %d terms in %d", n, path->dim, terms,
             kernel->dim);
  PetscCall(PetscMalloc1(2 * (size_t)n, &z));
  PetscCall(PetscArrayzero(path->frequency, (size_t)path->dim * n));
  for (int t = 0; t < terms; ++t) {
    const RgKernelTerm *term = &kernel->terms[t];
    int                 count = n / terms + (t < n % terms);

    for (int f = 0; f < term->n_factors; ++f) {
      draw_factor(&term->factors[f], first, count, random, path, z);
    }
    for (int m = first; m < first + count; ++m) {
      path->amplitude[m] = sqrt(2.0 * term->variance / count);
    }
    first += count;
  }
  rg_random_uniforms(random, (size_t)n, path->phase);
  rg_vector_normals(random, (size_t)n, path->weight);
  for (int m = 0; m < n; ++m) path->weight[m] *= path->amplitude[m];
  path->mean = 0.0;
  path->posterior = NULL;
  PetscCall(PetscFree(z));
  PetscFunctionReturn(0);
}

/* ---- conditioning ---------------------------------------------------------------------------- */

/* r_i = y_i - mean - g(x_i) - e_i of a draw g from the prior. */
static PetscErrorCode residuals(RgFeaturePath *path, const RgPosterior *posterior, const double *e,
                                double *r)
{
  PetscFunctionBeginUser;
  PetscCall(rg_feature_path_evaluate(path, posterior->n, posterior->X, r, NULL));
  for (int i = 0; i < posterior->n; ++i) r[i] = posterior->y[i] - posterior->mean - r[i] - e[i];
  PetscFunctionReturn(0);
}

/* P (n x M, row i = features of x_i). */
static void feature_matrix(const RgFeaturePath *path, int n, const double *X, double *P)
{
  const RgVectorOps *ops = rg_vector_ops();

  for (int i = 0; i < n; ++i, X += path->dim, P += path->n) {
    ops->turns(path->dim, X, path->n, path->frequency, (size_t)path->n, path->phase, P);
    ops->circle(path->n, P, P, NULL);
    ops->multiply(path->n, path->amplitude, P);
  }
}

/* A = P P' (n x n; dual) or P' P (M x M), plus `added` on the diagonal; its lower factor. */
static bool factor_system(bool dual, int n, int features, const double *P, double added, double *A)
{
  int size = dual ? n : features;

  cblas_dsyrk(CblasColMajor, CblasLower, dual ? CblasTrans : CblasNoTrans, size,
              dual ? features : n, 1.0, P, features, 0.0, A, size);
  for (int i = 0; i < size; ++i) A[(size_t)i * size + i] += added;
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', size, A, size) == 0;
}

/* theta += P' (P P' + noise I)^-1 r  =  (P' P + noise I)^-1 P' r. */
PetscErrorCode rg_feature_path_condition_weights(RgFeaturePath *path, const RgPosterior *posterior,
                                                 const double *e, RgFailure *failure)
{
  int     n = posterior->n, features = path->n;
  bool    dual = n <= features, good = false;
  int     size = dual ? n : features;
  double  diagonal = rg_kernel_diagonal(&posterior->kernel), jitter = posterior->jitter;
  double *P, *A, *r, *s;

  PetscFunctionBeginUser;
  if (n == 0) {
    path->mean = posterior->mean;
    PetscFunctionReturn(0);
  }
  PetscCall(PetscMalloc4((size_t)n * features, &P, (size_t)size * size, &A, n, &r, features, &s));
  PetscCall(residuals(path, posterior, e, r));
  feature_matrix(path, n, posterior->X, P);
  while (!good && jitter <= 1.001e-4 * diagonal) {
    good = factor_system(dual, n, features, P, posterior->noise_variance + jitter, A);
    if (!good) jitter = jitter > 0.0 ? 10.0 * jitter : 1e-10 * diagonal;
  }
  if (!good) {
    rg_failure_set(failure, "%d data don't determine the weights of %d features", n, features);
  } else if (dual) {
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, 1, A, n, r, n);
    cblas_dgemv(CblasColMajor, CblasNoTrans, features, n, 1.0, P, features, r, 1, 0.0, s, 1);
  } else {
    cblas_dgemv(CblasColMajor, CblasNoTrans, features, n, 1.0, P, features, r, 1, 0.0, s, 1);
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', features, 1, A, features, s, features);
  }
  for (int m = 0; good && m < features; ++m) path->weight[m] += path->amplitude[m] * s[m];
  path->mean = posterior->mean;
  PetscCall(PetscFree4(P, A, r, s));
  PetscFunctionReturn(0);
}

/* alpha = (K + noise I)^-1 r */
PetscErrorCode rg_feature_path_condition_pathwise(RgFeaturePath *path, RgPosterior *posterior,
                                                  const double *e)
{
  int n = posterior->n, ld = posterior->capacity;

  PetscFunctionBeginUser;
  if (n > path->alpha_room) {
    PetscCall(PetscFree(path->alpha));
    PetscCall(PetscMalloc1(2 * n, &path->alpha));
    path->alpha_room = 2 * n;
  }
  PetscCall(residuals(path, posterior, e, path->alpha));
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, posterior->L, ld,
              path->alpha, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, posterior->L, ld,
              path->alpha, 1);
  path->mean = posterior->mean;
  path->posterior = posterior;
  PetscFunctionReturn(0);
}

/* ---- evaluation ------------------------------------------------------------------------------ */

static void evaluate_features(RgFeaturePath *path, int m, const double *Z, double *value,
                              double *gradient)
{
  const RgVectorOps *ops = rg_vector_ops();
  int                n = path->n, dim = path->dim;
  double            *cosine = path->work, *sine = gradient ? path->work + n : NULL;

  for (int j = 0; j < m; ++j, Z += dim) {
    ops->turns(dim, Z, n, path->frequency, (size_t)n, path->phase, cosine);
    ops->circle(n, cosine, cosine, sine);
    value[j] = path->mean + ops->dot(n, path->weight, cosine);
    if (!gradient) continue;
    ops->multiply(n, path->weight, sine);
    for (int k = 0; k < dim; ++k) {
      *gradient++ = -TWO_PI * ops->dot(n, sine, path->frequency + (size_t)k * n);
    }
  }
}

/* += sum_i alpha_i k(x_i, z) at a block of points. */
static PetscErrorCode add_update(RgFeaturePath *path, int m, const double *Z, double *value,
                                 double *gradient)
{
  const RgPosterior *posterior = path->posterior;
  int                n = posterior->n, dim = path->dim;
  size_t             size = (size_t)n * m, need = size + (size_t)m * dim;
  double            *K, *G;

  PetscFunctionBeginUser;
  if (need > path->kernel_room) {
    PetscCall(PetscFree(path->kernel_work));
    PetscCall(PetscMalloc1(need, &path->kernel_work));
    path->kernel_room = need;
  }
  K = path->kernel_work;
  G = K + size;
  PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, m, Z, K));
  cblas_dgemv(CblasColMajor, CblasNoTrans, m, n, 1.0, K, m, path->alpha, 1, 1.0, value, 1);
  if (!gradient) PetscFunctionReturn(0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) K[(size_t)i * m + j] = path->alpha[i];
  }
  PetscCall(rg_kernel_cross_gradient(&posterior->kernel, n, posterior->X, m, Z, K, G));
  for (int j = 0; j < m * dim; ++j) gradient[j] += G[j];
  PetscFunctionReturn(0);
}

PetscErrorCode rg_feature_path_evaluate(RgFeaturePath *path, int m, const double *Z, double *value,
                                        double *gradient)
{
  size_t dim = (size_t)path->dim;

  PetscFunctionBeginUser;
  evaluate_features(path, m, Z, value, gradient);
  if (!path->posterior || path->posterior->n == 0) PetscFunctionReturn(0);
  for (int first = 0; first < m; first += BLOCK) {
    int width = PetscMin(BLOCK, m - first);

    PetscCall(add_update(path, width, Z + first * dim, value + first,
                         gradient ? gradient + first * dim : NULL));
  }
  PetscFunctionReturn(0);
}
