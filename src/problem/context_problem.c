/* Problems with continuous contexts from nature: laws, F by quadrature, Sobol sets or measures. */
#include "problem/context_problem.h"

#include <math.h>

#include "base/grow.h"
#include "maths/blas.h"
#include "maths/design.h"
#include "maths/normal.h"

enum {
  SETS = 8,    /* independent scrambles of the quasi-Monte Carlo rule */
  DRAFT = 1024 /* number of points for a rough F: the first ones of every set */
};

const char *const rg_context_orders[] = {"after", "before", NULL};
const char *const rg_context_observations[] = {"raw", "clipped", NULL};
const char *const rg_context_expectations[] = {"exact", "qmc", NULL};

/* Compute the lower Cholesky factor (dim x dim) of the correlations. Returns false if they are not
   positive definite. */
static bool factor(const RgReals *correlation, int dim, double *root)
{
  for (int i = 0, pair = 0; i < dim; i++)
    for (int j = i; j < dim; j++) {
      const double r = i == j ? 1 : correlation->values[correlation->n > 1 ? pair++ : 0];
      root[(size_t)j * dim + i] = r;
      if (j > i) root[(size_t)i * dim + j] = 0;
    }
  return LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', dim, root, dim) == 0;
}

static PetscErrorCode check_correlation(const char *problem, const RgContextOptions *options,
                                        int dim, RgPlace place, RgDiagnostics *diagnostics)
{
  const RgReals *correlation = &options->correlation;
  const int pairs = dim * (dim - 1) / 2;
  double *root;

  if (!correlation->n) return 0;
  if (dim == 1 || (correlation->n != 1 && correlation->n != pairs))
    return rg_diagnostics_add(
      diagnostics, place, "%s: 'correlation' has %d numbers for %d pairs of context coordinates",
      problem, correlation->n, pairs);
  PetscCall(PetscMalloc1((size_t)dim * dim, &root));
  const bool definite = factor(correlation, dim, root);
  PetscCall(PetscFree(root));
  if (!definite)
    rg_diagnostics_add(diagnostics, place,
                       "%s: 'correlation' is no matrix of correlations: it has "
                       "no Cholesky factor",
                       problem);
  if (rg_law_drifts(options->law.n, options->law.values))
    rg_diagnostics_add(diagnostics, place,
                       "%s: 'correlation' joins laws that stay the same in time", problem);
  return 0;
}

/* F is an expectation. It does not exist for laws with heavy tails if f grows with the context.
   Between two laws of the same form that a coordinate takes in time the tails are no heavier. */
static PetscErrorCode check_tails(const RgProblemClass *class, const RgContextOptions *options,
                                  RgPlace place, RgDiagnostics *diagnostics)
{
  const RgContextFunction *function = class->family;
  const int dim = PetscMin(function->dim_c, 2);
  RgLaw laws[2] = {0};
  RgMeasure measure;

  PetscCall(rg_measure_create(options->measure, &measure));
  const bool expects = measure.kind == RG_MEASURE_EXPECTATION;
  PetscCall(rg_measure_destroy(&measure));
  if (options->clip || !expects || options->order == RG_ORDER_BEFORE) return 0;
  PetscCall(rg_law_create_all(options->law.n, options->law.values, dim, laws));
  for (int j = 0; j < dim; j++) {
    const char *law = options->law.values[options->law.n > 1 ? j : 0];
    const double *grows = function->grows[j];
    bool has_mean = true;
    for (int k = 0; k < laws[j].n; k++)
      has_mean = has_mean && rg_distribution_has_moments(&laws[j].laws[k], grows[0], grows[1]);
    if (!has_mean)
      rg_diagnostics_add(diagnostics, place,
                         "%s: F(x) = E f(x, c) is not finite under 'law' %s, whose tails are too "
                         "heavy; accepted are 'clip: yes' and clip(%s, LOWER, UPPER)",
                         class->name, law, law);
    PetscCall(rg_law_destroy(&laws[j]));
  }
  return 0;
}

static int context_dim(const RgContextFunction *function, const void *options)
{
  return function->dim_c ? function->dim_c : ((const RgContextSizes *)options)->context_dim;
}

PetscErrorCode rg_context_check(const RgProblemClass *class, const void *options, RgPlace place,
                                RgDiagnostics *diagnostics)
{
  const RgContextOptions *o = options;
  const int dim = context_dim(class->family, options), before = diagnostics->n;

  if (o->law.n != 1 && o->law.n != dim)
    rg_diagnostics_add(diagnostics, place,
                       "%s: 'law' has %d laws for %d context coordinates, accepted are 1 or %d",
                       class->name, o->law.n, dim, dim);
  for (int j = 0; j < o->law.n; j++)
    PetscCall(rg_law_check("law", o->law.values[j], place, diagnostics));
  PetscCall(check_correlation(class->name, o, dim, place, diagnostics));
  PetscCall(rg_measure_check(o->measure, o->measure_points, place, diagnostics));
  if (diagnostics->n == before) PetscCall(check_tails(class, o, place, diagnostics));
  return 0;
}

PetscErrorCode rg_context_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const RgContextFunction *function = class->family;
  const RgContextOptions *o = options;
  const bool unit = function->lower == function->upper;
  const int dim = function->dim ? function->dim : ((const RgContextSizes *)options)->dim;

  PetscCall(
    rg_space_cube(&domain->design, dim, unit ? 0 : function->lower, unit ? 1 : function->upper));
  PetscCall(rg_space_cube(&domain->context, context_dim(function, options), 0, 1));
  domain->control = o->order == RG_ORDER_BEFORE ? RG_CONTEXT_ANNOUNCED : RG_CONTEXT_NATURE;
  if (!o->correlation.n) /* methods would take the laws for independent */
    PetscCall(rg_domain_state_laws(domain, o->law.n, (const char *const *)o->law.values));
  return rg_measure_canonical(o->measure, &domain->measure);
}

/* ---- create, destroy ------------------------------------------------------------------------- */

/* Join independent uniform numbers (dim) by the copula, in place. */
static void join(const RgContextProblem *data, double *u)
{
  for (int j = 0; data->root && j < data->dim; j++) u[j] = rg_normal_quantile(u[j]);
  for (int j = data->dim - 1; data->root && j >= 0; j--) {
    double sum = 0;
    for (int k = 0; k <= j; k++) sum += data->root[j * data->dim + k] * u[k];
    u[j] = fmin(fmax(rg_normal_cdf(sum), 0x1p-60), 1 - 0x1p-53);
  }
}

/* Join n points of the unit cube, and map them by the quantiles of the laws. */
static void map_points(const RgContextProblem *data, int n, double *points)
{
  for (double *c = points; c < points + (size_t)n * data->dim; c += data->dim) {
    join(data, c);
    for (int j = 0; j < data->dim; j++) c[j] = rg_distribution_quantile(&data->law[j], c[j]);
  }
}

/* Eight scrambled Sobol sets. */
static PetscErrorCode create_qmc(RgProblem *problem, RgContextProblem *data, int points)
{
  const RgStream stream = rg_stream(0, problem->class->name, 0, "expectation", 0);
  const int each = (points + SETS - 1) / SETS;

  data->n_qmc = SETS * each;
  PetscCall(PetscMalloc1((size_t)data->n_qmc * data->dim, &data->qmc));
  for (int s = 0; s < SETS; s++) {
    RgRandom random = rg_stream_at(&stream, (uint64_t)s);
    double *set = data->qmc + (size_t)s * each * data->dim;
    PetscCall(rg_design_sobol(&random, each, data->dim, set));
    map_points(data, each, set);
  }
  return 0;
}

/* Contexts of a measure: midpoints of equal shares of the law, or a scrambled Sobol set. */
static PetscErrorCode create_nodes(RgProblem *problem, RgContextProblem *data,
                                   const RgContextOptions *options)
{
  const RgStream stream = rg_stream(0, problem->class->name, 0, "measure", 0);
  RgRandom random = rg_stream_at(&stream, 0);
  const int n = options->measure_points;

  PetscCall(rg_measure_create(options->measure, &data->measure));
  if (data->measure.kind == RG_MEASURE_EXPECTATION) return 0;
  data->n_nodes = n;
  PetscCall(PetscMalloc1((size_t)n * data->dim, &data->nodes));
  if (data->dim > 1) PetscCall(rg_design_sobol(&random, n, data->dim, data->nodes));
  for (int i = 0; i < n && data->dim == 1; i++) data->nodes[i] = (i + 0.5) / n;
  map_points(data, n, data->nodes);
  return 0;
}

/* Everything that depends on the law, for the law of evaluation t. */
static PetscErrorCode use_law(RgProblem *problem, int t)
{
  const RgContextOptions *options = problem->options;
  RgContextProblem *data = problem->data;
  const RgContextFunction *function = data->function;

  problem->epoch = rg_law_epoch(data->dim, data->over_time, t);
  for (int j = 0; j < data->dim; j++) {
    PetscCall(rg_law_at(&data->over_time[j], t, &data->raw[j]));
    PetscCall(rg_distribution_copy(&data->raw[j], &data->law[j]));
    if (options->clip) rg_distribution_clip(&data->law[j], 0, 1);
  }
  PetscCall(create_nodes(problem, data, options));
  if ((options->expectation == RG_EXPECTATION_QMC || data->root) && !data->n_nodes)
    PetscCall(create_qmc(problem, data, options->points));
  problem->has_draft = data->n_qmc > DRAFT;
  if (function->n_means) { /* of the law of the first coordinate */
    RgQuadrature rule;
    PetscCall(rg_distribution_quadrature(&data->law[0], function->panels, function->kink != NULL,
                                         function->kink, &rule));
    for (int k = 0; k < function->n_means; k++) {
      data->mean[k] = 0;
      for (int i = 0; i < rule.n; i++)
        data->mean[k] += rule.weight[i] * function->mean_of(k, rule.node[i]);
    }
    PetscCall(rg_quadrature_destroy(&rule));
  }
  if (function->own_size) PetscCall(PetscCalloc(function->own_size, &data->own));
  if (function->prepare) PetscCall(function->prepare(problem, data));
  return 0;
}

/* Undo use_law. */
static PetscErrorCode drop_law(RgProblem *problem)
{
  RgContextProblem *data = problem->data;

  if (data->own && data->function->clear) PetscCall(data->function->clear(data->own));
  for (int j = 0; j < data->dim; j++) {
    PetscCall(rg_distribution_destroy(&data->raw[j]));
    PetscCall(rg_distribution_destroy(&data->law[j]));
  }
  PetscCall(RG_FREE(&data->own, &data->qmc, &data->nodes, &problem->optimisers));
  PetscCall(rg_measure_destroy(&data->measure));
  data->n_qmc = data->n_nodes = problem->n_optimisers = 0;
  problem->optimum = NAN;
  return 0;
}

PetscErrorCode rg_context_create(RgProblem *problem, RgFailure *failure)
{
  const RgContextOptions *options = problem->options;
  const int dim = problem->domain.context.dim;
  RgContextProblem *data;

  PetscCall(PetscNew(&data));
  problem->data = data;
  data->function = problem->class->family;
  data->dim = dim;
  PetscCall(PetscCalloc3(dim, &data->raw, dim, &data->law, dim, &data->over_time));
  PetscCall(rg_law_create_all(options->law.n, options->law.values, dim, data->over_time));
  if (options->correlation.n) {
    PetscCall(PetscMalloc1((size_t)dim * dim, &data->root));
    PetscCheck(factor(&options->correlation, dim, data->root), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "no matrix of correlations");
  }
  return use_law(problem, 1);
}

PetscErrorCode rg_context_at(RgProblem *problem, int t)
{
  const RgContextProblem *data = problem->data;

  if (rg_law_epoch(data->dim, data->over_time, t) == problem->epoch) return 0;
  PetscCall(drop_law(problem));
  return use_law(problem, t);
}

PetscErrorCode rg_context_optimum(RgProblem *problem, double each)
{
  const RgContextProblem *data = problem->data;
  const int dim = problem->domain.design.dim;

  if (data->n_qmc || data->n_nodes) return 0;
  problem->n_optimisers = 1;
  PetscCall(PetscMalloc1(dim, &problem->optimisers));
  for (int j = 0; j < dim; j++) problem->optimisers[j] = each;
  return data->function->exact(problem, data, problem->optimisers, &problem->optimum);
}

PetscErrorCode rg_context_destroy(RgProblem *problem)
{
  RgContextProblem *data = problem->data;

  PetscCall(drop_law(problem));
  for (int j = 0; j < data->dim; j++) PetscCall(rg_law_destroy(&data->over_time[j]));
  PetscCall(PetscFree(data->root));
  return PetscFree3(data->raw, data->law, data->over_time);
}

/* ---- nature ---------------------------------------------------------------------------------- */

PetscErrorCode rg_context_draw(RgProblem *problem, RgRandom *random, double *c, int *context_index)
{
  const RgContextOptions *options = problem->options;
  const RgContextProblem *data = problem->data;

  for (int j = 0; data->root && j < data->dim; j++) c[j] = rg_random_uniform(random);
  join(data, c);
  for (int j = 0; j < data->dim; j++) {
    c[j] = data->root ? rg_distribution_quantile(&data->raw[j], c[j])
                      : rg_distribution_sample(&data->raw[j], random);
    if (options->observed == RG_OBSERVED_CLIPPED) c[j] = fmin(fmax(c[j], 0), 1);
  }
  *context_index = -1;
  return 0;
}

PetscErrorCode rg_context_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                   RgFailure *failure)
{
  const RgContextOptions *options = problem->options;
  const RgContextProblem *data = problem->data;
  double *c;

  PetscCall(PetscMalloc1(data->dim, &c));
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < data->dim; j++)
      c[j] = options->clip ? fmin(fmax(points[i].c[j], 0), 1) : points[i].c[j];
    f[i] = data->function->formula(options, points[i].x, c);
  }
  return PetscFree(c);
}

/* ---- F --------------------------------------------------------------------------------------- */

/* Mean over the eight sets, and twice its standard error. */
static PetscErrorCode qmc_mean(RgProblem *problem, const RgPoint *point, double *F, double *error,
                               RgFailure *failure)
{
  enum { BLOCK = 1024 };
  const RgContextProblem *data = problem->data;
  const int all = data->n_qmc / SETS;
  const int each = problem->draft ? PetscMin(all, DRAFT / SETS) : all;
  RgPoint *points;
  double *f, sum = 0, squares = 0;

  PetscCall(PetscMalloc2(BLOCK, &points, BLOCK, &f));
  for (int s = 0; s < SETS; s++) {
    double mean = 0;
    for (int first = 0; first < each; first += BLOCK) {
      const int count = PetscMin(BLOCK, each - first);
      for (int i = 0; i < count; i++) {
        points[i] = *point;
        points[i].c = data->qmc + ((size_t)s * all + first + i) * data->dim;
      }
      PetscCall(problem->class->evaluate(problem, count, points, f, failure));
      for (int i = 0; i < count; i++) mean += f[i];
    }
    mean /= each;
    sum += mean;
    squares += mean * mean;
  }
  *F = sum / SETS;
  *error = 2 * sqrt(fmax(squares / SETS - *F * *F, 0) / (SETS - 1));
  return PetscFree2(points, f);
}

/* rho(f(x, .)) over the nodes. */
static PetscErrorCode measure(RgProblem *problem, int m, const RgPoint *points, double *F,
                              RgFailure *failure)
{
  const RgContextProblem *data = problem->data;
  const int n = data->n_nodes;
  RgPoint *at;
  double *f;

  PetscCall(PetscMalloc2(n, &at, n, &f));
  for (int i = 0; i < m; i++) {
    for (int k = 0; k < n; k++) {
      at[k] = points[i];
      at[k].c = data->nodes + (size_t)k * data->dim;
    }
    PetscCall(problem->class->evaluate(problem, n, at, f, failure));
    PetscCall(rg_measure_value(&data->measure, 1, n, f, NULL, &F[i]));
  }
  return PetscFree2(at, f);
}

PetscErrorCode rg_context_objective(RgProblem *problem, int m, const RgPoint *points, double *F,
                                    RgFailure *failure)
{
  RgContextProblem *data = problem->data;

  if (data->n_nodes) return measure(problem, m, points, F, failure);
  for (int i = 0; i < m; i++) {
    double error = 0;
    if (!data->n_qmc) {
      PetscCall(data->function->exact(problem, data, points[i].x, &F[i]));
      continue;
    }
    PetscCall(qmc_mean(problem, &points[i], &F[i], &error, failure));
    if (!problem->draft) problem->objective_error = fmax(problem->objective_error, error);
  }
  return 0;
}

PetscErrorCode rg_context_mean(const RgDistribution *law, int panels,
                               double (*g)(const void *closure, double c), const void *closure,
                               double *mean)
{
  RgQuadrature rule;

  PetscCall(rg_distribution_quadrature(law, panels, 0, NULL, &rule));
  *mean = 0;
  for (int i = 0; i < rule.n; i++) *mean += rule.weight[i] * g(closure, rule.node[i]);
  return rg_quadrature_destroy(&rule);
}
