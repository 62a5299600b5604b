/* Gradients of sums over kernel matrices by the hyperparameters. */
#include "gp/kernel/kernel_internal.h"

/* The rows that are done at a time: a chunk of rg_kernel_term_tile. */
#define ROWS (RG_CHUNK / RG_TILE)

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

/* Rows i..i+rows-1 of the tile at column j. */
static void weights(int n, const double *A, int i, int rows, int j, int width, double *weight)
{
  for (int r = i; r < i + rows; r++, weight += width) {
    const double *row = A + (size_t)r * n + j;
    int count = PetscMin(width, r - j);

    for (int k = 0; k < count; k++) weight[k] = row[k];
    for (int k = PetscMax(count, 0); k < width; k++) weight[k] = 0.0;
  }
}

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

      for (int s = 0; s < factor->n_scales; s++) g[s] = 0.0;
      for (int k = 0; k < factor->n_inputs; k++) {
        for (int c = rg_kernel_input_columns(factor, k); c > 0; c--)
          g[factor->n_scales == 1 ? 0 : k] -= 2.0 * times * *moment++;
      }
      g += factor->n_scales;
    }
    *g++ = times * work->sums[t] + term->variance * trace;
  }
}

static PetscErrorCode work_create(const RgKernel *kernel, int n, Work *work)
{
  int factors = rg_kernel_n_factors(kernel), tile = ROWS * RG_TILE;

  PetscFunctionBeginUser;
  work->ops = rg_tile_ops();
  work->columns = rg_kernel_n_columns(kernel);
  PetscCall(PetscMalloc6((size_t)n * work->columns, &work->A, RG_TILE * work->columns, &work->B,
                         tile, &work->weight, tile, &work->value, tile * factors, &work->slope,
                         rg_kernel_tile_scratch(kernel, RG_TILE), &work->scratch));
  PetscCall(PetscCalloc2(work->columns, &work->moments, kernel->n_terms, &work->sums));
  PetscFunctionReturn(0);
}

static PetscErrorCode work_destroy(Work *work)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(work->moments, work->sums));
  PetscCall(PetscFree6(work->A, work->B, work->weight, work->value, work->slope, work->scratch));
  PetscFunctionReturn(0);
}

/* g (2 dim) += sum_ij W_ij (d k(x_i, z_j) / d z_j) (d z_j / d log a, d log b), where z_j enters k
   through the warp; W: n x m. */
static PetscErrorCode add_warp(const RgKernel *kernel, int n, const double *X, int m,
                               const double *Z, const double *W, double *g)
{
  const size_t dim = (size_t)kernel->dim;
  double *G, slope[3];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)m * dim, &G));
  PetscCall(rg_kernel_cross_gradient(kernel, n, X, m, Z, W, G));
  for (size_t i = 0; i < (size_t)m * dim; i++) {
    const size_t j = i % dim;

    (void)rg_kernel_warp_at(kernel, (int)j, Z[i], slope);
    g[j] += G[i] * (slope[1] / slope[0]);
    g[dim + j] += G[i] * (slope[2] / slope[0]);
  }
  PetscCall(PetscFree(G));
  PetscFunctionReturn(0);
}

/* The entries of the warp behind those of the terms: the matrix of a square, or of a rectangle. */
static PetscErrorCode warp_gradient(const RgKernel *kernel, int n, const double *X, int m,
                                    const double *Z, const double *W, double *g)
{
  double *other;

  PetscFunctionBeginUser;
  if (!kernel->warp) PetscFunctionReturn(0);
  g += rg_kernel_theta_size(kernel) - 2 * kernel->dim;
  PetscCall(PetscArrayzero(g, 2 * kernel->dim));
  PetscCall(PetscMalloc1((size_t)n * m, &other));
  if (Z) {
    PetscCall(add_warp(kernel, n, X, m, Z, W, g));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) other[(size_t)j * n + i] = W[(size_t)i * m + j];
    PetscCall(add_warp(kernel, m, Z, n, X, other, g));
  } else { /* both triangles */
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++)
        other[(size_t)i * n + j] = other[(size_t)j * n + i] = 2 * W[(size_t)i * n + j];
    PetscCall(add_warp(kernel, n, X, n, X, other, g));
  }
  PetscCall(PetscFree(other));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_theta_cross(const RgKernel *kernel, int n, const double *X, int m,
                                     const double *Z, const double *W, double *g)
{
  Work work;

  PetscFunctionBeginUser;
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
  PetscCall(warp_gradient(kernel, n, X, m, Z, W, g));
  PetscCall(work_destroy(&work));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_theta_gradient(const RgKernel *kernel, int n, const double *X,
                                        const double *A, double *g)
{
  double trace = 0.0;
  Work work;

  PetscFunctionBeginUser;
  PetscCall(work_create(kernel, n, &work));
  rg_kernel_scale_points(kernel, n, X, work.A);
  for (int j = 0; j < n; j += RG_TILE) {
    int width = rg_tile_width(n - j);

    rg_kernel_scale_tile(kernel, PetscMin(width, n - j), X + (size_t)j * kernel->dim, width,
                         work.B);
    for (int i = j; i < n; i += ROWS) {
      int rows = PetscMin(ROWS, n - i);

      weights(n, A, i, rows, j, width, work.weight);
      add_rows(kernel, i, rows, width, &work);
    }
  }
  for (int i = 0; i < n; i++) trace += A[i * (size_t)n + i];
  assemble(kernel, 2.0, trace, &work, g);
  PetscCall(warp_gradient(kernel, n, X, n, NULL, A, g));
  if (kernel->trend)
    PetscCall(rg_kernel_trend_theta(kernel, n, X, A, g + rg_kernel_theta_size(kernel) - 2));
  PetscCall(work_destroy(&work));
  PetscFunctionReturn(0);
}
