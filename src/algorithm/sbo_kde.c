/* sbo_kde: stochastic optimisation under a density estimate of the contexts.

   x_t = argmax_x E_{c ~ p_t}[mu(x, c) + width sd(x, c)], p_t the kernel density estimate of the
   contexts seen so far, the model over (x, c).
   Source: Huang, Song, Xue, Qian (2023), arXiv:2312.10423, Algorithm 1; sbo_kde 2.2.
   With `measure: rho` the expectation is replaced by rho, over the draws.
   Deviations: draws are clipped to the box, which contexts seen outside it extend. With
   expectation: quadrature the average is taken by a deterministic rule. The search may begin with
   the first of the M draws only (screening).
   Cost per iteration: O(M n^2) per acquisition value, less where the kernel factors into x and c.
   Needs a context drawn by nature, and at least one observation. Revision 7. */
#include "algorithm/kde_contexts.h"

#include <math.h>

static const RgParam params[] = {RG_KDE_PARAMS, RG_CONTEXTUAL_MEASURE(RgKdeOptions, common), {0}};

enum { ACQUISITION, ERROR, BANDWIDTH };

static const RgRecordColumn columns[] = {
  [ACQUISITION] = RG_COLUMN_ACQUISITION,
  [ERROR] = {"expectation_error", "standard error of that average, or its difference from a rule "
                                  "with twice the nodes, model units"},
  [BANDWIDTH] = RG_COLUMN_KDE_BANDWIDTH,
  {0}};

/* Compute the mean of U over `contexts` at x. spread: the standard error of a sample average. */
static PetscErrorCode value_at(RgModel *model, const RgKdeContexts *contexts, double width,
                               const double *x, double *value, double *spread)
{
  RgContextWeights weights = {contexts->n, contexts->weight, NULL};
  const RgContextual average = {contexts->n, 0, contexts->c, rg_ucb_expectation, &weights, NULL};
  RgContextUcb ucb;
  double squares = 0;

  PetscCall(rg_context_ucb_create(model, width, &average, RG_CONTEXT_PAIRS, 1, &ucb));
  PetscCall(rg_context_ucb_function(&ucb, 1, x, value, NULL));
  for (int i = 0; i < contexts->n; i++)
    squares += contexts->weight[i] * (ucb.u[i] - *value) * (ucb.u[i] - *value);
  *spread = sqrt(squares / PetscMax(contexts->n - 1, 1));
  return rg_context_ucb_destroy(&ucb);
}

/* Record the error of the average at the query. */
static PetscErrorCode estimate_error(const RgAlgorithm *algorithm, RgModel *model, int t,
                                     const RgHistory *history, const RgKdeContexts *contexts,
                                     RgQuery *query, RgFailure *failure)
{
  RgKdeOptions finer = *(const RgKdeOptions *)algorithm->options;
  RgKdeContexts other;
  const double width = rg_kde_width(&finer, history->dim, t);
  double value, spread;

  if (finer.expectation == RG_KDE_SAMPLE)
    return value_at(model, contexts, width, query->x, &value, &query->extra[ERROR]);
  finer.nodes = 2 * contexts->n;
  PetscCall(rg_kde_contexts_create(algorithm, &finer, t, history, 0, &other, failure));
  PetscCall(value_at(model, &other, width, query->x, &value, &spread));
  query->extra[ERROR] = fabs(value - query->extra[ACQUISITION]);
  return rg_kde_contexts_destroy(&other);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const RgKdeOptions *options = algorithm->options;
  RgModel *model = algorithm->state;
  RgKdeContexts contexts;

  /* 1. Density estimate of the contexts, and the list that stands for it. */
  PetscCall(rg_kde_contexts_create(algorithm, options, t, history, 0, &contexts, failure));
  if (failure->failed) return 0;
  /* 2. x_t = argmax of the average confidence bound; the search begins with the first draws. */
  const int few = rg_kde_screening(options, &contexts);
  RgContextualOptions how = options->common;
  RgMeasure measure;
  const RgMeasure *rho;
  PetscCall(rg_contextual_measure(options, &measure, &rho));
  RgContextWeights weights = {contexts.n, contexts.weight, rho};
  RgContextWeights first = {few, few < contexts.n ? NULL : contexts.weight, NULL};
  const RgContextual average = {contexts.n, 0, contexts.c, rg_ucb_expectation, &weights, NULL};
  const RgContextual rough = {few, 0, contexts.c, rg_ucb_expectation, &first, NULL};

  how.width = rg_kde_width(options, history->dim, t);
  PetscCall(rg_acquire_contextual(model, &how, &average, rho ? NULL : &rough,
                                  RG_SEARCH_AT(algorithm, t, history), query,
                                  &query->extra[ACQUISITION], failure));
  PetscCall(rg_measure_destroy(&measure));
  query->extra[BANDWIDTH] = contexts.kde.bandwidth[0];
  if (!failure->failed && !options->common.measure)
    PetscCall(estimate_error(algorithm, model, t, history, &contexts, query, failure));
  return rg_kde_contexts_destroy(&contexts);
}

static void confidence(const void *options, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  rg_kde_confidence(options, "sbo_kde", domain->design.dim, t, law);
}

const RgAlgorithmClass rg_algorithm_sbo_kde = {
  RG_ABOUT("sbo_kde", "SBO-KDE", 7,
           "x_t = argmax E_{c ~ p_t}[mu(x, c) + width sd(x, c)], p_t a density estimate of the "
           "contexts",
           "Huang, Song, Xue, Qian (2023), Stochastic Bayesian optimization with unknown "
           "continuous context distribution via kernel density estimation, Algorithm 1"),
  RG_OPTIONS(RgKdeOptions, params),
  .cost = rg_kde_cost,
  RG_ASK(ask, columns),
  RG_KDE_METHODS,
};
