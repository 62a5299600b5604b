/* ts: Thompson sampling.

   Draw one path g from the posterior; x_t = argmax_x g(x).
   Source: Thompson (1933); as compared by Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979:
   irgp_ucb 3.5. Paths: irgp_ucb 3.4 (acquisition/path_sampler.h).
   Deviations: unless `paths` says otherwise, paths are drawn from the exact joint posterior on
   finite sets, and have the exact update on boxes; the paper draws weights of random features.
   Where points may be queried once only, the maximum is over the points left.
   Cost per iteration: finite set O(n^2 + N sum of levels) on grids, O(n^2 + n N + N^2) elsewhere;
   box O(n M + n^2) for M features (O(n^2 M) with `paths: rff`), O((M + n) d) per value of the path;
   plus the model.
   Needs no context. Revision 2. */
#include "algorithm/sampling.h"

typedef struct {
  RgPathOptions paths; /* first, see sampling.h */
} Options;

static const RgParam params[] = {RG_PATH_PARAMS(Options), {0}};

enum { PATH_MAXIMUM };

static const RgRecordColumn columns[] = {
  [PATH_MAXIMUM] = {"path_maximum", "value of the sampled path at the query, model units"}, {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgOptima path;

  PetscFunctionBeginUser;
  /* 1. One path g and its maximiser. */
  PetscCall(rg_sampling_draw(algorithm, t, history, 1, true, &path, failure));
  if (failure->failed) PetscFunctionReturn(0);
  /* 2. x_t = argmax g. */
  query->index = path.index[0];
  PetscCall(PetscArraycpy(query->x, path.x, algorithm->setup.domain->design.dim));
  query->extra[PATH_MAXIMUM] = path.value[0];
  PetscFunctionReturn(0);
}

const RgAlgorithmClass rg_algorithm_ts = {
  RG_ABOUT("ts", "TS", 2, "x_t = argmax g(x), g a sample path from the posterior",
           "Thompson (1933); Russo, Van Roy (2014), doi:10.1287/moor.2014.0650"),
  .traits = RG_MATRIX_FREE,
  RG_OPTIONS(Options, params),
  .cost = rg_sampling_one_path,
  RG_ASK(ask, columns),
  RG_SAMPLING_METHODS,
};
