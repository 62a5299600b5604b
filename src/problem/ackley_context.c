/* ackley_context: Ackley's function with uncontrollable contexts.

   f(x, c) = 20 exp(-0.2 sqrt(mean z^2)) + exp(mean cos(2 pi z)) - 20 - e, z = 65.536 (x, c) -
   32.768, x in [0, 1]^dim, contexts clipped to [0, 1]; F(x) = E f(x, c).
   sbo_kde: dim 2 with one or four contexts N(0.5, 0.15^2); wdrbo: dim 1 (the code: 2) with one
   context N(0.5, 0.2^2).
   F is exact: the cosines separate, and exp(-a sqrt(q)) = int_0^inf a/(2 sqrt(pi)) u^(-3/2)
   exp(-a^2/(4u)) exp(-u q) du does the same for the root, by the trapezoidal rule in log u. Its
   maximum is at the centre for every law: both parts are largest there for every c.
   Sources: arXiv:2312.10423, section 5; arXiv:2503.20341, appendix. */
#include "problem/context_problem.h"

#include <math.h>

enum { STEPS = 450, OCTAVES = 52, PANELS = 400 };
#define LOG_FIRST (-30.0)
#define LOG_STEP 0.2

static const RgParam params[] = {
  RG_INT("dim", RgContextSizes, dim, "2", 1, 100, "D_x", "design coordinates"),
  RG_INT("context_dim", RgContextSizes, context_dim, "1", 1, 39, "D_c", "context coordinates"),
  RG_CONTEXT_PARAMS("normal(0.5, 0.15)", "true", "raw"),
  {0},
};

/* 20 sum_k root[k] exp(-u[k] q) is the expected first part at q = sum of z_j^2 over the design. */
typedef struct {
  double u[STEPS], root[STEPS];
  double cosine; /* E exp(sum of cos(2 pi z) over the contexts / d) */
} Own;

static double scaled(double unit)
{
  return 65.536 * (unit - 0.5);
}

static double formula(const void *closure, const double *x, const double *c)
{
  const RgContextSizes *o = closure;
  const int d = o->dim + o->context_dim;
  double squares = 0, cosines = 0;

  for (int j = 0; j < d; j++) {
    const double z = scaled(j < o->dim ? x[j] : c[j - o->dim]);
    squares += z * z;
    cosines += cos(2 * M_PI * z);
  }
  return 20 * exp(-0.2 * sqrt(squares / d)) + exp(cosines / d) - 20 - M_E;
}

static double gaussian(const void *u, double c)
{
  const double z = scaled(c);

  return exp(-*(const double *)u * z * z);
}

static double cosine(const void *d, double c)
{
  return exp(cos(2 * M_PI * scaled(c)) / *(const double *)d);
}

/* A rule whose panels halve towards the centre, so that it suits Gaussians of any width. */
static PetscErrorCode octaves(const RgDistribution *law, RgQuadrature *rule)
{
  double breaks[2 * OCTAVES + 1];

  for (int k = 0; k < OCTAVES; k++) {
    breaks[k] = 0.5 - ldexp(1, -k);
    breaks[2 * OCTAVES - k] = 0.5 + ldexp(1, -k);
  }
  breaks[OCTAVES] = 0.5;
  PetscCall(rg_distribution_quadrature(law, 40, 2 * OCTAVES + 1, breaks, rule));
  return 0;
}

static PetscErrorCode tabulate(RgProblem *problem, RgContextProblem *data)
{
  const RgContextSizes *o = problem->options;
  Own *own = data->own;
  const double d = o->dim + o->context_dim, a = 0.2 / sqrt(d);

  for (int k = 0; k < STEPS; k++) {
    own->u[k] = exp(LOG_FIRST + k * LOG_STEP);
    own->root[k] =
      LOG_STEP * a / (2 * sqrt(M_PI)) * exp(-a * a / (4 * own->u[k])) / sqrt(own->u[k]);
  }
  own->cosine = 1;
  for (int j = 0; j < data->dim; j++) {
    RgQuadrature rule;
    double mean;
    PetscCall(octaves(&data->law[j], &rule));
    for (int k = 0; k < STEPS; k++) {
      double sum = 0;
      for (int i = 0; i < rule.n; i++) sum += rule.weight[i] * gaussian(&own->u[k], rule.node[i]);
      own->root[k] *= sum;
    }
    PetscCall(rg_quadrature_destroy(&rule));
    PetscCall(rg_context_mean(&data->law[j], PANELS, 0, NULL, cosine, &d, &mean));
    own->cosine *= mean;
  }
  PetscCall(rg_context_optimum(problem, 0.5));
  return 0;
}

static PetscErrorCode exact(RgProblem *problem, int m, const RgPoint *points, double *F)
{
  const RgContextSizes *o = problem->options;
  const RgContextProblem *data = problem->data;
  const Own *own = data->own;

  for (int i = 0; i < m; i++) {
    double q = 0, cosines = 0, root = 0;
    for (int j = 0; j < o->dim; j++) {
      const double z = scaled(points[i].x[j]);
      q += z * z;
      cosines += cos(2 * M_PI * z);
    }
    for (int k = 0; k < STEPS; k++) root += own->root[k] * exp(-own->u[k] * q);
    F[i] = 20 * root + exp(cosines / (o->dim + o->context_dim)) * own->cosine - 20 - M_E;
  }
  return 0;
}

static const RgContextFunction function = {
  .formula = formula, .exact = exact, .own_size = sizeof(Own), .prepare = tabulate};

const RgProblemClass rg_problem_ackley_context = {
  RG_ABOUT("ackley_context", "Ackley with contexts", 1,
           "20 exp(-0.2 sqrt(mean z^2)) + exp(mean cos(2 pi z)) - 20 - e, z = 65.536 (x, c) -\n"
           "32.768, on [0, 1]^dim; F(x) = E f(x, c)",
           "arXiv:2312.10423, section 5; arXiv:2503.20341, appendix"),
  RG_OPTIONS(RgContextSizes, params),
  RG_CONTEXT_FORMULA(function),
};
