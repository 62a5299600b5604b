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
#include "acquisition/levels.h"
#include "algorithm/sampling.h"
#include "maths/design.h"
#include "maths/sobol.h"

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

/* ---- the Pareto set -------------------------------------------------------------------------- */

typedef struct {
  double mean, sd;
  int index;
} Member;

/* The largest mean first, among equal ones the largest deviation, then the lowest index. */
static int order(const void *a, const void *b)
{
  const Member *p = a, *q = b;

  if (p->mean != q->mean) return p->mean > q->mean ? -1 : 1;
  if (p->sd != q->sd) return p->sd > q->sd ? -1 : 1;
  return p->index < q->index ? -1 : 1;
}

/* Keep the members that no other one dominates: as large in both, larger in one. Returns their
   number. */
static int keep_front(int n, Member *members)
{
  double best = -INFINITY, of_mean = NAN;
  int kept = 0;

  qsort(members, (size_t)n, sizeof *members, order);
  for (int i = 0; i < n; i++) {
    const bool equal = members[i].mean == of_mean && members[i].sd == best;
    if (members[i].sd <= best && !equal) continue;
    best = members[i].sd;
    of_mean = members[i].mean;
    members[kept++] = members[i];
  }
  return kept;
}

static PetscErrorCode front_of_set(RgAlgorithm *algorithm, const RgHistory *history,
                                   RgRandom *random, RgQuery *query, RgFailure *failure)
{
  const RgModel *model = rg_sampling_model(algorithm);
  const RgSpace *design = &algorithm->setup.domain->design;
  const double *mean = rg_posterior_means(&model->posterior);
  const double *variance = rg_posterior_variances(&model->posterior);
  unsigned char *excluded;
  Member *members;
  int n = 0;

  PetscFunctionBeginUser;
  PetscCall(rg_excluded_points(algorithm->setup.domain, history, &excluded));
  PetscCall(PetscMalloc1(design->size, &members));
  for (int i = 0; i < design->size; i++)
    if (!(excluded && excluded[i])) members[n++] = (Member){mean[i], sqrt(variance[i]), i};
  n = keep_front(n, members);
  if (n) {
    query->index = members[rg_random_below(random, (uint64_t)n)].index;
    PetscCall(
      PetscArraycpy(query->x, design->points + (size_t)query->index * design->dim, design->dim));
  } else {
    rg_failure_set(failure, "all %d points of the domain have been queried", design->size);
  }
  PetscCall(PetscFree(members));
  PetscCall(PetscFree(excluded));
  PetscFunctionReturn(0);
}

/* The candidates X (F x dim) that may be asked, n of them: without noise the designs not seen yet,
   unless all of them were. */
static PetscErrorCode gather_members(const RgAlgorithm *algorithm, const RgHistory *history, int F,
                                     const double *X, const double *mean, const double *sd,
                                     Member *members, int *n)
{
  const RgSpace *design = &algorithm->setup.domain->design;
  RgSeen seen = {0};

  PetscFunctionBeginUser;
  if (rg_space_has_levels(design) && rg_algorithm_asks_once(algorithm))
    PetscCall(rg_seen_create(design, history, &seen));
  *n = 0;
  for (int i = 0; i < F; i++)
    if (!rg_seen_has(&seen, X + (size_t)i * design->dim))
      members[(*n)++] = (Member){mean[i], sd[i], i};
  for (int i = 0; i < F && !*n; i++) members[i] = (Member){mean[i], sd[i], i};
  if (!*n) *n = F;
  PetscCall(rg_seen_destroy(&seen));
  PetscFunctionReturn(0);
}

static PetscErrorCode front_of_box(RgAlgorithm *algorithm, const RgHistory *history,
                                   RgRandom *random, RgQuery *query)
{
  const Options *options = algorithm->options;
  const RgSpace *design = &algorithm->setup.domain->design;
  const int dim = design->dim, F = options->front;
  double *X, *mean, *sd;
  Member *members;
  int n = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4((size_t)F * dim, &X, F, &mean, F, &sd, F, &members));
  if (dim <= RG_SOBOL_MAX_DIM) PetscCall(rg_design_sobol(random, F, dim, X));
  else rg_random_uniforms(random, (size_t)F * (size_t)dim, X);
  for (int i = 0; i < F; i++) rg_space_snap(design, X + (size_t)i * dim, NULL);
  PetscCall(rg_model_predict(rg_sampling_model(algorithm), F, X, mean, sd));
  PetscCall(gather_members(algorithm, history, F, X, mean, sd, members, &n));
  n = keep_front(n, members);
  const int chosen = members[rg_random_below(random, (uint64_t)n)].index;
  PetscCall(PetscArraycpy(query->x, X + (size_t)chosen * dim, dim));
  PetscCall(PetscFree4(X, mean, sd, members));
  PetscFunctionReturn(0);
}

/* ---- the method ------------------------------------------------------------------------------ */

static PetscErrorCode path_maximum(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   RgQuery *query, RgFailure *failure)
{
  RgOptima path;

  PetscFunctionBeginUser;
  PetscCall(rg_sampling_draw(algorithm, t, history, 1, true, &path, failure));
  if (failure->failed) PetscFunctionReturn(0);
  query->index = path.index[0];
  PetscCall(PetscArraycpy(query->x, path.x, algorithm->setup.domain->design.dim));
  query->extra[ACQUISITION] = path.value[0];
  PetscFunctionReturn(0);
}

static PetscErrorCode ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure)
{
  RgRandom random = rg_algorithm_stream_at(algorithm, "choice", t);
  const RgUcb mean = {0};
  const RgAcquisition acquisition = {rg_acquisition_ucb, &mean};
  const Choice choice = choose(algorithm, t, &random);

  PetscFunctionBeginUser;
  query->extra[CHOICE] = choice;
  switch (choice) {
  case MEAN:
    PetscCall(rg_surrogate_acquire(algorithm, rg_sampling_model(algorithm), t, history,
                                   &acquisition, query, &query->extra[ACQUISITION], failure));
    break;
  case PATH: PetscCall(path_maximum(algorithm, t, history, query, failure)); break;
  case PARETO:
    if (rg_space_is_finite(&algorithm->setup.domain->design))
      PetscCall(front_of_set(algorithm, history, &random, query, failure));
    else PetscCall(front_of_box(algorithm, history, &random, query));
    break;
  }
  PetscFunctionReturn(0);
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
