#include "gp/kernel_internal.h"

#include <string.h>

int rg_kernel_n_factors(const RgKernel *kernel)
{
  int n = 0;

  for (int t = 0; t < kernel->n_terms; ++t) n += kernel->terms[t].n_factors;
  return n;
}

int rg_kernel_n_columns(const RgKernel *kernel)
{
  int n = 0;

  for (int t = 0; t < kernel->n_terms; ++t) {
    for (int f = 0; f < kernel->terms[t].n_factors; ++f) n += kernel->terms[t].factors[f].n_inputs;
  }
  return n;
}

static double factor_inverse_scale(const RgKernelFactor *factor, int k)
{
  return 1.0 / factor->length_scale[factor->n_scales == 1 ? 0 : k];
}

void rg_kernel_scale_points(const RgKernel *kernel, int n, const double *X, double *A)
{
  int columns = rg_kernel_n_columns(kernel), c = 0;

  for (int t = 0; t < kernel->n_terms; ++t) {
    for (int f = 0; f < kernel->terms[t].n_factors; ++f) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];

      for (int k = 0; k < factor->n_inputs; ++k, ++c) {
        const double *x       = X + factor->inputs[k];
        double        inverse = factor_inverse_scale(factor, k);

        for (int i = 0; i < n; ++i) {
          A[(size_t)i * columns + c] = x[(size_t)i * kernel->dim] * inverse;
        }
      }
    }
  }
}

void rg_kernel_scale_candidates(const RgKernel *kernel, int m, const double *Z, size_t ld,
                                double *A)
{
  for (int t = 0; t < kernel->n_terms; ++t) {
    for (int f = 0; f < kernel->terms[t].n_factors; ++f) {
      const RgKernelFactor *factor = &kernel->terms[t].factors[f];

      for (int k = 0; k < factor->n_inputs; ++k, A += ld) {
        const double *z       = Z + factor->inputs[k];
        double        inverse = factor_inverse_scale(factor, k);

        for (int j = 0; j < m; ++j) A[j] = z[(size_t)j * kernel->dim] * inverse;
        for (size_t j = m; j < ld; ++j) A[j] = A[m - 1];
      }
    }
  }
}

size_t rg_kernel_row_scratch(const RgKernel *kernel, int m)
{
  int most = 0;

  if (rg_kernel_n_factors(kernel) == 1) return 0;
  for (int t = 0; t < kernel->n_terms; ++t) {
    if (kernel->terms[t].n_factors > most) most = kernel->terms[t].n_factors;
  }
  return (size_t)(most + 1) * (size_t)m;
}

/* One factor: correlations times scale, and their slopes. */
static void factor_row(const RgKernelFactor *factor, const double *x, const double *Z, size_t ld,
                       int m, double scale, double *value, double *slope)
{
  rg_row_distances(factor->n_inputs, x, Z, ld, m, value);
  rg_row_correlations(factor->family, scale, m, value, value, slope);
}

/* A product of factors: the slope of one times the values of the others. The first factor carries
   the variance. scratch: one row per factor. */
static void term_row(const RgKernelTerm *term, const double *x, const double *Z, size_t ld, int m,
                     double *value, double *slope, size_t stride, double *scratch)
{
  int n = term->n_factors;

  for (int f = 0; f < n; ++f) {
    factor_row(&term->factors[f], x, Z, ld, m, f ? 1.0 : term->variance, scratch + (size_t)f * m,
               slope ? slope + (size_t)f * stride : NULL);
    x += term->factors[f].n_inputs;
    Z += (size_t)term->factors[f].n_inputs * ld;
  }
  memcpy(value, scratch, (size_t)m * sizeof *value);
  for (int f = 1; f < n; ++f) rg_row_multiply(m, scratch + (size_t)f * m, value);
  if (!slope) return;
  for (int f = 0; f < n; ++f) {
    for (int g = 0; g < n; ++g) {
      if (g != f) rg_row_multiply(m, scratch + (size_t)g * m, slope + (size_t)f * stride);
    }
  }
}

void rg_kernel_row(const RgKernel *kernel, const double *x, const double *Z, size_t ld, int m,
                   double *value, double *slope, size_t stride, double *scratch)
{
  double *extra;

  if (kernel->n_terms == 1 && kernel->terms[0].n_factors == 1) {
    factor_row(&kernel->terms[0].factors[0], x, Z, ld, m, kernel->terms[0].variance, value, slope);
    return;
  }
  extra = scratch;
  for (int t = 0; t < kernel->n_terms; ++t) {
    const RgKernelTerm *term = &kernel->terms[t];

    term_row(term, x, Z, ld, m, t ? extra : value, slope, stride, scratch + m);
    if (t) rg_row_add(m, extra, value);
    for (int f = 0; f < term->n_factors; ++f) {
      x += term->factors[f].n_inputs;
      Z += (size_t)term->factors[f].n_inputs * ld;
    }
    if (slope) slope += (size_t)term->n_factors * stride;
  }
}

bool rg_kernel_slope_is_value(const RgKernel *kernel)
{
  return kernel->n_terms == 1 && kernel->terms[0].n_factors == 1
      && kernel->terms[0].factors[0].family == RG_KERNEL_GAUSSIAN;
}

void rg_kernel_row_gradient(const RgKernel *kernel, const double *x, const double *Z, size_t ld,
                            int m, const double *w, const double *slope, size_t stride, double *g)
{
  for (int t = 0; t < kernel->n_terms; ++t) {
    for (int f = 0; f < kernel->terms[t].n_factors; ++f) {
      int n = kernel->terms[t].factors[f].n_inputs;

      rg_row_gradient(n, x, Z, ld, m, w, slope, g);
      x += n;
      Z += (size_t)n * ld;
      g += (size_t)n * ld;
      slope += stride;
    }
  }
}

void rg_kernel_unscale_gradient(const RgKernel *kernel, int m, const double *g, size_t ld,
                                double factor, double *G)
{
  memset(G, 0, (size_t)m * (size_t)kernel->dim * sizeof *G);
  for (int t = 0; t < kernel->n_terms; ++t) {
    for (int f = 0; f < kernel->terms[t].n_factors; ++f) {
      const RgKernelFactor *part = &kernel->terms[t].factors[f];

      for (int k = 0; k < part->n_inputs; ++k, g += ld) {
        double  scale = factor * factor_inverse_scale(part, k);
        double *out   = G + part->inputs[k];

        for (int j = 0; j < m; ++j) out[(size_t)j * kernel->dim] += scale * g[j];
      }
    }
  }
}
