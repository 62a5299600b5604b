/* Slopes of kernels, and the parts that the bounds of methods with contexts from a box share. */
#include "theory/context_bounds.h"

#include <math.h>
#include <string.h>

#include "gp/kernel/family.h"
#include "maths/design.h"
#include "maths/law.h"

double rg_kde_steepness(const RgKernel *kernel)
{
  return sqrt(2 / rg_kernel_diagonal(kernel)) * rg_kernel_slope(kernel, 0);
}

const char *rg_context_beyond(const RgBoundCase *s)
{
  if (s->domain->measure && strcmp(s->domain->measure, "expectation"))
    return "the theorems are about the expectation, not about the problem's measure";
  return s->domain->design.dim + s->domain->context.dim > RG_SOBOL_MAX_DIM
           ? "the box has too many dimensions"
           : NULL;
}

const char *rg_context_obstacle(const RgBoundCase *s)
{
  if (rg_law_drifts(s->domain->n_laws, s->domain->laws))
    return "the law of the contexts changes in time";
  return rg_context_beyond(s);
}

PetscErrorCode rg_context_refuse(const RgBoundCase *s, RgText *why)
{
  const RgKernelClass *rough = rg_kernel_without_slope(s->kernel);

  if (rough)
    PetscCall(rg_text_add(why, "the paths of the kernel '%s' have no derivative", rough->name));
  else if (s->law->own && fabs(s->largest - 1) > 1e-12)
    PetscCall(rg_text_add(why, "the theorems ask for k(z,z) = 1"));
  return 0;
}
