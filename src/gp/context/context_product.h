/* The posterior at a list of contexts for kernels that are a product of a part in x and a part
   in c. Internal to gp/. */
#ifndef RG_GP_CONTEXT_CONTEXT_PRODUCT_H
#define RG_GP_CONTEXT_CONTEXT_PRODUCT_H

#include "gp/context/context_posterior.h"

/* is_product becomes false if the kernel is not a product or the rank is too high to gain. */
PetscErrorCode rg_context_product_create(RgContextPosterior *cp);
bool rg_context_product_is_reduced(const RgContextPosterior *cp);
PetscErrorCode rg_context_product_destroy(RgContextPosterior *cp);
PetscErrorCode rg_context_product_predict(RgContextPosterior *cp, int J, const double *X,
                                          RgContextMoments *moments);
PetscErrorCode rg_context_product_gradient(RgContextPosterior *cp, int J, const double *X,
                                           const RgContextMoments *bar, double *G);

#endif
