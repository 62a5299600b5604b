/* `terms:` of a surrogate block: additive kernels whose terms may share inputs. */
#include <stdlib.h>
#include <string.h>

#include "gp/model/model_internal.h"

/* Inputs of one term, numbered from 0, into `inputs` (dim). Returns their number, or -1 with a
   reason. */
static int read_term(const char *text, int dim, int *inputs, const char **mistake)
{
  int n = 0;

  for (const char *at = text + strspn(text, " ,"); *at; at += strspn(at, " ,")) {
    char *end;
    const long input = strtol(at, &end, 10);

    *mistake = "inputs are numbers, such as \"1 2 3\"";
    if (end == at || !strchr(" ,", *end)) return -1;
    *mistake = "an input is not one of the model's";
    if (input < 1 || input > dim) return -1;
    *mistake = "an input stands twice in it";
    for (int k = 0; k < n; k++)
      if (inputs[k] == input - 1) return -1;
    inputs[n++] = (int)input - 1;
    at = end;
  }
  *mistake = "it is empty";
  return n > 0 ? n : -1;
}

PetscErrorCode rg_surrogate_check_terms(const RgSurrogateOptions *o, int dim, RgPlace place,
                                        RgDiagnostics *diagnostics)
{
  const char *mistake;
  int *inputs;

  PetscFunctionBeginUser;
  if (o->structure != RG_STRUCTURE_ADDITIVE || o->ard || o->groups.n)
    rg_diagnostics_add(diagnostics, place,
                       "'terms' needs 'structure: additive', 'ard: false' and no 'groups'");
  PetscCall(PetscMalloc1(dim, &inputs));
  for (int t = 0; t < o->terms.n; t++) {
    if (read_term(o->terms.values[t], dim, inputs, &mistake) < 0)
      rg_diagnostics_add(diagnostics, place, "'terms': \"%.40s\": %s (1 to %d, x then c)",
                         o->terms.values[t], mistake, dim);
  }
  PetscCall(PetscFree(inputs));
  if (o->length_scale.n > 1 && o->length_scale.n != o->terms.n)
    rg_diagnostics_add(diagnostics, place, "'length_scale' has %d values for %d terms",
                       o->length_scale.n, o->terms.n);
  if (o->term_variance.n && o->term_variance.n != o->terms.n)
    rg_diagnostics_add(diagnostics, place, "'term_variance' has %d values for %d terms",
                       o->term_variance.n, o->terms.n);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_surrogate_terms_kernel(const RgSurrogateOptions *o, int dim, RgKernel *kernel)
{
  const int n = o->terms.n;
  const char *mistake;
  double *length_scale, *variance;
  int *count, *inputs, used = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(n, &length_scale, n, &variance, n, &count, (size_t)n * dim, &inputs));
  for (int t = 0; t < n; t++) {
    const RgReals *given = &o->length_scale;

    count[t] = read_term(o->terms.values[t], dim, inputs + used, &mistake);
    PetscCheck(count[t] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "term \"%s\" of %d inputs: %s",
               o->terms.values[t], dim, mistake);
    used += count[t];
    length_scale[t] =
      given->n == 0 ? rg_surrogate_start(o, dim) : given->values[given->n == n ? t : 0];
    variance[t] = o->term_variance.n == n ? o->term_variance.values[t] : o->variance / n;
  }
  PetscCall(rg_kernel_create_terms((RgKernelFamily)o->kernel, dim, n, count, inputs, length_scale,
                                   variance, kernel));
  PetscCall(PetscFree4(length_scale, variance, count, inputs));
  PetscFunctionReturn(0);
}
