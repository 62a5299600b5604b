/* jes: joint entropy search, lower bound.

   Draw optima (x*_l, f*_l), l = 1 .. K, of K paths from the posterior;
   x_t = argmax_x 1/2 log(sd^2(x) + noise) - mean_l 1/2 log(v~_l(x) + noise), where v~_l(x) is the
   variance of f(x) given f(x*_l) = f*_l and f(x) <= f*_l.
   Source: Hvarfner, Hutter, Nardi (2022), "Joint entropy search for maximally-informed Bayesian
   optimization", NeurIPS, Section 3; irgp_ucb 3.8 (acquisition/sampled.h), K = 10 as in
   arXiv:2409.00979.
   Deviations: the entropy of a truncated normal plus noise is that of a normal of the same
   variance, the lower bound; no epsilon-exploitation. Paths as in ts.c.
   Cost per iteration: K paths and their maxima as in ts.c; then as GP-UCB with K terms and, on a
   box, K (n + K) multiplications more per value.
   Needs no context. Revision 2. */
#include "algorithm/sampling.h"

static const RgParam params[] = {RG_SAMPLED_PARAM("optima"), RG_PATH_PARAMS(RgSampledOptions), {0}};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const RgSampledOptions *options = algorithm->options;
  RgSampling *sampling = algorithm->state;
  RgOptima optima;

  /* 1. (x*_l, f*_l) of K paths. */
  PetscCall(rg_sampling_draw(algorithm, t, history, options->samples, false, &optima, failure));
  if (failure->failed) return 0;
  query->extra[RG_SAMPLED_MAXIMUM] = 0.0;
  for (int l = 0; l < optima.n; l++) query->extra[RG_SAMPLED_MAXIMUM] += optima.value[l];
  query->extra[RG_SAMPLED_MAXIMUM] /= optima.n;
  /* 2. x_t = argmax of the information on the optimum. */
  return rg_acquire_jes(&sampling->model, sampling->sampler, &optima,
                        RG_SEARCH_AT(algorithm, t, history), query,
                        &query->extra[RG_SAMPLED_ACQUISITION], failure);
}

const RgAlgorithmClass rg_algorithm_jes = {
  RG_ABOUT("jes", "JES", 2,
           "x_t = argmax of the information that f(x) carries on (x*, f*), over sampled optima",
           "Hvarfner, Hutter, Nardi (2022), Joint entropy search for maximally-informed "
           "Bayesian optimization, NeurIPS, Section 3"),
  RG_OPTIONS(RgSampledOptions, params),
  .cost = rg_sampling_paths,
  RG_ASK(ask, rg_sampled_columns),
  RG_SAMPLING_METHODS,
};
