/* random: uniform random search.

   Every query is uniform on the design; a finite design without replacement gives its points in
   random order. A context that the learner chooses (simulator) follows the contexts' probabilities
   where they are known, else it is uniform.
   Source: irgp_ucb 3.9; the baseline every method must beat.
   Cost per iteration: O(d) on a box, O(N) on a set without replacement.
   Needs nothing. Revision 1. */
#include "regatta/algorithm.h"

#include <math.h>
#include <string.h>

/* Draw a point of one part of the domain, by probabilities (p) or uniformly (NULL). Returns its
   number in a finite space. */
static int draw_point(const RgSpace *space, const double *p, RgRandom *random, double *point)
{
  int index = -1;

  if (p) index = rg_random_index(random, space->size, p);
  else if (rg_space_is_finite(space)) index = (int)rg_random_below(random, (uint64_t)space->size);
  else rg_random_uniforms(random, (size_t)space->dim, point);
  if (index >= 0)
    memcpy(point, space->points + (size_t)index * space->dim, space->dim * sizeof(double));
  return index;
}

/* Draw one of the points that were not queried yet. */
static PetscErrorCode uniform_unseen(const RgDomain *domain, const RgHistory *history,
                                     RgRandom *random, RgQuery *query, RgFailure *failure)
{
  const RgSpace *space = &domain->design;
  unsigned char *excluded;
  int left = 0, index = -1;

  PetscCall(rg_excluded_points(domain, history, &excluded));
  for (int i = 0; i < space->size; i++) left += !excluded[i];
  if (left > 0) {
    int rank = (int)rg_random_below(random, (uint64_t)left);
    while (rank >= 0) rank -= !excluded[++index];
    query->index = index;
    memcpy(query->x, space->points + (size_t)index * space->dim, space->dim * sizeof(double));
  } else {
    rg_failure_set(failure, "all %d points of the domain have been queried", space->size);
  }
  return PetscFree(excluded);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const RgDomain *domain = algorithm->setup.domain;
  RgRandom random = rg_algorithm_stream_at(algorithm, "query", t);

  if (domain->without_replacement)
    PetscCall(uniform_unseen(domain, history, &random, query, failure));
  else query->index = draw_point(&domain->design, NULL, &random, query->x);
  if (domain->control == RG_CONTEXT_SIMULATOR)
    query->context_index = draw_point(&domain->context, domain->context_prob, &random, query->c);
  return 0;
}

const RgAlgorithmClass rg_algorithm_random_search = {
  RG_ABOUT("random", "Random search", 1,
           "x_t uniform on the domain (finite designs without replacement: on the points left)",
           "baseline"),
  .traits = RG_BLIND,
  .params = RG_NO_PARAMS,
  .ask = ask,
};
