/* Box problems embedded in more inputs, as `embed` of a study file asks. */
#ifndef RG_PROBLEM_EMBEDDING_H
#define RG_PROBLEM_EMBEDDING_H

#include "regatta/problem.h"

/* The embedding in the options, borrowed; NULL if the problem has its own inputs alone. */
const RgEmbedding *rg_embedding_of(const RgProblemClass *class, const void *options);

/* rg_problem_create_on with such an embedding, and without. */
PetscErrorCode rg_embedding_create(RgTeam *team, const RgProblemClass *class, const void *options,
                                   uint64_t study_seed, uint64_t instance, RgProblem *problem,
                                   RgFailure *failure);
PetscErrorCode rg_problem_create_plain(RgTeam *team, const RgProblemClass *class,
                                       const void *options, uint64_t study_seed, uint64_t instance,
                                       RgProblem *problem, RgFailure *failure);

/* An input x of a problem with a core, at which the core is evaluated at `own`; native units. */
void rg_embedding_lift(const RgProblem *problem, const double *own, double *x);

#endif
