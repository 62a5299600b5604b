/* Candidates and their Pareto set. */
#include "algorithm/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "acquisition/levels.h"
#include "base/grow.h"

PetscErrorCode rg_candidates_create(const RgAlgorithm *algorithm, RgModel *model,
                                    const RgHistory *history, int n, double *X,
                                    RgCandidates *candidates)
{
  const RgDomain *domain = algorithm->setup.domain;
  const RgSpace *design = &domain->design;
  const bool finite = rg_space_is_finite(design);

  *candidates = (RgCandidates){
    .n = finite ? design->size : n, .design = design, .X = finite ? design->points : X};
  n = candidates->n;
  PetscCall(PetscMalloc1(n, &candidates->mean));
  PetscCall(PetscMalloc1(n, &candidates->sd));
  PetscCall(PetscMalloc1(n, &candidates->list));
  if (finite) {
    const double *variance = rg_posterior_variances(&model->posterior);
    PetscCall(PetscArraycpy(candidates->mean, rg_posterior_means(&model->posterior), n));
    for (int i = 0; i < n; i++) candidates->sd[i] = sqrt(variance[i]);
    PetscCall(rg_excluded_points(domain, history, &candidates->excluded));
  } else {
    for (int i = 0; i < n; i++) rg_space_snap(design, X + (size_t)i * design->dim, NULL);
    PetscCall(rg_model_predict(model, n, X, candidates->mean, candidates->sd));
    PetscCall(rg_excluded_designs(design, rg_algorithm_asks_once(algorithm), history, n, X,
                                  &candidates->excluded));
  }
  return 0;
}

PetscErrorCode rg_candidates_destroy(RgCandidates *candidates)
{
  return RG_FREE(&candidates->mean, &candidates->sd, &candidates->excluded, &candidates->list);
}

/* Put the largest first, by the values in order, then the lowest index. */
static int order(const void *a, const void *b)
{
  const RgCandidate *p = a, *q = b;

  for (int k = 0; k < RG_CANDIDATE_VALUES; k++)
    if (p->value[k] != q->value[k]) return p->value[k] > q->value[k] ? -1 : 1;
  return p->index < q->index ? -1 : p->index > q->index;
}

static bool dominates(const RgCandidate *a, const RgCandidate *b)
{
  bool better = false;

  for (int k = 0; k < RG_CANDIDATE_VALUES; k++) {
    if (a->value[k] < b->value[k]) return false;
    better = better || a->value[k] > b->value[k];
  }
  return better;
}

int rg_pareto_draw(RgCandidates *candidates, RgRandom *random, RgQuery *query)
{
  const size_t dim = (size_t)candidates->design->dim;
  RgCandidate *list = candidates->list;
  int size = 0;

  /* in this order a candidate is dominated by earlier ones alone */
  qsort(list, (size_t)candidates->n_list, sizeof *list, order);
  for (int i = 0; i < candidates->n_list; i++) {
    bool beaten = false;
    for (int k = 0; k < size && !beaten; k++) beaten = dominates(&list[k], &list[i]);
    if (!beaten) list[size++] = list[i];
  }
  if (!size) return 0;
  const int chosen = list[rg_random_below(random, (uint64_t)size)].index;
  if (rg_space_is_finite(candidates->design)) query->index = chosen;
  memcpy(query->x, candidates->X + (size_t)chosen * dim, dim * sizeof *query->x);
  return size;
}
