/* Kernel density estimate of contexts: bandwidths, draws, quadrature. */
#include "density/kde.h"

#include <math.h>

#include "maths/blas.h"
#include "maths/design.h"
#include "maths/normal.h"
#include "density/smoothing.h"

/* Return the deviation of coordinate j, with divisor n or by the weights. */
static double deviation_of(const RgKde *kde, int j)
{
  double mean = 0, square = 0;

  if (!kde->weight) return kde->bandwidth[j] * sqrt((kde->n - 1.0) / kde->n);
  for (int i = 0; i < kde->n; i++) mean += kde->weight[i] * kde->points[i * kde->dim + j];
  for (int i = 0; i < kde->n; i++)
    square += kde->weight[i] * pow(kde->points[i * kde->dim + j] - mean, 2);
  return sqrt(square);
}

PetscErrorCode rg_kde_create(int n, int dim, const double *points, const double *weight, RgKde *kde)
{
  double squares = 0;

  PetscCheck(n >= 1 && dim >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%d points in %d", n,
             dim);
  *kde = (RgKde){.n = n, .dim = dim, .effective = n};
  PetscCall(PetscMalloc4((size_t)n * dim, &kde->points, dim, &kde->bandwidth, dim, &kde->low, dim,
                         &kde->high));
  PetscCall(PetscArraycpy(kde->points, points, (size_t)n * dim));
  if (weight) {
    PetscCall(PetscMalloc1(n, &kde->weight));
    PetscCall(PetscArraycpy(kde->weight, weight, n));
    for (int i = 0; i < n; i++) squares += weight[i] * weight[i];
    kde->effective = 1 / squares;
  }
  rg_sample_deviations(n, dim, points, kde->bandwidth);
  for (int j = 0; j < dim; j++) {
    const double deviation = deviation_of(kde, j), rounding = 1e-14 * fabs(points[j]);
    kde->bandwidth[j] = deviation > rounding
                          ? rg_bandwidth(RG_BANDWIDTH_SILVERMAN, deviation, kde->effective, dim)
                          : 0;
    kde->low[j] = kde->high[j] = points[j];
    for (int i = 1; i < n; i++) {
      kde->low[j] = fmin(kde->low[j], points[(size_t)i * dim + j]);
      kde->high[j] = fmax(kde->high[j], points[(size_t)i * dim + j]);
    }
  }
  return 0;
}

PetscErrorCode rg_kde_destroy(RgKde *kde)
{
  PetscCall(PetscFree4(kde->points, kde->bandwidth, kde->low, kde->high));
  return PetscFree(kde->weight);
}

double rg_kde_density(const RgKde *kde, const double *c)
{
  double sum = 0;

  for (int i = 0; i < kde->n; i++) {
    double product = 1;
    for (int j = 0; j < kde->dim; j++) {
      const double h = kde->bandwidth[j], difference = c[j] - kde->points[i * kde->dim + j];
      if (h > 0) product *= rg_normal_pdf(difference / h) / h;
      else product *= difference == 0 ? INFINITY : 0;
    }
    sum += kde->weight ? kde->weight[i] * product : product;
  }
  return kde->weight ? sum : sum / kde->n;
}

/* Return the point at the share u of the weights. */
static const double *point_at(const RgKde *kde, double u)
{
  int i = 0;

  if (!kde->weight) i = PetscMin((int)(u * kde->n), kde->n - 1);
  else
    while (i < kde->n - 1 && (u -= kde->weight[i]) >= 0) i++;
  return kde->points + (size_t)i * kde->dim;
}

static double clip(double value, double lower, double upper)
{
  return fmin(fmax(value, lower), upper);
}

/* Clip a value to [lower, upper], which coordinate j of the points extends. */
static double clip_to(const RgKde *kde, int j, double value, double lower, double upper)
{
  return clip(value, fmin(lower, kde->low[j]), fmax(upper, kde->high[j]));
}

PetscErrorCode rg_kde_sample(const RgKde *kde, RgRandom *random, double lower, double upper, int m,
                             double *samples)
{
  for (int k = 0; k < m; k++) {
    const double *point = kde->weight
                            ? point_at(kde, rg_random_uniform(random))
                            : kde->points + rg_random_below(random, (uint64_t)kde->n) * kde->dim;
    for (int j = 0; j < kde->dim; j++)
      samples[(size_t)k * kde->dim + j] =
        clip_to(kde, j, point[j] + kde->bandwidth[j] * rg_random_normal(random), lower, upper);
  }
  return 0;
}

PetscErrorCode rg_kde_sample_sobol(const RgKde *kde, RgRandom *random, double lower, double upper,
                                   int m, double *samples)
{
  const size_t dim = (size_t)kde->dim;
  double *unit;

  PetscCall(PetscMalloc1((size_t)m * (dim + 1), &unit));
  PetscCall(rg_design_sobol(random, m, kde->dim + 1, unit));
  for (int k = 0; k < m; k++) {
    const double *u = unit + (size_t)k * (dim + 1);
    const double *point = point_at(kde, u[0]);
    for (size_t j = 0; j < dim; j++)
      samples[(size_t)k * dim + j] = clip_to(
        kde, (int)j, point[j] + kde->bandwidth[j] * rg_normal_quantile(u[j + 1]), lower, upper);
  }
  return PetscFree(unit);
}

/* ---- Gauss rules ---------------------------------------------------------------------------- */

/* Return the summand of point i in a weighted mean of numbers. */
static double share(const RgKde *kde, double number, int i)
{
  return kde->weight ? kde->weight[i] * number : number / kde->n;
}

/* Nodes and weights of the clipped estimate: Gauss-Legendre panels, at most three bandwidths
   wide, where the estimate is not negligible, and the atoms at the ends. With bandwidth 0: the
   points themselves. */
static PetscErrorCode discretise(const RgKde *kde, double lower, double upper, RgQuadrature *rule)
{
  const double h = kde->bandwidth[0], reach = 9 * h;
  double low = INFINITY, high = -INFINITY, below = 0, above = 0;

  for (int i = 0; i < kde->n; i++) {
    low = fmin(low, clip(kde->points[i] - reach, lower, upper));
    high = fmax(high, clip(kde->points[i] + reach, lower, upper));
  }
  RgQuadrature panels = {0};
  if (h > 0 && high > low)
    PetscCall(rg_quadrature_uniform(
      low, high, (int)fmin(fmax(ceil((high - low) / (3 * h)), 8), 2000), &panels));
  PetscCall(PetscMalloc2(panels.n + kde->n + 2, &rule->node, panels.n + kde->n + 2, &rule->weight));
  rule->n = 0;
  for (int k = 0; k < panels.n; k++) {
    rule->node[rule->n] = panels.node[k];
    rule->weight[rule->n++] =
      panels.weight[k] * (high - low) * rg_kde_density(kde, &panels.node[k]);
  }
  PetscCall(rg_quadrature_destroy(&panels));
  for (int i = 0; i < kde->n; i++) {
    const double weight = kde->weight ? kde->weight[i] : 1.0 / kde->n;
    if (h > 0) {
      below += share(kde, rg_normal_cdf((lower - kde->points[i]) / h), i);
      above += share(kde, rg_normal_cdf((kde->points[i] - upper) / h), i);
    } else {
      rule->node[rule->n] = clip(kde->points[i], lower, upper);
      rule->weight[rule->n++] = weight;
    }
  }
  for (int end = 0; end < 2; end++) {
    const double mass = end ? above : below;
    if (mass < 1e-16) continue;
    rule->node[rule->n] = end ? upper : lower;
    rule->weight[rule->n++] = mass;
  }
  return 0;
}

/* Lanczos iteration on diag(node) from sqrt(weight), fully reorthogonalised. It yields the
   Jacobi matrix of the discrete measure. Q: m x n scratch. Returns the number of steps. */
static int lanczos(int n, const double *node, const double *weight, int m, double *diagonal,
                   double *off, double *Q)
{
  double norm = 0;

  for (int i = 0; i < n; i++) norm += weight[i];
  for (int i = 0; i < n; i++) Q[i] = sqrt(weight[i] / norm);
  for (int k = 0; k < m; k++) {
    const double *q = Q + (size_t)k * n;
    double *next = Q + (size_t)(k + 1) * n;
    diagonal[k] = norm = 0;
    for (int i = 0; i < n; i++) diagonal[k] += node[i] * q[i] * q[i];
    for (int i = 0; i < n; i++) next[i] = node[i] * q[i];
    for (int pass = 0; pass < 2; pass++)
      for (int l = 0; l <= k; l++) {
        const double *old = Q + (size_t)l * n;
        double dot = 0;
        for (int i = 0; i < n; i++) dot += next[i] * old[i];
        for (int i = 0; i < n; i++) next[i] -= dot * old[i];
      }
    for (int i = 0; i < n; i++) norm += next[i] * next[i];
    off[k] = sqrt(norm);
    if (off[k] < 1e-13) return k + 1;
    for (int i = 0; i < n; i++) next[i] /= off[k];
  }
  return m;
}

PetscErrorCode rg_kde_gauss(const RgKde *kde, double lower, double upper, int m, int *count,
                            double *node, double *weight)
{
  RgQuadrature rule;
  double *Q, *off, *vectors;

  PetscCheck(kde->dim == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "Gauss rules are for one coordinate");
  PetscCall(discretise(kde, fmin(lower, kde->low[0]), fmax(upper, kde->high[0]), &rule));
  PetscCall(PetscMalloc3((size_t)rule.n * (m + 1), &Q, m, &off, (size_t)m * m, &vectors));
  *count = lanczos(rule.n, rule.node, rule.weight, m, node, off, Q);
  const lapack_int info = LAPACKE_dsteqr(LAPACK_COL_MAJOR, 'I', *count, node, off, vectors, *count);
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "dsteqr: %d", (int)info);
  for (int k = 0; k < *count; k++) {
    const double first = vectors[(size_t)k * *count];
    weight[k] = first * first;
  }
  PetscCall(PetscFree3(Q, off, vectors));
  return rg_quadrature_destroy(&rule);
}
