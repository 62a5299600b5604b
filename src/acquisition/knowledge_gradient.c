/* The knowledge gradient: its value over lines, and its maximisation over a set or a box. */
#include "acquisition/knowledge_gradient.h"

#include "acquisition/moments.h"
#include "acquisition/ranking.h"
#include "gp/posterior/set/set_posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = RG_KNOWLEDGE_GRADIENT_LINES };

#define SD_ZERO 1e-12 /* below this an observation adds no information */

/* ---- lines ---------------------------------------------------------------------------------- */

typedef struct {
  double a, b;
  int index;
} Line;

/* By slope, then by height. */
static int compare(const void *p, const void *q)
{
  const Line *x = p, *y = q;

  if (x->b != y->b) return x->b < y->b ? -1 : 1;
  return (x->a > y->a) - (x->a < y->a);
}

/* The point where line y overtakes line x, which has the smaller slope. */
static double crossing(const Line *x, const Line *y)
{
  return (x->a - y->a) / (y->b - x->b);
}

/* Keep the lines that are largest somewhere, ordered by slope; in place. Returns their number. */
static int envelope(int n, Line *line)
{
  int top = 0;

  qsort(line, (size_t)n, sizeof *line, compare);
  for (int i = 1; i < n; i++) {
    if (line[i].b == line[top].b) top--; /* the higher of two parallel lines */
    while (top > 0 && crossing(&line[top], &line[i]) <= crossing(&line[top - 1], &line[top])) top--;
    line[++top] = line[i];
  }
  return top + 1;
}

/* E max - max a = sum_k (b_{k+1} - b_k) h(z_k), z_k = -|a_k - a_{k+1}|/(b_{k+1} - b_k), over
   neighbours of the envelope (equation 14 of the paper), h(z) = phi(z) + z Phi(z). */
double rg_knowledge_gradient_lines(int n, const double *a, const double *b, double *d_a,
                                   double *d_b)
{
  Line line[LINES];
  double term[LINES], by_z[LINES], by_slope[LINES], largest = -INFINITY, sum = 0;

  for (int i = 0; i < n; i++) line[i] = (Line){a[i], b[i], i};
  for (int i = 0; d_a && i < n; i++) d_a[i] = d_b[i] = 0;
  const int m = envelope(n, line);
  for (int k = 0; k + 1 < m; k++) {
    const double rise = line[k + 1].b - line[k].b, gap = line[k].a - line[k + 1].a;
    term[k] = log(rise) + rg_acquisition_log_h(-fabs(gap) / rise, &by_z[k], &by_slope[k]);
    by_z[k] *= gap > 0 ? -1 / rise : 1 / rise; /* d term / d gap */
    by_slope[k] /= rise;
    largest = fmax(largest, term[k]);
  }
  if (!isfinite(largest)) return -INFINITY;
  for (int k = 0; k + 1 < m; k++) sum += exp(term[k] - largest);
  for (int k = 0; d_a && k + 1 < m; k++) {
    const double part = exp(term[k] - largest) / sum;
    d_a[line[k].index] += part * by_z[k];
    d_a[line[k + 1].index] -= part * by_z[k];
    d_b[line[k + 1].index] += part * by_slope[k];
    d_b[line[k].index] -= part * by_slope[k];
  }
  return largest + log(sum);
}

/* ---- one point ------------------------------------------------------------------------------ */

/* One maximisation: the alternatives other than the point itself, and their moments. */
typedef struct {
  const double *inputs; /* p x dim on a box, borrowed */
  double best[LINES];   /* p: posterior means */
  RgMoments moments;
} Search;

/* log KG at point j of m with mean, variance and covariances C[l * m + j] with the alternatives:
   b_l = C_l/s, b = variance/s for the point itself, s^2 = variance + noise. The alternative `own`
   is the point itself (-1: none is): its line must not count again, because both lines differ by
   rounding. Derivatives are written where `slopes` is true. */
static double value_at(const Search *search, int m, int j, int own, double mean, double variance,
                       const double *C, bool slopes)
{
  const RgMoments *at = &search->moments;
  const int p = at->p, self = own < 0 ? p : own, n = own < 0 ? p + 1 : p;
  const double s = sqrt(variance + at->model->noise_variance);
  double a[LINES], b[LINES], d_a[LINES], d_b[LINES], by_s = 0;

  if (slopes) {
    at->d_mean[j] = at->d_variance[j] = 0;
    for (int l = 0; l < p; l++) at->d_C[l * m + j] = 0;
  }
  if (!(variance > SD_ZERO * SD_ZERO)) return -INFINITY;
  for (int l = 0; l < p; l++) {
    a[l] = search->best[l];
    b[l] = C[(size_t)l * m + j] / s;
  }
  a[self] = mean;
  b[self] = variance / s;
  const double value = rg_knowledge_gradient_lines(n, a, b, slopes ? d_a : NULL, d_b);
  if (!slopes || !isfinite(value)) return value;
  for (int l = 0; l < n; l++) by_s -= d_b[l] * b[l] / s;
  for (int l = 0; l < p; l++)
    if (l != self) at->d_C[l * m + j] = d_b[l] / s;
  at->d_mean[j] = d_a[self];
  at->d_variance[j] = d_b[self] / s + 0.5 * by_s / s;
  return value;
}

/* RgMoments.values. */
static PetscErrorCode values_of(RgMoments *at, int m, double *value, bool slopes)
{
  const Search *search = at->closure;
  const size_t dim = (size_t)at->model->domain->design.dim;

  for (int j = 0; j < m; j++) {
    int own = at->p - 1;
    while (own >= 0 && memcmp(search->inputs + own * dim, at->X + j * dim, dim * sizeof(double)))
      own--;
    value[j] = value_at(search, m, j, own, at->mean[j], at->variance[j], at->C, slopes);
  }
  return 0;
}

static PetscErrorCode search_create(RgModel *model, int p, Search *search)
{
  PetscCall(rg_moments_create(model, p, &search->moments));
  search->moments.values = values_of;
  search->moments.closure = search;
  return 0;
}

/* The `wanted` indices with the largest of n means; returns how many there are. */
static int best_points(int n, const double *mean, int wanted, int *chosen)
{
  int count = 0;

  for (int i = 0; i < n; i++) count = rg_ranking_insert(mean, i, count, wanted, chosen);
  return count;
}

/* ---- finite designs ------------------------------------------------------------------------- */

static PetscErrorCode acquire_on_set(RgModel *model, const RgHistory *history, int n_points,
                                     RgQuery *query, double *best, RgFailure *failure)
{
  const RgSpace *space = &model->domain->design;
  const double *mean = rg_posterior_means(&model->posterior);
  const double *variance = rg_posterior_variances(&model->posterior);
  int chosen[LINES];
  double *C, *value;
  RgSetPosterior *set;
  Search search;

  PetscCall(search_create(model, best_points(space->size, mean, n_points, chosen), &search));
  PetscCall(PetscMalloc2((size_t)space->size * search.moments.p, &C, space->size, &value));
  PetscCall(rg_posterior_get_set(&model->posterior, &set));
  for (int l = 0; l < search.moments.p; l++) {
    search.best[l] = mean[chosen[l]];
    PetscCall(rg_set_posterior_covariance(set, chosen[l], C + (size_t)l * space->size));
  }
  for (int i = 0; i < space->size; i++) {
    int own = search.moments.p - 1;
    while (own >= 0 && chosen[own] != i) own--;
    value[i] = value_at(&search, space->size, i, own, mean[i], variance[i], C, false);
  }
  PetscCall(rg_acquire_of_set(model->domain, history, value, query, best, failure));
  PetscCall(PetscFree2(C, value));
  PetscCall(rg_moments_destroy(&search.moments));
  return 0;
}

/* ---- boxes ---------------------------------------------------------------------------------- */

/* The alternatives: the best queried inputs; without data one uniform point. A (n_points x dim). */
static PetscErrorCode choose_inputs(RgModel *model, const RgHistory *history, int n_points,
                                    RgRandom *random, double *A, int *p)
{
  const size_t dim = (size_t)model->domain->design.dim;
  int chosen[LINES];
  double *mean, *sd;

  *p = 1;
  if (!history->n) {
    rg_random_uniforms(random, dim, A);
    return 0;
  }
  PetscCall(PetscMalloc2(history->n, &mean, history->n, &sd));
  PetscCall(rg_model_predict(model, history->n, history->x, mean, sd));
  *p = best_points(history->n, mean, n_points, chosen);
  for (int l = 0; l < *p; l++)
    PetscCall(PetscArraycpy(A + l * dim, history->x + (size_t)chosen[l] * dim, dim));
  PetscCall(PetscFree2(mean, sd));
  return 0;
}

static PetscErrorCode acquire_on_box(RgModel *model, int n_points, const RgSearch *search,
                                     RgQuery *query, double *value, RgFailure *failure)
{
  Search gradient;
  double *A;
  int p;

  PetscCall(PetscMalloc1((size_t)n_points * model->domain->design.dim, &A));
  PetscCall(choose_inputs(model, search->history, n_points, search->random, A, &p));
  PetscCall(search_create(model, p, &gradient));
  gradient.inputs = A;
  PetscCall(rg_moments_fix(&gradient.moments, A, gradient.best));
  PetscCall(rg_acquire_with(model->domain, rg_moments_function, &gradient.moments, search, query,
                            value, failure));
  PetscCall(rg_moments_destroy(&gradient.moments));
  PetscCall(PetscFree(A));
  return 0;
}

PetscErrorCode rg_knowledge_gradient_acquire(RgModel *model, int n_points, const RgSearch *search,
                                             RgQuery *query, double *value, RgFailure *failure)
{
  PetscCheck(n_points >= 1 && n_points < LINES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%d alternatives", n_points);
  if (rg_space_is_finite(&model->domain->design))
    PetscCall(acquire_on_set(model, search->history, n_points, query, value, failure));
  else PetscCall(acquire_on_box(model, n_points, search, query, value, failure));
  return 0;
}
