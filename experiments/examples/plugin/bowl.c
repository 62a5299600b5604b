/* A plugin: the problem `bowl` and the algorithm `corners`, complete.

   bowl(x) = offset - sum_j (x_j - centre)^2 on [-1, 1]^dim, maximum `offset`.
   corners visits the corners of the box in binary order. */
#include <regatta/plugin.h>

/* ---- the problem ------------------------------------------------------------------------------- */

typedef struct {
  int dim;
  double centre, offset;
} BowlOptions;

static const RgParam bowl_params[] = {
  RG_INT("dim", BowlOptions, dim, "2", 1, 20, "d", "dimension"),
  RG_REAL("centre", BowlOptions, centre, "0.3", -1, 1, "", "every coordinate of the maximiser"),
  RG_REAL("offset", BowlOptions, offset, "1", 0, 0, "f*", "the maximum"),
  {0},
};

static PetscErrorCode bowl_domain(const RgProblemClass *class, const void *options,
                                  RgDomain *domain)
{
  double lower[20], upper[20];
  int dim = ((const BowlOptions *)options)->dim;

  (void)class;
  for (int j = 0; j < dim; j++) {
    lower[j] = -1;
    upper[j] = 1;
  }
  PetscCall(rg_space_box(&domain->design, dim, lower, upper));
  return 0;
}

static PetscErrorCode bowl_create(RgProblem *problem, RgFailure *failure)
{
  const BowlOptions *o = problem->options;

  (void)failure;
  problem->optimum = o->offset;
  PetscCall(PetscMalloc1(o->dim, &problem->optimisers));
  for (int j = 0; j < o->dim; j++) problem->optimisers[j] = o->centre;
  problem->n_optimisers = 1;
  return 0;
}

static PetscErrorCode bowl_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                    RgFailure *failure)
{
  const BowlOptions *o = problem->options;

  (void)failure;
  for (int i = 0; i < m; i++) {
    f[i] = o->offset;
    for (int j = 0; j < o->dim; j++) {
      const double difference = points[i].x[j] - o->centre;
      f[i] -= difference * difference;
    }
  }
  return 0;
}

static const RgProblemClass bowl = {
  .name = "bowl",
  .title = "Bowl",
  .summary = "offset - sum_j (x_j - centre)^2 on [-1, 1]^dim",
  .reference = "an example of a plugin",
  .revision = 1, /* to be raised when values change: results of before don't count any more */
  RG_OPTIONS(BowlOptions, bowl_params),
  .domain = bowl_domain,
  .create = bowl_create,
  .evaluate = bowl_evaluate,
};

/* ---- the algorithm ----------------------------------------------------------------------------- */

static const RgParam corners_params[] = {{0}};

static PetscErrorCode corners_create(RgAlgorithm *algorithm)
{
  (void)algorithm; /* nothing to keep between queries: state_size is 0 */
  return 0;
}

static PetscErrorCode corners_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                  RgQuery *query, RgFailure *failure)
{
  const int dim = algorithm->setup.domain->design.dim;

  (void)history;
  (void)failure;
  for (int j = 0; j < dim; j++) query->x[j] = (t - 1) >> (j % 30) & 1; /* in the unit cube */
  return 0;
}

static const RgAlgorithmClass corners = {
  RG_ABOUT("corners", "Corners", 1, "the corners of the box in binary order",
           "an example of a plugin"),
  .needs = RG_NEEDS_BOX | RG_NEEDS_NO_CONTEXT,
  .params = corners_params,
  .create = corners_create,
  .ask = corners_ask,
};

static const RgProblemClass *const problems[] = {&bowl, NULL};
static const RgAlgorithmClass *const algorithms[] = {&corners, NULL};

RG_PLUGIN(problems, algorithms)
