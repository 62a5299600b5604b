/* hebo: an ensemble of acquisition functions (MACE), as in HEBO.

   A random member of the Pareto set of log EI, log PI and UCB, all from the best posterior mean at
   queried inputs: no function has to be the right one. UCB = mu + sqrt(v beta) sd with
   beta = 2 ((2 + d/2) log n + log(3 pi^2/(3 delta))), v = 1/2, delta = 0.01: the form and the
   numbers of HEBO's released code.
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
#include "acquisition/sampled.h"
#include "algorithm/pareto.h"
#include "algorithm/surrogate.h"
#include "maths/design.h"

#include <math.h>

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
  const double delta = 0.01;
  const double beta =
    2 * ((2 + 0.5 * dim) * log(PetscMax(n, 1)) + log(3 * M_PI * M_PI / (3 * delta)));

  e->ei.incumbent = incumbent + LEAST;
  e->pi = (RgPims){incumbent + LEAST};
  e->ucb.width = sqrt(0.5 * beta);
  e->of[0] = (RgAcquisition){rg_acquisition_log_ei, &e->ei};
  e->of[1] = (RgAcquisition){rg_acquisition_pims, &e->pi};
  e->of[2] = (RgAcquisition){rg_acquisition_ucb, &e->ucb};
}

/* ---- the Pareto set -------------------------------------------------------------------------- */

/* List the candidates at which all functions are finite. */
static void list_values(const Ensemble *e, RgCandidates *c)
{
  for (int i = 0; i < c->n; i++) {
    RgCandidate *member = &c->list[c->n_list];
    bool good = !(c->excluded && c->excluded[i]);
    for (int k = 0; k < FUNCTIONS && good; k++) {
      e->of[k].function(e->of[k].closure, 1, &c->mean[i], &c->sd[i], &member->value[k], NULL, NULL);
      good = isfinite(member->value[k]);
    }
    member->index = i;
    c->n_list += good;
  }
}

/* ---- candidates of a box --------------------------------------------------------------------- */

/* The points of a box among which the query is drawn: Sobol points, the maximisers and the best
   observation, and points about these. */
static PetscErrorCode choose_points(const RgAlgorithm *algorithm, int t, const RgHistory *history,
                                    const Ensemble *e, RgRandom *random, double *X,
                                    RgFailure *failure)
{
  const Options *options = algorithm->options;
  const int dim = algorithm->setup.domain->design.dim, best = rg_history_best(history);
  double *centres = X + (size_t)options->candidates * dim, *last = centres + FUNCTIONS * dim;
  double *x = centres + CENTRES * dim, value;

  for (int k = 0; k < FUNCTIONS && !failure->failed; k++) {
    RgQuery query = {.x = centres + (size_t)k * dim};
    PetscCall(rg_surrogate_acquire(algorithm, algorithm->state, t, history, &e->of[k], &query,
                                   &value, failure));
  }
  if (failure->failed) return 0;
  PetscCall(PetscArraycpy(last, best < 0 ? centres : history->x + (size_t)best * dim, dim));
  PetscCall(rg_design_sobol(random, options->candidates, dim, X));
  for (int c = 0; c < CENTRES; c++)
    for (int i = 0; i < options->around; i++) {
      const double sd = WIDE * pow(NARROW, (double)i / options->around);
      for (int j = 0; j < dim; j++, x++)
        *x = fmin(fmax(centres[c * dim + j] + sd * rg_random_normal(random), 0), 1);
    }
  return 0;
}

/* ---- the method ------------------------------------------------------------------------------ */

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  const RgSpace *design = &algorithm->setup.domain->design;
  const Options *options = algorithm->options;
  const bool box = !rg_space_is_finite(design);
  const int n = box ? options->candidates + CENTRES * (1 + options->around) : 0;
  RgRandom random = rg_algorithm_stream_at(algorithm, "choice", t);
  double incumbent = 0, *X;
  RgCandidates candidates;
  Ensemble e;

  /* 1. Incumbent: the best posterior mean at queried inputs. */
  if (history->n) PetscCall(rg_surrogate_best_mean(algorithm->state, history, &incumbent));
  ensemble(history->n, design->dim, incumbent, &e);
  query->extra[INCUMBENT] = incumbent;
  /* 2. A member of the Pareto set. */
  PetscCall(PetscMalloc1((size_t)n * design->dim, &X));
  if (box) PetscCall(choose_points(algorithm, t, history, &e, &random, X, failure));
  if (!failure->failed) {
    PetscCall(rg_candidates_create(algorithm, algorithm->state, history, n, X, &candidates));
    list_values(&e, &candidates);
    query->extra[FRONT] = rg_pareto_draw(&candidates, &random, query);
    if (query->extra[FRONT] == 0)
      rg_failure_set(failure, "log EI, log PI and UCB are finite at no new one of %d designs",
                     candidates.n);
    PetscCall(rg_candidates_destroy(&candidates));
  }
  return PetscFree(X);
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
