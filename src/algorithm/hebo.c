/* hebo: an ensemble of acquisition functions (MACE), as in HEBO.

   A random member of the Pareto set of log EI, log PI and UCB, all from the best posterior mean at
   queried inputs: no function has to be the right one. UCB = mu + sqrt(v beta) sd with
   beta = 2 ((2 + d/2) log n + log(3 pi^2/(3 delta))), v = 1/2, delta = 0.01.
   Source: Lyu, Yang, Yan, Zhou, Zeng (2018), Batch Bayesian optimization via multi-objective
   acquisition ensemble for automated analog circuit design, ICML; Cowen-Rivers et al. (2022), HEBO:
   Pushing the limits of sample-efficient hyper-parameter optimisation, JAIR 74. The transformations
   of HEBO's model are settings: `surrogate: {preset: hebo}`.
   Deviations: on a box the Pareto set is that of Sobol points, of the maximisers of the three
   functions, and of points normally spread about these and the best observation, with deviations
   from 0.2 to 0.002 of the box, not the outcome of a genetic algorithm; the mean in the functions
   is not perturbed; kernels without a linear part.
   Cost per iteration: three searches as of EI, and O(F n^2 + F P) for F candidates and a set of P.
   Needs no context. Revision 1. */
#include "acquisition/levels.h"
#include "acquisition/sampled.h"
#include "algorithm/surrogate.h"
#include "maths/normal.h"
#include "maths/sobol.h"
#include "maths/design.h"

#include <math.h>
#include <stdlib.h>

enum { FUNCTIONS = 3, CENTRES = FUNCTIONS + 1 };

#define WIDE 0.2    /* deviations of candidates about a centre */
#define NARROW 0.01 /* the smallest, relative to the largest */
#define LEAST 1e-4  /* improvement that counts, model units */

typedef struct {
  int candidates, around;
} Options;

static const RgParam params[] = {
  RG_INT("candidates", Options, candidates, "1000", 1, 1e6, "F",
         "Sobol points of a box among which the Pareto set is found"),
  RG_INT("around", Options, around, "100", 0, 1e6, "",
         "candidates about each of the three maximisers and the best observation"),
  {0},
};

enum { INCUMBENT, FRONT };

static const RgRecordColumn columns[] = {
  [INCUMBENT] = RG_COLUMN_INCUMBENT,
  [FRONT] = {"front", "number of members of the Pareto set the query was drawn from"},
  {0}};

/* ---- the three functions --------------------------------------------------------------------- */

typedef struct {
  RgEi ei;
  RgPims pi; /* its z has the order of PI */
  RgUcb ucb;
  RgAcquisition of[FUNCTIONS];
} Ensemble;

static void ensemble(int n, int dim, double incumbent, Ensemble *e)
{
  const double delta = 0.01, pi = 3.14159265358979323846;
  const double beta = 2 * ((2 + 0.5 * dim) * log(PetscMax(n, 1)) + log(3 * pi * pi / (3 * delta)));

  e->ei.incumbent = incumbent + LEAST;
  e->pi = (RgPims){incumbent + LEAST};
  e->ucb.width = sqrt(0.5 * beta);
  e->of[0] = (RgAcquisition){rg_acquisition_log_ei, &e->ei};
  e->of[1] = (RgAcquisition){rg_acquisition_pims, &e->pi};
  e->of[2] = (RgAcquisition){rg_acquisition_ucb, &e->ucb};
}

/* ---- the Pareto set -------------------------------------------------------------------------- */

typedef struct {
  double value[FUNCTIONS];
  int index;
} Member;

/* The largest first, by the functions in order, then the lowest index. */
static int order(const void *a, const void *b)
{
  const Member *p = a, *q = b;

  for (int k = 0; k < FUNCTIONS; k++)
    if (p->value[k] != q->value[k]) return p->value[k] > q->value[k] ? -1 : 1;
  return p->index < q->index ? -1 : p->index > q->index;
}

static bool dominates(const Member *a, const Member *b)
{
  bool better = false;

  for (int k = 0; k < FUNCTIONS; k++) {
    if (a->value[k] < b->value[k]) return false;
    better = better || a->value[k] > b->value[k];
  }
  return better;
}

/* Keep the members that no other one dominates; what is dominated has its better before it. Returns
   their number. */
static int keep_front(int n, Member *members)
{
  int kept = 0;

  qsort(members, (size_t)n, sizeof *members, order);
  for (int i = 0; i < n; i++) {
    bool beaten = false;
    for (int k = 0; k < kept && !beaten; k++) beaten = dominates(&members[k], &members[i]);
    if (!beaten) members[kept++] = members[i];
  }
  return kept;
}

/* Members from n means and deviations; allowed: which may be asked (NULL: all). Points where a
   function is not finite are left out. Returns their number. */
static int make_members(const Ensemble *e, int n, const double *mean, const double *sd,
                        const bool *allowed, Member *members)
{
  int count = 0;

  for (int i = 0; i < n; i++) {
    Member *m = &members[count];
    bool good = !allowed || allowed[i];

    for (int k = 0; k < FUNCTIONS && good; k++) {
      e->of[k].function(e->of[k].closure, 1, &mean[i], &sd[i], &m->value[k], NULL, NULL);
      good = isfinite(m->value[k]);
    }
    m->index = i;
    count += good;
  }
  return count;
}

/* ---- candidates of a box --------------------------------------------------------------------- */

static PetscErrorCode draw_candidates(const RgAlgorithm *algorithm, const double *centres,
                                      RgRandom *random, int n, double *X)
{
  const Options *options = algorithm->options;
  const RgSpace *design = &algorithm->setup.domain->design;
  const int dim = design->dim, F = options->candidates, around = options->around;
  double *x = X + (size_t)F * dim;

  PetscFunctionBeginUser;
  if (dim <= RG_SOBOL_MAX_DIM) PetscCall(rg_design_sobol(random, F, dim, X));
  else rg_random_uniforms(random, (size_t)F * (size_t)dim, X);
  PetscCall(PetscArraycpy(x, centres, (size_t)CENTRES * dim));
  x += (size_t)CENTRES * dim;
  for (int c = 0; c < CENTRES; c++)
    for (int i = 0; i < around; i++) {
      const double sd = WIDE * pow(NARROW, (double)i / around);
      for (int j = 0; j < dim; j++, x++)
        *x = fmin(fmax(centres[c * dim + j] + sd * rg_random_normal(random), 0), 1);
    }
  for (int i = 0; i < n && rg_space_has_levels(design); i++)
    rg_space_snap(design, X + (size_t)i * dim, NULL);
  PetscFunctionReturn(0);
}

/* Without noise, designs of integers and choices are not asked again, unless all were seen. */
static PetscErrorCode allow(const RgAlgorithm *algorithm, const RgHistory *history, int n,
                            const double *X, bool *allowed)
{
  const RgSpace *design = &algorithm->setup.domain->design;
  RgSeen seen = {0};
  bool any = false;

  PetscFunctionBeginUser;
  if (rg_space_has_levels(design) && rg_algorithm_asks_once(algorithm))
    PetscCall(rg_seen_create(design, history, &seen));
  for (int i = 0; i < n; i++) {
    allowed[i] = !rg_seen_has(&seen, X + (size_t)i * design->dim);
    any = any || allowed[i];
  }
  for (int i = 0; i < n && !any; i++) allowed[i] = true;
  PetscCall(rg_seen_destroy(&seen));
  PetscFunctionReturn(0);
}

static PetscErrorCode find_centres(const RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   const Ensemble *e, double *centres, RgFailure *failure)
{
  const int dim = algorithm->setup.domain->design.dim, best = rg_history_best(history);
  double value;

  PetscFunctionBeginUser;
  for (int k = 0; k < FUNCTIONS && !failure->failed; k++) {
    RgQuery query = {.x = centres + (size_t)k * dim};
    PetscCall(rg_surrogate_acquire(algorithm, algorithm->state, t, history, &e->of[k], &query,
                                   &value, failure));
  }
  double *last = centres + (size_t)FUNCTIONS * dim;
  PetscCall(PetscArraycpy(last, best < 0 ? centres : history->x + (size_t)best * dim, dim));
  PetscFunctionReturn(0);
}

static PetscErrorCode front_of_box(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   const Ensemble *e, RgRandom *random, RgQuery *query,
                                   RgFailure *failure)
{
  const Options *options = algorithm->options;
  const int dim = algorithm->setup.domain->design.dim;
  const int n = options->candidates + CENTRES * (1 + options->around);
  double *X, *mean, *sd, *centres;
  Member *members;
  bool *allowed;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc6((size_t)n * dim, &X, n, &mean, n, &sd, CENTRES * dim, &centres, n,
                         &members, n, &allowed));
  PetscCall(find_centres(algorithm, t, history, e, centres, failure));
  if (!failure->failed) {
    PetscCall(draw_candidates(algorithm, centres, random, n, X));
    PetscCall(rg_model_predict(algorithm->state, n, X, mean, sd));
    PetscCall(allow(algorithm, history, n, X, allowed));
    const int front = keep_front(make_members(e, n, mean, sd, allowed, members), members);
    query->extra[FRONT] = front;
    if (!front) rg_failure_set(failure, "the three functions are finite at none of %d points", n);
    else {
      const int chosen = members[rg_random_below(random, (uint64_t)front)].index;
      PetscCall(PetscArraycpy(query->x, X + (size_t)chosen * dim, dim));
    }
  }
  PetscCall(PetscFree6(X, mean, sd, centres, members, allowed));
  PetscFunctionReturn(0);
}

static PetscErrorCode front_of_set(RgAlgorithm *algorithm, const RgHistory *history,
                                   const Ensemble *e, RgRandom *random, RgQuery *query,
                                   RgFailure *failure)
{
  const RgModel *model = algorithm->state;
  const RgSpace *design = &algorithm->setup.domain->design;
  const double *variance = rg_posterior_variances(&model->posterior);
  unsigned char *excluded;
  Member *members;
  bool *allowed;
  double *sd;

  PetscFunctionBeginUser;
  PetscCall(rg_excluded_points(algorithm->setup.domain, history, &excluded));
  PetscCall(PetscMalloc3(design->size, &sd, design->size, &members, design->size, &allowed));
  for (int i = 0; i < design->size; i++) {
    sd[i] = sqrt(variance[i]);
    allowed[i] = !(excluded && excluded[i]);
  }
  const double *mean = rg_posterior_means(&model->posterior);
  const int front = keep_front(make_members(e, design->size, mean, sd, allowed, members), members);
  query->extra[FRONT] = front;
  if (!front)
    rg_failure_set(failure, "all %d points of the domain have been queried", design->size);
  else {
    query->index = members[rg_random_below(random, (uint64_t)front)].index;
    PetscCall(
      PetscArraycpy(query->x, design->points + (size_t)query->index * design->dim, design->dim));
  }
  PetscCall(PetscFree3(sd, members, allowed));
  PetscCall(PetscFree(excluded));
  PetscFunctionReturn(0);
}

/* ---- the method ------------------------------------------------------------------------------ */

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const RgSpace *design = &algorithm->setup.domain->design;
  RgRandom random = rg_algorithm_stream_at(algorithm, "choice", t);
  double incumbent = 0;
  Ensemble e;

  PetscFunctionBeginUser;
  /* 1. Incumbent: the best posterior mean at queried inputs. */
  if (history->n) PetscCall(rg_surrogate_best_mean(algorithm->state, history, &incumbent));
  ensemble(history->n, design->dim, incumbent, &e);
  query->extra[INCUMBENT] = incumbent;
  /* 2. A member of the Pareto set. */
  if (rg_space_is_finite(design))
    PetscCall(front_of_set(algorithm, history, &e, &random, query, failure));
  else PetscCall(front_of_box(algorithm, t, history, &e, &random, query, failure));
  PetscFunctionReturn(0);
}

const RgAlgorithmClass rg_algorithm_hebo = {
  RG_ABOUT("hebo", "HEBO", 1,
           "x_t is a random member of the Pareto set of log EI, log PI and UCB; its model's\n"
           "transformations of inputs and outputs are set by surrogate: {preset: hebo}",
           "Cowen-Rivers et al. (2022), HEBO: Pushing the limits of sample-efficient "
           "hyper-parameter optimisation, JAIR 74"),
  RG_OPTIONS(Options, params),
  RG_ASK(ask, columns),
  RG_SURROGATE_METHODS,
};
