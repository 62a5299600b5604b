/* Sample paths by random Fourier features, conditioned on data by weights or pathwise. */
#include "gp/path/feature_path.h"
#include "base/grow.h"
#include "base/poll.h"
#include "gp/kernel/kernel_internal.h"
#include "gp/posterior/exact/exact.h"
#include "maths/blas.h"
#include "maths/vector.h"

#include <math.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925287
#define BLOCK 128            /* points per block: their kernel values with the data stay in cache */
#define FREQUENCY_MAX 0x1p40 /* beyond it angles lose their fractional part */
#define COARSE_MAX 0x1p18    /* the limit of frequencies in single precision */
#define POLL 16              /* points between two polls */

/* n rounded up to whole blocks of a vector sum. */
static size_t padded(int n)
{
  return ((size_t)n + RG_VECTOR_BLOCK - 1) / RG_VECTOR_BLOCK * RG_VECTOR_BLOCK;
}

PetscErrorCode rg_feature_path_create(int dim, int n, RgFeaturePath *path)
{
  PetscCall(PetscMemzero(path, sizeof *path));
  path->dim = path->rows = dim;
  path->n = n;
  PetscCall(
    PetscMalloc4(n, &path->phase, n, &path->amplitude, n, &path->weight, 2 * n, &path->work));
  return PetscMalloc2((size_t)dim * n, &path->frequency, (dim + 3) * padded(n), &path->coarse);
}

PetscErrorCode rg_feature_path_destroy(RgFeaturePath *path)
{
  PetscCall(PetscFree2(path->frequency, path->coarse));
  PetscCall(PetscFree4(path->phase, path->amplitude, path->weight, path->work));
  PetscCall(RG_FREE(&path->alpha, &path->large_work, &path->words, &path->warp, &path->point));
  return PetscMemzero(path, sizeof *path);
}

static PetscErrorCode reserve(size_t size, size_t *room, double **array)
{
  return rg_room(size, 2 * size, room, array);
}

/* Room for `size` doubles in `large_work`. */
static PetscErrorCode feature_path_reserve(RgFeaturePath *path, size_t size)
{
  return rg_room(size, size + size / 2, &path->large_room, &path->large_work);
}

/* ---- choices --------------------------------------------------------------------------------- */

/* The row of an input; the rows of its words follow. */
static int row_of(const RgFeaturePath *path, int input)
{
  int row = input;

  for (int j = 0; path->words && j < input; j++) row += path->words[j];
  return row;
}

/* The `rows` coordinates of a point x (dim); valid until the next call. */
static const double *feature_path_rows(RgFeaturePath *path, const double *x)
{
  const RgKernel warp = {.dim = path->dim, .warp = path->warp};
  double *out = path->point;

  if (!out) return x;
  for (int j = 0; j < path->dim; j++) {
    const int words = path->words ? path->words[j] : 0;
    *out++ = rg_kernel_input(&warp, j, x[j]);
    for (int c = 0; c < words; c++) out[c] = 0;
    if (words) out[rg_kernel_word(words, x[j])] = 1;
    out += words;
  }
  return path->point;
}

/* Takes in how inputs enter the kernel, and makes room for the words of its choices. */
static PetscErrorCode copy_inputs(RgFeaturePath *path, const RgKernel *kernel)
{
  const int dim = path->dim;
  int rows = dim;

  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      if (!factor->words) continue;
      if (!path->words) PetscCall(PetscCalloc1(dim, &path->words));
      for (int k = 0; k < factor->n_inputs; k++)
        path->words[factor->inputs[k]] = PetscMax(path->words[factor->inputs[k]], factor->words[k]);
    }
  for (int j = 0; path->words && j < dim; j++) rows += path->words[j];
  if (kernel->warp && !path->warp) PetscCall(PetscMalloc1(2 * (size_t)dim, &path->warp));
  if (kernel->warp) PetscCall(PetscArraycpy(path->warp, kernel->warp, 2 * (size_t)dim));
  if (kernel->warp && !path->point) PetscCall(PetscMalloc1(rows, &path->point));
  if (rows == path->rows) return 0;
  path->rows = rows;
  PetscCall(PetscFree2(path->frequency, path->coarse));
  PetscCall(PetscFree(path->point));
  PetscCall(PetscMalloc1(rows, &path->point));
  return PetscMalloc2((size_t)rows * path->n, &path->frequency, (rows + 3) * padded(path->n),
                      &path->coarse);
}

/* ---- the prior ------------------------------------------------------------------------------- */

/* The frequencies of n features of one factor, columns x n, from its spectrum. A factor with
   choices is drawn as the factor of all its columns. */
static PetscErrorCode draw_turns(const RgKernelFactor *factor, int n, RgRandom *random,
                                 double *turns, double *work)
{
  const int columns = factor->words ? rg_kernel_factor_columns(factor) : 0;
  RgKernelFactor wide = *factor;
  int at = 0;

  if (!factor->words) {
    rg_kernel_classes[factor->family]->spectrum(factor, n, random, turns, work);
    return 0;
  }
  wide.n_inputs = wide.n_scales = columns;
  wide.words = NULL;
  PetscCall(PetscMalloc2(columns, &wide.length_scale, columns, &wide.inputs));
  for (int k = 0; k < factor->n_inputs; k++)
    for (int c = rg_kernel_input_columns(factor, k); c > 0; c--) {
      const double column = rg_kernel_input_words(factor, k) ? RG_KERNEL_WORD : 1;
      wide.inputs[at] = at;
      wide.length_scale[at++] = 1 / (column * rg_kernel_inverse_scale(factor, k));
    }
  rg_kernel_classes[factor->family]->spectrum(&wide, n, random, turns, work);
  return PetscFree2(wide.length_scale, wide.inputs);
}

/* Adds the frequencies of one factor to features [first, first + n). work: (columns + 2) n. */
static PetscErrorCode draw_factor(const RgKernelFactor *factor, int first, int n, RgRandom *random,
                                  RgFeaturePath *path, double *work)
{
  const double *turns = work + 2 * (size_t)n;

  PetscCall(draw_turns(factor, n, random, work + 2 * (size_t)n, work));
  for (int k = 0; k < factor->n_inputs; k++) {
    const int words = rg_kernel_input_words(factor, k);
    const size_t row = (size_t)row_of(path, factor->inputs[k]) + (words > 0);
    for (int c = 0; c < PetscMax(words, 1); c++, turns += n) {
      double *w = path->frequency + (row + c) * path->n + first;
      for (int m = 0; m < n; m++) {
        double sum = w[m] + turns[m];
        sum = sum > -FREQUENCY_MAX ? sum : -FREQUENCY_MAX;
        w[m] = sum < FREQUENCY_MAX ? sum : FREQUENCY_MAX;
      }
      if (factor->shift) memcpy(w + (size_t)factor->shift * path->n, w, (size_t)n * sizeof *w);
    }
  }
  return 0;
}

PetscErrorCode rg_feature_path_draw(RgFeaturePath *path, const RgKernel *kernel, RgRandom *random)
{
  int n = path->n, terms = kernel->n_terms, first = 0;
  double *work;

  PetscCheck(n >= terms && kernel->dim == path->dim, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%d features in %d dimensions for a kernel of %d terms in %d", n, path->dim, terms,
             kernel->dim);
  PetscCheck(!rg_kernel_without_spectrum(kernel), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "The kernel '%s' has no spectrum to draw features from",
             rg_kernel_without_spectrum(kernel)->name);
  PetscCall(copy_inputs(path, kernel));
  PetscCall(PetscMalloc1((size_t)(path->rows + 2) * n, &work));
  PetscCall(PetscArrayzero(path->frequency, (size_t)path->rows * n));
  for (int t = 0; t < terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    int count = n / terms + (t < n % terms);
    for (int f = 0; f < term->n_factors; f++)
      PetscCall(draw_factor(&term->factors[f], first, count, random, path, work));
    for (int m = first; m < first + count; m++)
      path->amplitude[m] = sqrt(2.0 * term->variance / count);
    first += count;
  }
  rg_random_uniforms(random, (size_t)n, path->phase);
  rg_vector_normals(random, (size_t)n, path->weight);
  for (int m = 0; m < n; m++) path->weight[m] *= path->amplitude[m];
  path->mean = 0.0;
  path->posterior = NULL;
  path->has_coarse = false;
  return PetscFree(work);
}

/* ---- conditioning ---------------------------------------------------------------------------- */

/* P (n x M, row i = features of x_i, rows padded with zeros to ld) and
   r_i = y_i - mean - g(x_i) - e_i of a draw g from the prior. */
static void feature_matrix(RgFeaturePath *path, const RgPosterior *posterior, const double *e,
                           size_t ld, double *P, double *r)
{
  const RgVectorOps *ops = rg_vector_ops();
  const double *x = posterior->X;
  size_t n = (size_t)path->n;

  for (int i = 0; i < posterior->n; i++, x += path->dim, P += ld) {
    ops->turns(path->rows, feature_path_rows(path, x), path->n, path->frequency, n, path->phase, P);
    ops->circle(path->n, P, P, NULL);
    r[i] = posterior->y[i] - posterior->mean - e[i] - ops->dot(path->n, path->weight, P);
    ops->multiply(path->n, path->amplitude, P);
    for (size_t m = n; m < ld; m++) P[m] = 0.0;
  }
}

/* A weight-space system: n data, M features, P (n x ldp). */
typedef struct {
  /* true: a system of n equations, P P' + noise I; false: of M equations, P' P + noise I */
  bool dual;
  int n, features, size, ldp, lda;
  double *P, *A;
} System;

/* A plus `added` on the diagonal, factored. */
static bool factor_system(const System *system, double added)
{
  const RgVectorOps *ops = rg_vector_ops();
  int size = system->size;

  if (system->dual && ops->gram) {
    ops->gram(size, system->ldp, system->P, system->A, (size_t)system->lda);
  } else {
    cblas_dsyrk(CblasColMajor, CblasLower, system->dual ? CblasTrans : CblasNoTrans, size,
                system->dual ? system->features : system->n, 1.0, system->P, system->ldp, 0.0,
                system->A, system->lda);
  }
  for (int i = 0; i < size; i++) system->A[(size_t)i * (size_t)system->lda + (size_t)i] += added;
  return rg_factor_cholesky(size, system->A, system->lda) == 0;
}

/* s = P' (P P' + noise I)^-1 r = (P' P + noise I)^-1 P' r, from the factor; r is overwritten. */
static void solve_system(const System *system, double *r, double *s)
{
  if (system->dual)
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', system->n, 1, system->A, system->lda, r, system->n);
  cblas_dgemv(CblasColMajor, CblasNoTrans, system->features, system->n, 1.0, system->P, system->ldp,
              r, 1, 0.0, s, 1);
  if (!system->dual)
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', system->size, 1, system->A, system->lda, s,
                        system->size);
}

PetscErrorCode rg_feature_path_condition_weights(RgFeaturePath *path, const RgPosterior *posterior,
                                                 const double *e, RgFailure *failure)
{
  int n = posterior->n, features = path->n;
  bool dual = n <= features, good = false;
  double diagonal = rg_kernel_diagonal(&posterior->kernel), jitter = posterior->jitter;
  double *r, *s;
  System system = {.dual = dual, .n = n, .features = features, .size = dual ? n : features};

  path->mean = 0.0;
  path->has_coarse = false;
  system.ldp = (int)padded(features);
  system.lda = rg_pad(system.size);
  PetscCall(feature_path_reserve(path, (size_t)n * system.ldp + (size_t)system.lda * system.lda +
                                         (size_t)(n + features)));
  system.P = path->large_work;
  system.A = system.P + (size_t)n * system.ldp;
  r = system.A + (size_t)system.lda * system.lda;
  s = r + n;
  feature_matrix(path, posterior, e, (size_t)system.ldp, system.P, r);
  while (n && !good && jitter <= 1.001e-4 * diagonal) {
    good = factor_system(&system, posterior->noise_variance + jitter);
    if (!good) jitter = jitter > 0.0 ? 10.0 * jitter : 1e-10 * diagonal;
  }
  if (good) {
    solve_system(&system, r, s);
    for (int m = 0; m < features; m++) path->weight[m] += path->amplitude[m] * s[m];
  } else if (n) {
    rg_failure_set(failure, "%d data don't determine the weights of %d features", n, features);
  }
  path->mean = posterior->mean;
  return 0;
}

/* alpha = (K + noise I)^-1 r */
PetscErrorCode rg_feature_path_condition_pathwise(RgFeaturePath *path, RgPosterior *posterior,
                                                  const double *e)
{
  int n = posterior->n, ld = posterior->capacity;

  PetscCall(reserve((size_t)n, &path->alpha_room, &path->alpha));
  PetscCall(rg_feature_path_evaluate(path, n, posterior->X, path->alpha, NULL));
  for (int i = 0; i < n; i++)
    path->alpha[i] = posterior->y[i] - posterior->mean - path->alpha[i] - e[i];
  if (rg_posterior_has_factor(posterior)) {
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, posterior->L, ld,
                path->alpha, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, n, posterior->L, ld,
                path->alpha, 1);
  } else {
    PetscCall(rg_posterior_solve_many(posterior, 1, path->alpha));
  }
  path->mean = posterior->mean;
  path->posterior = posterior;
  return 0;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

/* Add the pathwise update sum_i alpha_i k(x_i, z) at m points, a block at a time. */
static PetscErrorCode feature_path_add_updates(RgFeaturePath *path, int m, const double *Z,
                                               double *value, double *gradient)
{
  const RgPosterior *posterior = path->posterior;
  const int n = posterior ? posterior->n : 0;
  const size_t dim = (size_t)path->dim;

  for (int first = 0; n && first < m; first += BLOCK) {
    const int width = PetscMin(BLOCK, m - first);
    const size_t size = (size_t)n * width, entries = width * dim;
    const double *z = Z + first * dim;
    PetscCall(feature_path_reserve(path, size + entries));
    double *K = path->large_work, *G = K + size;
    PetscCall(rg_kernel_cross(&posterior->kernel, n, posterior->X, width, z, K));
    cblas_dgemv(CblasColMajor, CblasNoTrans, width, n, 1.0, K, width, path->alpha, 1, 1.0,
                value + first, 1);
    if (!gradient) continue;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < width; j++) K[(size_t)i * width + j] = path->alpha[i];
    PetscCall(rg_kernel_cross_gradient(&posterior->kernel, n, posterior->X, width, z, K, G));
    for (size_t j = 0; j < entries; j++) gradient[first * dim + j] += G[j];
  }
  return 0;
}

PetscErrorCode rg_feature_path_evaluate(RgFeaturePath *path, int m, const double *Z, double *value,
                                        double *gradient)
{
  const RgVectorOps *ops = rg_vector_ops();
  int n = path->n, dim = path->dim;
  double *cosine = path->work, *sine = gradient ? path->work + n : NULL;

  for (int j = 0; j < m; j++) {
    const double *z = Z + (size_t)j * dim;
    if (j % POLL == 0) PetscCall(rg_poll());
    ops->turns(path->rows, feature_path_rows(path, z), n, path->frequency, (size_t)n, path->phase,
               cosine);
    ops->circle(n, cosine, cosine, sine);
    value[j] = path->mean + ops->dot(n, path->weight, cosine);
    if (!gradient) continue;
    ops->multiply(n, path->weight, sine);
    for (int k = 0; k < dim; k++) {
      const RgKernel warp = {.dim = dim, .warp = path->warp};
      double slope[3] = {1};
      if (path->warp) (void)rg_kernel_warp_at(&warp, k, z[k], slope);
      gradient[(size_t)j * dim + k] =
        -TWO_PI * slope[0] * ops->dot(n, sine, path->frequency + (size_t)row_of(path, k) * n);
    }
  }
  return feature_path_add_updates(path, m, Z, value, gradient);
}

/* A feature whose angle would lose its fractional part counts as 0. */
static size_t feature_path_make_coarse(RgFeaturePath *path)
{
  size_t n = (size_t)path->n, ld = padded(path->n), dim = (size_t)path->rows;
  float *W = path->coarse, *phase = W + dim * ld, *weight = phase + ld, *kept = weight + ld;

  if (path->has_coarse) return ld;
  for (size_t i = 0; i < (dim + 3) * ld; i++) W[i] = 0.0f;
  for (size_t k = 0; k < dim; k++) { /* holds the largest frequency here */
    for (size_t m = 0; m < n; m++) {
      float size = (float)fabs(path->frequency[k * n + m]);
      kept[m] = size > kept[m] ? size : kept[m];
    }
  }
  for (size_t m = 0; m < n; m++) kept[m] = kept[m] * (float)dim < COARSE_MAX ? 1.0f : 0.0f;
  for (size_t k = 0; k < dim; k++)
    for (size_t m = 0; m < n; m++) W[k * ld + m] = kept[m] * (float)path->frequency[k * n + m];
  for (size_t m = 0; m < n; m++) {
    phase[m] = (float)path->phase[m];
    weight[m] = kept[m] * (float)path->weight[m];
  }
  path->has_coarse = true;
  return ld;
}

PetscErrorCode rg_feature_path_screen(RgFeaturePath *path, int m, const double *Z, double *value)
{
  size_t ld = feature_path_make_coarse(path), dim = (size_t)path->dim;
  const float *phase = path->coarse + (size_t)path->rows * ld;

  for (int j = 0; j < m; j++)
    value[j] = path->mean + rg_vector_ops()->coarse_cosine_sum(
                              path->rows, feature_path_rows(path, Z + (size_t)j * dim), (int)ld,
                              path->coarse, ld, phase, phase + ld);
  return feature_path_add_updates(path, m, Z, value, NULL);
}

/* ---- screening ------------------------------------------------------------------------------- */

/* The coordinates [first, first + dim) of a grid as a grid of their own. */
typedef struct {
  int first, dim, size;
  int stride; /* step between consecutive points, counted in points of the whole grid */
} Side;

/* The number of leading coordinates, at least one, for which rows + columns is smallest. */
static int best_split(const RgSpace *grid)
{
  int best = 1, rows = 1;

  for (int j = 0, least = grid->size + 2; j < grid->dim; j++) {
    rows *= grid->levels[j];
    if (rows + grid->size / rows >= least) continue;
    least = rows + grid->size / rows;
    best = j + 1;
  }
  return best;
}

/* T (size x 2n): weight cos, -weight sin of the angles for rows; cos, sin for columns. */
static void side_table(const RgFeaturePath *path, const RgSpace *grid, const Side *side,
                       const double *phase, const double *weight, double *T)
{
  const RgVectorOps *ops = rg_vector_ops();
  const size_t n = (size_t)path->n, dim = (size_t)grid->dim;

  for (int i = 0; i < side->size; i++, T += 2 * n) {
    const double *x = grid->points + (size_t)i * side->stride * dim + side->first;
    if (side->dim)
      ops->turns(side->dim, x, path->n, path->frequency + side->first * n, n, phase, T);
    else memcpy(T, phase, n * sizeof(double));
    ops->circle(path->n, T, T, T + n);
    if (!weight) continue;
    for (size_t m = 0; m < n; m++) {
      T[m] *= weight[m];
      T[n + m] *= -weight[m];
    }
  }
}

PetscErrorCode rg_feature_path_on_grid(const RgFeaturePath *path, const RgSpace *grid, int step,
                                       double *value)
{
  const size_t n = (size_t)path->n;
  const int split = best_split(grid);
  Side rows = {.dim = split, .size = 1}, columns = {.first = split, .stride = 1};
  double *A, *B, *G, *zero;

  PetscCheck(grid->kind == RG_SPACE_GRID && grid->dim == path->dim && !path->posterior,
             PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
             "A path without an exact update on a product grid of its dimension is wanted");
  for (int j = 0; j < split; j++) rows.size *= grid->levels[j];
  columns.dim = grid->dim - split;
  columns.size = rows.stride = grid->size / rows.size;
  PetscCall(PetscMalloc3((size_t)rows.size * 2 * n, &A, (size_t)columns.size * 2 * n, &B,
                         (size_t)grid->size, &G));
  PetscCall(PetscCalloc1(n, &zero));
  side_table(path, grid, &rows, path->phase, path->weight, A);
  side_table(path, grid, &columns, zero, NULL, B);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows.size, columns.size, 2 * path->n, 1.0, A,
              2 * path->n, B, 2 * path->n, 0.0, G, columns.size);
  for (int i = 0; i < grid->size; i++) value[(size_t)i * step] = path->mean + G[i];
  PetscCall(PetscFree(zero));
  return PetscFree3(A, B, G);
}

/* T (size x 2 ld) in single precision: cos, sin. */
static void coarse_table(const RgFeaturePath *path, int first, int dim, int size, const double *x,
                         size_t ld, const float *phase, float *T)
{
  const float *W = path->coarse + (size_t)first * ld;

  for (int i = 0; i < size; i++, x += dim, T += 2 * ld)
    rg_vector_ops()->coarse_circle(dim, x, (int)ld, W, ld, phase, T, T + ld);
}

/* mean plus features alone, for `count` vectors of weights (count x path->n), at the points of a
   product as in rg_feature_path_screen_product: value (count x m). */
static PetscErrorCode feature_path_screen_weights(RgFeaturePath *path,
                                                  const RgPointProduct *product, int count,
                                                  const double *weight, int m, double *value)
{
  const int split = product->split, rows = product->rows, columns = product->columns;
  const size_t n = (size_t)path->n, ld = feature_path_make_coarse(path);
  const size_t R = (size_t)rows, C = (size_t)columns;
  const float *phase = path->coarse + (size_t)path->rows * ld, *kept = phase + 2 * ld;
  float *zero, *weights, *A, *B, *weighed;
  double *G;

  PetscCheck(split > 0 && split < path->dim && m <= rows * columns, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "%d points of %d rows in %d and %d columns in %d dimensions",
             m, rows, split, columns, path->dim - split);
  PetscCheck(!path->point, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "tables of a path with choices or a warp");
  PetscCall(feature_path_reserve(path, R * C + ld + (2 * R + C) * ld));
  G = path->large_work;
  zero = (float *)(G + R * C);
  weights = zero + ld;
  A = weights + ld;
  B = A + 2 * R * ld;
  weighed = B + 2 * C * ld;
  for (size_t l = 0; l < 2 * ld; l++) zero[l] = 0.0f; /* also clears `weights` */
  coarse_table(path, 0, split, rows, product->X, ld, phase, A);
  PetscCall(rg_poll());
  coarse_table(path, split, path->dim - split, columns, product->Y, ld, zero, B);
  for (int s = 0; s < count; s++, weight += n, value += m) {
    PetscCall(rg_poll());
    for (size_t l = 0; l < n; l++) weights[l] = kept[l] * (float)weight[l];
    for (size_t i = 0; i < 2 * R * ld; i += 2 * ld) /* weight cos, -weight sin */
      for (size_t l = i; l < i + ld; l++) {
        weighed[l] = weights[l - i] * A[l];
        weighed[ld + l] = -weights[l - i] * A[ld + l];
      }
    rg_vector_ops()->coarse_products(rows, columns, 2 * (int)ld, weighed, B, G);
    for (int i = 0; i < m; i++) value[i] = path->mean + G[i];
  }
  return 0;
}

PetscErrorCode rg_feature_path_screen_product(RgFeaturePath *path, const RgPointProduct *product,
                                              int m, const double *Z, double *value)
{
  PetscCall(feature_path_screen_weights(path, product, 1, path->weight, m, value));
  return feature_path_add_updates(path, m, Z, value, NULL);
}

/* ---- bundles --------------------------------------------------------------------------------- */

PetscErrorCode rg_feature_bundle_create(int dim, int features, RgFeatureBundle *bundle)
{
  PetscCall(PetscMemzero(bundle, sizeof *bundle));
  return rg_feature_path_create(dim, features, &bundle->path);
}

PetscErrorCode rg_feature_bundle_destroy(RgFeatureBundle *bundle)
{
  PetscCall(rg_feature_path_destroy(&bundle->path));
  PetscCall(RG_FREE(&bundle->weight, &bundle->alpha, &bundle->work));
  return PetscMemzero(bundle, sizeof *bundle);
}

PetscErrorCode rg_feature_bundle_draw(RgFeatureBundle *bundle, RgPosterior *posterior, int count,
                                      const double *e, RgRandom *random)
{
  const RgVectorOps *ops = rg_vector_ops();
  RgFeaturePath *path = &bundle->path;
  const size_t M = (size_t)path->n;
  const double *x = posterior->X;
  double *r, *cosine = path->work;

  bundle->count = count;
  PetscCall(rg_feature_path_draw(path, &posterior->kernel, random));
  PetscCall(reserve(M * count, &bundle->weight_room, &bundle->weight));
  memcpy(bundle->weight, path->weight, M * sizeof(double)); /* the features come with them */
  for (int s = 1; s < count; s++) {
    rg_vector_normals(random, M, bundle->weight + s * M);
    ops->multiply(path->n, path->amplitude, bundle->weight + s * M);
  }
  PetscCall(reserve((size_t)posterior->n * count, &bundle->alpha_room, &bundle->alpha));
  PetscCall(reserve((size_t)posterior->n, &path->alpha_room, &path->alpha));
  r = bundle->alpha;
  for (int i = 0; i < posterior->n; i++, x += path->dim) {
    PetscCall(rg_poll());
    ops->turns(path->rows, feature_path_rows(path, x), path->n, path->frequency, M, path->phase,
               cosine);
    ops->circle(path->n, cosine, cosine, NULL);
    for (int s = 0; s < count; s++, r++, e++)
      *r =
        posterior->y[i] - posterior->mean - ops->dot(path->n, bundle->weight + s * M, cosine) - *e;
  }
  PetscCall(rg_posterior_solve_many(posterior, count, bundle->alpha));
  path->mean = posterior->mean;
  path->posterior = posterior;
  return rg_feature_bundle_select(bundle, 0);
}

PetscErrorCode rg_feature_bundle_select(RgFeatureBundle *bundle, int s)
{
  RgFeaturePath *path = &bundle->path;
  const size_t M = (size_t)path->n;

  PetscCheck(s >= 0 && s < bundle->count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Path %d of %d", s, bundle->count);
  memcpy(path->weight, bundle->weight + s * M, M * sizeof(double));
  for (int i = 0; i < path->posterior->n; i++)
    path->alpha[i] = bundle->alpha[(size_t)i * bundle->count + s];
  path->has_coarse = false;
  return 0;
}

PetscErrorCode rg_feature_bundle_screen(RgFeatureBundle *bundle, const RgPointProduct *product,
                                        int m, const double *Z, double *value)
{
  const RgPosterior *posterior = bundle->path.posterior;
  const size_t dim = (size_t)bundle->path.dim;
  const int n = posterior->n, count = bundle->count;

  PetscCall(feature_path_screen_weights(&bundle->path, product, count, bundle->weight, m, value));
  PetscCall(reserve((size_t)n * BLOCK, &bundle->work_room, &bundle->work));
  for (int first = 0; n && first < m; first += BLOCK) {
    int width = PetscMin(BLOCK, m - first);
    PetscCall(
      rg_kernel_cross(&posterior->kernel, n, posterior->X, width, Z + first * dim, bundle->work));
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, count, width, n, 1.0, bundle->alpha, count,
                bundle->work, width, 1.0, value + first, m);
  }
  return 0;
}
