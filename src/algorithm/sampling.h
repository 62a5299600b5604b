/* Steps shared by the methods that draw paths from the posterior: TS, PIMS, MES, JES. */
#ifndef RG_ALGORITHM_SAMPLING_H
#define RG_ALGORITHM_SAMPLING_H

#include "acquisition/sampled.h"
#include "algorithm/surrogate.h"

/* The options struct of such a method starts with its RgPathOptions. Its state: */
typedef struct {
  RgModel model;
  RgPathSampler *sampler;
} RgSampling;

/* check, create, model and destroy of such a class. */
PetscErrorCode rg_sampling_check(const void *options, const RgDomain *domain, RgPlace place,
                                 RgDiagnostics *diagnostics);
PetscErrorCode rg_sampling_create(RgAlgorithm *algorithm);
RgModel *rg_sampling_model(RgAlgorithm *algorithm);
PetscErrorCode rg_sampling_destroy(RgAlgorithm *algorithm);
/* Random features of a path over a finite design or a box; 0: paths are exact. weights: theirs are
   drawn from their posterior. */
int rg_sampling_features(const RgPathOptions *paths, bool finite, bool *weights);
/* RgAlgorithmClass.paths of a method with one path per iteration. */
int rg_sampling_one_path(const void *options, bool finite, int *features, bool *weights);

/* Maxima of `count` independent paths given the history, with random numbers of the sub-streams
   "paths" (the draws) and "path_maximiser" (their maximisation) at t. The model was updated.
   only_unseen: points of a finite design that may not be queried again don't count. */
PetscErrorCode rg_sampling_draw(RgAlgorithm *algorithm, int t, const RgHistory *history, int count,
                                bool only_unseen, RgOptima *optima, RgFailure *failure);

#endif
