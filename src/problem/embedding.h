/* Box problems embedded in more inputs, as `embed` of a study file asks. */
#ifndef RG_PROBLEM_EMBEDDING_H
#define RG_PROBLEM_EMBEDDING_H

#include "regatta/problem.h"

/* The embedding in the options, borrowed; NULL if the problem has its own inputs alone. */
const RgEmbedding *rg_embedding_of(const RgProblemClass *class, const void *options);

/* Make a problem that was just created the core of one with more inputs, which replaces it. */
PetscErrorCode rg_embedding_wrap(uint64_t study_seed, RgProblem *problem);

/* An input x of a problem with a core, at which the core is evaluated at `own`; native units. */
void rg_embedding_lift(const RgProblem *problem, const double *own, double *x);

#endif
