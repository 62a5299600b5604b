/* Splits a kernel into the product of a kernel of the first inputs and a kernel of the others. */
#include "gp/kernel/family.h"

static bool on_left(const RgKernelFactor *factor, int k, int dim_left)
{
  return factor->inputs[k] < dim_left;
}

static int count_left(const RgKernelFactor *factor, int dim_left)
{
  int n = 0;

  for (int k = 0; k < factor->n_inputs; k++) n += on_left(factor, k, dim_left);
  return n;
}

/* The inputs of `factor` on one side, numbered from `first`. Adds nothing if it has none there. */
static PetscErrorCode add_part(const RgKernelFactor *factor, int dim_left, bool left, int first,
                               RgKernelTerm *term)
{
  const int n_left = count_left(factor, dim_left);
  const int n = left ? n_left : factor->n_inputs - n_left;
  const bool ard = factor->n_scales > 1;
  RgKernelFactor *part = &term->factors[term->n_factors];
  int filled = 0;

  PetscFunctionBeginUser;
  if (n == 0) PetscFunctionReturn(0);
  term->n_factors++;
  part->family = factor->family;
  part->shape = factor->shape;
  part->n_inputs = n;
  part->n_scales = ard ? n : 1;
  PetscCall(PetscMalloc1(n, &part->inputs));
  PetscCall(PetscMalloc1(part->n_scales, &part->length_scale));
  if (factor->words) PetscCall(PetscMalloc1(n, &part->words));
  part->length_scale[0] = factor->length_scale[0];
  for (int k = 0; k < factor->n_inputs; k++) {
    if (on_left(factor, k, dim_left) != left) continue;
    if (ard) part->length_scale[filled] = factor->length_scale[k];
    if (factor->words) part->words[filled] = factor->words[k];
    part->inputs[filled++] = factor->inputs[k] - first;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode create_side(const RgKernelTerm *term, int dim_left, bool left, int dim,
                                  RgKernel *side)
{
  PetscFunctionBeginUser;
  *side = (RgKernel){.dim = dim, .n_terms = 1};
  PetscCall(PetscCalloc1(1, &side->terms));
  side->terms[0].variance = left ? term->variance : 1.0;
  PetscCall(PetscCalloc1(term->n_factors, &side->terms[0].factors));
  for (int f = 0; f < term->n_factors; f++)
    PetscCall(add_part(&term->factors[f], dim_left, left, left ? 0 : dim_left, &side->terms[0]));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kernel_split(const RgKernel *kernel, int dim_left, RgKernel *left,
                               RgKernel *right, bool *splits)
{
  const RgKernelTerm *term = &kernel->terms[0];

  PetscFunctionBeginUser;
  *splits = kernel->n_terms == 1 && !kernel->warp && !kernel->trend;
  for (int f = 0; f < term->n_factors && *splits; f++) {
    const int n_left = count_left(&term->factors[f], dim_left);
    if (term->factors[f].shift) *splits = false;
    if (!rg_kernel_classes[term->factors[f].family]->separable && n_left > 0 &&
        n_left < term->factors[f].n_inputs)
      *splits = false;
  }
  if (!*splits) PetscFunctionReturn(0);
  PetscCall(create_side(term, dim_left, true, dim_left, left));
  PetscCall(create_side(term, dim_left, false, kernel->dim - dim_left, right));
  PetscFunctionReturn(0);
}
