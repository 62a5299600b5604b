#include "acquisition/acquire_internal.h"
#include "acquisition/ranking.h"
#include "gp/model/model.h"

#include <math.h>
#include <string.h>

#define BLOCK 256    /* points evaluated at a time: their kernel rows stay in the second cache */
#define FINEST 0.04  /* smallest deviation of a perturbation, relative to the largest */
#define SD_FLAT 1e-9 /* below it the derivative of sd counts as 0 (irgp_ucb 2.3) */

typedef struct {
  RgModel *model;
  const RgAcquisition *acquisition;
  RgPrediction work;
  int capacity;
  double *mean, *variance, *sd, *d_mean, *d_sd; /* capacity each, one block */
} BoxFunction;

/* a(mean(x), sd(x)) at m <= BLOCK points. */
static PetscErrorCode box_block(BoxFunction *box, int m, const double *X, double *value,
                                double *gradient)
{
  PetscFunctionBeginUser;
  PetscCall(
    rg_posterior_predict(&box->model->posterior, m, X, box->mean, box->variance, &box->work));
  for (int j = 0; j < m; j++) box->sd[j] = sqrt(box->variance[j]);
  box->acquisition->function(box->acquisition->closure, m, box->mean, box->sd, value,
                             gradient ? box->d_mean : NULL, gradient ? box->d_sd : NULL);
  if (!gradient) PetscFunctionReturn(0);
  for (int j = 0; j < m; j++)
    box->d_sd[j] = box->sd[j] < SD_FLAT ? 0.0 : 0.5 * box->d_sd[j] / box->sd[j];
  PetscCall(rg_posterior_gradient(&box->model->posterior, m, X, box->d_mean, box->d_sd, &box->work,
                                  gradient));
  PetscFunctionReturn(0);
}

static PetscErrorCode box_function(void *closure, int m, const double *X, double *value,
                                   double *gradient)
{
  BoxFunction *box = closure;
  size_t dim = (size_t)box->model->domain->design.dim;

  PetscFunctionBeginUser;
  for (int begin = 0; begin < m; begin += box->capacity)
    PetscCall(box_block(box, PetscMin(box->capacity, m - begin), X + begin * dim, value + begin,
                        gradient ? gradient + begin * dim : NULL));
  PetscFunctionReturn(0);
}

/* The `k` largest observations, best first, ties by age; returns how many there are. */
static int best_observed(const RgHistory *history, int k, int *list)
{
  int count = 0;

  for (int i = 0; i < history->n; i++) count = rg_ranking_insert(history->y, i, count, k, list);
  return count;
}

PetscErrorCode rg_observed_starts(const RgMaximiserOptions *options, const RgHistory *history,
                                  RgRandom *random, int *n, double **points)
{
  int dim = history->dim, count, *list;
  int wanted = PetscMax(options->incumbents, 1);

  PetscFunctionBeginUser;
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
      point[j] = fmin(fmax(best[j] + sd * rg_random_normal(random), 0.0), 1.0);
  }
  PetscCall(PetscFree(list));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_acquire_box(RgModel *model, const RgHistory *history,
                              const RgAcquisition *acquisition, const RgMaximiserOptions *options,
                              RgRandom *random, RgQuery *query, double *value, RgFailure *failure)
{
  BoxFunction box = {.model = model, .acquisition = acquisition, .capacity = BLOCK};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc5(BLOCK, &box.mean, BLOCK, &box.variance, BLOCK, &box.sd, BLOCK, &box.d_mean,
                         BLOCK, &box.d_sd));
  PetscCall(rg_acquire_with(model->domain, history, box_function, &box, options, random, query,
                            value, failure));
  PetscCall(PetscFree5(box.mean, box.variance, box.sd, box.d_mean, box.d_sd));
  PetscCall(rg_prediction_destroy(&box.work));
  PetscFunctionReturn(0);
}
