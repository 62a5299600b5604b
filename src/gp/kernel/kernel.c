/* Kernels as data: creation, copies, comparison, and hyperparameters. */
#include "gp/kernel/kernel_internal.h"

#include "base/grow.h"

#include <math.h>

/* One factor over the given `n` inputs, with 1 or n length scales. */
static PetscErrorCode factor_create(RgKernelFamily family, int n, const int *inputs, bool ard,
                                    const double *length_scale, RgKernelFactor *factor)
{
  PetscFunctionBeginUser;
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
  PetscFunctionReturn(0);
}

static PetscErrorCode term_create(double variance, int n_factors, RgKernelTerm *term)
{
  PetscFunctionBeginUser;
  PetscCheck(variance > 0.0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Variance is %g; it must be positive", variance);
  term->variance = variance;
  term->n_factors = n_factors;
  PetscCall(PetscCalloc1(n_factors, &term->factors));
  PetscFunctionReturn(0);
}

/* Inputs of group g, in order. */
static int group_inputs(int dim, const int *group, int g, int *inputs)
{
  int n = 0;

  for (int j = 0; j < dim; j++) {
    if (group[j] == g) inputs[n++] = j;
  }
  return n;
}

static PetscErrorCode kernel_begin(int dim, int n_terms, RgKernel *kernel)
{
  PetscFunctionBeginUser;
  PetscCheck(dim > 0 && n_terms > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "A kernel needs inputs and groups");
  *kernel = (RgKernel){.dim = dim, .n_terms = n_terms};
  PetscCall(PetscCalloc1(n_terms, &kernel->terms));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_create(RgKernelFamily family, int dim, bool ard,
                                const double *length_scale, double variance, RgKernel *kernel)
{
  int *group;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(dim, &group));
  PetscCall(rg_kernel_create_product(family, dim, 1, group, ard, length_scale, variance, kernel));
  PetscCall(PetscFree(group));
  PetscFunctionReturn(0);
}

/* One factor per group. Their product is the kernel if it has one term, else their sum is. */
static PetscErrorCode add_groups(RgKernelFamily family, int n_groups, const int *group, bool ard,
                                 const double *length_scale, const double *variance,
                                 RgKernel *kernel)
{
  const bool additive = kernel->n_terms > 1;
  const int dim = kernel->dim;
  int *inputs;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(dim, &inputs));
  for (int t = 0; t < kernel->n_terms; t++) {
    PetscCall(term_create(variance[t], additive ? 1 : n_groups, &kernel->terms[t]));
  }
  for (int g = 0; g < n_groups; g++) {
    RgKernelFactor *factor = additive ? &kernel->terms[g].factors[0] : &kernel->terms[0].factors[g];
    int n = group_inputs(dim, group, g, inputs);

    PetscCheck(n > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Group %d has no input", g);
    PetscCall(factor_create(family, n, inputs, ard, length_scale, factor));
    length_scale += factor->n_scales;
  }
  PetscCall(PetscFree(inputs));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_create_product(RgKernelFamily family, int dim, int n_groups,
                                        const int *group, bool ard, const double *length_scale,
                                        double variance, RgKernel *kernel)
{
  PetscFunctionBeginUser;
  PetscCall(kernel_begin(dim, 1, kernel));
  PetscCall(add_groups(family, n_groups, group, ard, length_scale, &variance, kernel));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_create_additive(RgKernelFamily family, int dim, int n_groups,
                                         const int *group, bool ard, const double *length_scale,
                                         const double *variance, RgKernel *kernel)
{
  PetscFunctionBeginUser;
  PetscCall(kernel_begin(dim, n_groups, kernel));
  PetscCall(add_groups(family, n_groups, group, ard, length_scale, variance, kernel));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_create_terms(RgKernelFamily family, int dim, int n_terms,
                                      const int *n_inputs, const int *inputs,
                                      const double *length_scale, const double *variance,
                                      RgKernel *kernel)
{
  PetscFunctionBeginUser;
  PetscCall(kernel_begin(dim, n_terms, kernel));
  for (int t = 0; t < n_terms; t++) {
    PetscCall(term_create(variance[t], 1, &kernel->terms[t]));
    PetscCall(factor_create(family, n_inputs[t], inputs, false, &length_scale[t],
                            &kernel->terms[t].factors[0]));
    inputs += n_inputs[t];
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_create_shift(RgKernelFamily family, int dim, bool ard,
                                      const double *length_scale, double variance, RgKernel *kernel)
{
  PetscFunctionBeginUser;
  PetscCheck(dim % 2 == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%d inputs are no pairs", dim);
  PetscCall(rg_kernel_create(family, dim / 2, ard, length_scale, variance, kernel));
  kernel->dim = dim;
  kernel->terms[0].factors[0].shift = dim / 2;
  PetscFunctionReturn(0);
}

void rg_kernel_set_family(RgKernelFactor *factor, RgKernelFamily family)
{
  factor->family = family;
  factor->shape = rg_kernel_classes[family]->default_shape;
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
  PetscFunctionBeginUser;
  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      RgKernelFactor *factor = &kernel->terms[t].factors[f];
      bool any = false;

      for (int k = 0; k < factor->n_inputs; k++) any = any || words[factor->inputs[k]] > 0;
      if (!any || factor->shift || rg_kernel_classes[factor->family]->warp) continue;
      if (!factor->words) PetscCall(PetscMalloc1(factor->n_inputs, &factor->words));
      for (int k = 0; k < factor->n_inputs; k++) factor->words[k] = words[factor->inputs[k]];
    }
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_set_warp(RgKernel *kernel)
{
  PetscFunctionBeginUser;
  PetscCheck(!rg_kernel_shifts(kernel), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "a kernel of sums of inputs is not warped");
  if (!kernel->warp) PetscCall(PetscMalloc1(2 * (size_t)kernel->dim, &kernel->warp));
  for (int j = 0; j < 2 * kernel->dim; j++) kernel->warp[j] = 1;
  PetscFunctionReturn(0);
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
  PetscFunctionBeginUser;
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
      RgKernelFactor *copy = &to->terms[t].factors[f];

      copy->family = factor->family;
      copy->shape = factor->shape;
      copy->n_inputs = factor->n_inputs;
      copy->shift = factor->shift;
      copy->n_scales = factor->n_scales;
      PetscCall(PetscMalloc1(factor->n_inputs, &copy->inputs));
      PetscCall(PetscMalloc1(factor->n_scales, &copy->length_scale));
      PetscCall(PetscArraycpy(copy->inputs, factor->inputs, factor->n_inputs));
      PetscCall(PetscArraycpy(copy->length_scale, factor->length_scale, factor->n_scales));
      if (!factor->words) continue;
      PetscCall(PetscMalloc1(factor->n_inputs, &copy->words));
      PetscCall(PetscArraycpy(copy->words, factor->words, factor->n_inputs));
    }
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_destroy(RgKernel *kernel)
{
  PetscFunctionBeginUser;
  for (int t = 0; t < kernel->n_terms; t++) {
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      RgKernelFactor *factor = &kernel->terms[t].factors[f];

      PetscCall(RG_FREE(&factor->inputs, &factor->words, &factor->length_scale));
    }
    PetscCall(PetscFree(kernel->terms[t].factors));
  }
  PetscCall(RG_FREE(&kernel->terms, &kernel->warp, &kernel->trend));
  kernel->dim = kernel->n_terms = 0;
  PetscFunctionReturn(0);
}

double rg_kernel_diagonal(const RgKernel *kernel)
{
  double sum = 0.0;

  for (int t = 0; t < kernel->n_terms; t++) sum += kernel->terms[t].variance;
  return sum;
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
    for (int f = 0; f < kernel->terms[t].n_factors; f++) {
      size += kernel->terms[t].factors[f].n_scales;
    }
    size++;
  }
  return size + (kernel->warp ? 2 * kernel->dim : 0) + (kernel->trend ? 2 : 0);
}

void rg_kernel_get_theta(const RgKernel *kernel, double *theta)
{
  for (int t = 0; t < kernel->n_terms; t++) {
    const RgKernelTerm *term = &kernel->terms[t];

    for (int f = 0; f < term->n_factors; f++) {
      for (int s = 0; s < term->factors[f].n_scales; s++) {
        *theta++ = log(term->factors[f].length_scale[s]);
      }
    }
    *theta++ = log(term->variance);
  }
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++) *theta++ = log(kernel->warp[j]);
  for (int j = 0; kernel->trend && j < 2; j++) *theta++ = log(kernel->trend[j]);
}

void rg_kernel_set_theta(RgKernel *kernel, const double *theta)
{
  for (int t = 0; t < kernel->n_terms; t++) {
    RgKernelTerm *term = &kernel->terms[t];

    for (int f = 0; f < term->n_factors; f++) {
      for (int s = 0; s < term->factors[f].n_scales; s++) {
        term->factors[f].length_scale[s] = exp(*theta++);
      }
    }
    term->variance = exp(*theta++);
  }
  for (int j = 0; kernel->warp && j < 2 * kernel->dim; j++) kernel->warp[j] = exp(*theta++);
  for (int j = 0; kernel->trend && j < 2; j++) kernel->trend[j] = exp(*theta++);
}

static bool factor_same_structure(const RgKernelFactor *a, const RgKernelFactor *b)
{
  if (a->family != b->family || a->shape != b->shape || a->n_inputs != b->n_inputs ||
      a->shift != b->shift || a->n_scales != b->n_scales) {
    return false;
  }
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
    for (int f = 0; f < a->terms[t].n_factors; f++) {
      if (!factor_same_structure(&a->terms[t].factors[f], &b->terms[t].factors[f])) return false;
    }
  }
  return true;
}

PetscErrorCode rg_kernel_assign(const RgKernel *from, RgKernel *to)
{
  PetscFunctionBeginUser;
  if (from == to) PetscFunctionReturn(0);
  if (!rg_kernel_same_structure(from, to)) {
    PetscCall(rg_kernel_destroy(to));
    PetscCall(rg_kernel_copy(from, to));
    PetscFunctionReturn(0);
  }
  if (from->warp) PetscCall(PetscArraycpy(to->warp, from->warp, 2 * (size_t)from->dim));
  if (from->trend) PetscCall(PetscArraycpy(to->trend, from->trend, 2));
  for (int t = 0; t < from->n_terms; t++) {
    to->terms[t].variance = from->terms[t].variance;
    for (int f = 0; f < from->terms[t].n_factors; f++) {
      const RgKernelFactor *factor = &from->terms[t].factors[f];

      PetscCall(PetscArraycpy(to->terms[t].factors[f].length_scale, factor->length_scale,
                              factor->n_scales));
    }
  }
  PetscFunctionReturn(0);
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
  const int first = 0;

  PetscFunctionBeginUser;
  PetscCall(kernel_begin(1, 1, restricted));
  part = restricted->terms;
  PetscCall(term_create(variance, term->n_factors, part));
  part->n_factors = 0;
  for (int f = 0; f < term->n_factors; f++) {
    const RgKernelFactor *factor = &term->factors[f];

    for (int k = 0; k < factor->n_inputs; k++) {
      if (factor->inputs[k] != input) continue;
      PetscCall(factor_create(factor->family, 1, &first, false,
                              &factor->length_scale[factor->n_scales == 1 ? 0 : k],
                              &part->factors[part->n_factors]));
      if (factor->words) {
        PetscCall(PetscMalloc1(1, &part->factors[part->n_factors].words));
        part->factors[part->n_factors].words[0] = factor->words[k];
      }
      part->factors[part->n_factors++].shape = factor->shape;
      break;
    }
  }
  if (part->n_factors == 0) PetscCall(rg_kernel_destroy(restricted));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_create_named(const char *name, int dim, bool ard,
                                      const double *length_scale, double variance, RgKernel *kernel)
{
  int family = 0;

  PetscFunctionBeginUser;
  while (rg_kernel_family_names[family] && strcmp(rg_kernel_family_names[family], name)) family++;
  PetscCheck(rg_kernel_family_names[family], PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "no kernel is called %s", name);
  PetscCall(rg_kernel_create((RgKernelFamily)family, dim, ard, length_scale, variance, kernel));
  PetscFunctionReturn(0);
}
