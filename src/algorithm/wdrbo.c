/* wdrbo: Wasserstein distributionally robust Bayesian optimisation.

   x_t = argmax_x E_{c~P}[U(x, c)] - eps_t L(x), U = mu + width sd; P is the centre of the ambiguity
   set (the contexts observed so far, or given laws), eps_t its radius, and L(x) the largest |dU/dc|
   over a sample of contexts drawn once per trial, or Lemma 3's bound for all x. Radius and slopes
   are in units of the context box. With `measure: rho` the expectation is replaced by rho, and
   eps_t is multiplied by K, |rho_P - rho_Q| <= K L W1(P, Q). Source: Micheli, Balta, Tsiamis,
   Lygeros (2025), arXiv:2503.20341; wdrbo 2.3 to 2.5, 2.7.
   Deviations: the penalty's gradient is exact; the released code takes it as zero
   (penalty_gradient: none). The radius of the theory is at most the diameter of the box.
   Cost per acquisition value: see gp/context/context_posterior.h, M = contexts observed and
   samples.
   Needs contexts drawn by nature. Revision 8. */
#include "algorithm/contextual.h"
#include "gp/kernel/family.h"
#include "maths/blas.h"
#include "maths/design.h"
#include "robust/wasserstein.h"

#include <math.h>

enum { RANDOM, DENSE, KERNEL };
enum { EXACT, NONE };
enum { FIXED, THEORY };

typedef struct {
  RgWassersteinOptions ball;
  int lipschitz, samples, screening, gradient;
  int beta;
  double norm, deviation, delta, kappa; /* constants of the theory; NaN: auto */
} Options;

static const char *const lipschitzes[] = {"random", "dense", "kernel", NULL};
static const char *const gradients[] = {"exact", "none", NULL};

static const char *const betas[] = {"fixed", "theory", NULL};

static const RgParam params[] = {
  RG_WASSERSTEIN_PARAMS(Options, ball),
  RG_CONTEXTUAL_MEASURE(Options, ball.centre.common),
  RG_ENTRY("beta", CHOICE, Options, beta, int, "fixed", RG_LATER, 0, betas, "Bbar_t",
           "multiple of the posterior deviation: the width, or that of equation 7, R/sqrt(lambda) "
           "sqrt(log det(I + K/lambda) + 2 log(1/delta)) + B, lambda the model's noise variance"),
  RG_ENTRY("norm", REAL, Options, norm, double, "auto", 0, 1e6, rg_param_later, "B",
           "norm of f for the theory (beta, schedule), model units; auto: 1"),
  RG_ENTRY("noise_deviation", REAL, Options, deviation, double, "auto", 0, 1e6, rg_param_later, "R",
           "sub-Gaussian constant of the noise for the theory, model units; auto: "
           "sqrt(lambda)"),
  RG_ENTRY("delta", REAL, Options, delta, double, "auto", RG_POSITIVE, 1, rg_param_later, "delta",
           "probability that each bound of the theory may fail; auto: 0.1"),
  RG_ENTRY("covering", REAL, Options, kappa, double, "auto", 0, 1e6, rg_param_later, "kappa",
           "constant of the covering number in Lemma 7, which the paper leaves open; auto: 1"),
  RG_CHOICE(
    "lipschitz", Options, lipschitz, "random", lipschitzes, "L",
    "contexts of the slopes: independent uniform ones, or equispaced (one context), Sobol (more); "
    "or none: kernel, (Bbar_t + width) L_k as in Lemma 3, the same for all x"),
  RG_INT("samples", Options, samples, "auto", 1, 1e6, "",
         "how many of them; auto: 100 random, 1025 equispaced, 1024 Sobol, 0 with kernel"),
  RG_SCREENING_PARAM(Options, "; not where they are equispaced"),
  RG_CHOICE("penalty_gradient", Options, gradient, "exact", gradients, "",
            "of eps_t L(x) in the search for x_t; none: counts as 0 (as released)"),
  {0},
};

typedef struct {
  RgModel model; /* first, see surrogate.h */
  int n;
  double *samples; /* n x dim_c, owned */
} State;

static int sample_count(const Options *options, int dim)
{
  if (options->lipschitz == KERNEL) return 0;
  if (options->samples > 0) return options->samples;
  if (options->lipschitz == RANDOM) return 100;
  return dim == 1 ? 1025 : 1024;
}

static double given(double value, double fallback)
{
  return isnan(value) ? fallback : value;
}

/* Compute log det(I + K/lambda) of the data. */
static PetscErrorCode log_determinant(const RgModel *model, const RgHistory *history,
                                      double *log_det)
{
  const int n = history->n, dim_x = history->dim, dim = model->kernel.dim;
  double *Z, *K;

  *log_det = 0;
  if (!n) return 0; /* a given centre needs no data */
  PetscCall(PetscMalloc2((size_t)n * dim, &Z, (size_t)n * n, &K));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < dim; j++)
      Z[(size_t)i * dim + j] = j < dim_x ? history->x[(size_t)i * dim_x + j]
                                         : history->c[(size_t)i * (dim - dim_x) + j - dim_x];
  PetscCall(rg_kernel_matrix(&model->kernel, n, Z, K));
  for (size_t i = 0; i < (size_t)n * n; i++) K[i] /= model->noise_variance;
  for (int i = 0; i < n; i++) K[(size_t)i * n + i] += 1;
  PetscCheck(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, K, n) == 0, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "I + K/lambda has no Cholesky factor");
  for (int i = 0; i < n; i++) *log_det += 2 * log(K[(size_t)i * n + i]);
  return PetscFree2(Z, K);
}

/* Bbar_t, the theorems' width, and their radius of n contexts, at most the diameter of the box. */
static PetscErrorCode theory_of(const RgAlgorithm *algorithm, const RgHistory *history,
                                double *norm, double *radius, RgFailure *failure)
{
  const Options *o = algorithm->options;
  const RgModel *model = algorithm->state;
  const RgDomain *domain = algorithm->setup.domain;
  const double lambda = model->noise_variance;
  const RgWassersteinTheory theory = {.lambda = lambda,
                                      .R = given(o->deviation, sqrt(lambda)),
                                      .B = given(o->norm, 1),
                                      .delta = given(o->delta, 0.1),
                                      .dim_x = domain->design.dim,
                                      .dim_c = domain->context.dim,
                                      .width_x = sqrt(domain->design.dim),
                                      .width_c = sqrt(domain->context.dim),
                                      .kappa = given(o->kappa, 1)};
  double log_det = 0;

  if (!(lambda > 0))
    rg_failure_set(failure, "wdrbo: the theory divides by the model's noise variance, which is 0");
  if (failure->failed) return 0;
  PetscCall(log_determinant(model, history, &log_det));
  *norm = rg_wasserstein_norm(&theory, log_det);
  if (o->ball.schedule == RG_RADIUS_THEORY)
    *radius = fmin(rg_wasserstein_radius(&theory, history->n, *norm), theory.width_c);
  return 0;
}

/* A ball changes some measures without a bound that the slopes of U give. */
static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;
  const char *text = o->ball.centre.common.measure;
  const int before = diagnostics->n;
  RgMeasure measure;

  PetscCall(rg_wasserstein_check(options, domain, place, diagnostics));
  if (o->lipschitz == KERNEL && o->samples > 0)
    rg_diagnostics_add(diagnostics, place,
                       "'samples' is for slopes at contexts, and 'lipschitz: kernel' takes none");
  if (!text || diagnostics->n > before) return 0;
  PetscCall(rg_measure_create(text, &measure));
  if (isnan(rg_measure_transport(&measure)))
    rg_diagnostics_add(diagnostics, place,
                       "'measure': a Wasserstein ball changes '%s' by more than a multiple of the "
                       "slope of U; accepted are expectation, cvar, mad, their sums, clip and tanh",
                       text);
  return rg_measure_destroy(&measure);
}

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const int dim = algorithm->setup.domain->context.dim, n = sample_count(options, dim);
  RgRandom random = rg_algorithm_stream_at(algorithm, "lipschitz", 0);

  PetscCall(rg_contextual_create(algorithm));
  state->n = n;
  PetscCall(PetscMalloc1((size_t)n * dim, &state->samples));
  if (options->lipschitz == RANDOM) PetscCall(rg_design_uniform(&random, n, dim, state->samples));
  else if (dim > 1) PetscCall(rg_design_sobol(&random, n, dim, state->samples));
  else
    for (int i = 0; i < n; i++) state->samples[i] = n > 1 ? (double)i / (n - 1) : 0.5;
  return 0;
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscCall(PetscFree(state->samples));
  return rg_model_destroy(&state->model);
}

/* Return the criterion over the contexts of the centre and as many slopes as `penalised` has. */
static RgContextual criterion(RgContextPenalised *penalised, const double *contexts)
{
  const int n = penalised->centre.size, slopes = penalised->n_slopes;

  if (!slopes) return (RgContextual){n, 0, contexts, rg_ucb_expectation, &penalised->centre, NULL};
  return (RgContextual){n + slopes, slopes, contexts, rg_ucb_penalised, penalised, NULL};
}

/* L of Lemma 3. */
static double kernel_slope(const RgAlgorithm *algorithm, double norm, double width,
                           RgFailure *failure)
{
  const RgKernel *kernel = &((const RgModel *)algorithm->state)->kernel;
  const double slope = rg_kernel_slope(kernel, algorithm->setup.domain->design.dim);

  if (isnan(slope))
    rg_failure_set(failure, "wdrbo: the paths of the kernel '%s' have no derivative",
                   rg_kernel_without_slope(kernel)->name);
  return (norm + width) * slope;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const int dim = algorithm->setup.domain->context.dim;
  RgContextCentre centre;
  RgContextPenalised penalised, coarse;
  RgContextualOptions how = options->ball.centre.common;
  RgMeasure measure;
  const RgMeasure *rho;
  double *contexts, norm = NAN, radius = NAN, penalty = 0;

  /* 1. Centre and radius; contexts of the centre first, then those of the slopes. */
  if (options->beta == THEORY || options->ball.schedule == RG_RADIUS_THEORY || !state->n)
    PetscCall(theory_of(algorithm, history, &norm, &radius, failure));
  if (options->beta == THEORY) how.width = norm;
  if (!state->n) penalty = kernel_slope(algorithm, norm, how.width, failure);
  if (!failure->failed) PetscCall(rg_centre_create(algorithm, t, history, &centre, failure));
  if (failure->failed) return 0;
  if (isnan(radius))
    PetscCall(rg_wasserstein_ball_radius(&options->ball, &centre, t, &radius, failure));
  if (failure->failed) return rg_centre_destroy(&centre);
  PetscCall(rg_contextual_measure(options, &measure, &rho));
  penalised = (RgContextPenalised){.centre = {centre.n, centre.weight, rho},
                                   .radius = rho ? radius * rg_measure_transport(rho) : radius,
                                   .n_slopes = state->n,
                                   .dim_c = dim,
                                   .flat_penalty = options->gradient == NONE};
  coarse = penalised;
  if (options->lipschitz != DENSE || dim > 1)
    coarse.n_slopes = PetscMin(options->screening, state->n);
  PetscCall(PetscMalloc1((size_t)(centre.n + state->n) * dim, &contexts));
  PetscCall(PetscArraycpy(contexts, centre.contexts, (size_t)centre.n * dim));
  PetscCall(
    PetscArraycpy(contexts + (size_t)centre.n * dim, state->samples, (size_t)state->n * dim));
  /* 2. x_t = argmax E U - eps_t L. */
  const RgContextual bound = criterion(&penalised, contexts), rough = criterion(&coarse, contexts);
  PetscCall(rg_contextual_acquire(algorithm, t, history, &how, &bound, &rough, query, failure));
  query->extra[RG_UCB_ACQUISITION] -= penalised.radius * penalty;
  query->extra[RG_BALL_RADIUS] = radius;
  PetscCall(PetscFree(contexts));
  PetscCall(rg_measure_destroy(&measure));
  return rg_centre_destroy(&centre);
}

/* b: the radius around a given centre if it needs no data; Theorem 5 applies to this case. No
   theorem is about a radius that shrinks with the data around a given centre, other measures, and
   contexts that are forgotten. The width of the theory depends on the data. */
static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *o = closure;
  const RgWassersteinOptions *ball = &o->ball;
  const double width = ball->centre.common.width;
  const bool given_laws = ball->centre.laws.n > 0;
  const bool known = rg_wasserstein_ball_terms.has_instead(o); /* centre and radius */
  const bool forgets = !given_laws && rg_forgets(&ball->centre.forgetting);
  const bool none = (given_laws && !known) || forgets || ball->centre.common.measure;
  const bool radius = given_laws || ball->schedule == RG_RADIUS_THEORY;
  RgFailure failure = {0};
  double eps = NAN;

  if (known)
    PetscCallVoid(rg_wasserstein_ball_radius(ball, &(RgContextCentre){0}, t, &eps, &failure));
  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT,
                           .a = o->beta == THEORY ? NAN : width * width,
                           .b = failure.failed ? NAN : eps,
                           .rule = none ? NULL : "wdrbo",
                           .delta = o->beta == THEORY ? given(o->delta, 0.1) : NAN,
                           .own = o->beta == THEORY && radius,
                           .constant = {given(o->norm, 1), o->deviation, given(o->kappa, 1)}};
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  const int centre = rg_centre_size(options, size->n), slopes = sample_count(options, 1);
  const double table = (1.0 + size->dim_c) * sample_count(options, size->dim_c);

  cost->contexts = centre + 2 * slopes; /* each value has one slope */
  cost->bytes =
    rg_centre_bytes(options, size->dim_c, size->n) + rg_context_table_bytes(table, size->n);
}

const RgAlgorithmClass rg_algorithm_wdrbo = {
  RG_ABOUT("wdrbo", "WDRBO", 8,
           "x_t = argmax of the average of U = mu + width sd over the contexts observed, minus\n"
           "eps_t times the Lipschitz constant of U(x, .)",
           "Micheli, Balta, Tsiamis, Lygeros (2025), arXiv:2503.20341"),
  RG_WASSERSTEIN_NEEDS,
  .check = check,
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  .confidence = confidence,
  RG_STATE(State, create, destroy),
  RG_ASK(ask, rg_ball_columns),
  RG_MODEL_AND_SEARCH,
};
