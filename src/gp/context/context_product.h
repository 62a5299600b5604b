/* The posterior at a list of contexts where the kernel is a product of a part in x and one in c.
   Internal to gp/. */
#ifndef RG_GP_CONTEXT_CONTEXT_PRODUCT_H
#define RG_GP_CONTEXT_CONTEXT_PRODUCT_H

#include "gp/context/context_posterior.h"

/* is_product is set to false where the kernel is no product or the rank is too high to gain. */
PetscErrorCode rg_context_product_create(RgContextPosterior *cp);
bool rg_context_product_is_reduced(const RgContextPosterior *cp);
PetscErrorCode rg_context_product_destroy(RgContextPosterior *cp);
PetscErrorCode rg_context_product_predict(RgContextPosterior *cp, int J, const double *X,
                                          RgContextMoments *moments);
PetscErrorCode rg_context_product_gradient(RgContextPosterior *cp, int J, const double *X,
                                           const RgContextMoments *bar, double *G);

#endif
