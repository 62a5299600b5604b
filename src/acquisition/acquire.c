/* Choosing a query: argmax over a finite design, multi-start search over a box, of any function or
   of a marginal acquisition function of a model. */
#include "regatta/acquire.h"

#include "acquisition/penalty.h"
#include "acquisition/ranking.h"
#include "acquisition/sampled.h"
#include "gp/model/model.h"

#include <math.h>
#include <string.h>

#define TIE 1e-12     /* relative to max(1, |a|) (irgp_ucb 2.1) */
#define SET_BLOCK 512 /* points of a finite design per block: scratch stays in the first cache */
#define BOX_BLOCK 256 /* points of a box per block: their kernel rows stay in the second cache */
#define FINEST 0.04   /* smallest deviation of a perturbation, relative to the largest */
#define SD_FLAT 1e-9  /* below this, the derivative of sd counts as 0 (irgp_ucb 2.3) */

static double tie_floor(double best)
{
  return best - TIE * fmax(1.0, fabs(best));
}

int rg_argmax(int n, const double *value, const unsigned char *excluded)
{
  double best = -INFINITY;

  for (int i = 0; i < n; i++) {
    if (!(excluded && excluded[i]) && isfinite(value[i]) && value[i] > best) best = value[i];
  }
  if (best == -INFINITY) return -1;
  for (int i = 0; i < n; i++) {
    if (!(excluded && excluded[i]) && isfinite(value[i]) && value[i] >= tie_floor(best)) return i;
  }
  return -1;
}

PetscErrorCode rg_excluded_points(const RgDomain *domain, const RgHistory *history,
                                  unsigned char **excluded)
{
  *excluded = NULL;
  if (!domain->without_replacement) return 0;
  PetscCall(PetscCalloc1((size_t)domain->design.size, excluded));
  for (int i = 0; i < history->n; i++) (*excluded)[history->index[i]] = 1;
  for (int i = 0; i < history->pending.n; i++) (*excluded)[history->pending.index[i]] = 1;
  return 0;
}

/* ---- any function -------------------------------------------------------------------------- */

/* The `k` largest observations, best first, ties by age; returns how many there are. */
static int best_observed(const RgHistory *history, int k, int *list)
{
  int count = 0;

  for (int i = 0; i < history->n; i++) count = rg_ranking_insert(history->y, i, count, k, list);
  return count;
}

PetscErrorCode rg_observed_starts(const RgSearch *search, int *n, double **points)
{
  const RgMaximiserOptions *options = search->options;
  const RgHistory *history = search->history;
  int dim = history->dim, count, *list;
  int wanted = PetscMax(options->incumbents, 1);

  PetscCall(PetscMalloc1((size_t)wanted, &list));
  PetscCall(PetscMalloc1((size_t)(wanted + options->perturbations) * dim, points));
  count = best_observed(history, wanted, list);
  *n = PetscMin(count, options->incumbents);
  for (int i = 0; i < *n; i++)
    memcpy(*points + (size_t)i * dim, history->x + (size_t)list[i] * dim, dim * sizeof(double));
  for (int i = 0; count && i < options->perturbations; i++) {
    const double *best = history->x + (size_t)list[0] * dim;
    double *point = *points + (size_t)(*n)++ * dim;
    double sd = options->perturbation * pow(FINEST, (double)i / options->perturbations);
    for (int j = 0; j < dim; j++)
      point[j] = fmin(fmax(best[j] + sd * rg_random_normal(search->random), 0.0), 1.0);
  }
  PetscCall(PetscFree(list));
  return 0;
}

static PetscErrorCode acquire_with_box(const RgDomain *domain, RgBatchFunction function,
                                       void *closure, const RgScreen *screen,
                                       const RgSearch *search, RgQuery *query, double *value,
                                       RgFailure *failure)
{
  RgSearch with = *search;
  double *extra;

  PetscCall(rg_observed_starts(search, &with.n_extra, &extra));
  with.extra = extra;
  with.space = &domain->design;
  query->index = -1;
  PetscCall(rg_maximise_box_screened(&with, domain->design.dim, function, closure, screen, query->x,
                                     value, failure));
  PetscCall(PetscFree(extra));
  return 0;
}

PetscErrorCode rg_acquire_of_set(const RgDomain *domain, const RgHistory *history,
                                 const double *values, RgQuery *query, double *value,
                                 RgFailure *failure)
{
  const RgSpace *space = &domain->design;
  unsigned char *excluded;

  PetscCall(rg_excluded_points(domain, history, &excluded));
  query->index = rg_argmax(space->size, values, excluded);
  /* All values may be -infinity, as in acquire_finite. */
  for (int i = 0; i < space->size && query->index < 0; i++)
    if (values[i] == -INFINITY && !(excluded && excluded[i])) query->index = i;
  if (query->index >= 0) {
    *value = values[query->index];
    PetscCall(
      PetscArraycpy(query->x, space->points + (size_t)query->index * space->dim, space->dim));
  } else {
    rg_failure_set(failure, "the acquisition function is finite at no point that is left of %d",
                   space->size);
  }
  PetscCall(PetscFree(excluded));
  return 0;
}

static PetscErrorCode acquire_with_set(const RgDomain *domain, const RgHistory *history,
                                       RgBatchFunction function, void *closure, RgQuery *query,
                                       double *value, RgFailure *failure)
{
  const RgSpace *space = &domain->design;
  double *values;

  PetscCall(PetscMalloc1((size_t)space->size, &values));
  for (int begin = 0; begin < space->size; begin += SET_BLOCK)
    PetscCall(function(closure, PetscMin(SET_BLOCK, space->size - begin),
                       space->points + (size_t)begin * space->dim, values + begin, NULL));
  PetscCall(rg_acquire_of_set(domain, history, values, query, value, failure));
  PetscCall(PetscFree(values));
  return 0;
}

PetscErrorCode rg_acquire_with(const RgDomain *domain, RgBatchFunction function, void *closure,
                               const RgSearch *search, RgQuery *query, double *value,
                               RgFailure *failure)
{
  return rg_acquire_screened(domain, function, closure, NULL, search, query, value, failure);
}

PetscErrorCode rg_acquire_screened(const RgDomain *domain, RgBatchFunction function, void *closure,
                                   const RgScreen *screen, const RgSearch *search, RgQuery *query,
                                   double *value, RgFailure *failure)
{
  if (rg_space_is_finite(&domain->design))
    PetscCall(acquire_with_set(domain, search->history, function, closure, query, value, failure));
  else
    PetscCall(acquire_with_box(domain, function, closure, screen, search, query, value, failure));
  return 0;
}

/* ---- marginal functions on a finite design -------------------------------------------------- */

typedef struct {
  const double *mean, *variance; /* n */
  const unsigned char *excluded; /* n, or NULL */
  const RgAcquisition *acquisition;
  int n;
} Scan;

/* Values of the block that starts at `begin`, with excluded points at -infinity. Returns the
   block's size. */
static int scan_block(const Scan *scan, int begin, double *value)
{
  double sd[SET_BLOCK] = {0.0};
  int m = PetscMin(SET_BLOCK, scan->n - begin);

  for (int j = 0; j < m; j++) sd[j] = sqrt(scan->variance[begin + j]);
  scan->acquisition->function(scan->acquisition->closure, m, scan->mean + begin, sd, value, NULL,
                              NULL);
  for (int j = 0; j < m; j++) {
    if (!isfinite(value[j]) || (scan->excluded && scan->excluded[begin + j])) value[j] = -INFINITY;
  }
  return m;
}

/* Lowest index that ties with the best. The first pass finds the best value of every block; the
   second evaluates the first block that reaches the overall best again. -1: no allowed point has
   a finite value. */
static PetscErrorCode scan_argmax(const Scan *scan, int *index, double *best)
{
  int n_blocks = (scan->n + SET_BLOCK - 1) / SET_BLOCK;
  double *top, value[SET_BLOCK];

  PetscCall(PetscMalloc1((size_t)n_blocks, &top));
  *best = -INFINITY;
  *index = -1;
  for (int b = 0; b < n_blocks; b++) {
    int m = scan_block(scan, b * SET_BLOCK, value);
    top[b] = -INFINITY;
    for (int j = 0; j < m; j++) top[b] = value[j] > top[b] ? value[j] : top[b];
    *best = fmax(*best, top[b]);
  }
  for (int b = 0; b < n_blocks && *index < 0 && isfinite(*best); b++) {
    if (top[b] < tie_floor(*best)) continue;
    int m = scan_block(scan, b * SET_BLOCK, value);
    for (int j = 0; j < m && *index < 0; j++) {
      if (value[j] >= tie_floor(*best)) *index = b * SET_BLOCK + j;
    }
    if (*index >= 0) *best = value[*index - b * SET_BLOCK];
  }
  PetscCall(PetscFree(top));
  return 0;
}

static RgForm form_of(const RgAcquisition *acquisition)
{
  if (acquisition->function == rg_acquisition_log_ei) return RG_FORM_LOGARITHM;
  if (acquisition->function == rg_acquisition_mes) return RG_FORM_POSITIVE;
  return acquisition->function == rg_acquisition_pims ? RG_FORM_NORMAL : RG_FORM_ANY;
}

static PetscErrorCode acquire_finite_penalised(RgModel *model, const RgAcquisition *acquisition,
                                               const RgPenalty *penalty, const RgSearch *search,
                                               RgQuery *query, double *value, RgFailure *failure)
{
  const RgSpace *space = &model->domain->design;
  const Scan scan = {rg_posterior_means(&model->posterior),
                     rg_posterior_variances(&model->posterior), NULL, acquisition, space->size};
  double *values;

  PetscCall(PetscMalloc1((size_t)space->size, &values));
  for (int begin = 0; begin < space->size; begin += SET_BLOCK) {
    const int m = scan_block(&scan, begin, values + begin);
    rg_penalty_apply(penalty, form_of(acquisition), m, space->points + (size_t)begin * space->dim,
                     values + begin, NULL);
  }
  PetscCall(rg_acquire_of_set(model->domain, search->history, values, query, value, failure));
  PetscCall(PetscFree(values));
  return 0;
}

static PetscErrorCode acquire_finite(RgModel *model, const RgHistory *history,
                                     const RgAcquisition *acquisition, RgQuery *query,
                                     double *value, RgFailure *failure)
{
  const RgSpace *space = &model->domain->design;
  unsigned char *excluded;
  int first = 0;

  PetscCall(rg_excluded_points(model->domain, history, &excluded));
  Scan scan = {rg_posterior_means(&model->posterior), rg_posterior_variances(&model->posterior),
               excluded, acquisition, space->size};
  PetscCall(scan_argmax(&scan, &query->index, value));
  if (query->index < 0) { /* all values equal -infinity: EI of a posterior without uncertainty */
    while (excluded && first < space->size && excluded[first]) first++;
    query->index = first;
  }
  if (query->index < space->size)
    memcpy(query->x, space->points + (size_t)query->index * space->dim,
           space->dim * sizeof(double));
  else rg_failure_set(failure, "all %d points of the domain have been queried", space->size);
  PetscCall(PetscFree(excluded));
  return 0;
}

/* ---- marginal functions on a box ------------------------------------------------------------ */

typedef struct {
  RgModel *model;
  const RgAcquisition *acquisition;
  const RgPenalty *penalty; /* NULL: none */
  RgPrediction work;
  int capacity;
  double *mean, *variance, *sd, *d_mean, *d_sd; /* capacity each, one block */
} BoxFunction;

/* a(mean(x), sd(x)) at m <= BOX_BLOCK points. */
static PetscErrorCode box_block(BoxFunction *box, int m, const double *X, double *value,
                                double *gradient)
{
  PetscCall(
    rg_posterior_predict(&box->model->posterior, m, X, box->mean, box->variance, &box->work));
  for (int j = 0; j < m; j++) box->sd[j] = sqrt(box->variance[j]);
  box->acquisition->function(box->acquisition->closure, m, box->mean, box->sd, value,
                             gradient ? box->d_mean : NULL, gradient ? box->d_sd : NULL);
  if (!gradient) return 0;
  for (int j = 0; j < m; j++)
    box->d_sd[j] = box->sd[j] < SD_FLAT ? 0.0 : 0.5 * box->d_sd[j] / box->sd[j];
  PetscCall(rg_posterior_gradient(&box->model->posterior, m, X, box->d_mean, box->d_sd, &box->work,
                                  gradient));
  return 0;
}

static PetscErrorCode box_function(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  BoxFunction *box = closure;
  size_t dim = (size_t)box->model->domain->design.dim;

  for (int begin = 0; begin < m; begin += box->capacity)
    PetscCall(box_block(box, PetscMin(box->capacity, m - begin), X + begin * dim, value + begin,
                        gradient ? gradient + begin * dim : NULL));
  if (box->penalty)
    rg_penalty_apply(box->penalty, form_of(box->acquisition), m, X, value, gradient);
  return 0;
}

static PetscErrorCode acquire_box(RgModel *model, const RgAcquisition *acquisition,
                                  const RgPenalty *penalty, const RgSearch *search, RgQuery *query,
                                  double *value, RgFailure *failure)
{
  BoxFunction box = {
    .model = model, .acquisition = acquisition, .penalty = penalty, .capacity = BOX_BLOCK};

  PetscCall(PetscMalloc5(BOX_BLOCK, &box.mean, BOX_BLOCK, &box.variance, BOX_BLOCK, &box.sd,
                         BOX_BLOCK, &box.d_mean, BOX_BLOCK, &box.d_sd));
  PetscCall(rg_acquire_with(model->domain, box_function, &box, search, query, value, failure));
  PetscCall(PetscFree5(box.mean, box.variance, box.sd, box.d_mean, box.d_sd));
  PetscCall(rg_prediction_destroy(&box.work));
  return 0;
}

/* rg_acquire with a penalty on the points in flight. */
static PetscErrorCode acquire_penalised(RgModel *model, const RgAcquisition *acquisition,
                                        const RgSearch *search, RgQuery *query, double *value,
                                        RgFailure *failure)
{
  RgPenalty penalty;

  PetscCall(rg_penalty_create(model, search, &penalty, failure));
  if (failure->failed) *value = NAN;
  else if (rg_space_is_finite(&model->domain->design))
    PetscCall(
      acquire_finite_penalised(model, acquisition, &penalty, search, query, value, failure));
  else PetscCall(acquire_box(model, acquisition, &penalty, search, query, value, failure));
  PetscCall(rg_penalty_destroy(&penalty));
  return 0;
}

PetscErrorCode rg_acquire(RgModel *model, const RgAcquisition *acquisition, const RgSearch *search,
                          RgQuery *query, double *value, RgFailure *failure)
{
  PetscCheck(!rg_model_uses_context(model), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "marginal acquisition functions take no context; the model has %d context inputs",
             model->domain->context.dim);
  if (rg_penalty_is_due(model, search->history))
    PetscCall(acquire_penalised(model, acquisition, search, query, value, failure));
  else if (rg_space_is_finite(&model->domain->design))
    PetscCall(acquire_finite(model, search->history, acquisition, query, value, failure));
  else PetscCall(acquire_box(model, acquisition, NULL, search, query, value, failure));
  return 0;
}
