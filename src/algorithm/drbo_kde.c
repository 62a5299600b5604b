/* drbo_kde: robust to distributions near a density estimate of the contexts in total variation.

   x_t = argmax_x min_{|q - p_t|_1 <= delta_t} E_q[mu(x, c) + width sd(x, c)], p_t the density
   estimate of the n contexts seen so far, delta_t = radius n^(-2/(4 + D_c)).
   Source: Huang, Song, Xue, Qian (2023), arXiv:2312.10423, Algorithm 2 and Proposition 2; sbo_kde
   2.3. The inner problem, a two-variable programme in the paper, is solved in closed form.
   inf over c is taken over `floor_points` Sobol contexts, fixed within an iteration, and the draws
   themselves. as_released: the Sobol contexts lie in [-1, 0] instead of [0, 1] (ends of the map
   swapped), the draws don't count, and the derivative by the least confidence bound is dropped; the
   released program also draws the set anew at every value, which is not repeated here.
   Cost per iteration: that of sbo_kde with M + floor_points contexts.
   Needs a context drawn by nature, and at least one observation. Revision 8. */
#include "algorithm/kde_contexts.h"
#include "maths/design.h"
#include "robust/total_variation.h"

#include <math.h>

typedef struct {
  RgKdeOptions kde;
  double radius;
  int floor_points;
  bool as_released;
} Options;

static const RgParam params[] = {
  RG_KDE_PARAMS,
  RG_REAL(
    "radius", Options, radius, "1", 0, 1e6, "",
    "delta_t = radius n^(-2/(4 + D_c)), n contexts that count; full L1 distance, 2 is everything"),
  RG_INT("floor_points", Options, floor_points, "1024", 1, 1e6, "",
         "Sobol contexts over which the least confidence bound is taken"),
  RG_BOOL("as_released", Options, as_released, "false",
          "these contexts as the authors' program has them: in [-1, 0], without the draws, without "
          "derivative"),
  {0},
};

enum { ACQUISITION, RADIUS, BANDWIDTH };

static const RgRecordColumn columns[] = {[ACQUISITION] = RG_COLUMN_ACQUISITION,
                                         [RADIUS] = {"radius", "radius of the ambiguity set"},
                                         [BANDWIDTH] = RG_COLUMN_KDE_BANDWIDTH,
                                         {0}};

/* The worst case as a function of U at the first `first` contexts of the samples, followed by
   those of the floor. */
typedef struct {
  int n, n_floor;
  const double *weight; /* n */
  double radius;
  bool as_released;
  double *q, *work; /* n, 2n */
} Worst;

static PetscErrorCode worst_case(void *closure, const double *u, const double *slope, double *value,
                                 double *u_bar, double *slope_bar)
{
  const Worst *worst = closure;
  const int n = worst->n, last = n + worst->n_floor;
  int least = n;
  double floor_mass;

  for (int i = worst->as_released ? n : 0; i < last; i++)
    if (u[i] < u[least]) least = i;
  *value = rg_total_variation_worst(n, u, worst->weight, u[least], worst->radius,
                                    u_bar ? worst->q : NULL, &floor_mass, worst->work);
  for (int i = 0; u_bar && i < n; i++) u_bar[i] = worst->q[i];
  if (u_bar && !worst->as_released) u_bar[least] += floor_mass;
  return 0;
}

/* Maximise the worst case; the search begins with `few` of the samples and of the floor. */
static PetscErrorCode maximise(const RgAlgorithm *algorithm, RgModel *model, int t,
                               const RgHistory *history, const RgKdeContexts *contexts,
                               double radius, RgQuery *query, RgFailure *failure)
{
  const Options *options = algorithm->options;
  const int n = contexts->n, n_floor = options->floor_points, dim = contexts->dim;
  const int few = rg_kde_screening(&options->kde, contexts);
  const int few_floor = PetscMin(few, n_floor);
  const bool equal = options->kde.expectation == RG_KDE_SAMPLE;
  Worst worst = {.n = n,
                 .n_floor = n_floor,
                 .weight = equal ? NULL : contexts->weight,
                 .radius = radius,
                 .as_released = options->as_released},
        first;
  double *c;

  PetscCall(PetscMalloc3(n, &worst.q, 2 * n, &worst.work, (size_t)(few + few_floor) * dim, &c));
  PetscCall(PetscArraycpy(c, contexts->c, (size_t)few * dim));
  PetscCall(
    PetscArraycpy(c + (size_t)few * dim, contexts->c + (size_t)n * dim, (size_t)few_floor * dim));
  first = worst;
  first.n = few;
  first.n_floor = few_floor;
  const RgContextual all = {n + n_floor, 0, contexts->c, worst_case, &worst, NULL};
  const RgContextual rough = {few + few_floor, 0, c, worst_case, &first, NULL};
  RgContextualOptions how = options->kde.common;
  how.width = rg_kde_width(&options->kde, history->dim, t);
  how.few_first = true; /* the worst case chooses among its contexts */
  PetscCall(rg_acquire_contextual(model, &how, &all, &rough, RG_SEARCH_AT(algorithm, t, history),
                                  query, &query->extra[ACQUISITION], failure));
  return PetscFree3(worst.q, worst.work, c);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  const int dim = history->context_dim;
  RgModel *model = algorithm->state;
  RgKdeContexts contexts;

  /* 1. Density estimate of the contexts, the contexts that stand for it, and behind them those
     of the floor. */
  PetscCall(rg_kde_contexts_create(algorithm, &options->kde, t, history, options->floor_points,
                                   &contexts, failure));
  if (failure->failed) return 0;
  RgRandom random = rg_algorithm_stream_at(algorithm, "floor", t);
  double *floor = contexts.c + (size_t)contexts.n * dim;
  PetscCall(rg_design_sobol(&random, options->floor_points, dim, floor));
  for (int i = 0; options->as_released && i < options->floor_points * dim; i++)
    floor[i] = -floor[i];
  /* 2. delta_t, and x_t = argmax of the worst case. */
  const double radius = options->radius * pow(contexts.kde.effective, -2.0 / (4 + dim));
  PetscCall(maximise(algorithm, model, t, history, &contexts, radius, query, failure));
  query->extra[RADIUS] = radius;
  query->extra[BANDWIDTH] = contexts.kde.bandwidth[0];
  return rg_kde_contexts_destroy(&contexts);
}

static void confidence(const void *options, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  rg_kde_confidence(&((const Options *)options)->kde, "drbo_kde", domain->design.dim, t, law);
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  rg_kde_cost(options, size, cost);
  cost->contexts += ((const Options *)options)->floor_points;
  cost->bytes = 16.0 * size->n * cost->contexts;
}

const RgAlgorithmClass rg_algorithm_drbo_kde = {
  RG_ABOUT("drbo_kde", "DRBO-KDE", 8,
           "x_t = argmax min_{|q - p_t| <= delta_t} E_q[mu(x, c) + width sd(x, c)], p_t a "
           "density estimate of the contexts",
           "Huang, Song, Xue, Qian (2023), Stochastic Bayesian optimization with unknown "
           "continuous context distribution via kernel density estimation, Algorithm 2"),
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  RG_ASK(ask, columns),
  RG_KDE_METHODS,
};
