#include "density/kde.h"

#include <math.h>

#include "base/blas.h"
#include "base/design.h"
#include "base/normal.h"
#include "density/smoothing.h"

PetscErrorCode rg_kde_create(int n, int dim, const double *points, RgKde *kde)
{
  PetscFunctionBeginUser;
  PetscCheck(n >= 1 && dim >= 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "%d points in %d", n,
             dim);
  *kde = (RgKde){.n = n, .dim = dim};
  PetscCall(PetscMalloc2((size_t)n * dim, &kde->points, dim, &kde->bandwidth));
  PetscCall(PetscArraycpy(kde->points, points, (size_t)n * dim));
  rg_sample_deviations(n, dim, points, kde->bandwidth);
  for (int j = 0; j < dim; j++) {
    const double deviation = kde->bandwidth[j] * sqrt((n - 1.0) / n);
    kde->bandwidth[j]
      = deviation > 0 ? rg_bandwidth(RG_BANDWIDTH_SILVERMAN, deviation, n, dim) : 0;
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kde_destroy(RgKde *kde)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree2(kde->points, kde->bandwidth));
  *kde = (RgKde){0};
  PetscFunctionReturn(0);
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
    sum += product;
  }
  return sum / kde->n;
}

static double clip(double value, double lower, double upper)
{
  return fmin(fmax(value, lower), upper);
}

PetscErrorCode rg_kde_sample(const RgKde *kde, RgRandom *random, double lower, double upper, int m,
                             double *samples)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < m; k++) {
    const double *point = kde->points + rg_random_below(random, (uint64_t)kde->n) * kde->dim;
    for (int j = 0; j < kde->dim; j++)
      samples[(size_t)k * kde->dim + j]
        = clip(point[j] + kde->bandwidth[j] * rg_random_normal(random), lower, upper);
  }
  PetscFunctionReturn(0);
}

PetscErrorCode rg_kde_sample_sobol(const RgKde *kde, RgRandom *random, double lower, double upper,
                                   int m, double *samples)
{
  const size_t dim = (size_t)kde->dim;
  double      *unit;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)m * (dim + 1), &unit));
  PetscCall(rg_design_sobol(random, m, kde->dim + 1, unit));
  for (int k = 0; k < m; k++) {
    const double *u = unit + (size_t)k * (dim + 1);
    const double *point = kde->points + (size_t)PetscMin((int)(u[0] * kde->n), kde->n - 1) * dim;
    for (size_t j = 0; j < dim; j++)
      samples[(size_t)k * dim + j]
        = clip(point[j] + kde->bandwidth[j] * rg_normal_quantile(u[j + 1]), lower, upper);
  }
  PetscCall(PetscFree(unit));
  PetscFunctionReturn(0);
}

/* ---- Gauss rules ---------------------------------------------------------------------------- */

/* The clipped estimate as a law. */
static PetscErrorCode law_of(const RgKde *kde, double lower, double upper, RgDistribution *law)
{
  PetscFunctionBeginUser;
  law->n = kde->n;
  PetscCall(PetscMalloc1(kde->n, &law->parts));
  for (int i = 0; i < kde->n; i++)
    law->parts[i] = (RgDistributionPart){
      .family = kde->bandwidth[0] > 0 ? RG_DISTRIBUTION_NORMAL : RG_DISTRIBUTION_POINT,
      .a = kde->points[i],
      .b = kde->bandwidth[0],
      .weight = 1.0 / kde->n,
      .lower = lower,
      .upper = upper};
  PetscFunctionReturn(0);
}

/* Lanczos' iteration on diag(node) from sqrt(weight), fully reorthogonalised: the Jacobi matrix of
   the discrete measure. Q: m x n scratch. Returns the steps done. */
static int lanczos(int n, const double *node, const double *weight, int m, double *diagonal,
                   double *off, double *Q)
{
  double norm = 0;

  for (int i = 0; i < n; i++) norm += weight[i];
  for (int i = 0; i < n; i++) Q[i] = sqrt(weight[i] / norm);
  for (int k = 0; k < m; k++) {
    const double *q = Q + (size_t)k * n;
    double       *next = Q + (size_t)(k + 1) * n;
    diagonal[k] = norm = 0;
    for (int i = 0; i < n; i++) diagonal[k] += node[i] * q[i] * q[i];
    for (int i = 0; i < n; i++) next[i] = node[i] * q[i];
    for (int pass = 0; pass < 2; pass++)
      for (int l = 0; l <= k; l++) {
        const double *old = Q + (size_t)l * n;
        double        dot = 0;
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
  RgDistribution law;
  RgQuadrature   rule;
  double        *Q, *off, *vectors;

  PetscFunctionBeginUser;
  PetscCheck(kde->dim == 1, PETSC_COMM_SELF, PETSC_ERR_SUP, "Gauss rules are for one coordinate");
  PetscCall(law_of(kde, lower, upper, &law));
  PetscCall(rg_distribution_quadrature(&law, 3, 0, NULL, &rule));
  PetscCall(PetscMalloc3((size_t)rule.n * (m + 1), &Q, m, &off, (size_t)m * m, &vectors));
  *count = lanczos(rule.n, rule.node, rule.weight, m, node, off, Q);
  const lapack_int info
    = LAPACKE_dsteqr(LAPACK_COL_MAJOR, 'I', *count, node, off, vectors, *count);
  PetscCheck(info == 0, PETSC_COMM_SELF, PETSC_ERR_LIB, "dsteqr: %d", (int)info);
  for (int k = 0; k < *count; k++) {
    const double first = vectors[(size_t)k * *count];
    weight[k] = first * first;
  }
  PetscCall(PetscFree3(Q, off, vectors));
  PetscCall(rg_quadrature_destroy(&rule));
  PetscCall(rg_distribution_destroy(&law));
  PetscFunctionReturn(0);
}

/* ---- distance ------------------------------------------------------------------------------- */

enum { FINE = 4000, COARSE = 6000 };

static double gap(const RgKde *kde, const RgDistribution *law, double c)
{
  return fabs(rg_kde_density(kde, &c) - rg_distribution_density(law, c));
}

/* Midpoint sums: fine where almost all of both is, geometric outside. */
PetscErrorCode rg_kde_distance(const RgKde *kde, const RgDistribution *law, double *distance)
{
  double lower, upper, sum = 0, most = 1;

  PetscFunctionBeginUser;
  PetscCheck(kde->dim == 1 && kde->bandwidth[0] > 0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "the distance needs a density in one coordinate");
  rg_distribution_range(law, 0.005, &lower, &upper);
  const double margin = upper - lower, h = kde->bandwidth[0];
  lower -= margin;
  upper += margin;
  const double width = (upper - lower) / FINE;
  for (int k = 0; k < FINE; k++) sum += width * gap(kde, law, lower + (k + 0.5) * width);
  for (int i = 0; i < kde->n; i++)
    most = fmax(most, fmax(lower - kde->points[i], kde->points[i] - upper) + 10 * h);
  const double first = 1e-3 * margin, growth = log(1e6 * (most + margin) / first) / COARSE;
  for (int k = 0; k < COARSE; k++) {
    const double from = first * expm1(k * growth), to = first * expm1((k + 1) * growth);
    sum += (to - from)
      * (gap(kde, law, lower - 0.5 * (from + to)) + gap(kde, law, upper + 0.5 * (from + to)));
  }
  *distance = sum;
  PetscFunctionReturn(0);
}
