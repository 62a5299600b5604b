/* ucb_pe: an upper confidence bound, then pure exploration within a batch.

   y* = max_x mu(x) - w sd(x); region = {x: mu(x) + 2 w sd(x) >= y*}.
   The first query of a batch is argmax mu + w sd; the others are argmax sd' over the region, where
   sd' also counts the points in flight, and mu and sd do not.
   Source: E. Contal, D. Buffoni, A. Robicquet, N. Vayatis, Parallel Gaussian process optimization
   with upper confidence bound and pure exploration, 2013, Algorithm 1.
   Deviations: the first `initialise` queries are argmax sd'. w is sqrt(5 d log(2 d t + 1)) or a
   number (`width`). A batch is as many queries as there are workers. mu and sd are of the
   evaluations that are told, which in a synchronous study are the same for the whole batch. On a
   box a point outside the region has a value below that of every point inside; the region holds
   the maximiser of mu - w sd.
   Cost per iteration: O(N n) on a finite set; on a box O(n^2) per value of either posterior, and
   O(n^3) for the second one. With one worker: GP-UCB.
   Needs no context. Revision 1. */
#include "acquisition/confidence.h"
#include "algorithm/surrogate.h"
#include "gp/model/pending.h"

#include <math.h>

typedef struct {
  double width;
  int initialise;
} Options;

static const RgParam params[] = {
  RG_REAL("width", Options, width, "auto", 0.0, 1e6, "w",
          "width of the confidence bounds; auto: sqrt(5 d log(2 d t + 1))"),
  RG_INITIALISE_PARAM(Options),
  {0},
};

#define SD_FLAT 1e-9 /* below this, the derivative of sd counts as 0 */

/* The exploration of a box: the posterior without and with the points in flight. */
typedef struct {
  RgPosterior told, *with;
  RgPrediction work_told, work_with;
  double width, floor; /* w, y* */
} Explorer;

/* y* and the point where it is attained; on a box by a search of its own. */
static PetscErrorCode lower_bound(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                  double width, RgQuery *at, double *floor, RgFailure *failure)
{
  RgModel *model = algorithm->state;
  const double *mean = rg_posterior_means(&model->posterior);
  const double *variance = rg_posterior_variances(&model->posterior);
  const RgAcquisition lower = {rg_acquisition_ucb, &(const RgUcb){-width}};
  RgRandom random = rg_algorithm_stream_at(algorithm, "lower", t);

  *floor = -INFINITY;
  for (int i = 0; mean && i < model->domain->design.size; i++)
    *floor = fmax(*floor, mean[i] - width * sqrt(variance[i]));
  if (!mean)
    PetscCall(
      rg_acquire(model, &lower, RG_SEARCH(algorithm, history, &random), at, floor, failure));
  return 0;
}

/* ---- finite designs -------------------------------------------------------------------------- */

static PetscErrorCode explore_set(RgAlgorithm *algorithm, const RgHistory *history, double width,
                                  double floor, RgQuery *query, double *value, RgFailure *failure)
{
  RgModel *model = algorithm->state;
  const int size = model->domain->design.size;
  const double *mean = rg_posterior_means(&model->posterior);
  const double *variance = rg_posterior_variances(&model->posterior);
  double *values;

  PetscCall(PetscMalloc1(size, &values));
  for (int i = 0; i < size; i++) values[i] = mean[i] + 2 * width * sqrt(variance[i]);
  PetscCall(rg_model_append_pending(model, history, RG_PENDING_BELIEVER, failure));
  for (int i = 0; i < size; i++) values[i] = values[i] >= floor ? sqrt(variance[i]) : -INFINITY;
  if (!failure->failed)
    PetscCall(rg_acquire_of_set(model->domain, history, values, query, value, failure));
  return PetscFree(values);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* sd' where mu + 2 w sd >= y*, else how much is missing, negative. */
static PetscErrorCode exploration(void *closure, int m, const double *X, double *value,
                                  double *gradient)
{
  Explorer *e = closure;
  const size_t dim = (size_t)e->told.kernel.dim;
  double *mean, *told, *with, *ones, *slope, *G;

  PetscCall(PetscMalloc6(m, &mean, m, &told, m, &with, m, &ones, m, &slope, m * dim, &G));
  PetscCall(rg_posterior_predict(&e->told, m, X, mean, told, &e->work_told));
  PetscCall(rg_posterior_predict(e->with, m, X, ones, with, &e->work_with));
  for (int i = 0; i < m; i++) {
    told[i] = sqrt(told[i]);
    with[i] = sqrt(with[i]);
    const double above = mean[i] + 2 * e->width * told[i] - e->floor;
    value[i] = above >= 0 ? with[i] : above;
  }
  if (gradient) {
    for (int i = 0; i < m; i++) {
      ones[i] = 1;
      slope[i] = told[i] < SD_FLAT ? 0 : e->width / told[i];
    }
    PetscCall(rg_posterior_gradient(&e->told, m, X, ones, slope, &e->work_told, gradient));
    for (int i = 0; i < m; i++) {
      ones[i] = 0;
      slope[i] = with[i] < SD_FLAT ? 0 : 0.5 / with[i];
    }
    PetscCall(rg_posterior_gradient(e->with, m, X, ones, slope, &e->work_with, G));
    for (int i = 0; i < m; i++)
      if (value[i] >= 0)
        PetscCall(PetscArraycpy(gradient + (size_t)i * dim, G + (size_t)i * dim, dim));
  }
  return PetscFree6(mean, told, with, ones, slope, G);
}

static PetscErrorCode explore_box(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                  Explorer *e, RgQuery *query, double *value, RgFailure *failure)
{
  RgModel *model = algorithm->state;
  RgPosterior *posterior = &model->posterior;

  e->with = posterior;
  PetscCall(rg_posterior_create(&posterior->kernel, posterior->noise_variance, posterior->mean,
                                PetscMax(posterior->n, 1), &e->told));
  PetscCall(rg_posterior_set(&e->told, NULL, posterior->noise_variance, posterior->mean,
                             posterior->n, posterior->X, posterior->y, failure));
  if (!failure->failed)
    PetscCall(rg_model_append_pending(model, history, RG_PENDING_BELIEVER, failure));
  if (!failure->failed)
    PetscCall(rg_acquire_with(model->domain, exploration, e, RG_SEARCH_AT(algorithm, t, history),
                              query, value, failure));
  PetscCall(rg_prediction_destroy(&e->work_told));
  PetscCall(rg_prediction_destroy(&e->work_with));
  return rg_posterior_destroy(&e->told);
}

static PetscErrorCode explore(RgAlgorithm *algorithm, int t, const RgHistory *history, double width,
                              RgQuery *query, double *value, RgFailure *failure)
{
  const RgSpace *design = &algorithm->setup.domain->design;
  Explorer e = {.width = width};
  double *x;

  PetscCall(PetscMalloc1(design->dim, &x));
  RgQuery lowest = {.x = x};
  PetscCall(lower_bound(algorithm, t, history, width, &lowest, &e.floor, failure));
  if (failure->failed) {
    *value = NAN;
  } else if (rg_space_is_finite(design)) {
    PetscCall(explore_set(algorithm, history, width, e.floor, query, value, failure));
  } else {
    PetscCall(explore_box(algorithm, t, history, &e, query, value, failure));
    if (*value < 0) PetscCall(PetscArraycpy(query->x, x, design->dim)); /* x is in the region */
  }
  return PetscFree(x);
}

/* ---- the method ------------------------------------------------------------------------------ */

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  const int dim = algorithm->setup.domain->design.dim, workers = algorithm->setup.n_workers;
  RgModel *model = algorithm->state;
  double *value = &query->extra[RG_UCB_ACQUISITION];
  const double width =
    isnan(options->width) ? sqrt(rg_gp_ucb_beta_kandasamy(dim, t)) : options->width;
  const RgAcquisition acquisition = {rg_acquisition_ucb, &(const RgUcb){width}};

  /* 1. At the start: argmax sd'. */
  if (t <= options->initialise) {
    PetscCall(rg_model_append_pending(model, history, RG_PENDING_BELIEVER, failure));
    if (!failure->failed)
      PetscCall(rg_surrogate_most_uncertain(algorithm, model, t, history, query, value, failure));
    return 0;
  }
  query->extra[RG_UCB_CONFIDENCE] = width * width;
  /* 2. The first of a batch: argmax mu + w sd. */
  if ((t - 1) % PetscMax(workers, 1) == 0 || history->pending.n == 0)
    PetscCall(
      rg_surrogate_acquire(algorithm, model, t, history, &acquisition, query, value, failure));
  /* 3. The others: argmax sd' where mu + 2 w sd >= y*. */
  else PetscCall(explore(algorithm, t, history, width, query, value, failure));
  return 0;
}

const RgAlgorithmClass rg_algorithm_ucb_pe = {
  RG_ABOUT(
    "ucb_pe", "UCB-PE", 1,
    "the first of a batch: argmax mu + w sd; the others: argmax sd with the points in flight, "
    "where mu + 2 w sd >= max(mu - w sd)",
    "Contal, Buffoni, Robicquet, Vayatis (2013), Parallel Gaussian process optimization with "
    "upper confidence bound and pure exploration"),
  .traits = RG_OWN_PENDING,
  RG_OPTIONS(Options, params),
  RG_ASK(ask, rg_ucb_columns),
  RG_SURROGATE_METHODS,
};
