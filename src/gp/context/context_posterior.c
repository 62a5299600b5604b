/* The posterior at a list of contexts: the choice of a back end, and the code that both share. */
#include "gp/context/context_pairs.h"
#include "gp/context/context_product.h"

PetscErrorCode rg_context_posterior_create(RgPosterior *posterior, int dim_x, int size,
                                           const double *contexts, int n_slopes, RgContextForm form,
                                           int designs, RgContextPosterior *cp)
{
  int dim_c = posterior->kernel.dim - dim_x;

  PetscFunctionBeginUser;
  PetscCheck(dim_x >= 1 && dim_c >= 1 && size >= 1 && n_slopes >= 0 && n_slopes <= size,
             PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%d contexts, %d with slopes, of %d inputs", size,
             n_slopes, dim_c);
  *cp = (RgContextPosterior){.posterior = posterior,
                             .dim_x = dim_x,
                             .dim_c = dim_c,
                             .size = size,
                             .n_slopes = n_slopes,
                             .form = form,
                             .designs = designs,
                             .is_product =
                               form < RG_CONTEXT_PAIRS && rg_posterior_has_factor(posterior)};
  PetscCall(PetscMalloc1((size_t)size * dim_c, &cp->contexts));
  PetscCall(PetscArraycpy(cp->contexts, contexts, (size_t)size * dim_c));
  if (cp->is_product) PetscCall(rg_context_product_create(cp));
  if (!cp->is_product) PetscCall(rg_context_pairs_create(cp));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_posterior_destroy(RgContextPosterior *cp)
{
  PetscFunctionBeginUser;
  PetscCall(rg_context_product_destroy(cp));
  PetscCall(rg_context_pairs_destroy(cp));
  PetscCall(PetscFree(cp->contexts));
  PetscFunctionReturn(0);
}

bool rg_context_posterior_is_reduced(const RgContextPosterior *cp)
{
  return cp->is_product && rg_context_product_is_reduced(cp);
}

int rg_context_posterior_kept(const RgContextPosterior *cp)
{
  return cp->form == RG_CONTEXT_NEAR ? 1 : PetscMax(RG_CONTEXT_TOGETHER / cp->size, 1);
}

PetscErrorCode rg_context_moments_create(const RgContextPosterior *cp, RgContextMoments *moments)
{
  size_t size = (size_t)RG_CONTEXT_BATCH * cp->size;
  size_t slopes = (size_t)RG_CONTEXT_BATCH * cp->n_slopes * cp->dim_c;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc4(size, &moments->mean, size, &moments->variance, slopes,
                         &moments->mean_slope, slopes, &moments->variance_slope));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_moments_destroy(RgContextMoments *moments)
{
  PetscFunctionBeginUser;
  PetscCall(
    PetscFree4(moments->mean, moments->variance, moments->mean_slope, moments->variance_slope));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_posterior_predict(RgContextPosterior *cp, int J, const double *X,
                                            RgContextMoments *moments)
{
  PetscFunctionBeginUser;
  PetscCheck(J >= 1 && J <= RG_CONTEXT_BATCH, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ, "%d designs", J);
  if (cp->is_product) PetscCall(rg_context_product_predict(cp, J, X, moments));
  else PetscCall(rg_context_pairs_predict(cp, J, X, moments));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_posterior_gradient(RgContextPosterior *cp, int J, const double *X,
                                             const RgContextMoments *bar, double *G)
{
  PetscFunctionBeginUser;
  if (cp->is_product) PetscCall(rg_context_product_gradient(cp, J, X, bar, G));
  else PetscCall(rg_context_pairs_gradient(cp, J, X, bar, G));
  PetscFunctionReturn(0);
}
