/* bbob: the 24 noiseless functions of the BBOB suite with their instances, negated.

   f(x) = -(g(T(x - x_opt)) + penalty + f_opt) on [-5, 5]^d; g and the transformations T stand in
   bbob_functions.c, and so do the instances. Maximum -f_opt at
   x_opt; both depend on the instance. Draw k = 0, 1, ... of a study is instance first_instance + k
   of the suite. Values agree with those of the COCO platform.
   Source: N. Hansen, S. Finck, R. Ros, A. Auger, Real-parameter black-box optimization benchmarking
   2009: noiseless functions definitions, INRIA RR-6829. */
#include "extra/bbob/bbob.h"

#include "problem/box_problem.h"

#include <math.h>
#include <string.h>

#define BOUND 5
#define ROUNDING 1e-9 /* value of g at the optimum */

typedef struct {
  int function, dim, first_instance;
  RgEmbedding embedding;
} Options;

static const RgParam params[] = {
  RG_INT("function", Options, function, "1", 1, RG_BBOB_FUNCTIONS, "",
         "1-5 separable, 6-9 moderate conditioning, 10-14 ill-conditioned, 15-19 multi-modal with "
         "adequate structure, 20-24 with weak structure"),
  RG_INT("dim", Options, dim, "5", 2, 1000, "D", "number of coordinates"),
  RG_INT("first_instance", Options, first_instance, "1", 1, 1e6, "",
         "instance of the suite that the first instance of a study is; the others follow"),
  RG_EMBED_PARAMS(Options, embedding),
  {0},
};

/* An instance, and the coordinates before every step and after the last one. */
typedef struct {
  RgBbob bbob;
  double *v[RG_BBOB_STEPS + 1]; /* D each */
  double *slope;                /* 2 D */
} Data;

/* ---- steps ---------------------------------------------------------------------------------- */

/* T_asy^beta of v_i, and its derivative. */
static double asy(double power, double v, double *slope)
{
  if (!(v > 0)) {
    *slope = 1;
    return v;
  }
  const double root = sqrt(v), value = pow(v, 1 + power * root);
  *slope = value * ((1 + power * root) / v + 0.5 * power * log(v) / root);
  return value;
}

/* Coordinate i of an elementwise step, and its derivative. */
static double single(const RgBbob *bbob, RgBbobStep step, int i, double v, double *slope)
{
  if (step == RG_BBOB_OSZ) return rg_bbob_osz(v, slope);
  if (step == RG_BBOB_ASY) return asy(bbob->formula->beta * rg_bbob_t(bbob, i), v, slope);
  *slope = pow(bbob->formula->alpha, 0.5 * rg_bbob_t(bbob, i));
  return *slope * v;
}

static void forward(const RgBbob *bbob, int k, const double *in, double *out)
{
  const int dim = bbob->dim;
  const double *row = bbob->matrix[k];
  double slope;

  for (int i = 0; i < dim; i++) {
    if (!row) {
      out[i] = single(bbob, bbob->formula->steps[k], i, in[i], &slope);
      continue;
    }
    out[i] = 0;
    for (int j = 0; j < dim; j++) out[i] += in[j] * row[j];
    row += dim;
  }
}

/* The gradient by `in`, the coordinates before step k, from the gradient by those after it. */
static void backward(const RgBbob *bbob, int k, const double *in, const double *after,
                     double *before)
{
  const int dim = bbob->dim;
  const double *row = bbob->matrix[k];

  for (int i = 0; i < dim; i++) before[i] = 0;
  for (int i = 0; i < dim; i++) {
    if (!row) {
      double slope;
      single(bbob, bbob->formula->steps[k], i, in[i], &slope);
      before[i] = slope * after[i];
      continue;
    }
    for (int j = 0; j < dim; j++) before[j] += row[j] * after[i];
    row += dim;
  }
}

/* ---- values --------------------------------------------------------------------------------- */

/* The penalty factor sum_i max(0, |x_i| - 5)^2; adds its gradient. */
static double penalty(const RgBbob *bbob, const double *x, double *gradient)
{
  const double factor = bbob->formula->penalty / (bbob->formula->per_dim ? bbob->dim : 1);
  double sum = 0;

  for (int i = 0; factor > 0 && i < bbob->dim; i++) {
    const double over = fabs(x[i]) - BOUND;
    if (over <= 0) continue;
    sum += over * over;
    if (gradient) gradient[i] += 2 * factor * (x[i] > 0 ? over : -over);
  }
  return factor * sum;
}

/* The value to minimise, without f_opt, and its gradient (D; NULL: not wanted). */
static double above_optimum(Data *data, const double *x, double *gradient)
{
  const RgBbob *bbob = &data->bbob;
  const RgBbobFormula *formula = bbob->formula;
  const size_t dim = (size_t)bbob->dim;
  const double stretch = formula->fixed_origin ? 1 : bbob->c;
  double *after = data->slope, *before = data->slope + dim;
  int n = 0;

  for (size_t i = 0; i < dim; i++)
    data->v[0][i] = formula->fixed_origin ? x[i] : stretch * (x[i] - bbob->x_opt[i]);
  for (; formula->steps[n] != RG_BBOB_END; n++) forward(bbob, n, data->v[n], data->v[n + 1]);
  const double raw = formula->raw(bbob, data->v[n], gradient ? after : NULL);
  if (!gradient) return raw + penalty(bbob, x, NULL);
  while (n-- > 0) {
    double *swap = after;
    backward(bbob, n, data->v[n], after, before);
    after = before;
    before = swap;
  }
  for (size_t i = 0; i < dim; i++) gradient[i] = stretch * after[i];
  return raw + penalty(bbob, x, gradient);
}

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  Data *data = problem->data;

  for (int i = 0; i < m; i++)
    f[i] = 0 - (above_optimum(data, points[i].x, NULL) + data->bbob.f_opt);
  return 0;
}

static PetscErrorCode gradient(RgProblem *problem, const RgPoint *point, double *slope)
{
  above_optimum(problem->data, point->x, slope);
  for (int j = 0; j < problem->domain.design.dim; j++) slope[j] = 0 - slope[j];
  return 0;
}

/* ---- life cycle ----------------------------------------------------------------------------- */

static PetscErrorCode domain(const RgProblemClass *class, const void *options, RgDomain *domain)
{
  return rg_space_cube(&domain->design, ((const Options *)options)->dim, -BOUND, BOUND);
}

/* Rotations by Gram and Schmidt, and their products. */
static void cost_of(const void *options, RgProblemCost *cost)
{
  const double dim = ((const Options *)options)->dim;

  cost->setup = 10 * dim * dim * dim;
  cost->bytes = 8 * 4 * dim * dim;
}

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  const size_t dim = (size_t)o->dim;
  Data *data;

  PetscCall(PetscNew(&data));
  problem->data = data;
  PetscCall(rg_bbob_create(o->function, o->dim, (uint64_t)o->first_instance + problem->instance,
                           &data->bbob));
  for (int k = 0; k <= RG_BBOB_STEPS; k++) PetscCall(PetscMalloc1(dim, &data->v[k]));
  PetscCall(PetscMalloc1(2 * dim, &data->slope));
  PetscCall(PetscMalloc1(dim, &problem->optimisers));
  PetscCall(PetscArraycpy(problem->optimisers, data->bbob.x_opt, dim));
  problem->n_optimisers = 1;
  problem->optimum = 0 - data->bbob.f_opt;
  const double rest = above_optimum(data, data->bbob.x_opt, NULL);
  PetscCheck(fabs(rest) <= ROUNDING, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "bbob: function %d, %s, is %g above its optimum at x_opt", o->function,
             data->bbob.formula->title, rest);
  return 0;
}

static PetscErrorCode destroy(RgProblem *problem)
{
  Data *data = problem->data;

  PetscCall(rg_bbob_destroy(&data->bbob));
  for (int k = 0; k <= RG_BBOB_STEPS; k++) PetscCall(PetscFree(data->v[k]));
  return PetscFree(data->slope);
}

const RgProblemClass rg_problem_bbob = {
  RG_ABOUT("bbob", "BBOB", 1,
           "function 1 ... 24 of the noiseless BBOB suite, negated, on [-5, 5]^D; instances are\n"
           "those of the COCO platform",
           "Hansen, Finck, Ros, Auger 2009, Real-parameter black-box optimization benchmarking "
           "2009: noiseless functions definitions, RR-6829"),
  RG_OPTIONS(Options, params),
  .traits = RG_PROBLEM_RANDOM,
  .cost = cost_of,
  .domain = domain,
  .create = create,
  .evaluate = evaluate,
  .gradient = gradient,
  .destroy = destroy,
};
