/* gp_path_box: a Gaussian process path over designs and contexts that are boxes or grids.

   f(x, w) = sum_m theta_m a_m cos(2 pi (v_m . (x, w) + u_m)) on the unit cube: a path with
   `features` random Fourier features (gp/path/feature_path.h), nearly one of GP(0, k). Designs and
   contexts are each the whole unit cube or `levels` equispaced points per coordinate, the ends
   included; contexts are uniform. F = rho(f(x, .)) over the grid of contexts, or by `panels`
   twelve-point Gauss rules per coordinate of a box of them; without contexts F = f. Every
   instance is another path.
   For the continuous algorithms of arXiv:2504.03172, appendix A, which have no experiment there.
   Cost of F: O(features) cosines and O(features nodes) multiplications for each design. */
#include "maths/blas.h"
#include "base/grow.h"
#include "maths/distribution.h"
#include "gp/kernel/family.h"
#include "gp/path/feature_path.h"
#include "problem/finite_context.h"
#include "regatta/measure.h"

#include <math.h>
#include <string.h>

#define TURN 6.28318530717958647692528676655900577

enum { NODES_MAX = 20000, DESIGNS_MAX = 1000000, BLOCK = 256 };

typedef struct {
  char *measure;
  int setting;
  int dim, context_dim, levels, context_levels;
  int kernel;
  double length_scale;
  int features, panels;
} Options;

static const RgParam params[] = {
  RG_MEASURE_PARAM(Options),
  RG_CHOICE("setting", Options, setting, "simulator", rg_finite_context_settings, "",
            "who chooses the context of a query: the learner, or nature, uniformly"),
  RG_INT("dim", Options, dim, "1", 1, 10, "d1", "design coordinates"),
  RG_INT("context_dim", Options, context_dim, "1", 0, 4, "d2", "context coordinates; 0: none"),
  RG_INT("levels", Options, levels, "0", 0, 10000, "",
         "grid levels per coordinate of the design; 0: the whole box"),
  RG_INT("context_levels", Options, context_levels, "0", 0, 10000, "",
         "grid levels per coordinate of the context; 0: the whole box"),
  RG_CHOICE("kernel", Options, kernel, "gaussian", rg_kernel_family_names, "k",
            "family of the covariance function, variance 1"),
  RG_REAL("length_scale", Options, length_scale, "0.3", RG_POSITIVE, 1e6, "ell",
          "length scale of every coordinate"),
  RG_INT("features", Options, features, "512", 1, 100000, "",
         "random Fourier features of the path"),
  RG_INT("panels", Options, panels, "5", 1, 100, "",
         "Gauss rules of twelve points per coordinate of a box of contexts, for F"),
  {0},
};

typedef struct {
  RgFeaturePath path;
  RgMeasure measure;
  int n;        /* number of nodes of F */
  double *p;    /* n: their weights; owned */
  double *wave; /* 2 features x n: cosines and sines of the nodes; owned */
} Data;

static PetscErrorCode check(const RgProblemClass *class, const void *options, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const Options *o = options;
  const double contexts = pow(o->context_levels, o->context_dim);
  const double nodes = o->context_levels ? contexts : pow(12 * o->panels, o->context_dim);

  if (!rg_kernel_classes[o->kernel]->spectrum)
    rg_diagnostics_add(diagnostics, place,
                       "%s: the kernel '%s' has no spectrum to draw a path from", class->name,
                       rg_kernel_family_names[o->kernel]);
  if (!o->context_dim && (o->context_levels || o->setting || strcmp(o->measure, "expectation")))
    rg_diagnostics_add(diagnostics, place,
                       "%s: 'context_dim: 0' leaves no contexts for 'context_levels', 'setting' or "
                       "'measure'",
                       class->name);
  if (o->levels == 1 || o->context_levels == 1)
    rg_diagnostics_add(diagnostics, place, "%s: a grid needs two levels or more (0: the whole box)",
                       class->name);
  if (pow(o->levels, o->dim) > DESIGNS_MAX)
    rg_diagnostics_add(diagnostics, place, "%s: levels^dim = %.15g designs; at most %d",
                       class->name, pow(o->levels, o->dim), DESIGNS_MAX);
  if (nodes > NODES_MAX)
    rg_diagnostics_add(diagnostics, place, "%s: %.15g %s; at most %d", class->name, nodes,
                       o->context_levels ? "contexts" : "nodes of F (12 panels per coordinate)",
                       NODES_MAX);
  return rg_measure_check(o->measure, o->context_levels ? (int)contexts : 0, place, diagnostics);
}

static PetscErrorCode domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const Options *o = options;

  if (o->levels) PetscCall(rg_finite_context_grid(&domain->design, o->dim, o->levels, 0, 1));
  else PetscCall(rg_space_cube(&domain->design, o->dim, 0, 1));
  if (!o->context_dim) return 0;
  if (o->context_levels)
    PetscCall(rg_finite_context_grid(&domain->context, o->context_dim, o->context_levels, 0, 1));
  else PetscCall(rg_space_cube(&domain->context, o->context_dim, 0, 1));
  domain->control = rg_finite_context_control(o->setting);
  PetscCall(rg_measure_canonical(o->measure, &domain->measure));
  const int n = domain->context.size;
  if (!n) return rg_domain_state_laws(domain, 1, (const char *const[]){"uniform(0, 1)"});
  PetscCall(PetscMalloc1(n, &domain->context_prob));
  for (int j = 0; j < n; j++) domain->context_prob[j] = 1.0 / n;
  return 0;
}

static PetscErrorCode prior(const void *options, RgKernel *kernel)
{
  const Options *o = options;

  return rg_kernel_create((RgKernelFamily)o->kernel, o->dim + o->context_dim, false,
                          &o->length_scale, 1.0, kernel);
}

/* ---- F --------------------------------------------------------------------------------------- */

/* The contexts that F is computed from, and their weights: *nodes (n x context dim), to be
   freed. */
static PetscErrorCode place_nodes(const RgProblem *problem, Data *data, double **nodes)
{
  const Options *o = problem->options;
  const RgSpace *context = &problem->domain.context;
  RgQuadrature rule;

  PetscCall(rg_quadrature_uniform(0, 1, o->panels, &rule));
  data->n = context->size ? context->size : (int)lround(pow(rule.n, context->dim));
  PetscCall(PetscMalloc1(data->n, &data->p));
  PetscCall(PetscMalloc1((size_t)data->n * context->dim, nodes));
  for (int i = 0; i < data->n; i++) {
    data->p[i] = context->size ? 1.0 / data->n : 1.0;
    for (int j = context->dim - 1, rest = i; j >= 0; j--, rest /= rule.n) {
      const size_t at = (size_t)i * context->dim + j;
      (*nodes)[at] = context->size ? context->points[at] : rule.node[rest % rule.n];
      if (!context->size) data->p[i] *= rule.weight[rest % rule.n];
    }
  }
  return rg_quadrature_destroy(&rule);
}

/* 2 pi times the part of the frequencies that belongs to coordinates first .. first + dim. */
static double phase(const RgFeaturePath *path, int m, int first, int dim, const double *z)
{
  double turns = 0;

  for (int j = 0; j < dim; j++) turns += path->frequency[(size_t)(first + j) * path->n + m] * z[j];
  return TURN * (turns - floor(turns));
}

/* The search for the optimum: about 13000 values of F per coordinate of a box. */
static void cost_of(const void *options, RgProblemCost *cost)
{
  const Options *o = options;
  const double count = o->levels ? pow(o->levels, o->dim) : 13000.0 * o->dim;
  const double nodes = o->context_levels ? pow(o->context_levels, o->context_dim)
                                         : pow(12 * o->panels, o->context_dim);

  cost->setup = count * o->features * (40 + 0.16 * nodes);
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  const int M = o->features;
  RgRandom random = rg_stream_at(&problem->stream, 0);
  RgKernel kernel;
  Data *data;
  double *nodes;

  PetscCall(PetscNew(&data));
  problem->data = data;
  PetscCall(prior(o, &kernel));
  PetscCall(rg_feature_path_create(o->dim + o->context_dim, M, &data->path));
  PetscCall(rg_feature_path_draw(&data->path, &kernel, &random));
  PetscCall(rg_kernel_destroy(&kernel));
  PetscCall(rg_measure_create(o->measure, &data->measure));
  PetscCall(place_nodes(problem, data, &nodes));
  PetscCall(PetscMalloc1(2 * (size_t)M * data->n, &data->wave));
  for (int m = 0; m < M; m++)
    for (int i = 0; i < data->n; i++) {
      const double angle =
        phase(&data->path, m, o->dim, o->context_dim, nodes + (size_t)i * o->context_dim);
      data->wave[(size_t)m * data->n + i] = cos(angle);
      data->wave[(size_t)(M + m) * data->n + i] = -sin(angle);
    }
  return PetscFree(nodes);
}

static PetscErrorCode objective(RgProblem *problem, int m, const RgPoint *points, double *F,
                                RgFailure *failure)
{
  const Data *data = problem->data;
  const RgFeaturePath *path = &data->path;
  const int dim = problem->domain.design.dim, M = path->n;
  double *waves, *f;

  PetscCall(PetscMalloc2((size_t)BLOCK * 2 * M, &waves, (size_t)BLOCK * data->n, &f));
  for (int first = 0; first < m; first += BLOCK) {
    const int count = PetscMin(BLOCK, m - first);
    for (int i = 0; i < count; i++) { /* a row of weights turns waves at nodes into f(x, .) */
      double *row = waves + (size_t)i * 2 * M;
      for (int k = 0; k < M; k++) {
        const double turns = TURN * path->phase[k];
        const double angle = phase(path, k, 0, dim, points[first + i].x) + turns;
        row[k] = path->weight[k] * cos(angle);
        row[M + k] = path->weight[k] * sin(angle);
      }
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, count, data->n, 2 * M, 1.0, waves, 2 * M,
                data->wave, data->n, 0.0, f, data->n);
    PetscCall(rg_measure_value(&data->measure, count, data->n, f, data->p, F + first));
  }
  return PetscFree2(waves, f);
}

/* ---- f --------------------------------------------------------------------------------------- */

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  Data *data = problem->data;
  const size_t dim = (size_t)problem->domain.design.dim, all = (size_t)data->path.dim;
  double *Z;

  PetscCall(PetscMalloc1(m * all, &Z));
  for (int i = 0; i < m; i++) {
    memcpy(Z + i * all, points[i].x, dim * sizeof *Z);
    if (all > dim) memcpy(Z + i * all + dim, points[i].c, (all - dim) * sizeof *Z);
  }
  PetscCall(rg_feature_path_evaluate(&data->path, m, Z, f, NULL));
  return PetscFree(Z);
}

static PetscErrorCode draw_context(RgProblem *problem, RgRandom *random, double *c, int *index)
{
  const RgSpace *context = &problem->domain.context;

  *index = -1;
  if (!context->size) {
    for (int j = 0; j < context->dim; j++) c[j] = rg_random_uniform(random);
    return 0;
  }
  *index = (int)rg_random_below(random, (uint64_t)context->size);
  rg_space_to_native(context, context->points + (size_t)*index * context->dim, c);
  return 0;
}

static PetscErrorCode destroy(RgProblem *problem)
{
  Data *data = problem->data;

  PetscCall(rg_feature_path_destroy(&data->path));
  PetscCall(rg_measure_destroy(&data->measure));
  return RG_FREE(&data->p, &data->wave);
}

const RgProblemClass rg_problem_gp_path_box = {
  RG_ABOUT("gp_path_box", "GP path on boxes", 1,
           "a draw of a Gaussian process over (x, w) on boxes or grids of the unit cube, by\n"
           "random features; a robustness measure over uniform w",
           "the setting of Inatsu 2025, arXiv:2504.03172, appendix A"),
  RG_OPTIONS(Options, params),
  .traits = RG_PROBLEM_RANDOM,
  RG_DOMAIN(domain, check),
  .cost = cost_of,
  .prior = prior,
  .create = create,
  .evaluate = evaluate,
  .objective = objective,
  .draw_context = draw_context,
  .destroy = destroy,
};
