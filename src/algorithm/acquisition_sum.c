/* Sums of acquisition functions. */
#include "algorithm/acquisition_sum.h"

#include <math.h>

#define BLOCK 256    /* points at a time */
#define SD_FLAT 1e-9 /* deviation below which the derivative of sd counts as 0 (irgp_ucb 2.3) */

typedef struct {
  int n, dim;
  const RgSummand *summands;
  RgPrediction work;
  double *scratch; /* 5 x BLOCK, and BLOCK x dim */
} Sum;

static PetscErrorCode sum_create(const RgDomain *domain, int n, const RgSummand *summands, Sum *sum)
{
  *sum = (Sum){.n = n, .dim = domain->design.dim, .summands = summands};
  PetscCall(PetscMalloc1(BLOCK * (5 + (size_t)sum->dim), &sum->scratch));
  return 0;
}

static PetscErrorCode sum_destroy(Sum *sum)
{
  PetscCall(rg_prediction_destroy(&sum->work));
  PetscCall(PetscFree(sum->scratch));
  return 0;
}

/* A marginal function at m <= BLOCK points of a box, and its gradient. */
static PetscErrorCode marginal(Sum *sum, const RgSummand *summand, int m, const double *X,
                               double *value, double *gradient)
{
  const RgAcquisition *a = &summand->acquisition;
  RgPosterior *posterior = &summand->model->posterior;
  double *mean = sum->scratch + BLOCK, *sd = mean + BLOCK;
  double *d_mean = sd + BLOCK, *d_sd = d_mean + BLOCK;
  const bool spreads = !summand->mean_only;

  PetscCall(rg_posterior_predict(posterior, m, X, mean, spreads ? sd : NULL, &sum->work));
  for (int j = 0; j < m; j++) sd[j] = spreads ? sqrt(sd[j]) : NAN;
  a->function(a->closure, m, mean, sd, value, gradient ? d_mean : NULL, gradient ? d_sd : NULL);
  if (!gradient) return 0;
  for (int j = 0; j < m && spreads; j++) d_sd[j] = sd[j] < SD_FLAT ? 0.0 : 0.5 * d_sd[j] / sd[j];
  PetscCall(
    rg_posterior_gradient(posterior, m, X, d_mean, spreads ? d_sd : NULL, &sum->work, gradient));
  return 0;
}

static PetscErrorCode on_box(void *closure, int m, const double *X, double *value, double *gradient)
{
  Sum *sum = closure;
  const size_t dim = (size_t)sum->dim;
  double *own = sum->scratch, *slope = gradient ? own + 5 * (size_t)BLOCK : NULL;

  for (int j = 0; j < m; j++) value[j] = 0;
  for (size_t i = 0; gradient && i < m * dim; i++) gradient[i] = 0;
  for (int s = 0; s < sum->n; s++)
    for (int begin = 0; begin < m; begin += BLOCK) {
      const RgSummand *summand = &sum->summands[s];
      const int block = PetscMin(BLOCK, m - begin);
      const double *x = X + begin * dim;
      if (summand->model) PetscCall(marginal(sum, summand, block, x, own, slope));
      else PetscCall(summand->function(summand->closure, block, x, own, slope));
      for (int j = 0; j < block; j++) value[begin + j] += own[j];
      for (size_t i = 0; gradient && i < block * dim; i++) gradient[begin * dim + i] += slope[i];
    }
  return 0;
}

/* Add the sum at m <= BLOCK points of a finite design, from the point `first` on. */
static PetscErrorCode add_points(Sum *sum, const RgSpace *space, int first, int m, double *value)
{
  double *own = sum->scratch, *sd = own + BLOCK;

  for (int s = 0; s < sum->n; s++) {
    const RgSummand *summand = &sum->summands[s];
    if (summand->model) {
      const RgAcquisition *a = &summand->acquisition;
      const RgPosterior *posterior = &summand->model->posterior;
      const double *variance = rg_posterior_variances(posterior) + first;
      for (int j = 0; j < m; j++) sd[j] = sqrt(variance[j]);
      a->function(a->closure, m, rg_posterior_means(posterior) + first, sd, own, NULL, NULL);
    } else {
      PetscCall(summand->function(summand->closure, m, space->points + (size_t)first * space->dim,
                                  own, NULL));
    }
    for (int j = 0; j < m; j++) value[j] += own[j];
  }
  return 0;
}

PetscErrorCode rg_acquire_sum(const RgDomain *domain, int n, const RgSummand *summands,
                              const RgSearch *search, RgQuery *query, double *value,
                              RgFailure *failure)
{
  const RgSpace *space = &domain->design;
  double *values;
  Sum sum;

  PetscCall(sum_create(domain, n, summands, &sum));
  if (rg_space_is_finite(space)) {
    PetscCall(PetscCalloc1(space->size, &values));
    for (int begin = 0; begin < space->size; begin += BLOCK)
      PetscCall(
        add_points(&sum, space, begin, PetscMin(BLOCK, space->size - begin), values + begin));
    PetscCall(rg_acquire_of_set(domain, search->history, values, query, value, failure));
    PetscCall(PetscFree(values));
  } else {
    PetscCall(rg_acquire_with(domain, on_box, &sum, search, query, value, failure));
  }
  PetscCall(sum_destroy(&sum));
  return 0;
}

PetscErrorCode rg_acquisition_sum_at(const RgDomain *domain, int n, const RgSummand *summands,
                                     const RgQuery *query, double *value)
{
  Sum sum;

  *value = 0;
  PetscCall(sum_create(domain, n, summands, &sum));
  if (query->index >= 0) PetscCall(add_points(&sum, &domain->design, query->index, 1, value));
  else PetscCall(on_box(&sum, 1, query->x, value, NULL));
  PetscCall(sum_destroy(&sum));
  return 0;
}
