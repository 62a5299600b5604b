/* The structure of the kernel and the set that the posterior can use. */
#include "gp/posterior/set/set_prior.h"
#include "base/grow.h"
#include "gp/kernel/kernel_internal.h"

#include <string.h>

/* Coordinates of every point: design index slowest, context index fastest. */
static PetscErrorCode join_points(const RgDomain *domain, RgSetPrior *prior)
{
  const RgSpace *design = &domain->design, *context = &domain->context;
  int n_contexts = context->dim ? context->size : 1;
  double *point;

  PetscFunctionBeginUser;
  prior->size = design->size * n_contexts;
  prior->design_dim = design->dim;
  prior->n_contexts = n_contexts;
  PetscCall(PetscMalloc1((size_t)prior->size * (design->dim + context->dim), &prior->points));
  point = prior->points;
  for (int i = 0; i < design->size; i++) {
    for (int j = 0; j < n_contexts; j++) {
      PetscCall(PetscArraycpy(point, design->points + (size_t)i * design->dim, design->dim));
      point += design->dim;
      if (context->dim) {
        PetscCall(PetscArraycpy(point, context->points + (size_t)j * context->dim, context->dim));
        point += context->dim;
      }
    }
  }
  PetscFunctionReturn(0);
}

static bool is_grid(const RgDomain *domain)
{
  return domain->design.kind == RG_SPACE_GRID &&
         (domain->context.dim == 0 || domain->context.kind == RG_SPACE_GRID);
}

/* The axes of the joint grid, design first. */
static PetscErrorCode join_axes(const RgDomain *domain, RgSetPrior *prior)
{
  const RgSpace *parts[2] = {&domain->design, &domain->context};
  int total = 0, *levels;
  double *axes;

  PetscFunctionBeginUser;
  prior->n_axes = domain->design.dim + domain->context.dim;
  for (int p = 0; p < 2; p++) {
    for (int k = 0; k < parts[p]->dim; k++) total += parts[p]->levels[k];
  }
  PetscCall(PetscMalloc1(prior->n_axes, &prior->levels));
  PetscCall(PetscMalloc1(total, &prior->axes));
  levels = prior->levels;
  axes = prior->axes;
  for (int p = 0; p < 2; p++) {
    const double *from = parts[p]->axes;

    for (int k = 0; k < parts[p]->dim; k++) {
      *levels++ = parts[p]->levels[k];
      PetscCall(PetscArraycpy(axes, from, parts[p]->levels[k]));
      axes += parts[p]->levels[k];
      from += parts[p]->levels[k];
    }
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_prior_create(const RgDomain *domain, const RgKernel *kernel,
                                   RgSetPrior *prior)
{
  PetscFunctionBeginUser;
  PetscCheck(rg_space_is_finite(&domain->design) &&
               (domain->context.dim == 0 || rg_space_is_finite(&domain->context)),
             PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "The domain is not finite");
  PetscCall(PetscMemzero(prior, sizeof *prior));
  PetscCall(join_points(domain, prior));
  if (is_grid(domain)) PetscCall(join_axes(domain, prior));
  PetscCall(rg_kernel_copy(kernel, &prior->kernel));
  prior->padded = rg_pad(prior->size);
  PetscCall(rg_set_prior_set_kernel(prior, kernel));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_prior_destroy(RgSetPrior *prior)
{
  PetscFunctionBeginUser;
  PetscCall(rg_kernel_destroy(&prior->kernel));
  PetscCall(RG_FREE(&prior->points, &prior->levels, &prior->axes, &prior->tables, &prior->scaled,
                    &prior->work));
  PetscFunctionReturn(0);
}

/* The tables of one term: correlations of every axis, multiplied over the factors that use it. */
static PetscErrorCode term_tables(const RgSetPrior *prior, const RgKernelTerm *term, double *table)
{
  const double *axis = prior->axes;

  PetscFunctionBeginUser;
  for (int a = 0; a < prior->n_axes; a++) {
    const size_t n = (size_t)prior->levels[a];
    double variance = a ? 1.0 : term->variance;
    RgKernel restricted;

    PetscCall(rg_kernel_restrict(term, a, variance, &restricted));
    if (restricted.n_terms) {
      PetscCall(rg_kernel_matrix(&restricted, (int)n, axis, table));
      PetscCall(rg_kernel_destroy(&restricted));
    } else {
      for (size_t i = 0; i < n * n; i++) table[i] = variance;
    }
    axis += n;
    table += n * n;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode fill_tables(RgSetPrior *prior)
{
  size_t size = 0;

  PetscFunctionBeginUser;
  for (int a = 0; a < prior->n_axes; a++) size += (size_t)prior->levels[a] * prior->levels[a];
  PetscCall(PetscMalloc1(size * prior->kernel.n_terms, &prior->tables));
  PetscCall(PetscMalloc1(2 * (size_t)prior->size, &prior->work));
  for (int t = 0; t < prior->kernel.n_terms; t++) {
    PetscCall(term_tables(prior, &prior->kernel.terms[t], prior->tables + t * size));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_set_prior_set_kernel(RgSetPrior *prior, const RgKernel *kernel)
{
  PetscFunctionBeginUser;
  PetscCall(rg_kernel_assign(kernel, &prior->kernel));
  PetscCall(RG_FREE(&prior->tables, &prior->scaled, &prior->work));
  prior->factors = prior->n_axes > 0 && rg_kernel_factors_over_inputs(&prior->kernel);
  if (prior->factors) {
    PetscCall(fill_tables(prior));
  } else {
    size_t columns = (size_t)rg_kernel_n_columns(kernel), padded = (size_t)prior->padded;

    PetscCall(PetscMalloc1(columns * padded, &prior->scaled));
    PetscCall(
      PetscMalloc1(padded + columns + rg_kernel_tile_scratch(kernel, prior->padded), &prior->work));
    rg_kernel_scale_tile(&prior->kernel, prior->size, prior->points, prior->padded, prior->scaled);
  }
  PetscFunctionReturn(0);
}

/* out (n x m) = a (n) times b (m), or added to it. */
static void outer(int n, const double *a, int m, const double *b, bool add, double *restrict out)
{
  for (int i = 0; i < n; i++, out += m) {
    double ai = a[i];

    if (add) {
      for (int j = 0; j < m; j++) out[j] += ai * b[j];
    } else {
      for (int j = 0; j < m; j++) out[j] = ai * b[j];
    }
  }
}

/* Product of one table row per axis, from the fastest axis outwards. */
static void term_row(const RgSetPrior *prior, int index, const double *end, bool add, double *row)
{
  const double *product = NULL;
  int length = 1;

  for (int a = prior->n_axes - 1; a >= 0; a--) {
    int n = prior->levels[a];
    const double *table = end - (size_t)n * n + (size_t)(index % n) * n;
    double one = 1.0, *out;

    if (!product && a > 0) {
      product = table;
    } else {
      out = a == 0 ? row : prior->work + (a % 2 ? prior->size : 0);
      outer(n, table, length, product ? product : &one, a == 0 && add, out);
      product = out;
    }
    length *= n;
    index /= n;
    end -= (size_t)n * n;
  }
}

/* One tile of one row, as wide as the set. */
static void evaluated_row(const RgSetPrior *prior, int index, double *row)
{
  int columns = rg_kernel_n_columns(&prior->kernel);
  double *padded = prior->work, *point = padded + prior->padded;

  for (int c = 0; c < columns; c++) point[c] = prior->scaled[(size_t)c * prior->padded + index];
  rg_kernel_tile(rg_tile_ops(), &prior->kernel, 1, point, prior->scaled, prior->padded, padded,
                 NULL, 0, point + columns);
  memcpy(row, padded, (size_t)prior->size * sizeof *row);
}

void rg_set_prior_row(const RgSetPrior *prior, int index, double *row)
{
  const double *end = prior->tables;

  if (!prior->factors) {
    evaluated_row(prior, index, row);
    return;
  }
  for (int t = 0; t < prior->kernel.n_terms; t++) {
    for (int a = 0; a < prior->n_axes; a++) end += (size_t)prior->levels[a] * prior->levels[a];
    term_row(prior, index, end, t > 0, row);
  }
}
