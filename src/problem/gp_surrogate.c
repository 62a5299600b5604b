/* gp_surrogate: the posterior mean of a Gaussian process trained on thousands of runs of a
   simulator, as a cheap stand-in for it.

   f(x) = mean + sum_i alpha_i k(x, x_i), alpha = (K + noise I)^-1 (y - mean); outputs are
   standardised before the training and transformed back after it. The runs come from a table
   (path: rows of equal inputs are averaged; the box is that of their inputs, or lower and
   upper). Without a path they are synthetic: scrambled Sobol points of the unit cube and a path
   of the prior (random Fourier features) with noise, both from the instance's stream. fit: ml
   maximises the marginal likelihood from the given hyperparameters. f itself has no noise.
   Training costs n^3 operations per evaluation of the likelihood and n^3/3 for the weights; a
   team of ranks takes the matrices (ranks_per_trial). It happens once per process and instance;
   an evaluation costs O(n d). */
#include <math.h>

#include "maths/blas.h"
#include "base/grow.h"
#include "maths/design.h"
#include "gp/kernel/family.h"
#include "gp/path/feature_path.h"
#include "gp/model/fit.h"
#include "problem/pool.h"

enum { FEATURES = 1000, BATCH = 64, MOST_INPUTS = 256 };

typedef struct {
  RgPoolSource pool; /* rows of equal inputs are averaged */
  int runs, dim, kernel, fit, fit_iterations;
  RgReals length_scale;
  double variance, noise;
} Options;

static const char *const fits[] = {"fixed", "ml", NULL};

static const RgParam params[] = {
  RG_PATH("path", RgPoolSource, path, "auto", "",
          "CSV file of the runs, with a header line; auto: synthetic runs"),
  RG_POOL_COLUMNS,
  RG_REALS("lower", RgPoolSource, lower, "auto", -1e100, 1e100, "",
           "of the box, one or one per input; auto: the column's smallest"),
  RG_REALS("upper", RgPoolSource, upper, "auto", -1e100, 1e100, "",
           "of the box, one or one per input; auto: the column's largest"),
  RG_INT("runs", Options, runs, "1000", 2, 1e6, "n", "number of synthetic runs"),
  RG_INT("dim", Options, dim, "3", 1, RG_SOBOL_MAX_DIM, "d", "coordinates of synthetic runs"),
  RG_CHOICE("kernel", Options, kernel, "matern52", rg_kernel_family_names, "k",
            "family of the covariance function"),
  RG_REALS("length_scale", Options, length_scale, "0.2", RG_POSITIVE, 1e6, "ell",
           "in the box scaled to the unit cube, one or one per input; start of the fit"),
  RG_REAL("variance", Options, variance, "1", RG_POSITIVE, 1e12, "sigma_f^2",
          "signal variance, of standardised outputs; start of the fit"),
  RG_REAL("noise", Options, noise, "0.01", 1e-10, 1e12, "sigma^2",
          "noise variance, of standardised outputs; start of the fit"),
  RG_CHOICE("fit", Options, fit, "fixed", fits, "",
            "hyperparameters: fixed, or maximum marginal likelihood with a length scale per input"),
  RG_INT("fit_iterations", Options, fit_iterations, "30", 1, 1e4, "",
         "largest number of iterations of L-BFGS-B"),
  {0},
};

/* The result of a training. */
typedef struct {
  RgKernel kernel;
  int n, dim;
  double *X, *alpha;         /* n x dim in the unit cube; n */
  double mean, shift, scale; /* constant mean, standardised; mean and deviation of the outputs */
} Trained;

/* ---- the table of runs ---------------------------------------------------------------------- */

/* The table; empty if it can't be read. */
static PetscErrorCode read_pool(const Options *o, RgPool *pool)
{
  RgText mistake = {0};

  PetscCall(rg_pool_read(&o->pool, pool, &mistake));
  return rg_text_clear(&mistake);
}

static PetscErrorCode check(const RgProblemClass *class, const void *options, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;
  const int before = diagnostics->n;

  if (!o->pool.path && !rg_kernel_classes[o->kernel]->spectrum)
    rg_diagnostics_add(diagnostics, place,
                       "gp_surrogate: the kernel '%s' has no spectrum to draw synthetic runs from",
                       rg_kernel_family_names[o->kernel]);
  if (o->pool.path) PetscCall(rg_pool_source_check(class->name, &o->pool, place, diagnostics));
  if (diagnostics->n > before) return 0;
  RgPool pool = {.dim = o->dim};
  bool constant = false;
  if (o->pool.path) PetscCall(read_pool(o, &pool));
  for (int j = 0; o->pool.path && j < pool.dim; j++)
    constant = constant || !(pool.lower[j] < pool.upper[j]);
  const int dim = pool.dim;
  PetscCall(rg_pool_destroy(&pool));
  if (constant || !dim)
    rg_diagnostics_add(diagnostics, place,
                       "gp_surrogate: an input column is constant; name those that vary in "
                       "'inputs', or give 'lower' and 'upper'");
  else if (o->length_scale.n != 1 && o->length_scale.n != dim)
    rg_diagnostics_add(diagnostics, place,
                       "gp_surrogate: length_scale has %d values; 1 or %d, one per input, are "
                       "accepted",
                       o->length_scale.n, dim);
  return 0;
}

/* The options without the path, and the data. */
static PetscErrorCode identity(const RgProblemClass *class, const void *options, RgText *text)
{
  const RgPoolSource *from = options;
  Options o = *(const Options *)options;

  o.pool.path = NULL;
  PetscCall(rg_params_canonical(params, &o, text));
  if (!from->path) return 0;
  PetscCall(rg_text_add(text, ","));
  return rg_pool_source_identity(from, text);
}

static PetscErrorCode domain(const RgProblemClass *class, const void *options, RgDomain *out)
{
  const Options *o = options;
  RgPool pool = {0};

  if (o->pool.path) PetscCall(read_pool(o, &pool));
  if (pool.size) PetscCall(rg_space_box(&out->design, pool.dim, pool.lower, pool.upper));
  else PetscCall(rg_space_cube(&out->design, o->pool.path ? 1 : o->dim, 0, 1));
  return rg_pool_destroy(&pool);
}

static void cost_of(const void *options, RgProblemCost *cost)
{
  const Options *o = options;
  RgPool pool;

  cost->order = o->runs;
  if (!o->pool.path) return;
  cost->order = read_pool(o, &pool) ? 0 : pool.size;
  if (cost->order > 0 && rg_pool_destroy(&pool)) cost->order = 0;
}

/* ---- runs ----------------------------------------------------------------------------------- */

static PetscErrorCode read_runs(RgProblem *problem, Trained *t, double **y, RgFailure *failure)
{
  RgText mistake = {0};
  RgPool pool;

  PetscCall(rg_pool_read(problem->options, &pool, &mistake));
  if (mistake.length || pool.dim != t->dim)
    rg_failure_set(failure, "gp_surrogate: %s",
                   mistake.length ? mistake.data : "its table has changed");
  PetscCall(rg_text_clear(&mistake));
  t->n = failure->failed ? 0 : pool.size;
  PetscCall(PetscMalloc1((size_t)t->n * t->dim, &t->X));
  PetscCall(PetscMalloc1(t->n, y));
  for (int i = 0; i < t->n; i++) {
    rg_space_to_unit(&problem->domain.design, pool.points + (size_t)i * t->dim,
                     t->X + (size_t)i * t->dim);
    (*y)[i] = pool.value[i];
  }
  return rg_pool_destroy(&pool);
}

static PetscErrorCode draw_runs(RgProblem *problem, Trained *t, double **y)
{
  const Options *o = problem->options;
  RgRandom points = rg_stream_at(&problem->stream, 0);
  RgRandom path = rg_stream_at(&problem->stream, 1);
  RgRandom noise = rg_stream_at(&problem->stream, 2);
  RgFeaturePath truth;
  double *e;

  t->n = o->runs;
  PetscCall(PetscMalloc1((size_t)t->n * t->dim, &t->X));
  PetscCall(PetscMalloc1(t->n, y));
  PetscCall(PetscMalloc1(t->n, &e));
  PetscCall(rg_design_sobol(&points, t->n, t->dim, t->X));
  PetscCall(rg_feature_path_create(t->dim, FEATURES, &truth));
  PetscCall(rg_feature_path_draw(&truth, &t->kernel, &path));
  PetscCall(rg_feature_path_evaluate(&truth, t->n, t->X, *y, NULL));
  rg_random_normals(&noise, (size_t)t->n, e);
  for (int i = 0; i < t->n; i++) (*y)[i] += sqrt(o->noise) * e[i];
  PetscCall(rg_feature_path_destroy(&truth));
  return PetscFree(e);
}

/* ---- training ------------------------------------------------------------------------------- */

/* Maximum marginal likelihood. The given hyperparameters stay if no finite value is found. */
static PetscErrorCode fit(RgTeam *team, const Options *o, Trained *t, const double *y,
                          double *noise)
{
  const RgFitOptions options = {.length_scale_lower = 0.01,
                                .length_scale_upper = 10,
                                .variance_lower = 0.01,
                                .variance_upper = 100,
                                .learn_noise = true,
                                .noise_lower = 1e-6,
                                .noise_upper = 1,
                                .learn_mean = true,
                                .max_iterations = o->fit_iterations,
                                .tolerance = 1e-3};
  RgFitWork work = {.team = team};
  RgFitReport report;

  PetscCall(rg_fit_with(&work, &t->kernel, noise, &t->mean, &(RgData){t->n, t->X, y}, &options,
                        NULL, &report));
  return rg_fit_work_destroy(&work);
}

static PetscErrorCode weigh(RgTeam *team, Trained *t, const double *y, double noise,
                            RgFailure *failure)
{
  RgPosterior posterior;

  PetscCall(rg_posterior_create(&t->kernel, noise, t->mean, 1, &posterior));
  PetscCall(rg_posterior_use_team(&posterior, team, t->n));
  PetscCall(rg_posterior_set(&posterior, NULL, noise, t->mean, t->n, t->X, y, failure));
  PetscCall(PetscMalloc1(t->n, &t->alpha));
  for (int i = 0; i < t->n; i++) t->alpha[i] = y[i] - t->mean;
  if (!failure->failed) PetscCall(rg_posterior_solve_many(&posterior, 1, t->alpha));
  return rg_posterior_destroy(&posterior);
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  const bool each = o->fit == 1 || o->length_scale.n > 1;
  double noise = o->noise, *y = NULL, scales[MOST_INPUTS];
  Trained *t;

  PetscCall(PetscNew(&t));
  problem->data = t;
  t->dim = problem->domain.design.dim;
  if (t->dim > MOST_INPUTS) {
    rg_failure_set(failure, "gp_surrogate: %d inputs; at most %d", t->dim, MOST_INPUTS);
    return 0;
  }
  for (int j = 0; j < t->dim; j++)
    scales[j] = o->length_scale.values[o->length_scale.n > 1 ? j : 0];
  PetscCall(
    rg_kernel_create((RgKernelFamily)o->kernel, t->dim, each, scales, o->variance, &t->kernel));
  if (o->pool.path) PetscCall(read_runs(problem, t, &y, failure));
  else PetscCall(draw_runs(problem, t, &y));
  if (!failure->failed) {
    double squares = 0; /* of standardised outputs */
    for (int i = 0; i < t->n; i++) t->shift += y[i] / t->n;
    for (int i = 0; i < t->n; i++) squares += (y[i] - t->shift) * (y[i] - t->shift) / t->n;
    t->scale = squares > 0 ? sqrt(squares) : 1;
    for (int i = 0; i < t->n; i++) y[i] = (y[i] - t->shift) / t->scale;
    if (o->fit == 1) PetscCall(fit(problem->team, o, t, y, &noise));
    PetscCall(weigh(problem->team, t, y, noise, failure));
  }
  return PetscFree(y);
}

/* ---- f -------------------------------------------------------------------------------------- */

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  const Trained *t = problem->data;
  double *Z, *K;

  PetscCall(PetscMalloc2((size_t)BATCH * t->dim, &Z, (size_t)BATCH * t->n, &K));
  for (int first = 0; first < m; first += BATCH) {
    const int count = PetscMin(BATCH, m - first);
    for (int j = 0; j < count; j++)
      rg_space_to_unit(&problem->domain.design, points[first + j].x, Z + (size_t)j * t->dim);
    PetscCall(rg_kernel_cross(&t->kernel, t->n, t->X, count, Z, K));
    cblas_dgemv(CblasRowMajor, CblasTrans, t->n, count, t->scale, K, count, t->alpha, 1, 0.0,
                f + first, 1);
    for (int j = 0; j < count; j++) f[first + j] += t->shift + t->scale * t->mean;
  }
  return PetscFree2(Z, K);
}

static PetscErrorCode gradient(RgProblem *problem, const RgPoint *point, double *out)
{
  const Trained *t = problem->data;
  const RgSpace *box = &problem->domain.design;
  double *z;

  PetscCall(PetscMalloc1(t->dim, &z));
  rg_space_to_unit(box, point->x, z);
  PetscCall(rg_kernel_cross_gradient(&t->kernel, t->n, t->X, 1, z, t->alpha, out));
  for (int j = 0; j < t->dim; j++) out[j] *= t->scale / (box->upper[j] - box->lower[j]);
  return PetscFree(z);
}

static PetscErrorCode destroy(RgProblem *problem)
{
  Trained *t = problem->data;

  PetscCall(rg_kernel_destroy(&t->kernel));
  return RG_FREE(&t->X, &t->alpha);
}

const RgProblemClass rg_problem_gp_surrogate = {
  RG_ABOUT("gp_surrogate", "Surrogate of a simulator", 1,
           "posterior mean of a Gaussian process trained on a table of runs, or on synthetic\n"
           "ones, over the box of their inputs",
           "surrogates of simulators as in Cakmak et al. 2020, Bayesian optimization of risk "
           "measures"),
  RG_OPTIONS(Options, params),
  .traits = RG_PROBLEM_RANDOM | RG_PROBLEM_SHARED,
  .source = &(const RgProblemSource){.identity = identity},
  RG_DOMAIN(domain, check),
  .cost = cost_of,
  .create = create,
  .evaluate = evaluate,
  .gradient = gradient,
  .destroy = destroy,
};
