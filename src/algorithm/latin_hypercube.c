/* latin_hypercube: the queries are the points of one Latin hypercube, in random order.

   Each coordinate of the T queries after the initial design visits each of T strata once. Designs
   of different sizes are not nested; where the fill distance is recorded, that of a fresh Latin
   hypercube is taken for every number of points (boke 2.8).
   Source: McKay, Beckman, Conover (1979), A comparison of three methods for selecting values of
   input variables in the analysis of output from a computer code.
   Cost per iteration: O(d) (O(T d) at the first).
   Needs a box without context. Revision 1. */
#include "regatta/algorithm.h"

#include "maths/design.h"

#include <string.h>

typedef struct {
  double *points; /* T x dim */
} State;

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  const RgSetup *setup = &algorithm->setup;
  State *state = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "design", 0);

  PetscCall(PetscMalloc1((size_t)setup->n_iterations * setup->domain->design.dim, &state->points));
  return rg_design_latin_hypercube(&random, setup->n_iterations, setup->domain->design.dim,
                                   state->points);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const State *state = algorithm->state;
  const size_t dim = (size_t)algorithm->setup.domain->design.dim;

  memcpy(query->x, state->points + (size_t)(t - 1) * dim, dim * sizeof(double));
  return 0;
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  return PetscFree(state->points);
}

const RgAlgorithmClass rg_algorithm_latin_hypercube = {
  RG_ABOUT("latin_hypercube", "Latin hypercube", 1,
           "x_1, ..., x_T are the points of a Latin hypercube, in random order",
           "McKay, Beckman, Conover (1979), A comparison of three methods for selecting values "
           "of input variables"),
  .needs = RG_NEEDS_BOX | RG_NEEDS_NO_CONTEXT,
  .traits = RG_BLIND | RG_HYPERCUBE,
  .params = RG_NO_PARAMS,
  RG_STATE(State, create, destroy),
  .ask = ask,
};
