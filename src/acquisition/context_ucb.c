/* Acquisition functions of the upper confidence bounds of a list of contexts. */
#include "acquisition/context_ucb.h"

#include "gp/model/model.h"

#include <math.h>

#define VARIANCE_FLOOR 1e-10
#define FINISH 40 /* designs that the end of a search looks at, about */

PetscErrorCode rg_context_ucb_create(RgModel *model, double width, const RgContextual *what,
                                     RgContextForm form, int designs, RgContextUcb *ucb)
{
  RgContextPosterior *posterior = &ucb->posterior;
  size_t M = (size_t)what->M, slopes;

  PetscFunctionBeginUser;
  PetscCall(rg_context_posterior_create(&model->posterior, model->domain->design.dim, what->M,
                                        what->contexts, what->n_slopes, form, designs, posterior));
  ucb->width = width;
  ucb->criterion = what->criterion;
  ucb->settle = what->settle;
  ucb->closure = what->closure;
  slopes = (size_t)what->n_slopes * posterior->dim_c;
  PetscCall(rg_context_moments_create(posterior, &ucb->moments));
  PetscCall(rg_context_moments_create(posterior, &ucb->bar));
  PetscCall(PetscMalloc4(M, &ucb->u, slopes, &ucb->slope, M, &ucb->u_bar, slopes, &ucb->slope_bar));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_ucb_destroy(RgContextUcb *ucb)
{
  PetscFunctionBeginUser;
  PetscCall(rg_context_moments_destroy(&ucb->moments));
  PetscCall(rg_context_moments_destroy(&ucb->bar));
  PetscCall(PetscFree4(ucb->u, ucb->slope, ucb->u_bar, ucb->slope_bar));
  PetscCall(rg_context_posterior_destroy(&ucb->posterior));
  PetscFunctionReturn(0);
}

/* U and dU/dc of design j of the batch. */
static void confidence_bounds(const RgContextUcb *ucb, int j)
{
  const int M = ucb->posterior.size, S = ucb->posterior.n_slopes, dim = ucb->posterior.dim_c;
  const double *mean = ucb->moments.mean + (size_t)j * M;
  const double *variance = ucb->moments.variance + (size_t)j * M;
  const double *mean_slope = ucb->moments.mean_slope + (size_t)j * S * dim;
  const double *variance_slope = ucb->moments.variance_slope + (size_t)j * S * dim;

  for (int m = 0; m < M; ++m) {
    const double v = variance[m] > VARIANCE_FLOOR ? variance[m] : VARIANCE_FLOOR; /* fmax is slow */
    ucb->u[m] = mean[m] + ucb->width * sqrt(v);
  }
  for (int l = 0; l < S * dim; ++l) {
    const double v = variance[M - S + l / dim];
    ucb->slope[l] = mean_slope[l];
    if (v > VARIANCE_FLOOR) ucb->slope[l] += ucb->width * variance_slope[l] / (2.0 * sqrt(v));
  }
}

/* Partial derivatives by the moments from those by U and dU/dc. */
static void chain_rule(RgContextUcb *ucb, int j)
{
  const int M = ucb->posterior.size, S = ucb->posterior.n_slopes, dim = ucb->posterior.dim_c;
  const double *variance = ucb->moments.variance + (size_t)j * M;
  const double *variance_slope = ucb->moments.variance_slope + (size_t)j * S * dim;
  double *mean_bar = ucb->bar.mean + (size_t)j * M;
  double *variance_bar = ucb->bar.variance + (size_t)j * M;
  double *mean_slope_bar = ucb->bar.mean_slope + (size_t)j * S * dim;
  double *variance_slope_bar = ucb->bar.variance_slope + (size_t)j * S * dim;

  for (int m = 0; m < M; ++m) {
    const bool flat = variance[m] <= VARIANCE_FLOOR;
    mean_bar[m] = ucb->u_bar[m];
    variance_bar[m] = flat ? 0.0 : ucb->u_bar[m] * ucb->width / (2.0 * sqrt(variance[m]));
  }
  for (int l = 0; l < S * dim; ++l) {
    const int m = M - S + l / dim;
    const double v = variance[m], bar = ucb->slope_bar[l];
    mean_slope_bar[l] = bar;
    variance_slope_bar[l] = 0.0;
    if (v <= VARIANCE_FLOOR) continue;
    variance_slope_bar[l] = bar * ucb->width / (2.0 * sqrt(v));
    variance_bar[m] -= bar * ucb->width * variance_slope[l] / (4.0 * v * sqrt(v));
  }
}

static PetscErrorCode batch(RgContextUcb *ucb, int J, const double *X, double *value,
                            double *gradient)
{
  const RgContextPosterior *posterior = &ucb->posterior;

  PetscFunctionBeginUser;
  PetscCall(rg_context_posterior_predict(&ucb->posterior, J, X, &ucb->moments));
  for (int j = 0; j < J; ++j) {
    confidence_bounds(ucb, j);
    if (gradient) {
      PetscCall(PetscArrayzero(ucb->u_bar, posterior->size));
      PetscCall(PetscArrayzero(ucb->slope_bar, posterior->n_slopes * posterior->dim_c));
    }
    PetscCall(ucb->criterion(ucb->closure, ucb->u, ucb->slope, &value[j],
                             gradient ? ucb->u_bar : NULL, gradient ? ucb->slope_bar : NULL));
    if (gradient) chain_rule(ucb, j);
  }
  if (gradient)
    PetscCall(rg_context_posterior_gradient(&ucb->posterior, J, X, &ucb->bar, gradient));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_ucb_function(void *closure, int m, const double *X, double *value,
                                       double *gradient)
{
  RgContextUcb *ucb = closure;
  const size_t dim = (size_t)ucb->posterior.dim_x;
  /* Pair by pair, a gradient wants the solutions that the values of the same design left. */
  const int size = gradient && !ucb->posterior.is_product ? 1 : RG_CONTEXT_BATCH;

  PetscFunctionBeginUser;
  for (int begin = 0; begin < m; begin += size)
    PetscCall(batch(ucb, PetscMin(size, m - begin), X + begin * dim, value + begin,
                    gradient ? gradient + begin * dim : NULL));
  if (ucb->settle) ucb->settle(ucb->closure, m, (int)dim, value, gradient);
  PetscFunctionReturn(0);
}

PetscErrorCode rg_acquire_contextual(RgModel *model, double width, const RgContextual *exact,
                                     const RgContextual *few, const RgSearch *search,
                                     RgQuery *query, double *value, RgFailure *failure)
{
  RgContextUcb ucb, coarse;
  const RgScreen screen = {rg_context_ucb_function, &coarse, NULL};
  const int most = search->options->raw_samples;
  bool screened = !few || few->M < exact->M;

  PetscFunctionBeginUser;
  if (screened) {
    PetscCall(rg_context_ucb_create(model, width, exact, RG_CONTEXT_ROUGH, most, &coarse));
    if (!rg_context_posterior_is_reduced(&coarse.posterior)) {
      PetscCall(rg_context_ucb_destroy(&coarse));
      screened = few;
      if (few) PetscCall(rg_context_ucb_create(model, width, few, RG_CONTEXT_ROUGH, most, &coarse));
    }
  }
  PetscCall(
    rg_context_ucb_create(model, width, exact, RG_CONTEXT_EXACT, screened ? FINISH : most, &ucb));
  PetscCall(rg_acquire_screened(model->domain, rg_context_ucb_function, &ucb,
                                screened ? &screen : NULL, search, query, value, failure));
  if (screened) PetscCall(rg_context_ucb_destroy(&coarse));
  PetscCall(rg_context_ucb_destroy(&ucb));
  PetscFunctionReturn(0);
}

/* ---- criteria -------------------------------------------------------------------------------- */

static double average(const RgContextWeights *weights, const double *u, double *u_bar)
{
  double sum = 0.0;

  for (int m = 0; m < weights->size; ++m) {
    const double weight = weights->weight ? weights->weight[m] : 1.0 / weights->size;
    sum += weight * u[m];
    if (u_bar) u_bar[m] = weight;
  }
  return sum;
}

PetscErrorCode rg_ucb_expectation(void *closure, const double *u, const double *slope,
                                  double *value, double *u_bar, double *slope_bar)
{
  PetscFunctionBeginUser;
  (void)slope;
  (void)slope_bar;
  *value = average(closure, u, u_bar);
  PetscFunctionReturn(0);
}

static double length(int dim, const double *vector)
{
  double sum = 0.0;

  for (int k = 0; k < dim; ++k) sum += vector[k] * vector[k];
  return sqrt(sum);
}

PetscErrorCode rg_ucb_penalised(void *closure, const double *u, const double *slope, double *value,
                                double *u_bar, double *slope_bar)
{
  const RgContextPenalised *penalised = closure;
  int steepest = 0, dim = penalised->dim_c;
  double largest = -1.0;

  PetscFunctionBeginUser;
  for (int l = 0; l < penalised->n_slopes; ++l) {
    const double norm = length(dim, slope + (size_t)l * dim);
    if (norm > largest) largest = norm, steepest = l;
  }
  *value = average(&penalised->centre, u, u_bar) - penalised->radius * largest;
  if (!slope_bar || penalised->flat_penalty || !(largest > 0.0)) PetscFunctionReturn(0);
  for (int k = steepest * dim; k < (steepest + 1) * dim; ++k)
    slope_bar[k] = -penalised->radius * slope[k] / largest;
  PetscFunctionReturn(0);
}

PetscErrorCode rg_ucb_minimum(void *closure, const double *u, const double *slope, double *value,
                              double *u_bar, double *slope_bar)
{
  const int M = *(const int *)closure;
  int least = 0;

  PetscFunctionBeginUser;
  (void)slope;
  (void)slope_bar;
  for (int m = 1; m < M; ++m) {
    if (u[m] < u[least]) least = m;
  }
  *value = u[least];
  if (u_bar) u_bar[least] = 1.0;
  PetscFunctionReturn(0);
}
