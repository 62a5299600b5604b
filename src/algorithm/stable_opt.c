/* stable_opt: worst case over a box of contexts.

   x_t = argmax_x min_{c in C_t} U(x, c), U = mu + width sd, C_t = prod_j [mean_j - sd_j, mean_j +
   sd_j] of the contexts observed so far; the minimum is over scrambled Sobol points of C_t, fixed
   within an iteration.
   Source: Bogunovic, Scarlett, Jegelka, Cevher (2018); set and sample as in sbo_kde 3.3.
   Deviations: the released comparison draws the points from [mean - 3 sd, mean - sd] (box: shifted)
   and anew at every call.
   Cost per acquisition value: see gp/context/context_posterior.h, M = samples.
   Needs contexts drawn by nature. Revision 8. */
#include "algorithm/contextual.h"
#include "maths/design.h"

#include <math.h>

enum { CENTRED, SHIFTED };

typedef struct {
  RgContextualOptions common;
  int samples, screening, box;
} Options;

static const char *const boxes[] = {"centred", "shifted", NULL};

static const RgParam params[] = {
  RG_CONTEXTUAL_PARAMS(Options, common),
  RG_INT("samples", Options, samples, "1024", 1, 1e6, "", "Sobol points of the box of contexts"),
  RG_SCREENING_PARAM(Options, ""),
  RG_CHOICE("box", Options, box, "centred", boxes, "C_t",
            "mean -/+ one standard deviation, or shifted two of them down (as released)"),
  {0},
};

/* Compute mean and standard deviation (divisor n - 1) of context coordinate k. */
static void moments_of(const RgHistory *history, int k, double *mean, double *deviation)
{
  const int n = history->n, dim = history->context_dim;
  double sum = 0.0;

  *mean = 0.0;
  for (int i = 0; i < n; i++) *mean += history->c[(size_t)i * dim + k] / n;
  for (int i = 0; i < n; i++) sum += pow(history->c[(size_t)i * dim + k] - *mean, 2);
  *deviation = n > 1 ? sqrt(sum / (n - 1)) : 0.0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  const int dim = algorithm->setup.domain->context.dim;
  int M = options->samples, few = PetscMin(options->screening, M);
  RgRandom random = rg_algorithm_stream_at(algorithm, "contexts", t);
  double *contexts;

  if (!rg_context_seen(algorithm, history, failure)) return 0;
  /* 1. Points of C_t. */
  PetscCall(PetscMalloc1((size_t)M * dim, &contexts));
  PetscCall(rg_design_sobol(&random, M, dim, contexts));
  for (int k = 0; k < dim; k++) {
    double mean, deviation;
    moments_of(history, k, &mean, &deviation);
    if (options->box == SHIFTED) mean -= 2.0 * deviation;
    for (int m = 0; m < M; m++)
      contexts[(size_t)m * dim + k] =
        mean + deviation * (2.0 * contexts[(size_t)m * dim + k] - 1.0);
  }
  /* 2. x_t = argmax min U. */
  const RgContextual least = {M, 0, contexts, rg_ucb_minimum, &M, NULL};
  const RgContextual rough = {few, 0, contexts, rg_ucb_minimum, &few, NULL};
  PetscCall(
    rg_contextual_acquire(algorithm, t, history, &options->common, &least, &rough, query, failure));
  return PetscFree(contexts);
}

/* The worst case is what the method maximises; the papers also run it for the expectation. */
static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  return rg_contextual_check_measure(options, domain, RG_MEASURE_WORST, place, diagnostics);
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  cost->contexts = ((const Options *)options)->samples;
  cost->bytes = 16.0 * size->n * cost->contexts;
}

const RgAlgorithmClass rg_algorithm_stable_opt = {
  RG_ABOUT("stable_opt", "StableOpt", 8,
           "x_t = argmax min_c mu(x, c) + width sd(x, c), c within one standard deviation of the\n"
           "mean of the contexts observed so far",
           "Bogunovic, Scarlett, Jegelka, Cevher (2018), Adversarially robust optimization with "
           "Gaussian processes"),
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  RG_ASK(ask, rg_ucb_columns),
  .needs = RG_NEEDS_NATURE | RG_NEEDS_INITIAL,
  .check = check,
  RG_CONTEXTUAL_STATE,
};
