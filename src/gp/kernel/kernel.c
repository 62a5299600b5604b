/* Kernels as data: creation, copies, comparison, and hyperparameters. */
#include "base/grow.h"
#include "gp/kernel/family.h"
#include "gp/kernel/kernel_internal.h"

#include <math.h>
#include <string.h>

/* The rows that are done at a time: a chunk of rg_kernel_term_tile. */
#define ROWS (RG_CHUNK / RG_TILE)

static bool has_sphere(const RgKernel *kernel)
{
  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++)
      if (rg_kernel_on_sphere(&kernel->terms[t].factors[f])) return true;
  return false;
}

/* ---- trends ---------------------------------------------------------------------------------- */

static double trend_value(const RgKernel *kernel, double s)
{
  return (kernel->trend[0] + kernel->trend[1] * s) * s;
}

static double trend_slope(const RgKernel *kernel, double s)
{
  return kernel->trend[0] + 2 * kernel->trend[1] * s;
}

static double centred(double x)
{
  return 2 * x - 1;
}

/* s of x and of each point of a tile B (dim x RG_TILE, centred). */
static void products(int dim, const double *x, const double *B, double *s)
{
  for (int j = 0; j < RG_TILE; j++) s[j] = 0;
  for (int k = 0; k < dim; k++, B += RG_TILE) {
    const double u = centred(x[k]) / dim;
    for (int j = 0; j < RG_TILE; j++) s[j] += u * B[j];
  }
}

/* B from the first `count` points of Z. */
static void fill(int dim, int count, const double *Z, double *B)
{
  for (int k = 0; k < dim; k++)
    for (int j = 0; j < RG_TILE; j++)
      B[k * RG_TILE + j] = j < count ? centred(Z[(size_t)j * dim + k]) : 0;
}

/* s of a point and itself. */
static double square(const RgKernel *kernel, const double *z)
{
  double s = 0;

  for (int k = 0; k < kernel->dim; k++) s += centred(z[k]) * centred(z[k]) / kernel->dim;
  return s;
}

PetscErrorCode rg_kernel_set_trend(RgKernel *kernel)
{
  PetscCheck(!kernel->warp, PETSC_COMM_SELF, PETSC_ERR_SUP, "a warped kernel has no trend");
  if (!kernel->trend) PetscCall(PetscMalloc1(2, &kernel->trend));
  kernel->trend[0] = kernel->trend[1] = 1;
  return 0;
}

double rg_kernel_variance_at(const RgKernel *kernel, const double *z)
{
  const double diagonal = rg_kernel_diagonal(kernel);

  return kernel->trend ? diagonal + trend_value(kernel, square(kernel, z)) : diagonal;
}

double rg_kernel_largest_variance(const RgKernel *kernel)
{
  const double diagonal = rg_kernel_diagonal(kernel);

  return kernel->trend ? diagonal + trend_value(kernel, 1) : diagonal;
}

void rg_kernel_add_variance_gradient(const RgKernel *kernel, double weight, const double *z,
                                     double *g)
{
  if (!kernel->trend) return;
  const double slope = weight * trend_slope(kernel, square(kernel, z)) * 4 / kernel->dim;
  for (int k = 0; k < kernel->dim; k++) g[k] += slope * centred(z[k]);
}

PetscErrorCode rg_kernel_add_trend(const RgKernel *kernel, int n, const double *X, int m,
                                   const double *Z, size_t ld, double *K)
{
  const int dim = kernel->dim;
  double *B, s[RG_TILE];

  if (!kernel->trend) return 0;
  PetscCall(PetscMalloc1((size_t)dim * RG_TILE, &B));
  for (int j = 0; j < m; j += RG_TILE) {
    const int count = PetscMin(RG_TILE, m - j);
    fill(dim, count, Z + (size_t)j * dim, B);
    for (int i = 0; i < n; i++) {
      products(dim, X + (size_t)i * dim, B, s);
      for (int k = 0; k < count; k++) K[i * ld + j + k] += trend_value(kernel, s[k]);
    }
  }
  return PetscFree(B);
}

PetscErrorCode rg_kernel_add_trend_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                            const double *Z, size_t ld, const double *W, double *G)
{
  const int dim = kernel->dim;
  double *B, s[RG_TILE];

  if (!kernel->trend) return 0;
  PetscCall(PetscMalloc1((size_t)dim * RG_TILE, &B));
  for (int j = 0; j < m; j += RG_TILE) {
    const int count = PetscMin(RG_TILE, m - j);
    fill(dim, count, Z + (size_t)j * dim, B);
    for (int i = 0; i < n; i++) {
      const double *x = X + (size_t)i * dim;
      products(dim, x, B, s);
      for (int l = 0; l < count; l++) {
        const double slope = W[i * ld + j + l] * trend_slope(kernel, s[l]) * 2 / dim;
        for (int k = 0; k < dim; k++) G[(size_t)(j + l) * dim + k] += slope * centred(x[k]);
      }
    }
  }
  return PetscFree(B);
}

/* g (2) = sum_ij A_ij d trend_ij / d log v over the n x n matrix; A as in
   rg_kernel_theta_gradient. */
static PetscErrorCode kernel_trend_theta(const RgKernel *kernel, int n, const double *X,
                                         const double *A, double *g)
{
  const int dim = kernel->dim;
  double *B, s[RG_TILE], sums[2] = {0, 0};

  PetscCall(PetscMalloc1((size_t)dim * RG_TILE, &B));
  for (int j = 0; j < n; j += RG_TILE) {
    const int count = PetscMin(RG_TILE, n - j);
    fill(dim, count, X + (size_t)j * dim, B);
    for (int i = j; i < n; i++) {
      products(dim, X + (size_t)i * dim, B, s);
      for (int k = 0; k < PetscMin(count, i - j + 1); k++) {
        const double weight = (j + k == i ? 1 : 2) * A[(size_t)i * n + j + k];
        sums[0] += weight * s[k];
        sums[1] += weight * s[k] * s[k];
      }
    }
  }
  for (int p = 0; p < 2; p++) g[p] = kernel->trend[p] * sums[p];
  return PetscFree(B);
}

/* ---- gradients by hyperparameters ------------------------------------------------------------ */

/* Working arrays of one gradient by the hyperparameters. */
typedef struct {
  const RgTileOps *ops;
  int columns;
  double *A, *B;   /* all points, scaled; one tile of them */
  double *weight;  /* ROWS x width of the matrix, 0 on and above the diagonal */
  double *value;   /* values of one term */
  double *slope;   /* slopes of each of its factors */
  double *scratch; /* scratch of rg_kernel_tile */
  double *moments; /* per column: sum of A_ij slope_ij (scaled difference)^2 over j < i */
  double *sums;    /* per term: sum of A_ij value_ij over j < i */
} Work;

static void add_rows(const RgKernel *kernel, int i, int rows, int width, Work *work)
{
  const double *A = work->A + (size_t)i * work->columns, *B = work->B;
  double *moments = work->moments;
  size_t count = (size_t)rows * (size_t)width;

  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    rg_kernel_term_tile(work->ops, term, rows, A, work->columns, B, width, work->value, work->slope,
                        ROWS * RG_TILE, work->scratch);
    work->sums[t] += work->ops->dot(count, work->weight, work->value);
    for (int f = 0; f < term->n_factors; f++) {
      int n = rg_kernel_factor_columns(&term->factors[f]);
      work->ops->moments(n, rows, A, work->columns, B, width, work->weight,
                         work->slope + (size_t)f * ROWS * RG_TILE, moments);
      A += n;
      B += n * width;
      moments += n;
    }
  }
}

/* d r2 / d log(length scale) = -2 (difference / length scale)^2, every entry counted `times`. */
static void assemble(const RgKernel *kernel, double times, double trace, const Work *work,
                     double *g)
{
  const double *moment = work->moments;

  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    for (int f = 0; f < term->n_factors; f++) {
      const RgKernelFactor *factor = &term->factors[f];
      for (int s = 0; s < factor->n_scales + rg_kernel_n_odds(factor); s++) g[s] = 0.0;
      for (int k = 0; k < factor->n_inputs; k++)
        for (int c = rg_kernel_input_columns(factor, k); c > 0; c--)
          g[factor->n_scales == 1 ? 0 : k] -= 2.0 * times * *moment++;
      g += factor->n_scales;
      if (!rg_kernel_on_sphere(factor)) continue; /* else inputs_gradient adds what is left out */
      for (int c = rg_kernel_factor_columns(factor); c > 0; c--)
        g[1] += times * rg_kernel_sphere_fall(factor) * *moment++;
      g += 2;
    }
    *g++ = times * work->sums[t] + term->variance * trace;
  }
}

static PetscErrorCode work_create(const RgKernel *kernel, int n, Work *work)
{
  int factors = rg_kernel_n_factors(kernel), tile = ROWS * RG_TILE;

  work->ops = rg_tile_ops();
  work->columns = rg_kernel_n_columns(kernel);
  PetscCall(PetscMalloc6((size_t)n * work->columns, &work->A, RG_TILE * work->columns, &work->B,
                         tile, &work->weight, tile, &work->value, tile * factors, &work->slope,
                         rg_kernel_tile_scratch(kernel, RG_TILE), &work->scratch));
  return PetscCalloc2(work->columns, &work->moments, kernel->n_terms, &work->sums);
}

static PetscErrorCode work_destroy(Work *work)
{
  PetscCall(PetscFree2(work->moments, work->sums));
  return PetscFree6(work->A, work->B, work->weight, work->value, work->slope, work->scratch);
}

/* g += the gradient through the second points alone: by the warp, behind the terms, sum_ij W_ij (d
   k(x_i, z_j) / d z_j) (d z_j / d log a, d log b), where z_j enters k through the warp; and on a
   sphere. */
static PetscErrorCode add_side(const RgKernel *kernel, int n, const double *X, int m,
                               const double *Z, const double *W, double *g)
{
  const size_t dim = (size_t)kernel->dim;
  double *G, slope[3], *by_warp = g + rg_kernel_theta_size(kernel) - 2 * dim;

  if (kernel->warp) {
    PetscCall(PetscMalloc1((size_t)m * dim, &G));
    PetscCall(rg_kernel_cross_gradient(kernel, n, X, m, Z, W, G));
    for (size_t i = 0; i < (size_t)m * dim; i++) {
      (void)rg_kernel_warp_at(kernel, (int)(i % dim), Z[i], slope);
      for (size_t p = 0; p < 2; p++) by_warp[p * dim + i % dim] += G[i] * (slope[1 + p] / slope[0]);
    }
    PetscCall(PetscFree(G));
  }
  return has_sphere(kernel) ? rg_kernel_sphere_cross(kernel, n, X, m, Z, W, g) : 0;
}

/* The hyperparameters that move inputs: over the matrix of a square, or of a rectangle. */
static PetscErrorCode inputs_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                      const double *Z, const double *W, double *g)
{
  const int n_warp = kernel->warp ? 2 * kernel->dim : 0;
  double *other;

  if (!n_warp && !has_sphere(kernel)) return 0;
  PetscCall(PetscArrayzero(g + rg_kernel_theta_size(kernel) - n_warp, n_warp));
  PetscCall(PetscMalloc1((size_t)n * m, &other));
  if (Z) {
    PetscCall(add_side(kernel, n, X, m, Z, W, g));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) other[(size_t)j * n + i] = W[(size_t)i * m + j];
    PetscCall(add_side(kernel, m, Z, n, X, other, g));
  } else { /* both triangles */
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++)
        other[(size_t)i * n + j] = other[(size_t)j * n + i] = 2 * W[(size_t)i * n + j];
    PetscCall(add_side(kernel, n, X, n, X, other, g));
  }
  return PetscFree(other);
}

PetscErrorCode rg_kernel_theta_cross(const RgKernel *kernel, int n, const double *X, int m,
                                     const double *Z, const double *W, double *g)
{
  Work work;

  PetscCall(work_create(kernel, n, &work));
  rg_kernel_scale_points(kernel, n, X, work.A);
  for (int j = 0; j < m; j += RG_TILE) {
    int width = rg_tile_width(m - j), count = PetscMin(width, m - j);
    rg_kernel_scale_tile(kernel, count, Z + (size_t)j * kernel->dim, width, work.B);
    for (int i = 0; i < n; i += ROWS) {
      int rows = PetscMin(ROWS, n - i);
      for (int r = 0; r < rows; r++) {
        const double *row = W + (size_t)(i + r) * m + j;
        double *out = work.weight + (size_t)r * width;
        for (int k = 0; k < count; k++) out[k] = row[k];
        for (int k = count; k < width; k++) out[k] = 0.0;
      }
      add_rows(kernel, i, rows, width, &work);
    }
  }
  assemble(kernel, 1.0, 0.0, &work, g);
  PetscCall(inputs_gradient(kernel, n, X, m, Z, W, g));
  return work_destroy(&work);
}

PetscErrorCode rg_kernel_theta_gradient(const RgKernel *kernel, int n, const double *X,
                                        const double *A, double *g)
{
  double trace = 0.0;
  Work work;

  PetscCall(work_create(kernel, n, &work));
  rg_kernel_scale_points(kernel, n, X, work.A);
  for (int j = 0; j < n; j += RG_TILE) {
    int width = rg_tile_width(n - j);
    rg_kernel_scale_tile(kernel, PetscMin(width, n - j), X + (size_t)j * kernel->dim, width,
                         work.B);
    for (int i = j; i < n; i += ROWS) {
      int rows = PetscMin(ROWS, n - i);
      for (int r = 0; r < rows; r++) {
        const double *row = A + (size_t)(i + r) * n + j;
        double *out = work.weight + (size_t)r * width;
        for (int k = 0; k < width; k++) out[k] = j + k < i + r ? row[k] : 0.0;
      }
      add_rows(kernel, i, rows, width, &work);
    }
  }
  for (int i = 0; i < n; i++) trace += A[i * (size_t)n + i];
  assemble(kernel, 2.0, trace, &work, g);
  PetscCall(inputs_gradient(kernel, n, X, n, NULL, A, g));
  if (kernel->trend)
    PetscCall(kernel_trend_theta(kernel, n, X, A, g + rg_kernel_theta_size(kernel) - 2));
  return work_destroy(&work);
}

/* ---- creation -------------------------------------------------------------------------------- */

static bool on_left(const RgKernelFactor *factor, int k, int dim_left)
{
  return factor->inputs[k] < dim_left;
}

/* The inputs number which[0], .., which[n - 1] of a factor; which NULL: all of them. */
static PetscErrorCode factor_part(const RgKernelFactor *factor, int n, const int *which,
                                  RgKernelFactor *part)
{
  const bool ard = factor->n_scales > 1;

  *part = *factor;
  part->n_inputs = n;
  part->n_scales = ard ? n : 1;
  PetscCall(PetscMalloc1(n, &part->inputs));
  PetscCall(PetscMalloc1(part->n_scales, &part->length_scale));
  if (factor->words) PetscCall(PetscMalloc1(n, &part->words));
  part->length_scale[0] = factor->length_scale[0];
  for (int k = 0; k < n; k++) {
    const int from = which ? which[k] : k;
    part->inputs[k] = factor->inputs[from];
    if (ard) part->length_scale[k] = factor->length_scale[from];
    if (factor->words) part->words[k] = factor->words[from];
  }
  return 0;
}

/* The factors over the inputs of one side, numbered from its first. */
static PetscErrorCode create_side(const RgKernelTerm *term, int dim_left, bool left, int dim,
                                  RgKernel *side)
{
  int *which;

  *side = (RgKernel){.dim = dim, .n_terms = 1};
  PetscCall(PetscCalloc1(1, &side->terms));
  side->terms[0].variance = left ? term->variance : 1.0;
  PetscCall(PetscCalloc1(term->n_factors, &side->terms[0].factors));
  PetscCall(PetscMalloc1(dim, &which));
  for (int f = 0; f < term->n_factors; f++) {
    const RgKernelFactor *factor = &term->factors[f];
    RgKernelFactor *part = &side->terms[0].factors[side->terms[0].n_factors];
    int n = 0;
    for (int k = 0; k < factor->n_inputs; k++)
      if (on_left(factor, k, dim_left) == left) which[n++] = k;
    if (n == 0) continue;
    side->terms[0].n_factors++;
    PetscCall(factor_part(factor, n, which, part));
    for (int k = 0; k < n && !left; k++) part->inputs[k] -= dim_left;
  }
  return PetscFree(which);
}

PetscErrorCode rg_kernel_split(const RgKernel *kernel, int dim_left, RgKernel *left,
                               RgKernel *right, bool *splits)
{
  const RgKernelTerm *term = &kernel->terms[0];

  *splits = kernel->n_terms == 1 && !kernel->warp && !kernel->trend;
  for (int f = 0; f < term->n_factors && *splits; f++) {
    const RgKernelFactor *factor = &term->factors[f];
    const bool separable = rg_kernel_classes[factor->family]->separable;
    if (factor->shift) *splits = false;
    for (int k = 1; k < factor->n_inputs && !separable; k++)
      if (on_left(factor, k, dim_left) != on_left(factor, 0, dim_left)) *splits = false;
  }
  if (!*splits) return 0;
  PetscCall(create_side(term, dim_left, true, dim_left, left));
  return create_side(term, dim_left, false, kernel->dim - dim_left, right);
}

/* One factor over the given `n` inputs, with 1 or n length scales. */
static PetscErrorCode factor_create(RgKernelFamily family, int n, const int *inputs, bool ard,
                                    const double *length_scale, RgKernelFactor *factor)
{
  rg_kernel_set_family(factor, family);
  factor->n_inputs = n;
  factor->n_scales = ard ? n : 1;
  PetscCall(PetscMalloc1(n, &factor->inputs));
  PetscCall(PetscMalloc1(factor->n_scales, &factor->length_scale));
  PetscCall(PetscArraycpy(factor->inputs, inputs, n));
  for (int s = 0; s < factor->n_scales; s++) {
    PetscCheck(length_scale[s] > 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "Length scale %d is %g; it must be positive", s, length_scale[s]);
    factor->length_scale[s] = length_scale[s];
  }
  return 0;
}

static PetscErrorCode term_create(double variance, int n_factors, RgKernelTerm *term)
{
  PetscCheck(variance > 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Variance is %g; it must be positive", variance);
  term->variance = variance;
  term->n_factors = n_factors;
  return PetscCalloc1(n_factors, &term->factors);
}

static PetscErrorCode kernel_begin(int dim, int n_terms, RgKernel *kernel)
{
  PetscCheck(dim > 0 && n_terms > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A kernel needs inputs and groups");
  *kernel = (RgKernel){.dim = dim, .n_terms = n_terms};
  return PetscCalloc1(n_terms, &kernel->terms);
}

PetscErrorCode rg_kernel_create(RgKernelFamily family, int dim, bool ard,
                                const double *length_scale, double variance, RgKernel *kernel)
{
  int *group;

  PetscCall(PetscCalloc1(dim, &group));
  PetscCall(rg_kernel_create_product(family, dim, 1, group, ard, length_scale, variance, kernel));
  return PetscFree(group);
}

/* One factor per group. Their product is the kernel if it has one term, else their sum is. */
static PetscErrorCode add_groups(RgKernelFamily family, int n_groups, const int *group, bool ard,
                                 const double *length_scale, const double *variance,
                                 RgKernel *kernel)
{
  const bool additive = kernel->n_terms > 1;
  const int dim = kernel->dim;
  int *inputs;

  PetscCall(PetscMalloc1(dim, &inputs));
  for (int t = 0; t < kernel->n_terms; t++)
    PetscCall(term_create(variance[t], additive ? 1 : n_groups, &kernel->terms[t]));
  for (int g = 0; g < n_groups; g++) {
    RgKernelFactor *factor = additive ? &kernel->terms[g].factors[0] : &kernel->terms[0].factors[g];
    int n = 0;
    for (int j = 0; j < dim; j++)
      if (group[j] == g) inputs[n++] = j;
    PetscCheck(n > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Group %d has no input", g);
    PetscCall(factor_create(family, n, inputs, ard, length_scale, factor));
    length_scale += factor->n_scales;
  }
  return PetscFree(inputs);
}

PetscErrorCode rg_kernel_create_product(RgKernelFamily family, int dim, int n_groups,
                                        const int *group, bool ard, const double *length_scale,
                                        double variance, RgKernel *kernel)
{
  PetscCall(kernel_begin(dim, 1, kernel));
  return add_groups(family, n_groups, group, ard, length_scale, &variance, kernel);
}

PetscErrorCode rg_kernel_create_additive(RgKernelFamily family, int dim, int n_groups,
                                         const int *group, bool ard, const double *length_scale,
                                         const double *variance, RgKernel *kernel)
{
  PetscCall(kernel_begin(dim, n_groups, kernel));
  return add_groups(family, n_groups, group, ard, length_scale, variance, kernel);
}

PetscErrorCode rg_kernel_create_terms(RgKernelFamily family, int dim, int n_terms,
                                      const int *n_inputs, const int *inputs,
                                      const double *length_scale, const double *variance,
                                      RgKernel *kernel)
{
  PetscCall(kernel_begin(dim, n_terms, kernel));
  for (int t = 0; t < n_terms; t++) {
    PetscCall(term_create(variance[t], 1, &kernel->terms[t]));
    PetscCall(factor_create(family, n_inputs[t], inputs, false, &length_scale[t],
                            &kernel->terms[t].factors[0]));
    inputs += n_inputs[t];
  }
  return 0;
}

PetscErrorCode rg_kernel_create_shift(RgKernelFamily family, int dim, bool ard,
                                      const double *length_scale, double variance, RgKernel *kernel)
{
  PetscCheck(dim % 2 == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%d inputs are no pairs", dim);
  PetscCall(rg_kernel_create(family, dim / 2, ard, length_scale, variance, kernel));
  kernel->dim = dim;
  kernel->terms[0].factors[0].shift = dim / 2;
  return 0;
}

void rg_kernel_set_family(RgKernelFactor *factor, RgKernelFamily family)
{
  factor->family = family;
  factor->shape = rg_kernel_classes[family]->default_shape;
  factor->odds[0] = factor->odds[1] = 1;
}

void rg_kernel_set_shape(RgKernel *kernel, double shape)
{
  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      RgKernelFactor *factor = &kernel->terms[t].factors[f];
      if (rg_kernel_classes[factor->family]->symbol) factor->shape = shape;
    }
}

PetscErrorCode rg_kernel_set_words(RgKernel *kernel, const int *words)
{
  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      RgKernelFactor *factor = &kernel->terms[t].factors[f];
      bool any = false;
      for (int k = 0; k < factor->n_inputs; k++) any = any || words[factor->inputs[k]] > 0;
      if (!any || factor->shift || rg_kernel_classes[factor->family]->warp) continue;
      if (rg_kernel_on_sphere(factor)) continue;
      if (!factor->words) PetscCall(PetscMalloc1(factor->n_inputs, &factor->words));
      for (int k = 0; k < factor->n_inputs; k++) factor->words[k] = words[factor->inputs[k]];
    }
  }
  return 0;
}

PetscErrorCode rg_kernel_set_warp(RgKernel *kernel)
{
  PetscCheck(!rg_kernel_shifts(kernel), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "a kernel of sums of inputs is not warped");
  if (!kernel->warp) PetscCall(PetscMalloc1(2 * (size_t)kernel->dim, &kernel->warp));
  for (int j = 0; j < 2 * kernel->dim; j++) kernel->warp[j] = 1;
  return 0;
}

double rg_kernel_warp_at(const RgKernel *kernel, int j, double x, double *slope)
{
  const double a = kernel->warp[j], b = kernel->warp[kernel->dim + j], least = 1e-6;
  const double at = fmin(fmax(x, least), 1 - least), power = pow(at, a), rest = 1 - power;
  const double upper = pow(rest, b); /* 1 - the value */

  if (!slope) return 1 - upper;
  slope[0] = a * b * power / at * upper / rest;
  slope[1] = a * b * power * log(at) * upper / rest;
  slope[2] = -b * upper * log(rest);
  return 1 - upper;
}

PetscErrorCode rg_kernel_copy(const RgKernel *from, RgKernel *to)
{
  PetscCall(kernel_begin(from->dim, from->n_terms, to));
  if (from->warp) PetscCall(rg_kernel_set_warp(to));
  if (from->warp) PetscCall(PetscArraycpy(to->warp, from->warp, 2 * (size_t)from->dim));
  if (from->trend) PetscCall(rg_kernel_set_trend(to));
  if (from->trend) PetscCall(PetscArraycpy(to->trend, from->trend, 2));
  for (int t = 0; t < from->n_terms; t++) {
    const RgKernelTerm *term = &from->terms[t];
    PetscCall(term_create(term->variance, term->n_factors, &to->terms[t]));
    for (int f = 0; f < term->n_factors; f++) {
      const RgKernelFactor *factor = &term->factors[f];
      PetscCall(factor_part(factor, factor->n_inputs, NULL, &to->terms[t].factors[f]));
    }
  }
  return 0;
}

PetscErrorCode rg_kernel_destroy(RgKernel *kernel)
{
  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      RgKernelFactor *factor = &kernel->terms[t].factors[f];
      PetscCall(RG_FREE(&factor->inputs, &factor->words, &factor->length_scale));
    }
    PetscCall(PetscFree(kernel->terms[t].factors));
  }
  PetscCall(RG_FREE(&kernel->terms, &kernel->warp, &kernel->trend));
  kernel->dim = kernel->n_terms = 0;
  return 0;
}

double rg_kernel_diagonal(const RgKernel *kernel)
{
  double sum = 0.0;

  for (int t = 0; t < kernel->n_terms; t++) sum += kernel->terms[t].variance;
  return sum;
}

void rg_kernel_scale_range(const RgKernel *kernel, int input, double *least, double *most)
{
  *least = INFINITY;
  *most = 0;
  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      for (int k = 0; k < factor->n_inputs; k++) {
        if (factor->inputs[k] != input) continue;
        const double scale = factor->length_scale[factor->n_scales > 1 ? k : 0];
        *least = fmin(*least, scale);
        *most = fmax(*most, scale);
      }
    }
}

bool rg_kernel_more_jitter(const RgKernel *kernel, int n, double *jitter, RgFailure *failure)
{
  const double diagonal = rg_kernel_diagonal(kernel);

  *jitter = *jitter > 0.0 ? 10.0 * *jitter : 1e-10 * diagonal;
  if (*jitter <= 1.001e-4 * diagonal) return true;
  rg_failure_set(failure,
                 "Cholesky factorisation of %d data failed with jitter up to 1e-4 of the signal "
                 "variance",
                 n);
  return false;
}

int rg_kernel_theta_size(const RgKernel *kernel)
{
  int size = 0;

  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++)
      size += kernel->terms[t].factors[f].n_scales + rg_kernel_n_odds(&kernel->terms[t].factors[f]);
    size++;
  }
  return size + (kernel->warp ? 2 * kernel->dim : 0) + (kernel->trend ? 2 : 0);
}

void rg_kernel_get_theta(const RgKernel *kernel, double *theta)
{
  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];
    for (int f = 0; f < term->n_factors; f++) {
      for (int s = 0; s < term->factors[f].n_scales; s++)
        *theta++ = log(term->factors[f].length_scale[s]);
      for (int o = 0; o < rg_kernel_n_odds(&term->factors[f]); o++)
        *theta++ = log(term->factors[f].odds[o]);
    }
    *theta++ = log(term->variance);
  }
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++) *theta++ = log(kernel->warp[j]);
  for (int j = 0; kernel->trend && j < 2; j++) *theta++ = log(kernel->trend[j]);
}

static bool factor_same_structure(const RgKernelFactor *a, const RgKernelFactor *b)
{
  if (a->family != b->family || a->shape != b->shape || a->n_inputs != b->n_inputs ||
      a->shift != b->shift || a->n_scales != b->n_scales)
    return false;
  for (int k = 0; k < a->n_inputs; k++) {
    if (a->inputs[k] != b->inputs[k]) return false;
    if (rg_kernel_input_words(a, k) != rg_kernel_input_words(b, k)) return false;
  }
  return true;
}

bool rg_kernel_same_structure(const RgKernel *a, const RgKernel *b)
{
  if (a->dim != b->dim || a->n_terms != b->n_terms || !a->warp != !b->warp ||
      !a->trend != !b->trend)
    return false;
  for (int t = 0; t < a->n_terms; t++) {
    if (a->terms[t].n_factors != b->terms[t].n_factors) return false;
    for (int f = 0; f < a->terms[t].n_factors; f++)
      if (!factor_same_structure(&a->terms[t].factors[f], &b->terms[t].factors[f])) return false;
  }
  return true;
}

PetscErrorCode rg_kernel_assign(const RgKernel *from, RgKernel *to)
{
  if (from == to) return 0;
  if (!rg_kernel_same_structure(from, to)) {
    PetscCall(rg_kernel_destroy(to));
    return rg_kernel_copy(from, to);
  }
  if (from->warp) PetscCall(PetscArraycpy(to->warp, from->warp, 2 * (size_t)from->dim));
  if (from->trend) PetscCall(PetscArraycpy(to->trend, from->trend, 2));
  for (int t = 0; t < from->n_terms; t++) {
    to->terms[t].variance = from->terms[t].variance;
    for (int f = 0; f < from->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &from->terms[t].factors[f];
      PetscCall(PetscArraycpy(to->terms[t].factors[f].length_scale, factor->length_scale,
                              factor->n_scales));
      PetscCall(PetscArraycpy(to->terms[t].factors[f].odds, factor->odds, 2));
    }
  }
  return 0;
}

bool rg_kernel_shifts(const RgKernel *kernel)
{
  for (int t = 0; t < kernel->n_terms; t++)
    for (int f = 0; f < kernel->terms[t].n_factors; f++)
      if (kernel->terms[t].factors[f].shift) return true;
  return false;
}

bool rg_kernel_factors_over_inputs(const RgKernel *kernel)
{
  if (kernel->warp || kernel->trend) return false;
  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      if (factor->shift) return false;
      if (!rg_kernel_classes[factor->family]->separable && factor->n_inputs > 1) return false;
    }
  }
  return true;
}

PetscErrorCode rg_kernel_restrict(const RgKernelTerm *term, int input, double variance,
                                  RgKernel *restricted)
{
  RgKernelTerm *part;

  PetscCall(kernel_begin(1, 1, restricted));
  part = restricted->terms;
  PetscCall(term_create(variance, term->n_factors, part));
  part->n_factors = 0;
  for (int f = 0; f < term->n_factors; f++) {
    const RgKernelFactor *factor = &term->factors[f];
    for (int k = 0; k < factor->n_inputs; k++) {
      if (factor->inputs[k] != input) continue;
      PetscCall(factor_part(factor, 1, &k, &part->factors[part->n_factors]));
      part->factors[part->n_factors++].inputs[0] = 0;
      break;
    }
  }
  if (part->n_factors == 0) PetscCall(rg_kernel_destroy(restricted));
  return 0;
}

int rg_kernel_find_family(const char *name)
{
  for (int i = 0; i < RG_KERNEL_FAMILIES; i++)
    if (!strcmp(name, rg_kernel_family_names[i])) return i;
  return -1;
}

PetscErrorCode rg_kernel_create_named(const char *name, int dim, bool ard,
                                      const double *length_scale, double variance, RgKernel *kernel)
{
  const int family = rg_kernel_find_family(name);

  PetscCheck(family >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE, "no kernel is called %s",
             name);
  return rg_kernel_create((RgKernelFamily)family, dim, ard, length_scale, variance, kernel);
}
