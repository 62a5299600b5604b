/* Moments over a list of contexts from the pairs of design and context, for kernels that are not
   a product of a part in x and a part in c. */
#include "gp/context/context_pairs.h"

#include "gp/posterior/exact/nearby.h"

#include <math.h>

#define STEP 1e-5 /* step of the central differences in x, unit cube */
#define NEAR 1e-4 /* covariances below this share of k(x,x) count as zero (RG_CONTEXT_NEAR) */

/* Pairs (x, s_m) of as many designs as fit. */
struct RgContextPairs {
  RgPrediction work;
  RgNearby nearby;                                   /* with RG_CONTEXT_NEAR */
  int room;                                          /* pairs, at least M */
  double *Z;                                         /* room x dim */
  int *pair;                                         /* room: the pairs that have a derivative */
  double *one, *zero;                                /* room */
  double *gradient;                                  /* room x dim */
  double *mean, *variance, *mean_bar, *variance_bar; /* room */
  /* Number of designs whose pairs (all contexts) the last prediction kept for a gradient. */
  int current;
};

PetscErrorCode rg_context_pairs_create(RgContextPosterior *cp)
{
  struct RgContextPairs *p;
  const size_t M = (size_t)PetscMax(cp->size, RG_CONTEXT_TOGETHER);
  const size_t dim = (size_t)(cp->dim_x + cp->dim_c);

  PetscFunctionBeginUser;
  PetscCall(PetscNew(&p));
  cp->pairs = p;
  p->room = (int)M;
  PetscCall(PetscMalloc6(M * dim, &p->Z, M, &p->one, M, &p->zero, M * dim, &p->gradient, M,
                         &p->mean, M, &p->variance));
  PetscCall(PetscMalloc3(M, &p->mean_bar, M, &p->variance_bar, M, &p->pair));
  for (size_t m = 0; m < M; m++) {
    p->one[m] = 1.0;
    p->zero[m] = 0.0;
  }
  if (cp->form == RG_CONTEXT_NEAR) PetscCall(rg_nearby_create(cp->posterior, NEAR, &p->nearby));
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_pairs_destroy(RgContextPosterior *cp)
{
  struct RgContextPairs *p = cp->pairs;

  PetscFunctionBeginUser;
  if (!p) PetscFunctionReturn(0);
  PetscCall(rg_prediction_destroy(&p->work));
  PetscCall(rg_nearby_destroy(&p->nearby));
  PetscCall(PetscFree6(p->Z, p->one, p->zero, p->gradient, p->mean, p->variance));
  PetscCall(PetscFree3(p->mean_bar, p->variance_bar, p->pair));
  PetscCall(PetscFree(cp->pairs));
  PetscFunctionReturn(0);
}

/* Pairs of J designs with `count` contexts, design after design. */
static void fill_pairs(const RgContextPosterior *cp, int J, const double *X, int count,
                       const double *contexts)
{
  double *z = cp->pairs->Z;

  for (int j = 0; j < J; j++) {
    const double *x = X + (size_t)j * cp->dim_x;
    for (int m = 0; m < count; m++) {
      for (int k = 0; k < cp->dim_x; k++) *z++ = x[k];
      for (int k = 0; k < cp->dim_c; k++) *z++ = contexts[(size_t)m * cp->dim_c + k];
    }
  }
}

/* Predictions of the pairs in Z, which a gradient may follow; with RG_CONTEXT_NEAR they should have
   one design. */
static PetscErrorCode predict_pairs(RgContextPosterior *cp, int count, double *mean,
                                    double *variance)
{
  struct RgContextPairs *p = cp->pairs;

  PetscFunctionBeginUser;
  if (cp->form == RG_CONTEXT_NEAR)
    PetscCall(rg_nearby_predict(&p->nearby, count, p->Z, p->work.values_only, mean, variance));
  else PetscCall(rg_posterior_predict(cp->posterior, count, p->Z, mean, variance, &p->work));
  PetscFunctionReturn(0);
}

/* Gradients of the moments of the pairs, into p->gradient. */
static PetscErrorCode pull_pairs(RgContextPosterior *cp, int count, const double *mean_bar,
                                 const double *variance_bar)
{
  struct RgContextPairs *p = cp->pairs;

  PetscFunctionBeginUser;
  if (cp->form == RG_CONTEXT_NEAR)
    PetscCall(rg_nearby_gradient(&p->nearby, count, mean_bar, variance_bar ? variance_bar : p->zero,
                                 p->gradient));
  else
    PetscCall(rg_posterior_gradient(cp->posterior, count, p->Z, mean_bar, variance_bar, &p->work,
                                    p->gradient));
  PetscFunctionReturn(0);
}

/* Derivatives by the context of mean and variance at S contexts, of the design x. */
static PetscErrorCode slopes_at(RgContextPosterior *cp, const double *x, int S,
                                const double *contexts, double *mean_slope, double *variance_slope)
{
  struct RgContextPairs *p = cp->pairs;
  const int dim = cp->dim_x + cp->dim_c;

  PetscFunctionBeginUser;
  fill_pairs(cp, 1, x, S, contexts);
  p->work.values_only = false;
  PetscCall(predict_pairs(cp, S, p->mean, p->variance));
  for (int part = 0; part < 2; part++) {
    double *slope = part == 0 ? mean_slope : variance_slope;
    PetscCall(pull_pairs(cp, S, part == 0 ? p->one : p->zero, part == 0 ? NULL : p->one));
    for (int l = 0; l < S; l++) {
      for (int k = 0; k < cp->dim_c; k++)
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
  const size_t M = (size_t)cp->size, S = (size_t)cp->n_slopes * cp->dim_c;
  const int together = rg_context_posterior_kept(cp);

  PetscFunctionBeginUser;
  p->work.values_only = cp->values_only;
  for (int j = 0; j < J; j += together) {
    const int count = PetscMin(together, J - j);
    fill_pairs(cp, count, X + (size_t)j * cp->dim_x, cp->size, cp->contexts);
    PetscCall(
      predict_pairs(cp, count * cp->size, moments->mean + j * M, moments->variance + j * M));
  }
  p->current = J <= together && S == 0 && !cp->values_only ? J : 0;
  for (int j = 0; S > 0 && j < J; j++)
    PetscCall(slopes_at(cp, X + (size_t)j * cp->dim_x, cp->n_slopes, slope_contexts(cp),
                        moments->mean_slope + j * S, moments->variance_slope + j * S));
  PetscFunctionReturn(0);
}

/* The slopes that a function depends on, context by context. */
typedef struct {
  int n;                                    /* number of contexts */
  double *contexts;                         /* n x dim_c */
  double *mean_bar, *variance_bar, *slopes; /* n x dim_c; 2 n x dim_c: scratch */
} Weighted;

/* The slopes with a nonzero derivative. O(S). */
static PetscErrorCode weighted_create(const RgContextPosterior *cp, const double *mean_bar,
                                      const double *variance_bar, Weighted *weighted)
{
  const int dim = cp->dim_c;
  const size_t S = (size_t)cp->n_slopes * dim;

  PetscFunctionBeginUser;
  weighted->n = 0;
  PetscCall(PetscMalloc4(S, &weighted->contexts, S, &weighted->mean_bar, S, &weighted->variance_bar,
                         2 * S, &weighted->slopes));
  for (int l = 0; l < cp->n_slopes; l++) {
    const int from = l * dim, to = weighted->n * dim;
    bool any = false;
    for (int k = 0; k < dim; k++) {
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
  for (int l = 0; l < S; l++)
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
  for (int k = 0; k < cp->dim_x && weighted.n > 0; k++) {
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

/* Move the pairs of J designs whose derivatives are not zero to the front; returns how many there
   are. */
static int gather_pairs(struct RgContextPairs *p, int J, int M, int dim, const double *mean_bar,
                        const double *variance_bar)
{
  int used = 0;

  for (int i = 0; i < J * M; i++) {
    if (mean_bar[i] == 0.0 && variance_bar[i] == 0.0) continue;
    for (int k = 0; k < dim; k++) p->Z[(size_t)used * dim + k] = p->Z[(size_t)i * dim + k];
    p->pair[used] = i;
    p->mean_bar[used] = mean_bar[i];
    p->variance_bar[used++] = variance_bar[i];
  }
  return used;
}

/* G: gradients by x, through means and variances, of the J designs that fit. */
static PetscErrorCode moment_gradient(RgContextPosterior *cp, int J, const double *X,
                                      const double *mean_bar, const double *variance_bar, double *G)
{
  struct RgContextPairs *p = cp->pairs;
  const int dim = cp->dim_x + cp->dim_c;

  PetscFunctionBeginUser;
  fill_pairs(cp, J, X, cp->size, cp->contexts);
  const int used = gather_pairs(p, J, cp->size, dim, mean_bar, variance_bar);
  for (int k = 0; k < J * cp->dim_x; k++) G[k] = 0.0;
  if (!used) PetscFunctionReturn(0);
  if (p->current != J ||
      (used < J * cp->size && !rg_posterior_select(cp->posterior, used, p->pair, &p->work))) {
    p->work.values_only = false;
    PetscCall(rg_posterior_predict(cp->posterior, used, p->Z, p->mean, p->variance, &p->work));
  }
  p->current = 0;
  PetscCall(rg_posterior_gradient(cp->posterior, used, p->Z, p->mean_bar, p->variance_bar, &p->work,
                                  p->gradient));
  for (int i = 0; i < used; i++) {
    for (int k = 0; k < cp->dim_x; k++)
      G[p->pair[i] / cp->size * cp->dim_x + k] += p->gradient[(size_t)i * dim + k];
  }
  PetscFunctionReturn(0);
}

/* Like moment_gradient, for one design, from the data near it. */
static PetscErrorCode near_gradient(RgContextPosterior *cp, const double *x, const double *mean_bar,
                                    const double *variance_bar, double *g)
{
  struct RgContextPairs *p = cp->pairs;
  const int dim = cp->dim_x + cp->dim_c;

  PetscFunctionBeginUser;
  if (p->current != 1) {
    fill_pairs(cp, 1, x, cp->size, cp->contexts);
    p->work.values_only = false;
    PetscCall(predict_pairs(cp, cp->size, p->mean, p->variance));
  }
  p->current = 0;
  PetscCall(pull_pairs(cp, cp->size, mean_bar, variance_bar));
  for (int k = 0; k < cp->dim_x; k++) {
    g[k] = 0.0;
    for (int m = 0; m < cp->size; m++) g[k] += p->gradient[(size_t)m * dim + k];
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_context_pairs_gradient(RgContextPosterior *cp, int J, const double *X,
                                         const RgContextMoments *bar, double *G)
{
  const size_t M = (size_t)cp->size, S = (size_t)cp->n_slopes * cp->dim_c;
  const int together = rg_context_posterior_kept(cp);

  PetscFunctionBeginUser;
  for (int j = 0; j < J; j += together) {
    const double *x = X + (size_t)j * cp->dim_x, *mean = bar->mean + j * M;
    const double *variance = bar->variance + j * M;
    double *g = G + (size_t)j * cp->dim_x;
    if (cp->form == RG_CONTEXT_NEAR) PetscCall(near_gradient(cp, x, mean, variance, g));
    else PetscCall(moment_gradient(cp, PetscMin(together, J - j), x, mean, variance, g));
  }
  for (int j = 0; S > 0 && j < J; j++)
    PetscCall(add_slope_gradient(cp, X + (size_t)j * cp->dim_x, bar->mean_slope + j * S,
                                 bar->variance_slope + j * S, G + (size_t)j * cp->dim_x));
  PetscFunctionReturn(0);
}
