/* eims: expected improvement over the maximum of a sample path.

   Draw one path g from the posterior, g* = max_x g(x); x_t = argmax_x E[max(f(x) - g*, 0)].
   Source: Takeno, Inatsu, Karasuyama, Takeuchi (2025), "Regret analysis of posterior
   sampling-based expected improvement for Bayesian optimization", arXiv:2507.09828: its abstract
   and introduction; the constants of its bounds were not at hand (theory/sampling_bounds.c has
   a bound of our own).
   Deviations: the logarithm is maximised, which has the same maximiser and does not underflow.
   Paths as in ts.c.
   Cost per iteration: one path and its maximum as in ts.c; then as EI.
   Needs no context. Revision 1. */
#include "algorithm/sampling.h"

typedef struct {
  RgPathOptions paths; /* first, see sampling.h */
} Options;

static const RgParam params[] = {RG_PATH_PARAMS(Options), {0}};

enum { ACQUISITION, PATH_MAXIMUM };

static const RgRecordColumn columns[] = {
  [ACQUISITION] = RG_COLUMN_ACQUISITION,
  [PATH_MAXIMUM] = {"path_maximum", "g*, maximum of the sampled path, model units"},
  {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgOptima path;

  /* 1. g* = max_x g(x). */
  PetscCall(rg_sampling_draw(algorithm, t, history, 1, false, &path, failure));
  if (failure->failed) return 0;
  const RgAcquisition acquisition = {rg_acquisition_log_ei, &(const RgEi){path.value[0]}};
  /* 2. x_t = argmax log E[max(f(x) - g*, 0)]. */
  PetscCall(rg_surrogate_acquire(algorithm, rg_surrogate_model(algorithm), t, history, &acquisition,
                                 query, &query->extra[ACQUISITION], failure));
  query->extra[PATH_MAXIMUM] = path.value[0];
  return 0;
}

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;

  (void)t;
  *law = rg_sampling_law(&options->paths, domain, "sampled_improvement");
}

const RgAlgorithmClass rg_algorithm_eims = {
  RG_ABOUT("eims", "EIMS", 1,
           "x_t = argmax E[max(f(x) - g*, 0)], g* the maximum of a sample path from the posterior",
           "Takeno et al. (2025), Regret analysis of posterior sampling-based expected improvement "
           "for Bayesian optimization, arXiv:2507.09828"),
  .traits = RG_MATRIX_FREE | RG_PENALISABLE | RG_NO_WIDTH,
  RG_OPTIONS(Options, params),
  .cost = rg_sampling_one_path,
  RG_ASK(ask, columns),
  .confidence = confidence,
  RG_SAMPLING_METHODS,
};
