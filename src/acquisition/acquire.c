/* Choosing a query: argmax over a finite design, multi-start search over a box, of any function, of
   a marginal acquisition function of a model or of a sum of these. */
#include "regatta/acquire.h"

#include "acquisition/penalty.h"
#include "acquisition/ranking.h"
#include "acquisition/sampled.h"
#include "gp/model/model.h"

#include <math.h>
#include <string.h>

#define TIE 1e-12     /* relative to max(1, |a|) (irgp_ucb 2.1) */
#define SET_BLOCK 512 /* points of a finite design per block: scratch stays in the first cache */
#define BLOCK 256     /* points of a box per block: their kernel rows stay in the second cache */
#define FINEST 0.04   /* smallest deviation of a perturbation, relative to the largest */
#define SD_FLAT 1e-9  /* below this, the derivative of sd counts as 0 (irgp_ucb 2.3) */

int rg_argmax(int n, const double *value, const unsigned char *excluded)
{
  double best = -INFINITY;

  for (int i = 0; i < n; i++)
    if (value[i] > best && value[i] < INFINITY && !(excluded && excluded[i])) best = value[i];
  const double least = best - TIE * fmax(1.0, fabs(best));
  for (int i = 0; i < n && best > -INFINITY; i++)
    if (value[i] >= least && value[i] <= best && !(excluded && excluded[i])) return i;
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

PetscErrorCode rg_observed_starts(const RgSearch *search, int *n, double **points)
{
  const RgMaximiserOptions *options = search->options;
  const RgHistory *history = search->history;
  int dim = history->dim, count = 0, *list;
  int wanted = PetscMax(options->incumbents, 1);

  PetscCall(PetscMalloc1((size_t)wanted, &list));
  PetscCall(PetscMalloc1((size_t)(wanted + options->perturbations) * dim, points));
  for (int i = 0; i < history->n; i++) /* the largest observations, best first, ties by age */
    count = rg_ranking_insert(history->y, i, count, wanted, list);
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
  return PetscFree(list);
}

PetscErrorCode rg_acquire_of_set(const RgDomain *domain, const RgHistory *history,
                                 const double *values, RgQuery *query, double *value,
                                 RgFailure *failure)
{
  const RgSpace *space = &domain->design;
  unsigned char *excluded;

  PetscCall(rg_excluded_points(domain, history, &excluded));
  query->index = rg_argmax(space->size, values, excluded);
  /* All values may be -infinity: EI of a posterior without uncertainty. */
  for (int i = 0; i < space->size && query->index < 0; i++)
    if (values[i] == -INFINITY && !(excluded && excluded[i])) query->index = i;
  if (query->index >= 0) {
    *value = values[query->index];
    PetscCall(
      PetscArraycpy(query->x, space->points + (size_t)query->index * space->dim, space->dim));
  } else {
    rg_failure_set(failure,
                   excluded && !memchr(excluded, 0, (size_t)space->size)
                     ? "all %d points of the domain have been queried"
                     : "the acquisition function is finite at no point that is left of %d",
                   space->size);
  }
  return PetscFree(excluded);
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
  const RgSpace *space = &domain->design;
  RgSearch with = *search;
  double *values, *extra;

  if (rg_space_is_finite(space)) {
    PetscCall(PetscMalloc1((size_t)space->size, &values));
    for (int begin = 0; begin < space->size; begin += SET_BLOCK)
      PetscCall(function(closure, PetscMin(SET_BLOCK, space->size - begin),
                         space->points + (size_t)begin * space->dim, values + begin, NULL));
    PetscCall(rg_acquire_of_set(domain, search->history, values, query, value, failure));
    return PetscFree(values);
  }
  PetscCall(rg_observed_starts(search, &with.n_extra, &extra));
  with.extra = extra;
  with.space = space;
  query->index = -1;
  PetscCall(rg_maximise_box_screened(&with, space->dim, function, closure, screen, query->x, value,
                                     failure));
  return PetscFree(extra);
}

/* ---- marginal functions, and sums of them ---------------------------------------------------- */

typedef struct {
  const RgSpace *space;
  int n;
  const RgSummand *summands;
  const RgPenalty *penalty; /* of the first summand; NULL: none */
  RgPrediction work;
  double *scratch; /* 5 x BLOCK, and BLOCK x dim */
} Sum;

/* A summand at m <= BLOCK points, and its gradient. On a finite design X is the place of the first
   of them in the design, and there are no gradients. */
static PetscErrorCode summand_at(Sum *sum, const RgSummand *summand, int m, const double *X,
                                 double *value, double *gradient)
{
  const RgAcquisition *a = &summand->acquisition;
  double *sd = sum->scratch + BLOCK, *d_mean = sd + BLOCK, *d_sd = d_mean + BLOCK;
  double *predicted = d_sd + BLOCK;
  const double *mean = predicted, *variance = sd;
  const bool spreads = !summand->mean_only;

  if (!summand->model) return summand->function(summand->closure, m, X, value, gradient);
  RgPosterior *posterior = &summand->model->posterior;
  if (rg_space_is_finite(sum->space)) {
    const size_t first = (size_t)(X - sum->space->points) / (size_t)sum->space->dim;
    mean = rg_posterior_means(posterior) + first;
    variance = rg_posterior_variances(posterior) + first;
  } else {
    PetscCall(rg_posterior_predict(posterior, m, X, predicted, spreads ? sd : NULL, &sum->work));
  }
  for (int j = 0; j < m; j++) sd[j] = spreads ? sqrt(variance[j]) : NAN;
  a->function(a->closure, m, mean, sd, value, gradient ? d_mean : NULL, gradient ? d_sd : NULL);
  if (!gradient) return 0;
  for (int j = 0; j < m && spreads; j++) d_sd[j] = sd[j] < SD_FLAT ? 0.0 : 0.5 * d_sd[j] / sd[j];
  return rg_posterior_gradient(posterior, m, X, d_mean, spreads ? d_sd : NULL, &sum->work,
                               gradient);
}

static RgForm form_of(const RgAcquisition *acquisition)
{
  if (acquisition->function == rg_acquisition_log_ei) return RG_FORM_LOGARITHM;
  if (acquisition->function == rg_acquisition_mes) return RG_FORM_POSITIVE;
  return acquisition->function == rg_acquisition_pims ? RG_FORM_NORMAL : RG_FORM_ANY;
}

static PetscErrorCode sum_at(void *closure, int m, const double *X, double *value, double *gradient)
{
  Sum *sum = closure;
  const size_t dim = (size_t)sum->space->dim;
  double *more = sum->scratch, *slope = gradient ? more + 5 * (size_t)BLOCK : NULL;

  for (int begin = 0; begin < m; begin += BLOCK) {
    const int block = PetscMin(BLOCK, m - begin);
    const double *x = X + begin * dim;
    double *v = value + begin, *g = gradient ? gradient + begin * dim : NULL;
    PetscCall(summand_at(sum, &sum->summands[0], block, x, v, g));
    for (int s = 1; s < sum->n; s++) {
      PetscCall(summand_at(sum, &sum->summands[s], block, x, more, slope));
      for (int j = 0; j < block; j++) v[j] += more[j];
      for (size_t i = 0; g && i < block * dim; i++) g[i] += slope[i];
    }
  }
  for (int j = 0; rg_space_is_finite(sum->space) && j < m; j++)
    if (!isfinite(value[j])) value[j] = -INFINITY;
  if (sum->penalty)
    rg_penalty_apply(sum->penalty, form_of(&sum->summands[0].acquisition), m, X, value, gradient);
  return 0;
}

static PetscErrorCode sum_create(const RgDomain *domain, int n, const RgSummand *summands, Sum *sum)
{
  *sum = (Sum){.space = &domain->design, .n = n, .summands = summands};
  return PetscMalloc1(BLOCK * (5 + (size_t)domain->design.dim), &sum->scratch);
}

static PetscErrorCode sum_destroy(Sum *sum)
{
  PetscCall(rg_prediction_destroy(&sum->work));
  return PetscFree(sum->scratch);
}

/* rg_acquire_sum with a penalty of the first summand (NULL: none). */
static PetscErrorCode acquire_sum(const RgDomain *domain, int n, const RgSummand *summands,
                                  const RgPenalty *penalty, const RgSearch *search, RgQuery *query,
                                  double *value, RgFailure *failure)
{
  Sum sum;

  PetscCall(sum_create(domain, n, summands, &sum));
  sum.penalty = penalty;
  PetscCall(rg_acquire_with(domain, sum_at, &sum, search, query, value, failure));
  return sum_destroy(&sum);
}

PetscErrorCode rg_acquire_sum(const RgDomain *domain, int n, const RgSummand *summands,
                              const RgSearch *search, RgQuery *query, double *value,
                              RgFailure *failure)
{
  return acquire_sum(domain, n, summands, NULL, search, query, value, failure);
}

PetscErrorCode rg_acquisition_sum_at(const RgDomain *domain, int n, const RgSummand *summands,
                                     const RgQuery *query, double *value)
{
  const RgSpace *space = &domain->design;
  Sum sum;

  *value = 0;
  if (!n) return 0;
  PetscCall(sum_create(domain, n, summands, &sum));
  PetscCall(sum_at(&sum, 1,
                   query->index >= 0 ? space->points + (size_t)query->index * space->dim : query->x,
                   value, NULL));
  return sum_destroy(&sum);
}

PetscErrorCode rg_acquire(RgModel *model, const RgAcquisition *acquisition, const RgSearch *search,
                          RgQuery *query, double *value, RgFailure *failure)
{
  const RgSummand alone = {.model = model, .acquisition = *acquisition};
  RgPenalty penalty;

  PetscCheck(!rg_model_uses_context(model), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "marginal acquisition functions take no context; the model has %d context inputs",
             model->domain->context.dim);
  if (!rg_penalty_is_due(model, search->history))
    return acquire_sum(model->domain, 1, &alone, NULL, search, query, value, failure);
  PetscCall(rg_penalty_create(model, search, &penalty, failure));
  if (failure->failed) *value = NAN;
  else PetscCall(acquire_sum(model->domain, 1, &alone, &penalty, search, query, value, failure));
  return rg_penalty_destroy(&penalty);
}
