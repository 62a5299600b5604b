/* Density estimate of the contexts seen so far, and contexts with weights that stand for it. */
#include "algorithm/kde_contexts.h"

#include <math.h>

#include "acquisition/confidence.h"

enum { GAUSS_NODES = 16, SOBOL_NODES = 256 };

const char *const rg_kde_betas[] = {"fixed", "theory", NULL};
const char *const rg_kde_expectations[] = {"sample", "quadrature", NULL};

static int node_count(const RgKdeOptions *options, int dim)
{
  if (options->nodes > 0) return options->nodes;
  return dim == 1 ? GAUSS_NODES : SOBOL_NODES;
}

PetscErrorCode rg_kde_contexts_create(const RgAlgorithm *algorithm, const RgKdeOptions *options,
                                      int t, const RgHistory *history, int room,
                                      RgKdeContexts *contexts, RgFailure *failure)
{
  const int dim = history->context_dim;
  const bool quadrature = options->expectation == RG_KDE_QUADRATURE;
  const int nodes = node_count(options, dim);
  RgRandom random = rg_algorithm_stream_at(algorithm, "contexts", t);
  RgKde *kde = &contexts->kde;
  RgContextCentre seen;

  if (!rg_context_seen(algorithm, history, failure)) return 0;
  contexts->dim = dim;
  contexts->n = quadrature ? nodes : options->samples;
  PetscCall(
    PetscMalloc2((size_t)(contexts->n + room) * dim, &contexts->c, contexts->n, &contexts->weight));
  PetscCall(rg_centre_of_observed(&options->forgetting, history, &seen));
  PetscCall(rg_kde_create(seen.n, dim, seen.contexts, seen.equal ? NULL : seen.weight, kde));
  PetscCall(rg_centre_destroy(&seen));
  for (int i = 0; i < contexts->n; i++) contexts->weight[i] = 1.0 / contexts->n;
  if (!quadrature) PetscCall(rg_kde_sample(kde, &random, 0, 1, contexts->n, contexts->c));
  else if (dim == 1)
    PetscCall(rg_kde_gauss(kde, 0, 1, nodes, &contexts->n, contexts->c, contexts->weight));
  else PetscCall(rg_kde_sample_sobol(kde, &random, 0, 1, contexts->n, contexts->c));
  return 0;
}

PetscErrorCode rg_kde_contexts_destroy(RgKdeContexts *contexts)
{
  PetscCall(PetscFree2(contexts->c, contexts->weight));
  return rg_kde_destroy(&contexts->kde);
}

PetscErrorCode rg_kde_check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const RgKdeOptions *kde = options;

  PetscCall(
    rg_contextual_check_measure(options, domain, RG_MEASURE_EXPECTATION, place, diagnostics));
  if (kde->common.measure && kde->expectation == RG_KDE_QUADRATURE)
    rg_diagnostics_add(diagnostics, place,
                       "'expectation: quadrature' integrates, and is no sample of the contexts for "
                       "a 'measure'; accepted is 'expectation: sample'");
  return 0;
}

void rg_kde_cost(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  const RgKdeOptions *o = options;

  cost->contexts = o->expectation == RG_KDE_QUADRATURE ? node_count(o, 1) : o->samples;
  cost->bytes = 16.0 * size->n * cost->contexts;
}

int rg_kde_screening(const RgKdeOptions *options, const RgKdeContexts *contexts)
{
  if (options->expectation == RG_KDE_QUADRATURE) return contexts->n;
  return PetscMin(options->screening, contexts->n);
}

static double or_one(double constant)
{
  return isnan(constant) ? 1 : constant;
}

double rg_kde_width(const RgKdeOptions *options, int dim_x, int t)
{
  if (options->beta == RG_KDE_FIXED) return options->common.width;
  return sqrt(
    fmax(rg_gp_ucb_beta_bcr_cont(dim_x, t, or_one(options->a), or_one(options->b), 1), 0));
}

/* The theorems cover only the expectation, without forgetting. */
void rg_kde_confidence(const RgKdeOptions *options, const char *rule, int dim_x, int t,
                       RgConfidenceLaw *law)
{
  const double width = rg_kde_width(options, dim_x, t);
  const bool none = options->common.measure || rg_forgets(&options->forgetting);

  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT,
                           .a = width * width,
                           .rule = none ? NULL : rule,
                           .delta = NAN,
                           .own = options->beta == RG_KDE_THEORY,
                           .constant = {or_one(options->a), or_one(options->b)}};
}
