#include "gp/kernel_internal.h"

/* Work space of one gradient by the hyperparameters: rows over the points before the current one. */
typedef struct {
  double *value;   /* of each term */
  double *slope;   /* of each factor */
  double *scratch; /* of rg_kernel_row */
  double *moments; /* per column: sum of A_ij slope_ij (scaled difference)^2 over j < i */
  double *sums;    /* per term: sum of A_ij value_ij over j < i */
} Rows;

/* Values term by term: each term is a kernel of its own. */
static void add_row(const RgKernel *kernel, const double *x, const double *Z, size_t ld, int m,
                    const double *a, Rows *rows)
{
  double *moments = rows->moments;

  for (int t = 0; t < kernel->n_terms; ++t) {
    RgKernelTerm *term  = &kernel->terms[t];
    RgKernel      alone = {.dim = kernel->dim, .n_terms = 1, .terms = term};

    rg_kernel_row(&alone, x, Z, ld, m, rows->value, rows->slope, ld, rows->scratch);
    rows->sums[t] += rg_row_dot(m, a, rows->value);
    for (int f = 0; f < term->n_factors; ++f) {
      int n = term->factors[f].n_inputs;

      rg_row_moments(n, x, Z, ld, m, a, rows->slope + (size_t)f * ld, moments);
      x += n;
      Z += (size_t)n * ld;
      moments += n;
    }
  }
}

/* d r2 / d log(length scale) = -2 (difference / length scale)^2; both triangles count. */
static void assemble(const RgKernel *kernel, double trace, const Rows *rows, double *g)
{
  const double *moment = rows->moments;

  for (int t = 0; t < kernel->n_terms; ++t) {
    const RgKernelTerm *term = &kernel->terms[t];

    for (int f = 0; f < term->n_factors; ++f) {
      const RgKernelFactor *factor = &term->factors[f];

      for (int s = 0; s < factor->n_scales; ++s) g[s] = 0.0;
      for (int k = 0; k < factor->n_inputs; ++k) {
        g[factor->n_scales == 1 ? 0 : k] -= 4.0 * *moment++;
      }
      g += factor->n_scales;
    }
    *g++ = 2.0 * rows->sums[t] + term->variance * trace;
  }
}

PetscErrorCode rg_kernel_theta_gradient(const RgKernel *kernel, int n, const double *X,
                                        const double *A, double *g)
{
  int     columns = rg_kernel_n_columns(kernel), factors = rg_kernel_n_factors(kernel);
  size_t  size = (size_t)n;
  double *points, *candidates, trace = 0.0;
  Rows    rows;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(size * columns, &points, size * columns, &candidates, size, &rows.value,
                         size * factors, &rows.slope, rg_kernel_row_scratch(kernel, n),
                         &rows.scratch));
  PetscCall(PetscCalloc2(columns, &rows.moments, kernel->n_terms, &rows.sums));
  rg_kernel_scale_points(kernel, n, X, points);
  if (n) rg_kernel_scale_candidates(kernel, n, X, size, candidates);
  for (int i = 0; i < n; ++i) {
    trace += A[i * size + i];
    add_row(kernel, points + (size_t)i * columns, candidates, size, i, A + i * size, &rows);
  }
  assemble(kernel, trace, &rows, g);
  PetscCall(PetscFree2(rows.moments, rows.sums));
  PetscCall(PetscFree5(points, candidates, rows.value, rows.slope, rows.scratch));
  PetscFunctionReturn(0);
}
