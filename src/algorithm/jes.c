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

typedef struct {
  RgPathOptions paths; /* first: sampling.h */
  int samples;
} Options;

static const RgParam params[] = {{"samples", RG_PARAM_INT, offsetof(Options, samples), "10", 1,
                                  10000, NULL, "K", "sampled optima per iteration"},
                                 RG_PATH_PARAMS(Options),
                                 {0}};

enum { PATH_MAXIMUM, ACQUISITION };

static const RgRecordColumn columns[] = {
  [PATH_MAXIMUM] = {"path_maximum", "mean of the sampled maxima, model units"},
  [ACQUISITION] = {"acquisition", "acquisition value at the query, nats"},
  {0}};

static double mean_of(int n, const double *value)
{
  double sum = 0.0;

  for (int l = 0; l < n; l++) sum += value[l];
  return sum / n;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgSampling *sampling = algorithm->state;
  RgRandom random = rg_algorithm_stream_at(algorithm, "maximiser", t);
  RgOptima optima;

  PetscFunctionBeginUser;
  /* 1. Posterior given the history. */
  PetscCall(rg_model_update(&sampling->model, history, failure));
  if (failure->failed) PetscFunctionReturn(0);
  /* 2. (x*_l, f*_l) of K paths. */
  PetscCall(rg_sampling_draw(algorithm, t, history, options->samples, false, &optima, failure));
  if (failure->failed) PetscFunctionReturn(0);
  query->extra[PATH_MAXIMUM] = mean_of(optima.n, optima.value);
  /* 3. x_t = argmax of the information on the optimum. */
  PetscCall(rg_acquire_jes(&sampling->model, sampling->sampler, &optima, history,
                           algorithm->setup.maximiser, &random, query, &query->extra[ACQUISITION],
                           failure));
  PetscFunctionReturn(0);
}

static int paths_per_iteration(const void *options, bool finite, int *features, bool *weights)
{
  const Options *o = options;

  *features = rg_sampling_features(&o->paths, finite, weights);
  return o->samples;
}

const RgAlgorithmClass rg_algorithm_jes = {
  .name = "jes",
  .title = "JES",
  .summary = "x_t = argmax of the information that f(x) carries on (x*, f*), over sampled optima",
  .reference = "Hvarfner, Hutter, Nardi (2022), Joint entropy search for maximally-informed "
               "Bayesian optimization, NeurIPS, Section 3",
  .revision = 2,
  .needs = RG_NEEDS_NO_CONTEXT,
  .reads = RG_READS_SURROGATE | RG_READS_MAXIMISER,
  .params = params,
  .paths = paths_per_iteration,
  .options_size = sizeof(Options),
  .columns = columns,
  .state_size = sizeof(RgSampling),
  .check = rg_sampling_check,
  .create = rg_sampling_create,
  .ask = ask,
  .model = rg_sampling_model,
  .destroy = rg_sampling_destroy,
};
