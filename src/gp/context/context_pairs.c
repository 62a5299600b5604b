/* Moments over a list of contexts from their pairs: kernels that are no product of a part in x and
   one in c. */
#include "gp/context/context_pairs.h"

#include <math.h>

#define STEP 1e-5 /* of the central differences in x, unit cube */

/* All pairs (x, s_m), one design at a time. */
struct RgContextPairs {
  RgPrediction work;
  double *Z;                                         /* M x dim */
  double *one, *zero;                                /* M */
  double *gradient;                                  /* M x dim */
  double *mean, *variance, *mean_bar, *variance_bar; /* M */
  bool work_is_current; /* of the one design predicted last, all contexts */
};

PetscErrorCode rg_context_pairs_create(RgContextPosterior *cp)
{
  struct RgContextPairs *p;
  size_t M = (size_t)cp->size, dim = (size_t)(cp->dim_x + cp->dim_c);

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&p));
  cp->pairs = p;
  PetscCall(PetscMalloc6(M * dim, &p->Z, M, &p->one, M, &p->zero, M * dim, &p->gradient, M,
                         &p->mean, M, &p->variance));
  PetscCall(PetscMalloc2(M, &p->mean_bar, M, &p->variance_bar));
  for (size_t m = 0; m < M; ++m) {
    p->one[m] = 1.0;
    p->zero[m] = 0.0;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_pairs_destroy(RgContextPosterior *cp)
{
  struct RgContextPairs *p = cp->pairs;

  PetscFunctionBeginUser;
  if (!p) PetscFunctionReturn(0);
  PetscCall(rg_prediction_destroy(&p->work));
  PetscCall(PetscFree6(p->Z, p->one, p->zero, p->gradient, p->mean, p->variance));
  PetscCall(PetscFree2(p->mean_bar, p->variance_bar));
  PetscCall(PetscFree(cp->pairs));
  PetscFunctionReturn(0);
}

/* Pairs of x with `count` contexts. */
static void fill_pairs(const RgContextPosterior *cp, const double *x, int count,
                       const double *contexts)
{
  const int dim = cp->dim_x + cp->dim_c;

  for (int m = 0; m < count; ++m) {
    double *z = cp->pairs->Z + (size_t)m * dim;
    for (int k = 0; k < cp->dim_x; ++k) z[k] = x[k];
    for (int k = 0; k < cp->dim_c; ++k) z[cp->dim_x + k] = contexts[(size_t)m * cp->dim_c + k];
  }
}

/* Derivatives by the context of mean and variance at S contexts, of the design x. */
static PetscErrorCode slopes_at(RgContextPosterior *cp, const double *x, int S,
                                const double *contexts, double *mean_slope, double *variance_slope)
{
  struct RgContextPairs *p = cp->pairs;
  const int dim = cp->dim_x + cp->dim_c;

  PetscFunctionBeginUser;
  fill_pairs(cp, x, S, contexts);
  PetscCall(rg_posterior_predict(cp->posterior, S, p->Z, p->mean, p->variance, &p->work));
  for (int part = 0; part < 2; ++part) {
    double *slope = part == 0 ? mean_slope : variance_slope;
    PetscCall(rg_posterior_gradient(cp->posterior, S, p->Z, part == 0 ? p->one : p->zero,
                                    part == 0 ? NULL : p->one, &p->work, p->gradient));
    for (int l = 0; l < S; ++l) {
      for (int k = 0; k < cp->dim_c; ++k)
        slope[l * cp->dim_c + k] = p->gradient[(size_t)l * dim + cp->dim_x + k];
    }
  }
  PetscFunctionReturn(0);
}

/* The contexts that have slopes. */
static const double *slope_contexts(const RgContextPosterior *cp)
{
  return cp->contexts + (size_t)(cp->size - cp->n_slopes) * cp->dim_c;
}

PetscErrorCode rg_context_pairs_predict(RgContextPosterior *cp, int J, const double *X,
                                        RgContextMoments *moments)
{
  struct RgContextPairs *p = cp->pairs;
  size_t M = (size_t)cp->size, S = (size_t)cp->n_slopes * cp->dim_c;

  PetscFunctionBeginUser;
  for (size_t j = 0; j < (size_t)J; ++j) {
    const double *x = X + j * cp->dim_x;
    fill_pairs(cp, x, cp->size, cp->contexts);
    PetscCall(rg_posterior_predict(cp->posterior, cp->size, p->Z, moments->mean + j * M,
                                   moments->variance + j * M, &p->work));
    if (S > 0)
      PetscCall(slopes_at(cp, x, cp->n_slopes, slope_contexts(cp), moments->mean_slope + j * S,
                          moments->variance_slope + j * S));
  }
  p->work_is_current = J == 1 && S == 0;
  PetscFunctionReturn(0);
}

/* Slopes that a function depends on, one context after another. */
typedef struct {
  int n;                                    /* contexts */
  double *contexts;                         /* n x dim_c */
  double *mean_bar, *variance_bar, *slopes; /* n x dim_c; 2 n x dim_c: scratch */
} Weighted;

/* Those of all slopes that have a derivative; O(S). */
static PetscErrorCode weighted_create(const RgContextPosterior *cp, const double *mean_bar,
                                      const double *variance_bar, Weighted *weighted)
{
  const int dim = cp->dim_c;
  const size_t S = (size_t)cp->n_slopes * dim;

  PetscFunctionBeginUser;
  weighted->n = 0;
  PetscCall(PetscMalloc4(S, &weighted->contexts, S, &weighted->mean_bar, S, &weighted->variance_bar,
                         2 * S, &weighted->slopes));
  for (int l = 0; l < cp->n_slopes; ++l) {
    const int from = l * dim, to = weighted->n * dim;
    bool any = false;
    for (int k = 0; k < dim; ++k) {
      any = any || mean_bar[from + k] != 0.0 || variance_bar[from + k] != 0.0;
      weighted->contexts[to + k] = slope_contexts(cp)[from + k];
      weighted->mean_bar[to + k] = mean_bar[from + k];
      weighted->variance_bar[to + k] = variance_bar[from + k];
    }
    weighted->n += any;
  }
  PetscFunctionReturn(0);
}

/* sum of bar times the slopes at design x. */
static PetscErrorCode weighted_sum(RgContextPosterior *cp, const double *x,
                                   const Weighted *weighted, double *sum)
{
  const int S = weighted->n * cp->dim_c;
  double *mean = weighted->slopes, *variance = mean + S;

  PetscFunctionBeginUser;
  PetscCall(slopes_at(cp, x, weighted->n, weighted->contexts, mean, variance));
  *sum = 0.0;
  for (int l = 0; l < S; ++l)
    *sum += weighted->mean_bar[l] * mean[l] + weighted->variance_bar[l] * variance[l];
  PetscFunctionReturn(0);
}

/* g += gradient by x of the weighted slopes, by central differences. */
static PetscErrorCode add_slope_gradient(RgContextPosterior *cp, const double *x,
                                         const double *mean_bar, const double *variance_bar,
                                         double *g)
{
  Weighted weighted;
  double *moved, up, down;

  PetscFunctionBeginUser;
  PetscCall(weighted_create(cp, mean_bar, variance_bar, &weighted));
  PetscCall(PetscMalloc1(cp->dim_x, &moved));
  PetscCall(PetscArraycpy(moved, x, cp->dim_x));
  for (int k = 0; k < cp->dim_x && weighted.n > 0; ++k) {
    moved[k] = x[k] + STEP;
    PetscCall(weighted_sum(cp, moved, &weighted, &up));
    moved[k] = x[k] - STEP;
    PetscCall(weighted_sum(cp, moved, &weighted, &down));
    moved[k] = x[k];
    g[k] += (up - down) / (2.0 * STEP);
  }
  PetscCall(PetscFree(moved));
  PetscCall(
    PetscFree4(weighted.contexts, weighted.mean_bar, weighted.variance_bar, weighted.slopes));
  PetscFunctionReturn(0);
}

/* Move the pairs whose derivatives are not zero to the front; returns how many there are. */
static int gather_pairs(struct RgContextPairs *p, int M, int dim, const double *mean_bar,
                        const double *variance_bar)
{
  int used = 0;

  for (int m = 0; m < M; ++m) {
    if (mean_bar[m] == 0.0 && variance_bar[m] == 0.0) continue;
    for (int k = 0; k < dim; ++k) p->Z[(size_t)used * dim + k] = p->Z[(size_t)m * dim + k];
    p->mean_bar[used] = mean_bar[m];
    p->variance_bar[used++] = variance_bar[m];
  }
  return used;
}

/* g: gradient by x through means and variances. */
static PetscErrorCode moment_gradient(RgContextPosterior *cp, const double *x,
                                      const double *mean_bar, const double *variance_bar, double *g)
{
  struct RgContextPairs *p = cp->pairs;
  const int dim = cp->dim_x + cp->dim_c;

  PetscFunctionBeginUser;
  fill_pairs(cp, x, cp->size, cp->contexts);
  const int used = gather_pairs(p, cp->size, dim, mean_bar, variance_bar);
  for (int k = 0; k < cp->dim_x; ++k) g[k] = 0.0;
  if (!used) PetscFunctionReturn(0);
  if (!p->work_is_current || used < cp->size)
    PetscCall(rg_posterior_predict(cp->posterior, used, p->Z, p->mean, p->variance, &p->work));
  p->work_is_current = false;
  PetscCall(rg_posterior_gradient(cp->posterior, used, p->Z, p->mean_bar, p->variance_bar, &p->work,
                                  p->gradient));
  for (int k = 0; k < cp->dim_x; ++k) {
    for (size_t m = 0; m < (size_t)used; ++m) g[k] += p->gradient[m * dim + k];
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_pairs_gradient(RgContextPosterior *cp, int J, const double *X,
                                         const RgContextMoments *bar, double *G)
{
  size_t M = (size_t)cp->size, S = (size_t)cp->n_slopes * cp->dim_c;

  PetscFunctionBeginUser;
  for (size_t j = 0; j < (size_t)J; ++j) {
    const double *x = X + j * cp->dim_x;
    double *g = G + j * cp->dim_x;
    PetscCall(moment_gradient(cp, x, bar->mean + j * M, bar->variance + j * M, g));
    if (S > 0)
      PetscCall(add_slope_gradient(cp, x, bar->mean_slope + j * S, bar->variance_slope + j * S, g));
  }
  PetscFunctionReturn(0);
}
