/* wdrbo: Wasserstein distributionally robust Bayesian optimisation.

   x_t = argmax_x E_{c~P}[U(x, c)] - eps_t L(x), U = mu + width sd; P is the centre of the ambiguity
   set (the contexts observed so far, or given laws), eps_t its radius, and L(x) the largest |dU/dc|
   over a sample of contexts drawn once per trial. Radius and slopes are in units of the context
   box. Source: Micheli, Balta, Tsiamis, Lygeros (2025), arXiv:2503.20341; wdrbo 2.3 to 2.5.
   Deviations: the penalty's gradient is exact; the released code takes it as zero
   (penalty_gradient: none).
   Cost per acquisition value: see gp/context/context_posterior.h, M = contexts observed and
   samples.
   Needs contexts drawn by nature. Revision 4. */
#include "algorithm/context_centre.h"
#include "maths/design.h"

#include <math.h>

enum { RANDOM, DENSE };
enum { EXACT, NONE };

typedef struct {
  RgWassersteinOptions ball;
  int lipschitz, samples, screening, gradient;
} Options;

static const char *const lipschitzes[] = {"random", "dense", NULL};
static const char *const gradients[] = {"exact", "none", NULL};

static const RgParam params[] = {
  RG_WASSERSTEIN_PARAMS(Options, ball),
  RG_CHOICE(
    "lipschitz", Options, lipschitz, "random", lipschitzes, "L",
    "contexts of the slopes: independent uniform ones, or equispaced (one context), Sobol (more)"),
  RG_INT("samples", Options, samples, "auto", 1, 1e6, "",
         "how many of them; auto: 100 random, 1025 equispaced, 1024 Sobol"),
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
  if (options->samples > 0) return options->samples;
  if (options->lipschitz == RANDOM) return 100;
  return dim == 1 ? 1025 : 1024;
}

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const int dim = algorithm->setup.domain->context.dim, n = sample_count(options, dim);
  RgRandom random = rg_algorithm_stream_at(algorithm, "lipschitz", 0);

  PetscFunctionBeginUser;
  PetscCall(rg_contextual_create(algorithm));
  state->n = n;
  PetscCall(PetscMalloc1((size_t)n * dim, &state->samples));
  if (options->lipschitz == RANDOM) {
    PetscCall(rg_design_uniform(&random, n, dim, state->samples));
  } else if (dim > 1) {
    PetscCall(rg_design_sobol(&random, n, dim, state->samples));
  } else {
    for (int i = 0; i < n; i++) state->samples[i] = n > 1 ? (double)i / (n - 1) : 0.5;
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscFunctionBeginUser;
  PetscCall(PetscFree(state->samples));
  PetscCall(rg_model_destroy(&state->model));
  PetscFunctionReturn(0);
}

static int screening_count(const Options *options, int dim, int n)
{
  return options->lipschitz == DENSE && dim == 1 ? n : PetscMin(options->screening, n);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const int dim = algorithm->setup.domain->context.dim;
  RgContextCentre centre;
  RgContextPenalised penalised, coarse;
  double *contexts;

  PetscFunctionBeginUser;
  /* 1. Centre and radius; contexts of the centre first, then those of the slopes. */
  PetscCall(rg_centre_create(algorithm, t, history, &centre, failure));
  if (failure->failed) PetscFunctionReturn(0);
  const double radius = rg_wasserstein_ball_radius(&options->ball, &centre);
  penalised = (RgContextPenalised){.centre = {centre.n, centre.weight},
                                   .radius = radius,
                                   .n_slopes = state->n,
                                   .dim_c = dim,
                                   .flat_penalty = options->gradient == NONE};
  coarse = penalised;
  coarse.n_slopes = screening_count(options, dim, state->n);
  PetscCall(PetscMalloc1((size_t)(centre.n + state->n) * dim, &contexts));
  PetscCall(PetscArraycpy(contexts, centre.contexts, (size_t)centre.n * dim));
  PetscCall(
    PetscArraycpy(contexts + (size_t)centre.n * dim, state->samples, (size_t)state->n * dim));
  /* 2. x_t = argmax E U - eps_t L. */
  const RgContextual bound = {centre.n + state->n, state->n,   contexts,
                              rg_ucb_penalised,    &penalised, NULL};
  const RgContextual rough = {centre.n + coarse.n_slopes, coarse.n_slopes, contexts,
                              rg_ucb_penalised,           &coarse,         NULL};
  PetscCall(rg_contextual_acquire(algorithm, t, history, &bound, &rough, query, failure));
  query->extra[RG_BALL_RADIUS] = radius;
  PetscCall(PetscFree(contexts));
  PetscCall(rg_centre_destroy(&centre));
  PetscFunctionReturn(0);
}

/* b: the radius if it is constant around a given centre; Theorem 5 applies to this case. No
   theorem is about a shrinking radius around a given centre. */
static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const RgWassersteinOptions *ball = &((const Options *)closure)->ball;
  const double width = ball->centre.common.width;
  const bool given = ball->centre.laws.n > 0, constant = ball->schedule == RG_RADIUS_CONSTANT;

  (void)domain;
  (void)t;
  *law = (RgConfidenceLaw){.kind = RG_LAW_CONSTANT,
                           .a = width * width,
                           .b = given ? ball->radius : NAN,
                           .rule = given && !constant ? NULL : "wdrbo",
                           .delta = NAN};
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  const int centre = rg_centre_size(options, size->n), slopes = sample_count(options, 1);
  const double table = (1.0 + size->dim_c) * sample_count(options, size->dim_c);

  cost->contexts = centre + 2 * slopes; /* one slope beside each value */
  cost->bytes =
    rg_centre_bytes(options, size->dim_c, size->n) + rg_context_table_bytes(table, size->n);
}

const RgAlgorithmClass rg_algorithm_wdrbo = {
  RG_ABOUT("wdrbo", "WDRBO", 4,
           "x_t = argmax of the average of U = mu + width sd over the contexts observed, minus\n"
           "eps_t times the Lipschitz constant of U(x, .)",
           "Micheli, Balta, Tsiamis, Lygeros (2025), arXiv:2503.20341"),
  RG_WASSERSTEIN_NEEDS,
  .reads = RG_READS_SURROGATE | RG_READS_MAXIMISER,
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  .confidence = confidence,
  RG_STATE(State, create, destroy),
  RG_ASK(ask, rg_ball_columns),
  .model = rg_surrogate_model,
};
