/* The knowledge gradient: its value over lines, and its maximisation over a set or a box. */
#include "acquisition/knowledge_gradient.h"

#include "acquisition/moments.h"
#include "acquisition/ranking.h"

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

/* Order lines by slope, then by height. */
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
  const double *inputs; /* p x dim on a box */
  int chosen[LINES];    /* p: their numbers in a finite design or in the history */
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

/* An RgMomentFunction. */
static PetscErrorCode values_of(RgMoments *at, int m, double *value, bool slopes)
{
  const Search *search = at->closure;
  const size_t dim = (size_t)at->model->domain->design.dim;

  for (int j = 0; j < m; j++) {
    const double *x = at->X + j * dim;
    int own = at->p - 1;
    if (at->covariance)
      while (own >= 0 && (size_t)search->chosen[own] != rg_moments_point(at, x)) own--;
    else
      while (own >= 0 && memcmp(search->inputs + own * dim, x, dim * sizeof(double))) own--;
    value[j] = value_at(search, m, j, own, at->mean[j], at->variance[j], at->C, slopes);
  }
  return 0;
}

/* The alternatives: the points of largest mean of a finite design, or the best queried inputs;
   without data one uniform point. A (n_points x dim): receives those of a box. Returns their number
   in *p. */
static PetscErrorCode choose_inputs(RgModel *model, const RgSearch *search, int n_points, double *A,
                                    int *chosen, int *p)
{
  const RgSpace *space = &model->domain->design;
  const RgHistory *history = search->history;
  const size_t dim = (size_t)space->dim;
  const bool finite = rg_space_is_finite(space);
  const int n = finite ? space->size : history->n;
  const double *means = rg_posterior_means(&model->posterior);
  double *mean = NULL, *sd = NULL;

  *p = 0;
  if (!finite && n) {
    PetscCall(PetscMalloc2(n, &mean, n, &sd));
    PetscCall(rg_model_predict(model, n, history->x, mean, sd));
    means = mean;
  }
  for (int i = 0; i < n; i++) *p = rg_ranking_insert(means, i, *p, n_points, chosen);
  for (int l = 0; l < *p && !finite; l++)
    PetscCall(PetscArraycpy(A + l * dim, history->x + (size_t)chosen[l] * dim, dim));
  PetscCall(PetscFree2(mean, sd));
  if (n) return 0;
  *p = 1;
  rg_random_uniforms(search->random, dim, A);
  return 0;
}

PetscErrorCode rg_knowledge_gradient_acquire(RgModel *model, int n_points, const RgSearch *search,
                                             RgQuery *query, double *value, RgFailure *failure)
{
  Search gradient;
  double *A;
  int p;

  PetscCheck(n_points >= 1 && n_points < LINES, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%d alternatives", n_points);
  PetscCall(PetscMalloc1((size_t)n_points * model->domain->design.dim, &A));
  PetscCall(choose_inputs(model, search, n_points, A, gradient.chosen, &p));
  PetscCall(rg_moments_create(model, p, values_of, &gradient, &gradient.moments));
  gradient.inputs = A;
  PetscCall(rg_moments_fix(&gradient.moments, A, gradient.chosen, gradient.best));
  PetscCall(rg_acquire_with(model->domain, rg_moments_function, &gradient.moments, search, query,
                            value, failure));
  PetscCall(rg_moments_destroy(&gradient.moments));
  return PetscFree(A);
}
