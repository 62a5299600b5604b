/* rrgp_ucb_continuous: RRGP-UCB on boxes of designs or contexts, or both.

   As rrgp_ucb with beta_t = 2 log kappa_t + chi^2_2, kappa_t from the number tau_t of points per
   coordinate that a discretisation of the continuous parts would need at step t
   (robust/integral.h). A box of contexts is replaced by the midpoints of tau_t cells per
   coordinate, levels_max at most (kappa_t keeps tau_t, and both are recorded); maxima over a box of
   designs are searched as the block `maximiser` says. w_t maximises the variance at x_t over the
   contexts themselves, or nature draws it. The recommendation is argmax rho(mu) over the nodes.
   Source: Inatsu (2025), arXiv:2504.03172, Algorithms 3 to 7.
   Cost per iteration: predictions at (designs tried) x (nodes) points, O(n^2) each.
   With index_paths, the query at which the recommendation so far was best (t-hat) is estimated.
   Needs contexts of known law, and a box in the design or the context. A law that changes in time
   counts as it is at the evaluation in question.
   Revision 2: `law` is the problem's law by default. */
#include "algorithm/robust.h"
#include "algorithm/robust_box.h"
#include "gp/kernel/family.h"

#include <math.h>
#include <string.h>

#include "robust/integral.h"

enum { CONFIDENCE, ACQUISITION, WIDTH, LEVELS, LEVELS_USED, BEST_INDEX };
enum { NODES_MAX = 100000, FEATURES = 512 };

#define TIE 1e-12

typedef struct {
  char *measure;
  RgTexts law;
  double a, b;
  int levels_max, index_paths;
} Options;

static const RgParam params[] = {
  RG_ROBUST_MEASURE(Options),
  RG_TEXTS("law", Options, law, "auto", "P*",
           "law of a box of contexts in unit coordinates, independent ones, one for all or one "
           "each, the same or changing with t (regatta describe laws); beyond the box it counts "
           "for the outer cells; auto: the problem's law"),
  RG_REAL("a", Options, a, "1", RG_POSITIVE, 1e300, "a",
          "the derivative of f by any unit coordinate exceeds L somewhere with probability at most "
          "a exp(-(L/b)^2)"),
  RG_REAL("b", Options, b, "1", RG_POSITIVE, 1e300, "b",
          "see a; a Gaussian kernel of length scale l and variance 1 allows b = 2/l with a = 2 "
          "exp(m^2/2), m/l the mean of the largest derivative"),
  RG_INT("levels_max", Options, levels_max, "32", 1, 10000, "",
         "most nodes per coordinate of a box of contexts"),
  RG_INDEX_PATHS_PARAM(Options),
  {0},
};

typedef struct {
  RgRobustBox box;   /* first, and its model first in it */
  int recommended_t; /* the step to which x-hat' below belongs; 0: no step yet */
  int recommended_index;
  double *recommended; /* dim; owned */
  double *so_far;      /* n_iterations x dim: x-hat'_1, x-hat'_2, ...; owned */
  double *expected;    /* n_iterations; owned */
} State;

static const RgRecordColumn columns[] = {
  [CONFIDENCE] = RG_COLUMN_CONFIDENCE,
  [ACQUISITION] = {"acquisition", "upper bound of the measure at the query, y"},
  [WIDTH] = RG_COLUMN_BOUND_WIDTH,
  [LEVELS] = {"levels", "tau_t: points per coordinate that the theory asks for"},
  [LEVELS_USED] = {"levels_used", "nodes per coordinate of a box of contexts; less than levels "
                                  "where levels_max binds"},
  [BEST_INDEX] = RG_COLUMN_BEST_INDEX,
  {0}};

static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;
  const bool finite_context = rg_space_is_finite(&domain->context);

  PetscCall(rg_measure_check(rg_robust_measure_text(o->measure, domain), domain->context.size,
                             place, diagnostics));
  PetscCall(rg_robust_box_check(&o->law, domain, place, diagnostics));
  if (rg_space_is_finite(&domain->design) && finite_context)
    rg_diagnostics_add(diagnostics, place,
                       "'rrgp_ucb_continuous' needs a box of designs or contexts; 'rrgp_ucb' is "
                       "for finite ones");
  if (finite_context && !domain->context_prob)
    rg_diagnostics_add(diagnostics, place,
                       "'rrgp_ucb_continuous' needs the probabilities of finite contexts");
  if (!finite_context && pow(o->levels_max, domain->context.dim) > NODES_MAX)
    rg_diagnostics_add(diagnostics, place,
                       "'levels_max' is %d: %d coordinates of the context make more than %d nodes",
                       o->levels_max, domain->context.dim, NODES_MAX);
  return 0;
}

/* tau_t and kappa_t. */
static double schedule(const Options *options, const RgDomain *domain, int t, double *kappa)
{
  const RgRobustDerivatives bound = {options->a, options->b, 1.0};
  const RgSpace *design = &domain->design, *context = &domain->context;
  const int d1 = design->size ? 0 : design->dim;
  const int d2 = context->size ? 0 : context->dim;

  *kappa = rg_robust_kappa(&bound, d1, d2, design->size, context->size, t);
  return rg_robust_levels(&bound, d1 + d2, d1 && d2 ? 1 : d1 ? context->size : design->size, t);
}

/* The theorems are about the problem's measure under the problem's law: the nodes have the weights
   of the domain's laws, as they are written. */
static void confidence(const void *closure, const RgDomain *domain, int t, RgConfidenceLaw *law)
{
  const Options *o = closure;
  const bool given = o->law.n && !rg_space_is_finite(&domain->context);
  bool theirs = rg_robust_is_measured(o->measure, domain) && (!given || o->law.n == domain->n_laws);
  double kappa;

  for (int j = 0; theirs && j < o->law.n && j < domain->n_laws; j++)
    theirs = !strcmp(o->law.values[j], domain->laws[j]);
  (void)schedule(o, domain, t, &kappa);
  *law = (RgConfidenceLaw){.kind = RG_LAW_EXPONENTIAL,
                           .a = 2.0 * log(kappa),
                           .b = 0.5,
                           .rule = theirs ? "rrgp_continuous" : NULL,
                           .delta = NAN};
}

static void cost_of(const void *options, const RgTrialSize *size, RgMethodCost *cost)
{
  cost->contexts =
    size->size_c ? size->size_c : pow(((const Options *)options)->levels_max, size->dim_c);
}

static PetscErrorCode create(RgAlgorithm *algorithm)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;

  const int dim = algorithm->setup.domain->design.dim, n = algorithm->setup.n_iterations;
  PetscCall(
    PetscMalloc3(dim, &state->recommended, (size_t)n * dim, &state->so_far, n, &state->expected));
  return rg_robust_box_create(algorithm,
                              rg_robust_measure_text(options->measure, algorithm->setup.domain),
                              &options->law, options->levels_max, &state->box);
}

static PetscErrorCode destroy(RgAlgorithm *algorithm)
{
  State *state = algorithm->state;

  PetscCall(PetscFree3(state->recommended, state->so_far, state->expected));
  return rg_robust_box_destroy(&state->box);
}

/* Maximises the upper bound, or rho(mu), over the designs. */
static PetscErrorCode maximise(RgAlgorithm *algorithm, int t, const RgHistory *history, bool upper,
                               RgQuery *best, RgFailure *failure)
{
  State *state = algorithm->state;
  RgRobustSurface surface = {&state->box, upper};
  RgRandom random = rg_algorithm_stream_at(algorithm, upper ? "upper" : "recommendation", t);
  double value;

  return rg_acquire_with(algorithm->setup.domain, rg_robust_surface, &surface,
                         RG_SEARCH(algorithm, history, &random), best, &value, failure);
}

/* x-hat'_t. It is found once, although `recommend` after t - 1 queries and `ask` both need it. */
static PetscErrorCode find_best(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                RgQuery *best, RgFailure *failure)
{
  State *state = algorithm->state;
  const size_t bytes = (size_t)state->box.dim * sizeof(double);

  if (state->recommended_t == t) {
    memcpy(best->x, state->recommended, bytes);
    best->index = state->recommended_index;
    return 0;
  }
  PetscCall(maximise(algorithm, t, history, false, best, failure));
  if (failure->failed) return 0;
  memcpy(state->recommended, best->x, bytes);
  state->recommended_index = best->index;
  state->recommended_t = t;
  return 0;
}

/* w_t = argmax of the variance over the contexts themselves; does nothing if nature chooses. */
static PetscErrorCode choose_context(RgAlgorithm *algorithm, int t, RgQuery *query,
                                     RgFailure *failure)
{
  const RgSpace *context = &algorithm->setup.domain->context;
  RgRobustLine line = {&((State *)algorithm->state)->box, query->x};
  RgRandom random = rg_algorithm_stream_at(algorithm, "context", t);
  double best, *variance;

  if (algorithm->setup.domain->control != RG_CONTEXT_SIMULATOR) return 0;
  if (!rg_space_is_finite(context)) {
    return rg_maximise_box(&(RgSearch){.options = algorithm->setup.maximiser, .random = &random},
                           context->dim, rg_robust_variance, &line, query->c, &best, failure);
  }
  PetscCall(PetscMalloc1(context->size, &variance));
  PetscCall(rg_robust_variance(&line, context->size, context->points, variance, NULL));
  query->context_index = PetscMax(rg_argmax(context->size, variance, NULL), 0);
  memcpy(query->c, context->points + (size_t)query->context_index * context->dim,
         context->dim * sizeof(double));
  return PetscFree(variance);
}

/* Choose the one of x-tilde' and x-hat' (rows of X) with the wider bounds. */
static PetscErrorCode choose_design(RgAlgorithm *algorithm, const double *X, const int *index,
                                    RgQuery *query)
{
  RgRobustBox *box = &((State *)algorithm->state)->box;
  double lower[2], upper[2];

  PetscCall(rg_robust_box_values(box, 2, X, NULL, lower, upper));
  const int chosen = upper[1] - lower[1] > upper[0] - lower[0] + TIE;
  memcpy(query->x, X + (size_t)chosen * box->dim, box->dim * sizeof *X);
  query->index = index[chosen];
  query->extra[ACQUISITION] = upper[chosen];
  query->extra[WIDTH] = upper[chosen] - lower[chosen];
  return 0;
}

/* t-hat = argmax over i <= t of the mean rho at x-hat'_i over sample paths, the largest index of
   ties; t for the expectation (Eq. A.4). */
static PetscErrorCode best_index(RgAlgorithm *algorithm, int t, const double *x, double *best,
                                 RgFailure *failure)
{
  const Options *options = algorithm->options;
  State *state = algorithm->state;
  const RgStream stream = rg_stream_sub(&algorithm->setup.stream, "index_paths");
  const size_t dim = (size_t)state->box.dim;
  int top = t;

  memcpy(state->so_far + (t - 1) * dim, x, dim * sizeof *x);
  const RgKernelClass *refused = rg_kernel_without_spectrum(&state->box.model.kernel);
  if (refused) {
    rg_failure_set(failure, "'index_paths' draws paths, and the kernel '%s' has no spectrum",
                   refused->name);
  } else if (state->box.measure.kind != RG_MEASURE_EXPECTATION) {
    PetscCall(rg_robust_box_expected(&state->box, &stream, options->index_paths, FEATURES, t,
                                     state->so_far, state->expected));
    for (int i = t - 1; i >= 1; i--)
      if (state->expected[i - 1] > state->expected[top - 1]) top = i;
  }
  *best = top;
  return 0;
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const Options *options = algorithm->options;
  const RgDomain *domain = algorithm->setup.domain;
  RgRobustBox *box = &((State *)algorithm->state)->box;
  double kappa, tau = schedule(options, domain, t, &kappa), *X;
  const double beta = rg_algorithm_width(algorithm, t);
  const int levels = (int)fmin(tau, options->levels_max);

  /* 1. Omega_t and the width. */
  PetscCall(rg_robust_box_place(domain, levels, algorithm->setup.n_initial + t, box));
  box->width = sqrt(beta);
  /* 2. x-tilde' and x-hat'. */
  PetscCall(PetscMalloc1(2 * (size_t)box->dim, &X));
  RgQuery top = {.index = -1, .x = X}, best = {.index = -1, .x = X + box->dim};
  PetscCall(maximise(algorithm, t, history, true, &top, failure));
  if (!failure->failed) PetscCall(find_best(algorithm, t, history, &best, failure));
  /* 3. The one with the wider bounds. 4. w_t. */
  if (!failure->failed) {
    PetscCall(choose_design(algorithm, X, (const int[]){top.index, best.index}, query));
    PetscCall(choose_context(algorithm, t, query, failure));
  }
  query->extra[CONFIDENCE] = beta;
  query->extra[LEVELS] = tau;
  if (!rg_space_is_finite(&domain->context)) query->extra[LEVELS_USED] = levels;
  if (options->index_paths && !failure->failed && t <= algorithm->setup.n_iterations)
    PetscCall(best_index(algorithm, t, X + box->dim, &query->extra[BEST_INDEX], failure));
  return PetscFree(X);
}

/* Recommend x-hat'_(t+1), under the law of the last evaluation. */
static PetscErrorCode recommend(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                RgQuery *recommendation, RgFailure *failure)
{
  const Options *options = algorithm->options;
  const RgDomain *domain = algorithm->setup.domain;
  RgRobustBox *box = &((State *)algorithm->state)->box;
  double kappa;

  PetscCall(rg_model_update(&box->model, history, failure));
  if (failure->failed) return 0;
  const double tau = schedule(options, domain, t + 1, &kappa);
  const int levels = (int)fmin(tau, options->levels_max), now = algorithm->setup.n_initial + t;
  PetscCall(rg_robust_box_place(domain, levels, now, box));
  PetscCall(find_best(algorithm, t + 1, history, recommendation, failure));
  const int laws = rg_space_is_finite(&domain->context) ? 0 : box->dim_c;
  if (rg_law_epoch(laws, box->law, now) != rg_law_epoch(laws, box->law, now + 1))
    ((State *)algorithm->state)->recommended_t = 0; /* the next query is for another law */
  return 0;
}

const RgAlgorithmClass rg_algorithm_rrgp_ucb_continuous = {
  RG_ABOUT("rrgp_ucb_continuous", "RRGP-UCB, continuous", 2,
           "RRGP-UCB on boxes: beta_t = 2 log kappa_t + chi^2_2 with the kappa_t of a finer and "
           "finer\ndiscretisation; contexts are replaced by the midpoints of cells",
           "Inatsu 2025, arXiv:2504.03172, Algorithms 3 to 7"),
  .needs = RG_NEEDS_CONTEXT,
  RG_OPTIONS(Options, params),
  .cost = cost_of,
  RG_STATE(State, create, destroy),
  .check = check,
  RG_ASK(ask, columns),
  .recommend = recommend,
  .confidence = confidence,
  RG_MODEL_AND_SEARCH,
};
