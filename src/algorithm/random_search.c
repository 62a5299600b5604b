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

static const RgParam params[] = {{0}};

/* Draw a uniform point of one part of the domain. */
static int uniform_point(const RgSpace *space, RgRandom *random, double *point)
{
  if (!rg_space_is_finite(space)) {
    for (int j = 0; j < space->dim; j++) point[j] = rg_random_uniform(random);
    return -1;
  }
  int index = (int)rg_random_below(random, (uint64_t)space->size);
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

/* Draw the context of a simulator, by the probabilities where they are known. */
static int draw_context(const RgDomain *domain, RgRandom *random, double *c)
{
  const RgSpace *space = &domain->context;
  int index = 0;
  double u;

  if (!domain->context_prob) return uniform_point(space, random, c);
  u = rg_random_uniform(random);
  while (index < space->size - 1 && (u -= domain->context_prob[index]) >= 0.0) index++;
  memcpy(c, space->points + (size_t)index * space->dim, space->dim * sizeof(double));
  return index;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const RgDomain *domain = algorithm->setup.domain;
  RgRandom random = rg_algorithm_stream_at(algorithm, "query", t);

  if (domain->without_replacement)
    PetscCall(uniform_unseen(domain, history, &random, query, failure));
  else query->index = uniform_point(&domain->design, &random, query->x);
  if (domain->control == RG_CONTEXT_SIMULATOR)
    query->context_index = draw_context(domain, &random, query->c);
  return 0;
}

const RgAlgorithmClass rg_algorithm_random_search = {
  RG_ABOUT("random", "Random search", 1,
           "x_t uniform on the domain (finite designs without replacement: on the points left)",
           "baseline"),
  .traits = RG_BLIND,
  .params = params,
  .ask = ask,
};
