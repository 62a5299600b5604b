/* ts: Thompson sampling.

   Draw one path g from the posterior; x_t = argmax_x g(x).
   Source: Thompson (1933); as compared by Takeno, Inatsu, Karasuyama (2024), arXiv:2409.00979:
   irgp_ucb 3.5. Paths: irgp_ucb 3.4 (acquisition/path_sampler.h).
   `weights: uniform` is the baseline of a released program (Alvi et al. 2019, asynchronous-BO): on
   points z_1, z_2, ... the path is mu - L u, L the Cholesky factor of the posterior covariance, u
   uniform in (0, 1) in place of normal. It is biased: at z_i it lies sum_j L_ij/2 below the mean
   (the program minimises and has it above), with a deviation of sqrt(sum_j L_ij^2/12). The points
   are those of a finite design; on a box uniform ones (`path_raw_samples`) and the evaluated
   designs.
   Deviations: unless `paths` says otherwise, paths are drawn from the exact joint posterior on
   finite sets, and have the exact update on boxes; the paper draws weights of random features.
   Where points may be queried once only, the maximum is over the points left.
   Cost per iteration: finite set O(n^2 + N sum of levels) on grids, O(n^2 + n N + N^2) elsewhere;
   box O(n M + n^2) for M features (O(n^2 M) with `paths: rff`), O((M + n) d) per value of the path;
   plus the model. With uniform weights O(N^3) for N points.
   Needs no context. Revision 2. */
#include "algorithm/pareto.h"
#include "algorithm/sampling.h"
#include "gp/path/sample_path.h"
#include "gp/posterior/set/set_posterior.h"
#include "maths/blas.h"

#include <math.h>

typedef struct {
  RgPathOptions paths; /* first, see sampling.h */
  int weights;
} Options;

enum { NORMAL, UNIFORM };

static const RgParam params[] = {
  RG_PATH_PARAMS(Options),
  RG_ENTRY("weights", CHOICE, Options, weights, int, "normal", RG_LATER, 0, rg_path_weights, "",
           "uniform: weights in (0, 1) in place of normal ones, a biased path, as a released "
           "program has it"),
  {0},
};

#define POINTS_MOST 5000 /* with uniform weights */

static PetscErrorCode check(const void *closure, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *options = closure;
  const bool finite = rg_space_is_finite(&domain->design);
  const int points = finite ? domain->design.size : options->paths.raw_samples;

  PetscCall(rg_path_options_check(closure, domain, place, diagnostics));
  if (options->weights == UNIFORM && options->paths.kind != RG_PATHS_AUTO)
    rg_diagnostics_add(diagnostics, place,
                       "'weights: uniform' draws paths in its own way: "
                       "leave 'paths' out");
  if (options->weights == UNIFORM && points > POINTS_MOST)
    rg_diagnostics_add(diagnostics, place,
                       "'weights: uniform' factors a matrix of %d points, at most %d%s", points,
                       POINTS_MOST, finite ? "" : " ('path_raw_samples')");
  return 0;
}

enum { PATH_MAXIMUM };

static const RgRecordColumn columns[] = {
  [PATH_MAXIMUM] = {"path_maximum", "value of the sampled path at the query, model units"}, {0}};

/* ---- uniform weights ------------------------------------------------------------------------- */

/* The posterior at candidates. */
typedef struct {
  RgModel *model;
  const RgCandidates *candidates;
} Joint;

static PetscErrorCode joint_covariance(const void *closure, double *S)
{
  const Joint *joint = closure;
  const RgCandidates *c = joint->candidates;
  RgPosterior *posterior = &joint->model->posterior;
  RgSetPosterior *set;

  if (!rg_space_is_finite(c->design))
    return rg_posterior_covariance(posterior, c->n, c->X, c->n, c->X, S);
  PetscCall(rg_posterior_get_set(posterior, &set));
  for (int i = 0; i < c->n; i++)
    PetscCall(rg_set_posterior_covariance(set, i, S + (size_t)i * c->n));
  return 0;
}

/* Choose x_t = argmax of mu - L u over the candidates. */
static PetscErrorCode best_candidate(RgModel *model, const RgCandidates *c, RgRandom *random,
                                     RgQuery *query, double *value, RgFailure *failure)
{
  const size_t n = (size_t)c->n, dim = (size_t)c->design->dim;
  const Joint joint = {model, c};
  double *L, *u, jitter = 0;
  int best = -1;

  PetscCall(PetscMalloc2(n * n, &L, n, &u));
  PetscCall(rg_factor_covariance(c->n, joint_covariance, &joint, rg_kernel_diagonal(&model->kernel),
                                 L, &jitter, failure));
  rg_random_uniforms(random, n, u);
  if (!failure->failed)
    cblas_dtrmv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, c->n, L, c->n, u, 1);
  for (int i = 0; i < c->n && !failure->failed; i++) {
    const double g = c->mean[i] - u[i];
    if ((c->excluded && c->excluded[i]) || (best >= 0 && g <= *value)) continue;
    best = i;
    *value = g;
  }
  if (best < 0 && !failure->failed)
    rg_failure_set(failure, "all %d points of the domain have been queried", c->n);
  if (best >= 0) PetscCall(PetscArraycpy(query->x, c->X + (size_t)best * dim, dim));
  if (best >= 0 && rg_space_is_finite(c->design)) query->index = best;
  return PetscFree2(L, u);
}

static PetscErrorCode ask_uniform(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                  RgQuery *query, RgFailure *failure)
{
  const Options *options = algorithm->options;
  const RgSpace *design = &algorithm->setup.domain->design;
  RgRandom random = rg_algorithm_stream_at(algorithm, "uniform", t);
  const int raw = options->paths.raw_samples >= 0 ? options->paths.raw_samples
                                                  : algorithm->setup.maximiser->raw_samples;
  const int n = PetscMin(raw, POINTS_MOST) + history->n;
  const size_t dim = (size_t)design->dim;
  RgCandidates candidates;
  double *X;

  PetscCall(PetscMalloc1((size_t)n * dim, &X));
  rg_random_uniforms(&random, (size_t)(n - history->n) * dim, X);
  PetscCall(PetscArraycpy(X + (size_t)(n - history->n) * dim, history->x, history->n * dim));
  PetscCall(
    rg_candidates_create(algorithm, rg_surrogate_model(algorithm), history, n, X, &candidates));
  PetscCall(best_candidate(rg_surrogate_model(algorithm), &candidates, &random, query,
                           &query->extra[PATH_MAXIMUM], failure));
  PetscCall(rg_candidates_destroy(&candidates));
  return PetscFree(X);
}

/* ---- the method ------------------------------------------------------------------------------ */

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  if (((const Options *)algorithm->options)->weights == UNIFORM)
    return ask_uniform(algorithm, t, history, query, failure);
  /* x_t = argmax g of one path g. */
  return rg_sampling_ask_path(algorithm, t, history, query, &query->extra[PATH_MAXIMUM], failure);
}

static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *options = closure;

  *law =
    rg_sampling_law(&options->paths, domain, options->weights == NORMAL ? "sampled_width" : NULL);
}

const RgAlgorithmClass rg_algorithm_ts = {
  RG_ABOUT("ts", "TS", 2, "x_t = argmax g(x), g a sample path from the posterior",
           "Thompson (1933); Russo, Van Roy (2014), doi:10.1287/moor.2014.0650"),
  .traits = RG_MATRIX_FREE | RG_NO_WIDTH,
  RG_OPTIONS(Options, params),
  .cost = rg_sampling_one_path,
  RG_ASK(ask, columns),
  .confidence = confidence,
  .check = check,
  RG_SAMPLING_STATE,
};
