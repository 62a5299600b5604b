/* swbbo: Bayesian optimisation at contexts sampled from a Wasserstein barycentre.

   x_t = argmax_x max_{c in S_t} U(x, c) - eps_t L(x), U = mu + width sd. S_t: the observed contexts
   are cut into random parts; each part has weights on a support of observed contexts, by Sinkhorn's
   iterations; S_t is drawn from the entropic barycentre of these histograms. With few contexts S_t
   is all of them. L(x): the largest |dU/dc| over contexts drawn once per trial; eps_t = radius /
   sqrt(n), all in units of the context box.
   Source: I. Seyedi, A. Candelieri, F. Archetti, Distributionally robust Bayesian optimization via
   Sinkhorn-based Wasserstein barycenter, Machine Learning and Knowledge Extraction 7(3):90, 2025.
   Deviations: the rule is that of the authors' program (github.com/iman-ie/SWBBO), which takes the
   largest U of the sample; the paper's full text was not at hand. The kernel of the transport is
   bounded below, and transport ends after a fixed number of rounds. The penalty's gradient is
   exact. In the program the weights of a part are column sums of a plan whose columns should have
   equal sums, so the barycentre is close to equal weights of the support.
   Cost per acquisition value: that of wdrbo with `samples` contexts and 100 slopes.
   Needs contexts drawn by nature. Revision 2. */
#include "algorithm/contextual.h"
#include "base/grow.h"
#include "maths/design.h"
#include "robust/sinkhorn.h"

#include <math.h>

enum { LARGEST, AVERAGE };
static const char *const aggregates[] = {"max", "mean", NULL};

typedef struct {
  RgContextualOptions common; /* first */
  double radius, entropy;
  int parts, support, samples, rounds, aggregate;
} Options;

static const RgParam params[] = {
  RG_CONTEXTUAL_PARAMS(Options, common),
  RG_CHOICE("aggregate", Options, aggregate, "max", aggregates, "",
            "of U over the sample: its maximum, as in the program, or its mean"),
  RG_REAL("radius", Options, radius, "0.3", 0, 1e6, "eps",
          "multiple of 1/sqrt(n) in eps_t, units of the context box"),
  RG_INT("parts", Options, parts, "10", 2, 1000, "K",
         "random parts of the observed contexts; with no more contexts than this there is no "
         "barycentre, and all are the sample"),
  RG_INT("support", Options, support, "50", 2, 1000, "",
         "observed contexts on which the barycentre has weights, at most"),
  RG_INT("samples", Options, samples, "50", 1, 1000, "",
         "contexts drawn from the barycentre at each query, at most one per observed context"),
  RG_REAL("entropy", Options, entropy, "0.001", RG_POSITIVE, 1e6, "gamma",
          "weight of the entropy in the transport, squared units of the context box"),
  RG_INT("rounds", Options, rounds, "100", 1, 100000, "", "of Sinkhorn's iterations"),
  {0},
};

enum { SLOPES = 100 };

typedef struct {
  RgModel model;  /* first */
  double *slopes; /* SLOPES x dim_c: contexts of the slopes */
} State;

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;
  const int dim = algorithm->setup.domain->context.dim;
  RgRandom random = rg_algorithm_stream_at(algorithm, "lipschitz", 0);

  PetscCall(rg_contextual_create(algorithm));
  PetscCall(PetscMalloc1((size_t)SLOPES * dim, &state->slopes));
  return rg_design_uniform(&random, SLOPES, dim, state->slopes);
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscCall(PetscFree(state->slopes));
  return rg_model_destroy(&state->model);
}

/* Copy n contexts of a list in the order of `index`. */
static void gather(int dim, int n, const int *index, const double *from, double *to)
{
  for (int i = 0; i < n; i++)
    for (int d = 0; d < dim; d++) to[i * dim + d] = from[(size_t)index[i] * dim + d];
}

/* Weights (m) of the barycentre of the parts on the support (m x dim). shuffled: the observed
   contexts (n x dim) in random order. */
static PetscErrorCode find_weights(const Options *o, int dim, int n, const double *shuffled, int m,
                                   const double *support, double *weight)
{
  const int size = n / o->parts;
  double *histograms;

  PetscCall(PetscMalloc1((size_t)o->parts * m, &histograms));
  for (int k = 0; k < o->parts; k++) {
    const int own = k < o->parts - 1 ? size : n - k * size;
    PetscCall(rg_sinkhorn_weights(dim, own, shuffled + (size_t)k * size * dim, m, support,
                                  o->entropy, o->rounds, histograms + (size_t)k * m));
  }
  PetscCall(
    rg_sinkhorn_barycentre(dim, m, support, o->parts, histograms, o->entropy, o->rounds, weight));
  return PetscFree(histograms);
}

/* The sample S_t: *n contexts (n x dim) and room for those of the slopes; the caller frees it. */
static PetscErrorCode draw_contexts(const RgAlgorithm *algorithm, int t, const RgHistory *history,
                                    int *n, double **sample)
{
  const Options *o = algorithm->options;
  const int dim = history->context_dim, seen = history->n, m = PetscMin(o->support, seen);
  RgRandom random = rg_algorithm_stream_at(algorithm, "barycentre", t);
  double *shuffled, *support, *weight;
  int *order;

  *n = seen <= o->parts ? seen : PetscMin(o->samples, seen);
  PetscCall(PetscMalloc1((size_t)(*n + SLOPES) * dim, sample));
  if (seen <= o->parts) return PetscArraycpy(*sample, history->c, (size_t)seen * dim);
  PetscCall(PetscMalloc4((size_t)seen * dim, &shuffled, (size_t)m * dim, &support, m, &weight, seen,
                         &order));
  PetscCall(rg_random_subset(&random, seen, seen, order));
  gather(dim, seen, order, history->c, shuffled);
  PetscCall(rg_random_subset(&random, seen, m, order));
  gather(dim, m, order, history->c, support);
  PetscCall(find_weights(o, dim, seen, shuffled, m, support, weight));
  for (int i = 0; i < *n; i++) order[i] = rg_random_index(&random, m, weight);
  gather(dim, *n, order, support, *sample);
  return PetscFree4(shuffled, support, weight, order);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *o = algorithm->options;
  State *state = algorithm->state;
  const int dim = history->context_dim;
  double *contexts, *weight;
  RgMeasure best;
  int n;

  /* 1. The sample of the barycentre, then the contexts of the slopes. */
  if (!rg_context_seen(algorithm, history, failure)) return 0;
  PetscCall(draw_contexts(algorithm, t, history, &n, &contexts));
  PetscCall(rg_measure_create("best", &best));
  PetscCall(PetscMalloc1(n, &weight));
  PetscCall(PetscArraycpy(contexts + (size_t)n * dim, state->slopes, (size_t)SLOPES * dim));
  for (int i = 0; i < n; i++) weight[i] = 1.0 / n;
  RgContextPenalised penalised = {.centre = {n, weight, o->aggregate == LARGEST ? &best : NULL},
                                  .radius = o->radius / sqrt(history->n),
                                  .n_slopes = SLOPES,
                                  .dim_c = dim};
  const RgContextual what = {n + SLOPES, SLOPES, contexts, rg_ucb_penalised, &penalised, NULL};
  /* 2. x_t = argmax max U - eps_t L. */
  PetscCall(rg_contextual_acquire(algorithm, t, history, &o->common, &what, NULL, query, failure));
  query->extra[RG_BALL_RADIUS] = penalised.radius;
  PetscCall(RG_FREE(&contexts, &weight));
  return rg_measure_destroy(&best);
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  cost->contexts = ((const Options *)options)->samples + 2 * SLOPES;
  cost->bytes = rg_context_table_bytes((1.0 + size->dim_c) * SLOPES, size->n);
}

const RgAlgorithmClass rg_algorithm_swbbo = {
  RG_ABOUT(
    "swbbo", "SWBBO", 2,
    "x_t = argmax of the largest U = mu + width sd over contexts drawn from a Sinkhorn\n"
    "barycentre of the contexts observed, minus eps_t times the Lipschitz constant of U(x, .)",
    "Seyedi, Candelieri, Archetti (2025), Distributionally robust Bayesian optimization via "
    "Sinkhorn-based Wasserstein barycenter, Machine Learning and Knowledge Extraction 7(3):90"),
  .needs = RG_NEEDS_NATURE | RG_NEEDS_INITIAL,
  .check = rg_contextual_check,
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  RG_STATE(State, create, destroy),
  RG_ASK(ask, rg_ball_columns),
  RG_MODEL_AND_SEARCH,
};
