/* aegis: exploitation, paths and the Pareto set, by turns.

   With e = min(1/sqrt(max(d, 4)), 1/2) each query is, at random,
     with probability 1 - 2 e   argmax mu(x),
     with probability e         argmax of a path g drawn from the posterior,
     with probability e         a random member of the Pareto set of (mu, sd).
   The first query is argmax mu if e < 1/2; the next ones, as many as there are workers, are paths
   or members of the Pareto set, half each.
   Source: G. De Ath, R. M. Everson, J. E. Fieldsend, Asynchronous e-greedy Bayesian optimisation,
   UAI 2021; the start as in the released program.
   Deviations: on a box the Pareto set is that of `front` Sobol points, not the outcome of a genetic
   algorithm. Paths as in ts.c.
   Cost per iteration: one path and its maximum as in ts.c, or a search of the mean, or O(F n^2 +
   F log F) for F points of the front.
   Needs no context. Revision 1. */
#include "algorithm/pareto.h"
#include "algorithm/sampling.h"
#include "maths/design.h"

#include <math.h>

typedef struct {
  RgPathOptions paths; /* first: sampling.h */
  int front;
} Options;

static const RgParam params[] = {
  RG_PATH_PARAMS(Options),
  RG_INT("front", Options, front, "5000", 1, 1e6, "F",
         "Sobol points of a box among which the Pareto set is found"),
  {0},
};

enum { CHOICE, ACQUISITION };
typedef enum { MEAN, PATH, PARETO } Choice;

static const RgRecordColumn columns[] = {
  [CHOICE] = {"choice", "0: the posterior mean, 1: a sampled path, 2: a member of the Pareto set"},
  [ACQUISITION] = RG_COLUMN_ACQUISITION,
  {0}};

static Choice choose(const RgAlgorithm *algorithm, int t, RgRandom *random)
{
  const int dim = algorithm->setup.domain->design.dim, workers = algorithm->setup.n_workers;
  const double e = fmin(1 / sqrt(fmax(dim, 4)), 0.5), u = rg_random_uniform(random);

  if (t == 1 && e < 0.5) return MEAN;
  if (t <= PetscMax(workers, 1) + 1) return u < 0.5 ? PATH : PARETO;
  if (u < 1 - 2 * e) return MEAN;
  return u < 1 - e ? PATH : PARETO;
}

/* A random member of the Pareto set of means and deviations. */
static PetscErrorCode pareto_member(RgAlgorithm *algorithm, const RgHistory *history,
                                    RgRandom *random, RgQuery *query, RgFailure *failure)
{
  const RgSpace *design = &algorithm->setup.domain->design;
  const bool finite = rg_space_is_finite(design);
  const int F = finite ? 0 : ((const Options *)algorithm->options)->front;
  RgCandidates c;
  double *X;

  PetscCall(PetscMalloc1((size_t)F * design->dim, &X));
  if (!finite) PetscCall(rg_design_sobol(random, F, design->dim, X));
  PetscCall(rg_candidates_create(algorithm, rg_surrogate_model(algorithm), history, F, X, &c));
  for (int i = 0; i < c.n; i++)
    if (!(c.excluded && c.excluded[i])) c.list[c.n_list++] = (RgCandidate){{c.mean[i], c.sd[i]}, i};
  if (!rg_pareto_draw(&c, random, query))
    rg_failure_set(failure, "all %d points of the domain have been queried", design->size);
  PetscCall(rg_candidates_destroy(&c));
  return PetscFree(X);
}

/* ---- the method ------------------------------------------------------------------------------ */

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgRandom random = rg_algorithm_stream_at(algorithm, "choice", t);
  const RgAcquisition mean = {rg_acquisition_ucb, &(const RgUcb){0}};
  const Choice choice = choose(algorithm, t, &random);

  query->extra[CHOICE] = choice;
  switch (choice) {
  case MEAN:
    PetscCall(rg_surrogate_acquire(algorithm, rg_surrogate_model(algorithm), t, history, &mean,
                                   query, &query->extra[ACQUISITION], failure));
    break;
  case PATH:
    PetscCall(
      rg_sampling_ask_path(algorithm, t, history, query, &query->extra[ACQUISITION], failure));
    break;
  case PARETO: PetscCall(pareto_member(algorithm, history, &random, query, failure)); break;
  }
  return 0;
}

const RgAlgorithmClass rg_algorithm_aegis = {
  RG_ABOUT(
    "aegis", "AEGiS", 1,
    "at random argmax mu, argmax of a sample path, or a member of the Pareto set of mu and sd",
    "De Ath, Everson, Fieldsend (2021), Asynchronous e-greedy Bayesian optimisation, UAI"),
  RG_OPTIONS(Options, params),
  .cost = rg_sampling_one_path,
  RG_ASK(ask, columns),
  RG_SAMPLING_METHODS,
};
