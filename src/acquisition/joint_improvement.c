/* q-EI and q-UCB of one more point: samples of the values in flight, and the gain of the point
   given each sample. */
#include "acquisition/joint_improvement.h"

#include <math.h>

#include "acquisition/moments.h"
#include "maths/blas.h"
#include "maths/design.h"
#include "maths/distribution.h"
#include "maths/normal.h"

enum { PANELS = 8, NODES_MOST = 12 * (PANELS + 1) }; /* quadrature with 12 nodes per panel */
#define SD_FLAT 1e-9 /* below this, the derivative of sd counts as 0 */
#define JITTER 1e-10 /* jitter of the covariance in flight, relative to the kernel's diagonal */

typedef struct {
  int q, samples;
  double tau, width; /* as in RgJointImprovement */
  double *mean, *S;  /* q; q x q: lower Cholesky factor of the covariance, column-major */
  /* Samples x q: f - mean; samples: weights; tau + b, or the largest bound in flight. */
  double *f, *weight, *target;
  double *u, *m, *log_gain, *d_mean, *d_m, *d_sd; /* scratch: 2 q; samples each */
} Joint;

/* ---- samples ------------------------------------------------------------------------------- */

/* One point in flight: a quadrature of the normal law, cut where the value in flight is tau, or its
   mean for the upper bound. */
static PetscErrorCode quadrature(Joint *joint)
{
  RgDistributionPart part = {RG_DISTRIBUTION_NORMAL, 0, 1, 1, -INFINITY, INFINITY};
  const RgDistribution normal = {1, &part};
  const double kink = joint->width > 0 ? 0 : (joint->tau - joint->mean[0]) / joint->S[0];
  RgQuadrature rule;

  PetscCall(rg_distribution_quadrature(&normal, PANELS, 1, &kink, &rule));
  joint->samples = rule.n;
  for (int s = 0; s < rule.n; s++) {
    joint->weight[s] = rule.weight[s];
    joint->f[s] = joint->S[0] * rule.node[s];
  }
  return rg_quadrature_destroy(&rule);
}

/* Several points: normals from scrambled Sobol points, times the factor. */
static PetscErrorCode draw(Joint *joint, RgRandom *draws)
{
  const int q = joint->q;

  if (q <= RG_SOBOL_MAX_DIM) PetscCall(rg_design_sobol(draws, joint->samples, q, joint->f));
  else rg_random_uniforms(draws, (size_t)joint->samples * (size_t)q, joint->f);
  for (int i = 0; i < joint->samples * q; i++) joint->f[i] = rg_normal_quantile(joint->f[i]);
  for (int s = 0; s < joint->samples; s++) {
    cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, q, joint->S, q,
                joint->f + (size_t)s * q, 1);
    joint->weight[s] = 1.0 / joint->samples;
  }
  return 0;
}

/* Factor S and draw the samples. */
static PetscErrorCode joint_prepare(Joint *joint, double diagonal, RgJointImprovement *improvement,
                                    RgFailure *failure)
{
  const int q = joint->q;

  for (int l = 0; l < q; l++) joint->S[(size_t)l * (q + 1)] += JITTER * diagonal;
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', q, joint->S, q)) {
    rg_failure_set(failure, "the covariance of the %d points in flight has no Cholesky factor", q);
    return 0;
  }
  if (q == 1) PetscCall(quadrature(joint));
  else PetscCall(draw(joint, improvement->draws));
  /* Set each sample's target, which a new point must exceed: the best value or the largest bound of
     the points in flight. already: the mean of the targets. */
  const double w = joint->width, base = w > 0 ? 0 : joint->tau;
  improvement->already = 0;
  for (int s = 0; s < joint->samples; s++) {
    double b = w > 0 ? -INFINITY : 0;
    for (int l = 0; l < joint->q; l++) {
      const double f = joint->f[(size_t)s * joint->q + l];
      b = fmax(b, joint->mean[l] + (w > 0 ? w * fabs(f) : f) - base);
    }
    joint->target[s] = base + b;
    improvement->already += joint->weight[s] * b;
  }
  return 0;
}

/* ---- one more point ------------------------------------------------------------------------ */

/* x := (L L')^-1 x */
static void solve(const Joint *joint, double *x)
{
  const int q = joint->q;

  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, q, joint->S, q, x, 1);
  cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, q, joint->S, q, x, 1);
}

/* log sum_s weight_s gain_s; log_gain becomes the share of every sample in it. */
static double log_sum(Joint *joint)
{
  double most = -INFINITY, sum = 0;

  for (int s = 0; s < joint->samples; s++) most = fmax(most, joint->log_gain[s]);
  if (!isfinite(most)) return most;
  for (int s = 0; s < joint->samples; s++) {
    joint->log_gain[s] = joint->weight[s] * exp(joint->log_gain[s] - most);
    sum += joint->log_gain[s];
  }
  for (int s = 0; s < joint->samples; s++) joint->log_gain[s] /= sum;
  return most + log(sum);
}

/* log E max(0, mean + w |g| - target), g normal with mean m and deviation sd: with a = (target -
   mean)/w that is w (max(0, -a) + E max(0, g - a+) + E max(0, -g - a+)), a+ = max(0, a). The
   others are its derivatives by mean, m and sd. */
static double log_gain_of_bound(double w, double mean, double target, double m, double sd,
                                double *by_mean, double *by_m, double *by_sd)
{
  const double a = (target - mean) / w, g[2] = {m, -m}, both[2] = {sd, sd};
  const RgEi ei = {fmax(a, 0)};
  double part[3], d_m[2], d_sd[2], most, sum = 0;

  rg_acquisition_log_ei(&ei, 2, g, both, part, d_m, d_sd);
  part[2] = a < 0 ? log(-a) : -INFINITY;
  most = fmax(fmax(part[0], part[1]), part[2]);
  *by_mean = *by_m = *by_sd = 0;
  if (!isfinite(most)) return most;
  for (int k = 0; k < 3; k++) sum += part[k] = exp(part[k] - most);
  for (int k = 0; k < 3; k++) part[k] /= sum;
  *by_mean = (a < 0 ? part[2] / -a : part[0] * d_m[0] + part[1] * d_m[1]) / w;
  *by_m = part[0] * d_m[0] - part[1] * d_m[1];
  *by_sd = part[0] * d_sd[0] + part[1] * d_sd[1];
  return log(w) + most + log(sum);
}

/* Moments of f(x) given each sample: m = u'(f - mean in flight), u = S^-1 c, and one deviation.
   log_gain: the logarithm of the gain of x by each sample, beside its derivatives by the mean, m
   and the deviation. */
static double condition(Joint *joint, double mean, double variance, const double *c)
{
  const int q = joint->q;
  double explained = 0;

  for (int l = 0; l < q; l++) joint->u[l] = c[l];
  solve(joint, joint->u);
  for (int l = 0; l < q; l++) explained += joint->u[l] * c[l];
  const double sd = sqrt(fmax(variance - explained, 0));
  cblas_dgemv(CblasRowMajor, CblasNoTrans, joint->samples, q, 1.0, joint->f, q, joint->u, 1, 0.0,
              joint->m, 1);
  for (int s = 0; s < joint->samples; s++) {
    const RgEi ei = {joint->target[s]};
    if (joint->width > 0) {
      joint->log_gain[s] = log_gain_of_bound(joint->width, mean, joint->target[s], joint->m[s], sd,
                                             &joint->d_mean[s], &joint->d_m[s], &joint->d_sd[s]);
      continue;
    }
    joint->m[s] += mean;
    rg_acquisition_log_ei(&ei, 1, &joint->m[s], &sd, &joint->log_gain[s], &joint->d_m[s],
                          &joint->d_sd[s]);
    joint->d_mean[s] = joint->d_m[s];
  }
  return sd;
}

/* The value at a point with covariances c (q) to the points in flight. slope (2 + q; NULL: not
   wanted): its derivatives by mean, variance and c. */
static double joint_value(Joint *joint, double mean, double variance, const double *c,
                          double *slope)
{
  const int q = joint->q;
  const double sd = condition(joint, mean, variance, c), value = log_sum(joint);
  double *by_u = joint->u + q, by_sd = 0;

  if (!slope) return value;
  for (int i = 0; i < 2 + q; i++) slope[i] = 0;
  if (!isfinite(value)) return value;
  for (int l = 0; l < q; l++) by_u[l] = 0;
  for (int s = 0; s < joint->samples; s++) {
    const double by_m = joint->log_gain[s] * joint->d_m[s];
    slope[0] += joint->log_gain[s] * joint->d_mean[s];
    by_sd += joint->log_gain[s] * joint->d_sd[s];
    for (int l = 0; l < q; l++) by_u[l] += by_m * joint->f[(size_t)s * q + l];
  }
  slope[1] = sd < SD_FLAT ? 0 : 0.5 * by_sd / sd;
  solve(joint, by_u);
  for (int l = 0; l < q; l++) slope[2 + l] = by_u[l] - 2 * joint->u[l] * slope[1];
  return value;
}

/* ---- maximisation -------------------------------------------------------------------------- */

static PetscErrorCode values_of(RgMoments *at, int m, double *value, bool slopes)
{
  Joint *joint = at->closure;
  const int q = joint->q;
  double *c, *slope;

  PetscCall(PetscMalloc2(q, &c, 2 + q, &slope));
  for (int j = 0; j < m; j++) {
    for (int l = 0; l < q; l++) c[l] = at->C[(size_t)l * m + j];
    value[j] = joint_value(joint, at->mean[j], at->variance[j], c, slopes ? slope : NULL);
    if (!slopes) continue;
    at->d_mean[j] = slope[0];
    at->d_variance[j] = slope[1];
    for (int l = 0; l < q; l++) at->d_C[(size_t)l * m + j] = slope[2 + l];
  }
  return PetscFree2(c, slope);
}

PetscErrorCode rg_joint_improvement_acquire(RgModel *model, RgJointImprovement *improvement,
                                            const RgSearch *search, RgQuery *query, double *value,
                                            RgFailure *failure)
{
  const RgPending *pending = &search->history->pending;
  const int q = pending->n;
  RgMoments moments;
  Joint joint;

  const size_t n = (size_t)(q == 1 ? NODES_MOST : improvement->samples);
  joint = (Joint){.q = q, .samples = (int)n, .tau = improvement->tau, .width = improvement->width};
  PetscCall(
    PetscMalloc4(q, &joint.mean, (size_t)q * q, &joint.S, n * q, &joint.f, 2 * q, &joint.u));
  PetscCall(PetscMalloc7(n, &joint.weight, n, &joint.target, n, &joint.m, n, &joint.d_mean, n,
                         &joint.log_gain, n, &joint.d_m, n, &joint.d_sd));
  PetscCall(rg_moments_create(model, q, &moments));
  moments.values = values_of;
  moments.closure = &joint;
  PetscCall(rg_moments_fix(&moments, pending->x, pending->index, joint.mean));
  if (moments.covariance)
    for (int k = 0; k < q * q; k++)
      joint.S[k] = moments.covariance[k / q * moments.by_input + (size_t)pending->index[k % q]];
  else PetscCall(rg_posterior_covariance(&model->posterior, q, pending->x, q, pending->x, joint.S));
  PetscCall(joint_prepare(&joint, rg_kernel_diagonal(&model->kernel), improvement, failure));
  if (!failure->failed)
    PetscCall(
      rg_acquire_with(model->domain, rg_moments_function, &moments, search, query, value, failure));
  PetscCall(rg_moments_destroy(&moments));
  PetscCall(PetscFree4(joint.mean, joint.S, joint.f, joint.u));
  return PetscFree7(joint.weight, joint.target, joint.m, joint.d_mean, joint.log_gain, joint.d_m,
                    joint.d_sd);
}
