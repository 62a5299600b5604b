/* The posterior at a list of contexts from its pairs, for any kernel. Internal to gp/. */
#ifndef RG_GP_CONTEXT_CONTEXT_PAIRS_H
#define RG_GP_CONTEXT_CONTEXT_PAIRS_H

#include "gp/context/context_posterior.h"

/* Methods of RgContextPosterior for kernels that are not a product: every pair (x, c) is a
   point. */
PetscErrorCode rg_context_pairs_create(RgContextPosterior *cp);
PetscErrorCode rg_context_pairs_destroy(RgContextPosterior *cp);
PetscErrorCode rg_context_pairs_predict(RgContextPosterior *cp, int J, const double *X,
                                        RgContextMoments *moments);
PetscErrorCode rg_context_pairs_gradient(RgContextPosterior *cp, int J, const double *X,
                                         const RgContextMoments *bar, double *G);

#endif
