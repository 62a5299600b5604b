/* A box problem of d inputs embedded in D >= d, whose bounds repeat those of the problem.

   The first d inputs act. Or a random subspace does: A (d x D) has orthonormal rows, u and z are
   inputs of the large and of the small box scaled to [-1, 1], and
     z = clip(s A u, -1, 1),  s = max_j sum_i |A_ij|.
   Every z of the small box is reached, so that both problems have the same optimum: u = A^T z / s
   gives s A u = A A^T z = z, and |u_j| <= sum_i |A_ij| |z_i| / s <= 1.
   The published cases: Hartmann6 and Levy4 in 25 to 1,000 inputs (arXiv:2402.02229). */
#include "problem/embedding.h"

#include <math.h>
#include <string.h>

const char *const rg_problem_rotations[] = {"none", "random", NULL};

typedef struct {
  RgProblem core;
  RgProblemClass class; /* the core's, with the methods below */
  double *rows;         /* d x D: s A; NULL: the first inputs act */
  double scale;         /* s */
  double *own, *slope;  /* d: scratch */
} Data;

const RgEmbedding *rg_embedding_of(const RgProblemClass *class, const void *options)
{
  const RgParam *entry = class->params ? rg_params_find(class->params, RG_EMBED) : NULL;

  if (!entry || entry[1].choices != rg_problem_rotations) return NULL;
  const RgEmbedding *embedding =
    (const RgEmbedding *)(const void *)((const char *)options + entry->offset);
  return embedding->dim > 0 ? embedding : NULL;
}

bool rg_problem_is_random(const RgProblemClass *class, const void *options)
{
  const RgEmbedding *embedding = rg_embedding_of(class, options);

  return class->traits & RG_PROBLEM_RANDOM || (embedding && embedding->random);
}

PetscErrorCode rg_problem_domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  const RgEmbedding *embedding = rg_embedding_of(class, options);
  double *lower, *upper;

  PetscCall(class->domain(class, options, domain));
  if (!embedding) return 0;
  const RgSpace own = domain->design;
  PetscCall(PetscMalloc2(embedding->dim, &lower, embedding->dim, &upper));
  for (int j = 0; j < embedding->dim; j++) {
    lower[j] = own.lower[j % own.dim];
    upper[j] = own.upper[j % own.dim];
  }
  domain->design = (RgSpace){0};
  PetscCall(rg_space_box(&domain->design, embedding->dim, lower, upper));
  PetscCall(PetscFree2(lower, upper));
  RgSpace gone = own;
  return rg_space_destroy(&gone);
}

PetscErrorCode rg_problem_check(const RgProblemClass *class, const void *options, RgPlace place,
                                RgDiagnostics *diagnostics)
{
  const RgEmbedding *embedding = rg_embedding_of(class, options);
  const RgParam *entry = rg_params_find(class->params, RG_EMBED "_rotation");
  const int before = diagnostics->n;
  RgDomain own = {0};

  if (class->check) PetscCall(class->check(class, options, place, diagnostics));
  if (!embedding && entry && entry->choices == rg_problem_rotations &&
      *(const int *)(const void *)((const char *)options + entry->offset))
    rg_diagnostics_add(diagnostics, place,
                       "%s: a rotation needs a number of inputs: embed: {dim: D, rotation: random}",
                       class->name);
  if (!embedding || diagnostics->n > before) return 0;
  PetscCall(class->domain(class, options, &own));
  if (rg_space_is_finite(&own.design))
    rg_diagnostics_add(diagnostics, place, "%s: 'embed' is for boxes, and this design is a set",
                       class->name);
  else if (embedding->dim < own.design.dim)
    rg_diagnostics_add(diagnostics, place,
                       "%s: 'embed' must be at least the %d input%s of the problem itself, got %d",
                       class->name, own.design.dim, own.design.dim == 1 ? "" : "s", embedding->dim);
  return rg_domain_destroy(&own);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Coordinate j of a box scaled to [-1, 1], and back. */
static double scaled(const RgSpace *box, int j, double x)
{
  return (2 * x - box->lower[j] - box->upper[j]) / (box->upper[j] - box->lower[j]);
}

static double native(const RgSpace *box, int j, double z)
{
  const double x = (box->lower[j] + box->upper[j] + z * (box->upper[j] - box->lower[j])) / 2;

  return fmin(fmax(x, box->lower[j]), box->upper[j]);
}

/* z_i before it is clipped. */
static double image(const RgProblem *problem, int i, const double *x)
{
  const Data *data = problem->data;
  const RgSpace *box = &problem->domain.design;
  const double *row = data->rows + (size_t)i * (size_t)box->dim;
  double z = 0;

  for (int j = 0; j < box->dim; j++) z += row[j] * scaled(box, j, x[j]);
  return z;
}

/* The core's input at x. */
static const double *project(const RgProblem *problem, const double *x)
{
  const Data *data = problem->data;
  const RgSpace *own = &data->core.domain.design;

  if (!data->rows) return x;
  for (int i = 0; i < own->dim; i++)
    data->own[i] = native(own, i, fmin(fmax(image(problem, i, x), -1), 1));
  return data->own;
}

void rg_embedding_lift(const RgProblem *problem, const double *own, double *x)
{
  const Data *data = problem->data;
  const RgSpace *box = &problem->domain.design, *small = &data->core.domain.design;

  for (int j = 0; j < box->dim; j++) {
    double u = 0;
    for (int i = 0; data->rows && i < small->dim; i++)
      u += data->rows[(size_t)i * (size_t)box->dim + (size_t)j] * scaled(small, i, own[i]);
    x[j] = native(box, j, u / (data->scale * data->scale));
    if (!data->rows && j < small->dim) x[j] = own[j];
  }
}

/* ---- methods --------------------------------------------------------------------------------- */

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  for (int i = 0; i < m; i++) {
    RgPoint own = points[i];
    own.x = project(problem, own.x);
    PetscCall(problem->core->class->evaluate(problem->core, 1, &own, &f[i], failure));
  }
  return 0;
}

static PetscErrorCode constrain(RgProblem *problem, int m, const RgPoint *points,
                                double *constraints, RgFailure *failure)
{
  const size_t n = (size_t)problem->domain.n_constraints;

  for (int i = 0; i < m; i++) {
    RgPoint own = points[i];
    own.x = project(problem, own.x);
    PetscCall(problem->core->class->constrain(problem->core, 1, &own, constraints + (size_t)i * n,
                                              failure));
  }
  return 0;
}

/* The chain rule; a clipped z does not move. */
static PetscErrorCode gradient(RgProblem *problem, const RgPoint *point, double *slope)
{
  const Data *data = problem->data;
  const RgSpace *box = &problem->domain.design, *small = &data->core.domain.design;
  RgPoint own = *point;

  own.x = project(problem, own.x);
  PetscCall(problem->core->class->gradient(problem->core, &own, data->slope));
  for (int j = 0; j < box->dim; j++) slope[j] = data->rows || j >= small->dim ? 0 : data->slope[j];
  for (int i = 0; data->rows && i < small->dim; i++) {
    const double *row = data->rows + (size_t)i * (size_t)box->dim;
    if (fabs(image(problem, i, point->x)) > 1) continue;
    const double rate = data->slope[i] * (small->upper[i] - small->lower[i]);
    for (int j = 0; j < box->dim; j++) slope[j] += rate * row[j] / (box->upper[j] - box->lower[j]);
  }
  return 0;
}

static PetscErrorCode destroy(RgProblem *problem)
{
  Data *data = problem->data;

  PetscCall(rg_problem_destroy(&data->core));
  PetscCall(PetscFree(data->rows));
  return PetscFree2(data->own, data->slope);
}

/* ---- create ---------------------------------------------------------------------------------- */

/* Draw s A: normal rows, made orthonormal by Gram and Schmidt, twice for the sake of rounding. */
static PetscErrorCode draw_rows(RgRandom random, int d, int dim, Data *data)
{
  const size_t D = (size_t)dim;

  PetscCall(PetscMalloc1((size_t)d * D, &data->rows));
  rg_random_normals(&random, (size_t)d * D, data->rows);
  for (int i = 0; i < d; i++) {
    double *row = data->rows + (size_t)i * D, length = 0;
    for (int k = 0; k < 2 * i; k++) {
      const double *other = data->rows + (size_t)(k % i) * D;
      double product = 0;
      for (size_t j = 0; j < D; j++) product += row[j] * other[j];
      for (size_t j = 0; j < D; j++) row[j] -= product * other[j];
    }
    for (size_t j = 0; j < D; j++) length += row[j] * row[j];
    for (size_t j = 0; j < D; j++) row[j] /= sqrt(length);
  }
  data->scale = 0;
  for (size_t j = 0; j < D; j++) {
    double sum = 0;
    for (size_t i = 0; i < (size_t)d; i++) sum += fabs(data->rows[i * D + j]);
    data->scale = fmax(data->scale, sum);
  }
  for (size_t k = 0; k < (size_t)d * D; k++) data->rows[k] *= data->scale;
  return 0;
}

PetscErrorCode rg_embedding_wrap(uint64_t study_seed, RgProblem *problem)
{
  const RgProblemClass *class = problem->class;
  const RgEmbedding *embedding = rg_embedding_of(class, problem->options);
  const RgStream stream = rg_stream(study_seed, class->name, problem->instance, RG_EMBED, 0);
  const int d = problem->domain.design.dim;
  const size_t D = (size_t)embedding->dim;
  Data *data;

  PetscCall(PetscNew(&data));
  data->core = *problem;
  data->class = *class;
  data->class.evaluate = evaluate;
  data->class.constrain = class->constrain ? constrain : NULL;
  data->class.gradient = class->gradient ? gradient : NULL;
  data->class.destroy = destroy;
  if (embedding->random) data->class.traits |= RG_PROBLEM_RANDOM;
  data->scale = 1;
  PetscCall(PetscMalloc2(d, &data->own, d, &data->slope));
  problem->class = &data->class;
  problem->core = &data->core;
  problem->data = data;
  problem->domain = (RgDomain){0};
  PetscCall(rg_problem_domain(class, problem->options, &problem->domain));
  if (embedding->random) PetscCall(draw_rows(rg_stream_at(&stream, 0), d, embedding->dim, data));
  PetscCall(PetscMalloc1((size_t)problem->n_optimisers * D, &problem->optimisers));
  for (int i = 0; i < problem->n_optimisers; i++)
    rg_embedding_lift(problem, data->core.optimisers + (size_t)i * (size_t)d,
                      problem->optimisers + (size_t)i * D);
  return 0;
}
