/* mes: max-value entropy search.

   Draw maxima f*_1 .. f*_K of K paths from the posterior; with g_l(x) = (f*_l - mu(x))/sd(x),
   x_t = argmax_x mean_l g_l phi(g_l)/(2 Phi(g_l)) - log Phi(g_l).
   Source: Wang, Jegelka (2017), "Max-value entropy search for efficient Bayesian optimization",
   ICML; irgp_ucb 3.7: information on noise-free values, K = 10 as in
   arXiv:2409.00979, f*_l at least max_i y_i + 5 noise deviations as in the program of Wang and
   Jegelka.
   Deviations: f*_l are maxima of paths, not draws from a fitted Gumbel law. Paths as in ts.c.
   Cost per iteration: K paths and their maxima as in ts.c; then as GP-UCB with K terms per value.
   Needs no context. Revision 2. */
#include "algorithm/sampling.h"

#include <math.h>

typedef struct {
  RgSampledOptions sampled;
  bool floor;
} Options;

static const RgParam params[] = {
  RG_SAMPLED_PARAM("maxima"),
  RG_BOOL("floor", Options, floor, "yes",
          "sampled maxima are at least the best observation plus five noise deviations"),
  RG_PATH_PARAMS(RgSampledOptions),
  {0},
};

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = rg_surrogate_model(algorithm);
  RgOptima paths;
  double *maximum, least = -INFINITY, sum = 0.0;

  /* 1. f*_l = max_x g_l(x). */
  PetscCall(
    rg_sampling_draw(algorithm, t, history, options->sampled.samples, false, &paths, failure));
  if (failure->failed) return 0;
  PetscCall(PetscMalloc1(options->sampled.samples, &maximum));
  if (options->floor && history->n > 0)
    least = rg_surrogate_best_y(model, history) + 5.0 * sqrt(model->noise_variance);
  for (int l = 0; l < paths.n; l++) sum += maximum[l] = fmax(paths.value[l], least);
  query->extra[RG_SAMPLED_MAXIMUM] = sum / paths.n;
  /* 2. x_t = argmax of the information on the maximum. */
  const RgAcquisition acquisition = {rg_acquisition_mes, &(const RgMes){paths.n, maximum}};
  PetscCall(rg_surrogate_acquire(algorithm, model, t, history, &acquisition, query,
                                 &query->extra[RG_SAMPLED_ACQUISITION], failure));
  PetscCall(rg_surrogate_without_penalty(model, history, &acquisition, query,
                                         &query->extra[RG_SAMPLED_ACQUISITION]));
  return PetscFree(maximum);
}

const RgAlgorithmClass rg_algorithm_mes = {
  RG_ABOUT("mes", "MES", 2,
           "x_t = argmax of the information that f(x) carries on max f, over sampled maxima",
           "Wang, Jegelka (2017), Max-value entropy search for efficient Bayesian "
           "optimization, ICML"),
  .traits = RG_MATRIX_FREE | RG_PENALISABLE,
  RG_OPTIONS(Options, params),
  .cost = rg_sampling_paths,
  RG_ASK(ask, rg_sampled_columns),
  RG_SAMPLING_METHODS,
};
