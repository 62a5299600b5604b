/* Steps shared by the methods that draw paths from the posterior: TS, PIMS, MES, JES. */
#ifndef RG_ALGORITHM_SAMPLING_H
#define RG_ALGORITHM_SAMPLING_H

#include "acquisition/sampled.h"
#include "algorithm/surrogate.h"

/* Each options struct of such a method starts with its RgPathOptions. The state: */
typedef struct {
  RgModel model;
  RgPathSampler *sampler;
} RgSampling;

/* The create and destroy functions of such a class. */
PetscErrorCode rg_sampling_create(RgAlgorithm *algorithm);
PetscErrorCode rg_sampling_destroy(RgAlgorithm *algorithm);
/* The law of a class with RG_NO_WIDTH: `rule`, and `own` where its paths are exact. */
RgConfidenceLaw rg_sampling_law(const RgPathOptions *paths, const RgDomain *domain,
                                const char *rule);
/* `cost` of a class with one path per iteration. */
void rg_sampling_one_path(const void *options, const RgTrialSize *size, RgMethodCost *cost);

#define RG_SAMPLING_STATE                                                                          \
  .needs = RG_NEEDS_NO_CONTEXT, RG_STATE(RgSampling, rg_sampling_create, rg_sampling_destroy),     \
  RG_MODEL_AND_SEARCH
#define RG_SAMPLING_METHODS .check = rg_path_options_check, RG_SAMPLING_STATE

/* First member of the options of the methods with several paths per iteration, their line of the
   parameters table, their `cost` and their columns. */
typedef struct {
  RgPathOptions paths;
  int samples;
} RgSampledOptions;

#define RG_SAMPLED_PARAM(what)                                                                     \
  RG_INT("samples", RgSampledOptions, samples, "10", 1, 10000, "K",                                \
         "sampled " what " per iteration")

/* `cost` of a class whose options begin with RgSampledOptions. */
void rg_sampling_paths(const void *options, const RgTrialSize *size, RgMethodCost *cost);
enum { RG_SAMPLED_MAXIMUM, RG_SAMPLED_ACQUISITION };
extern const RgRecordColumn rg_sampled_columns[];

/* Maxima of `count` independent paths given the history. The random numbers come from the
   sub-streams "paths" (draws) and "path_maximiser" (maximisation) at t. The model must be up to
   date. only_unseen: leaves out the designs that may not be queried again. */
PetscErrorCode rg_sampling_draw(RgAlgorithm *algorithm, int t, const RgHistory *history, int count,
                                bool only_unseen, RgOptima *optima, RgFailure *failure);
/* x_t = argmax g of one such path g, over the designs that may be queried. value: g(x_t). */
PetscErrorCode rg_sampling_ask_path(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                    RgQuery *query, double *value, RgFailure *failure);

#endif
