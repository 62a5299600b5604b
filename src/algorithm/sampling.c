/* Steps shared by the methods that draw paths from the posterior: life cycle, draws, cost. */
#include "algorithm/sampling.h"

#include <math.h>

PetscErrorCode rg_sampling_create(RgAlgorithm *algorithm)
{
  const RgSetup *setup = &algorithm->setup;
  RgSampling *sampling = algorithm->state;

  PetscCall(rg_surrogate_create_model(algorithm, RG_INPUTS_DESIGN, &sampling->model));
  return rg_path_sampler_create(setup->domain, algorithm->options,
                                setup->n_initial + setup->n_iterations, &sampling->sampler);
}

PetscErrorCode rg_sampling_destroy(RgAlgorithm *algorithm)
{
  RgSampling *sampling = algorithm->state;

  PetscCall(rg_path_sampler_destroy(&sampling->sampler));
  return rg_model_destroy(&sampling->model);
}

const RgRecordColumn rg_sampled_columns[] = {
  [RG_SAMPLED_MAXIMUM] = {"path_maximum", "mean of the sampled maxima, model units"},
  [RG_SAMPLED_ACQUISITION] = {"acquisition", "acquisition value at the query, nats"},
  {0}};

RgConfidenceLaw rg_sampling_law(const RgPathOptions *paths, const RgDomain *domain,
                                const char *rule)
{
  const int size = domain->design.size;
  const bool small = rg_space_is_finite(&domain->design) && size <= RG_PATHS_EXACT_MAX;

  return (RgConfidenceLaw){.a = NAN,
                           .rule = rule,
                           .delta = NAN,
                           .own = paths->kind == RG_PATHS_EXACT ||
                                  (paths->kind == RG_PATHS_AUTO && small)};
}

void rg_sampling_one_path(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  const RgPathOptions *paths = options;
  const bool exact =
    paths->kind == RG_PATHS_EXACT || (size->finite && paths->kind == RG_PATHS_AUTO);

  cost->paths = 1;
  cost->features = exact ? 0 : paths->features;
}

void rg_sampling_paths(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  rg_sampling_one_path(options, size, cost);
  cost->paths = ((const RgSampledOptions *)options)->samples;
}

PetscErrorCode rg_sampling_ask_path(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                    RgQuery *query, double *value, RgFailure *failure)
{
  RgOptima path;

  PetscCall(rg_sampling_draw(algorithm, t, history, 1, true, &path, failure));
  if (failure->failed) return 0;
  query->index = path.index[0];
  PetscCall(PetscArraycpy(query->x, path.x, algorithm->setup.domain->design.dim));
  *value = path.value[0];
  return 0;
}

PetscErrorCode rg_sampling_draw(RgAlgorithm *algorithm, int t, const RgHistory *history, int count,
                                bool only_unseen, RgOptima *optima, RgFailure *failure)
{
  RgSampling *sampling = algorithm->state;
  RgRandom draws = rg_algorithm_stream_at(algorithm, "paths", t);
  RgRandom search = rg_algorithm_stream_at(algorithm, "path_maximiser", t);
  unsigned char *excluded = NULL;

  if (only_unseen) PetscCall(rg_excluded_points(algorithm->setup.domain, history, &excluded));
  RgSearch with = *RG_SEARCH(algorithm, history, &search);
  with.once = with.once && only_unseen;
  PetscCall(rg_path_sampler_draw(sampling->sampler, &sampling->model, count, excluded, &draws,
                                 &with, optima, failure));
  return PetscFree(excluded);
}
