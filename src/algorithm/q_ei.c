/* q_ei: joint expected improvement of the points in flight and one more.

   x_t = argmax_x E max(0, max(f(x), f(x_1), .., f(x_q)) - tau) over one more point x, where
   x_1 .. x_q are in flight: q-EI, greedy in its points.
   Source: D. Ginsbourger, R. Le Riche, L. Carraro, Kriging is well-suited to parallelize
   optimization, 2010; points in flight: J. Snoek, H. Larochelle, R. P. Adams, Practical Bayesian
   optimization of machine learning algorithms, 2012.
   `form: ucb` is q-UCB, greedy likewise: x_t = argmax_x E max(g(x), g(x_1), .., g(x_q)) with
   g(x) = mu(x) + sqrt(beta pi/2) |f(x) - mu(x)|; with nothing in flight it is GP-UCB. Source:
   J. T. Wilson, R. Moriconi, F. Hutter, M. P. Deisenroth, The reparameterization trick for
   acquisition functions, 2017.
   Deviations: the part that depends on x is maximised, by its logarithm. The expectation over f(x)
   is in closed form; the one over the values in flight is a sum over `samples` scrambled Sobol
   normals that are the same for all x, or a quadrature for one point in flight.
   Cost per iteration: as EI, and O(q n + q^2 + q S) per value for S samples.
   Needs no context. With nothing in flight it is EI. Revision 1. */
#include "acquisition/moments.h"
#include "algorithm/surrogate.h"
#include "maths/blas.h"
#include "maths/design.h"
#include "maths/distribution.h"
#include "maths/normal.h"

#include <math.h>

typedef struct {
  int incumbent, samples, form;
  double beta;
} Options;

enum { EI, UCB };
static const char *const forms[] = {"ei", "ucb", NULL};
#define BETA 2 /* as Riegler et al. (2026) take it */

static const RgParam params[] = {
  RG_INCUMBENT_PARAM(Options),
  RG_INT("samples", Options, samples, "512", 1, 1e6, "S",
         "samples of the values in flight, for two or more of them"),
  RG_ENTRY("form", CHOICE, Options, form, int, "ei", RG_LATER, 0, forms, "",
           "ei: joint expected improvement; ucb: joint upper confidence bound"),
  RG_ENTRY("beta", REAL, Options, beta, double, "auto", RG_POSITIVE, 1e6, rg_param_later, "beta",
           "squared width of form: ucb; auto: 2"),
  {0},
};

static PetscErrorCode check(const void *closure, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *options = closure;

  if (options->form == EI && !isnan(options->beta))
    rg_diagnostics_add(diagnostics, place, "'beta' goes with form: 'ucb', and form is 'ei'");
  return 0;
}

enum { INCUMBENT, ACQUISITION, IMPROVEMENT };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT,
  [ACQUISITION] = {"acquisition", "log of what the query adds to the joint improvement or bound"},
  [IMPROVEMENT] = {"improvement",
                   "expected joint improvement with the query (form: ucb, the joint upper bound), "
                   "model units"},
  {0}};

enum { PANELS = 8, NODES_MOST = 12 * (PANELS + 1) }; /* quadrature with 12 nodes per panel */
#define SD_FLAT 1e-9 /* below this, the derivative of sd counts as 0 */
#define JITTER 1e-10 /* jitter of the covariance in flight, relative to the kernel's diagonal */

/* With b = max(0, max_l f(x_l) - tau) over the points in flight, E max(b, f(x) - tau) is E b + E
   max(0, f(x) - tau - b), of which the second term depends on x. Given the values in flight f(x) is
   normal, so that its expectation is EI, and that of the upper bound has a closed form too. */
typedef struct {
  int q, samples;
  double tau, width; /* the incumbent; w of the upper bound g, 0: the improvement */
  double already;    /* E b, or the upper bound of the points in flight */
  double *mean, *S;  /* q; q x q: lower Cholesky factor of the covariance, column-major */
  /* Samples x q: f - mean; samples: weights; tau + b, or the largest bound in flight. */
  double *f, *weight, *target;
  double *u, *m, *log_gain, *d_mean, *d_m, *d_sd; /* scratch: 2 q; samples each */
} Joint;

/* ---- samples of the values in flight --------------------------------------------------------- */

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
static PetscErrorCode prepare(Joint *joint, double diagonal, RgRandom *draws, RgFailure *failure)
{
  const int q = joint->q;

  for (int l = 0; l < q; l++) joint->S[(size_t)l * (q + 1)] += JITTER * diagonal;
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', q, joint->S, q)) {
    rg_failure_set(failure, "the covariance of the %d points in flight has no Cholesky factor", q);
    return 0;
  }
  if (q == 1) PetscCall(quadrature(joint));
  else PetscCall(draw(joint, draws));
  /* Set each sample's target, which a new point must exceed: the best value or the largest bound of
     the points in flight. already: the mean of the targets. */
  const double w = joint->width, base = w > 0 ? 0 : joint->tau;
  joint->already = 0;
  for (int s = 0; s < joint->samples; s++) {
    double b = w > 0 ? -INFINITY : 0;
    for (int l = 0; l < joint->q; l++) {
      const double f = joint->f[(size_t)s * joint->q + l];
      b = fmax(b, joint->mean[l] + (w > 0 ? w * fabs(f) : f) - base);
    }
    joint->target[s] = base + b;
    joint->already += joint->weight[s] * b;
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
static double value_at(Joint *joint, double mean, double variance, const double *c, double *slope)
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

/* An RgMomentFunction. */
static PetscErrorCode values_of(RgMoments *at, int m, double *value, bool slopes)
{
  Joint *joint = at->closure;
  const int q = joint->q;
  double *c, *slope;

  PetscCall(PetscMalloc2(q, &c, 2 + q, &slope));
  for (int j = 0; j < m; j++) {
    for (int l = 0; l < q; l++) c[l] = at->C[(size_t)l * m + j];
    value[j] = value_at(joint, at->mean[j], at->variance[j], c, slopes ? slope : NULL);
    if (!slopes) continue;
    at->d_mean[j] = slope[0];
    at->d_variance[j] = slope[1];
    for (int l = 0; l < q; l++) at->d_C[(size_t)l * m + j] = slope[2 + l];
  }
  return PetscFree2(c, slope);
}

/* Maximise over one more point beside at least one in flight. value: the logarithm of what it adds.
   O(q^2 + q samples) per value beside those of the posterior. */
static PetscErrorCode acquire(RgAlgorithm *algorithm, int t, Joint *joint, const RgSearch *search,
                              RgQuery *query, double *value, RgFailure *failure)
{
  RgModel *model = algorithm->state;
  RgRandom draws = rg_algorithm_stream_at(algorithm, "qei", t);
  const RgPending *pending = &search->history->pending;
  const int q = joint->q = pending->n;
  const size_t n = (size_t)(q == 1 ? NODES_MOST : joint->samples);
  RgMoments moments;

  joint->samples = (int)n;
  PetscCall(
    PetscMalloc4(q, &joint->mean, (size_t)q * q, &joint->S, n * q, &joint->f, 2 * q, &joint->u));
  PetscCall(PetscMalloc7(n, &joint->weight, n, &joint->target, n, &joint->m, n, &joint->d_mean, n,
                         &joint->log_gain, n, &joint->d_m, n, &joint->d_sd));
  PetscCall(rg_moments_create(model, q, values_of, joint, &moments));
  PetscCall(rg_moments_fix(&moments, pending->x, pending->index, joint->mean));
  if (moments.covariance)
    for (int k = 0; k < q * q; k++)
      joint->S[k] = moments.covariance[k / q * moments.by_input + (size_t)pending->index[k % q]];
  else
    PetscCall(rg_posterior_covariance(&model->posterior, q, pending->x, q, pending->x, joint->S));
  PetscCall(prepare(joint, rg_kernel_diagonal(&model->kernel), &draws, failure));
  if (!failure->failed)
    PetscCall(
      rg_acquire_with(model->domain, rg_moments_function, &moments, search, query, value, failure));
  PetscCall(rg_moments_destroy(&moments));
  PetscCall(PetscFree4(joint->mean, joint->S, joint->f, joint->u));
  return PetscFree7(joint->weight, joint->target, joint->m, joint->d_mean, joint->log_gain,
                    joint->d_m, joint->d_sd);
}

/* ---- the method ----------------------------------------------------------------------------- */

/* Choose x_t = argmax of the joint upper bound of the points in flight and x. */
static PetscErrorCode ask_bound(RgAlgorithm *algorithm, int t, Joint *joint, const RgSearch *search,
                                RgQuery *query, RgFailure *failure)
{
  const Options *options = algorithm->options;
  const double beta = isnan(options->beta) ? BETA : options->beta;
  const RgAcquisition acquisition = {rg_acquisition_ucb, &(const RgUcb){sqrt(beta)}};
  double *value = &query->extra[ACQUISITION], *bound = &query->extra[IMPROVEMENT];

  joint->width = sqrt(0.5 * acos(-1.0) * beta);
  if (!search->history->pending.n)
    return rg_acquire(algorithm->state, &acquisition, search, query, bound, failure);
  PetscCall(acquire(algorithm, t, joint, search, query, value, failure));
  *bound = joint->already + exp(*value);
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  RgModel *model = algorithm->state;
  const RgSearch *search = RG_SEARCH_AT(algorithm, t, history);
  Joint joint = {.samples = options->samples};
  double *value = &query->extra[ACQUISITION];
  RgEi ei = {0.0};
  const RgAcquisition acquisition = {rg_acquisition_log_ei, &ei};

  if (options->form == UCB) return ask_bound(algorithm, t, &joint, search, query, failure);
  /* 1. Incumbent. */
  PetscCall(rg_surrogate_incumbent(options->incumbent, model, history, &ei.incumbent));
  query->extra[INCUMBENT] = joint.tau = ei.incumbent;
  /* 2. x_t = argmax q-EI of the points in flight and x. */
  if (history->pending.n) PetscCall(acquire(algorithm, t, &joint, search, query, value, failure));
  else PetscCall(rg_acquire(model, &acquisition, search, query, value, failure));
  query->extra[IMPROVEMENT] = joint.already + exp(*value);
  return 0;
}

const RgAlgorithmClass rg_algorithm_q_ei = {
  RG_ABOUT("q_ei", "q-EI", 1, "x_t = argmax E[max(0, max f - tau)] over the points in flight and x",
           "Ginsbourger, Le Riche, Carraro (2010), Kriging is well-suited to parallelize "
           "optimization; Snoek, Larochelle, Adams (2012), NeurIPS"),
  .traits = RG_OWN_PENDING,
  .check = check,
  RG_OPTIONS(Options, params),
  RG_ASK(ask, columns),
  RG_SURROGATE_METHODS,
};
