/* pims: probability of improvement from the maximum of a sample path.

   Draw one path g from the posterior, g* = max_x g(x);
   x_t = argmax_x Pr(f(x) >= g*) = argmin_x z(x), z(x) = (g* - mu(x)) / sd(x).
   Source: Takeno, Inatsu, Karasuyama, Takeuchi (2024), "Posterior sampling-based Bayesian
   optimization with tighter Bayesian regret bounds", ICML; irgp_ucb 3.6. The rule is GP-UCB with
   sqrt(zeta_t) = min z.
   Deviations: -z is maximised, which does not underflow. Paths as in ts.c. `pims_clamp` (off in the
   paper) keeps g* above the posterior mean at the queried inputs.
   Cost per iteration: one path and its maximum as in ts.c; then as GP-UCB.
   Needs no context. Revision 2. */
#include "algorithm/sampling.h"

#include <math.h>

typedef struct {
  RgPathOptions paths; /* first, see sampling.h */
  bool clamp;
} Options;

static const RgParam params[] = {
  RG_PATH_PARAMS(Options),
  RG_BOOL("pims_clamp", Options, clamp, "no",
          "g* is at least the best posterior mean at queried inputs"),
  {0},
};

enum { CONFIDENCE, PATH_MAXIMUM };

static const RgRecordColumn columns[] = {
  [CONFIDENCE] = {"confidence", "squared confidence width of the query, z |z| of the least z"},
  [PATH_MAXIMUM] = {"path_maximum", "g*, maximum of the sampled path, model units"},
  {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = rg_surrogate_model(algorithm);
  RgOptima path;
  double best_mean, value;

  /* 1. g* = max_x g(x). */
  PetscCall(rg_sampling_draw(algorithm, t, history, 1, false, &path, failure));
  if (failure->failed) return 0;
  RgPims pims = {path.value[0]};
  RgAcquisition acquisition = {rg_acquisition_pims, &pims};
  if (options->clamp && history->n > 0) {
    PetscCall(rg_surrogate_best_mean(model, history, &best_mean));
    pims.maximum = fmax(pims.maximum, best_mean);
  }
  /* 2. x_t = argmin z. */
  PetscCall(
    rg_surrogate_acquire(algorithm, model, t, history, &acquisition, query, &value, failure));
  PetscCall(rg_surrogate_without_penalty(model, history, &acquisition, query, &value));
  query->extra[CONFIDENCE] = -value * fabs(value);
  query->extra[PATH_MAXIMUM] = pims.maximum;
  return 0;
}

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;

  *law = rg_sampling_law(&options->paths, domain, options->clamp ? NULL : "sampled_width");
}

const RgAlgorithmClass rg_algorithm_pims = {
  RG_ABOUT("pims", "PIMS", 2,
           "x_t = argmax Pr(f(x) >= g*), g* the maximum of a sample path from the posterior",
           "Takeno et al. (2024), Posterior sampling-based Bayesian optimization with tighter "
           "Bayesian regret bounds, ICML"),
  .traits = RG_MATRIX_FREE | RG_PENALISABLE | RG_NO_WIDTH,
  RG_OPTIONS(Options, params),
  .cost = rg_sampling_one_path,
  RG_ASK(ask, columns),
  .confidence = confidence,
  RG_SAMPLING_METHODS,
};
