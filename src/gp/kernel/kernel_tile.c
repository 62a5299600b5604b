/* Kernels over tiles: coordinates divided by length scales, values and slopes, and the gradients
   back in the inputs. */
#include "gp/kernel/kernel_internal.h"

#include <string.h>

int rg_kernel_n_factors(const RgKernel *kernel)
{
  int n = 0;

  for (int t = 0; t < kernel->n_terms; t++) n += kernel->terms[t].n_factors;
  return n;
}

int rg_kernel_n_columns(const RgKernel *kernel)
{
  int n = 0;

  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++)
      n += rg_kernel_factor_columns(&kernel->terms[t].factors[f]);
  }
  return n;
}

/* Whether input k enters as it is, in one column. */
static bool is_plain(const RgKernelFactor *factor, int k)
{
  return !rg_kernel_input_words(factor, k) && !rg_kernel_classes[factor->family]->warp;
}

/* The columns of input k, a choice or of a family that warps its inputs, at point x: x[0] is the
   input, and x[shift] is added to it. Column c goes to out[c * stride]. */
static void warp_input(const RgKernel *kernel, const RgKernelFactor *factor, int k, const double *x,
                       size_t stride, double *out)
{
  const RgKernelClass *class = rg_kernel_classes[factor->family];
  const double inverse = rg_kernel_inverse_scale(factor, k);
  const int words = rg_kernel_input_words(factor, k);
  double u[RG_KERNEL_COLUMNS_MAX];

  for (int c = 0; c < words; c++) out[c * stride] = 0;
  if (words) {
    out[rg_kernel_word(words, x[0]) * stride] = RG_KERNEL_WORD * inverse;
    return;
  }

  const double at = rg_kernel_input(kernel, factor->inputs[k], x[0]);
  class->warp(factor->shape, factor->shift ? at + x[factor->shift] : at, u, NULL);
  for (int c = 0; c < class->columns; c++) out[c * stride] = u[c] * inverse;
}

void rg_kernel_scale_points(const RgKernel *kernel, int n, const double *X, double *A)
{
  int columns = rg_kernel_n_columns(kernel), dim = kernel->dim;

  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];

      for (int k = 0; k < factor->n_inputs; A += rg_kernel_input_columns(factor, k++)) {
        const double *x = X + factor->inputs[k];
        size_t shift = (size_t)factor->shift;
        double inverse = rg_kernel_inverse_scale(factor, k);
        const bool plain = is_plain(factor, k);

        for (size_t i = 0; i < (size_t)n && !plain; i++)
          warp_input(kernel, factor, k, x + i * dim, 1, A + i * columns);
        if (!plain) continue;
        const int input = factor->inputs[k];
        for (size_t i = 0; i < (size_t)n && !kernel->warp; i++)
          A[i * columns] = x[i * dim] * inverse;
        for (size_t i = 0; i < (size_t)n && kernel->warp; i++)
          A[i * columns] = rg_kernel_warp_at(kernel, input, x[i * dim], NULL) * inverse;
        for (size_t i = 0; i < (size_t)n && shift; i++)
          A[i * columns] += x[i * dim + shift] * inverse;
      }
    }
  }
}

void rg_kernel_scale_tile(const RgKernel *kernel, int m, const double *Z, int width, double *B)
{
  int dim = kernel->dim;

  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];

      for (int k = 0; k < factor->n_inputs; k++) {
        const double *z = Z + factor->inputs[k];
        double inverse = rg_kernel_inverse_scale(factor, k);
        const bool plain = is_plain(factor, k);

        for (int j = 0; j < m && !plain; j++)
          warp_input(kernel, factor, k, z + (size_t)j * dim, (size_t)width, B + j);
        for (int j = 0; j < m && plain; j++)
          B[j] = rg_kernel_input(kernel, factor->inputs[k], z[(size_t)j * dim]) * inverse;
        for (int j = 0; j < m && plain && factor->shift; j++)
          B[j] += z[(size_t)j * dim + factor->shift] * inverse;
        for (int c = rg_kernel_input_columns(factor, k); c > 0; c--, B += width)
          for (int j = m; j < width; j++) B[j] = B[m - 1];
      }
    }
  }
}

/* The number of rows in a chunk. */
static int chunk_rows(int width)
{
  return width < RG_CHUNK ? RG_CHUNK / width : 1;
}

static int most_factors(const RgKernel *kernel)
{
  int most = 0;

  for (int t = 0; t < kernel->n_terms; t++) {
    if (kernel->terms[t].n_factors > most) most = kernel->terms[t].n_factors;
  }
  return most;
}

size_t rg_kernel_tile_scratch(const RgKernel *kernel, int width)
{
  if (rg_kernel_n_factors(kernel) == 1) return 0;
  return (size_t)(most_factors(kernel) + 1) * (size_t)chunk_rows(width) * (size_t)width;
}

/* The first factor carries the variance. */
void rg_kernel_term_tile(const RgTileOps *ops, const RgKernelTerm *term, int n, const double *A,
                         int columns, const double *B, int width, double *value, double *slope,
                         size_t stride, double *scratch)
{
  size_t count = (size_t)n * (size_t)width;
  int last = term->n_factors - 1;

  for (int f = 0; f <= last; f++) {
    const RgKernelFactor *factor = &term->factors[f];
    double *out = last == 0 ? value : scratch + (size_t)f * count;

    const int own = rg_kernel_factor_columns(factor);

    ops->distances(own, n, A, columns, B, width, out);
    ops->correlations(factor->family, factor->shape, f ? 1.0 : term->variance, count, out, out,
                      slope ? slope + (size_t)f * stride : NULL);
    A += own;
    B += (size_t)own * width;
  }
  if (last == 0) return;
  memcpy(value, scratch, count * sizeof *value);
  for (int f = 1; f <= last; f++) ops->multiply(count, scratch + (size_t)f * count, value);
  for (int f = 0; slope && f <= last; f++) {
    for (int g = 0; g <= last; g++) {
      if (g != f) ops->multiply(count, scratch + (size_t)g * count, slope + (size_t)f * stride);
    }
  }
}

static void chunk(const RgTileOps *ops, const RgKernel *kernel, int n, const double *A, int columns,
                  const double *B, int width, double *value, double *slope, size_t stride,
                  double *scratch)
{
  size_t count = (size_t)n * (size_t)width;

  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];

    rg_kernel_term_tile(ops, term, n, A, columns, B, width, t ? scratch : value, slope, stride,
                        t ? scratch + count : scratch);
    if (t) ops->add(count, scratch, value);
    for (int f = 0; f < term->n_factors; f++) {
      const int own = rg_kernel_factor_columns(&term->factors[f]);

      A += own;
      B += (size_t)own * width;
    }
    if (slope) slope += (size_t)term->n_factors * stride;
  }
}

void rg_kernel_tile(const RgTileOps *ops, const RgKernel *kernel, int n, const double *A,
                    const double *B, int width, double *value, double *slope, size_t stride,
                    double *scratch)
{
  int columns = rg_kernel_n_columns(kernel), rows = chunk_rows(width);

  for (int i = 0; i < n; i += rows) {
    size_t at = (size_t)i * (size_t)width;

    chunk(ops, kernel, PetscMin(rows, n - i), A + (size_t)i * columns, columns, B, width,
          value + at, slope ? slope + at : NULL, stride, scratch);
  }
}

void rg_kernel_tile_gradient(const RgTileOps *ops, const RgKernel *kernel, int n, const double *A,
                             const double *B, int width, const double *w, const double *slope,
                             size_t stride, double *g)
{
  int columns = rg_kernel_n_columns(kernel);

  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      int own = rg_kernel_factor_columns(&kernel->terms[t].factors[f]);

      ops->gradient(own, n, A, columns, B, width, w, slope, g);
      A += own;
      B += own * width;
      g += own * width;
      slope += stride;
    }
  }
}

/* The derivative by x of a function with derivatives g[c * stride] by the columns of a warped
   input. */
static double warped_gradient(const RgKernel *kernel, const RgKernelFactor *factor, int input,
                              const double *x, const double *g, size_t stride)
{
  const RgKernelClass *class = rg_kernel_classes[factor->family];
  double u[RG_KERNEL_COLUMNS_MAX], du[RG_KERNEL_COLUMNS_MAX], sum = 0;

  const double at = rg_kernel_input(kernel, input, x[0]);
  class->warp(factor->shape, factor->shift ? at + x[factor->shift] : at, u, du);
  for (int c = 0; c < class->columns; c++) sum += g[c * stride] * du[c];
  return sum;
}

void rg_kernel_unscale_gradient(const RgKernel *kernel, int m, const double *Z, const double *g,
                                int width, double *G)
{
  size_t dim = (size_t)kernel->dim;

  memset(G, 0, (size_t)m * dim * sizeof *G);
  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];
      const RgKernelClass *class = rg_kernel_classes[factor->family];

      for (int k = 0; k < factor->n_inputs; g += width * rg_kernel_input_columns(factor, k++)) {
        double scale = 2.0 * rg_kernel_inverse_scale(factor, k);
        if (rg_kernel_input_words(factor, k)) continue; /* constant within a word */
        const double *z = Z + factor->inputs[k];
        double *out = G + factor->inputs[k];

        for (size_t j = 0; j < (size_t)m; j++) {
          double slope = scale * (class->warp ? warped_gradient(kernel, factor, factor->inputs[k],
                                                                z + j * dim, g + j, (size_t)width)
                                              : g[j]);

          out[j * dim] += slope;
          if (factor->shift) out[j * dim + factor->shift] += slope;
        }
      }
    }
  }
  for (size_t i = 0; kernel->warp && i < (size_t)m * dim; i++) {
    double slope[3];

    (void)rg_kernel_warp_at(kernel, (int)(i % dim), Z[i], slope);
    G[i] *= slope[0];
  }
}
