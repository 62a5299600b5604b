/* modified_branin: product of two Branin functions, each with one design and one context.

   f(x, c) = -sqrt(h(15 x1 - 5, 15 c1) h(15 c2 - 5, 15 x2)), h Branin's function, x in [0, 1]^2,
   contexts clipped to [0, 1]; F(x) = -g1(x1) g2(x2), each factor one integral.
   sbo_kde: c_j ~ N(0.5, 0.1^2); wdrbo: N(0.5, 0.2^2).
   Sources: arXiv:2312.10423, section 5; arXiv:2503.20341, appendix. */
#include "problem/context_problem.h"

#include <math.h>

enum { PANELS = 40 };

static const RgParam params[] = {RG_CONTEXT_PARAMS("normal(0.5, 0.1)", "true", "raw"), {0}};

static double branin(double u, double v)
{
  const double square = v - 5.1 / (4 * M_PI * M_PI) * u * u + 5 / M_PI * u - 6;

  return square * square + 10 * (1 - 1 / (8 * M_PI)) * cos(u) + 10;
}

static double formula(const void *options, const double *x, const double *c)
{
  return -sqrt(branin(15 * x[0] - 5, 15 * c[0]) * branin(15 * c[1] - 5, 15 * x[1]));
}

/* Rules of the two contexts. */
typedef struct {
  RgQuadrature rule[2];
} Own;

static PetscErrorCode exact(RgProblem *problem, int m, const RgPoint *points, double *F)
{
  const RgContextProblem *data = problem->data;
  const Own *own = data->own;
  const RgQuadrature *first = &own->rule[0], *second = &own->rule[1];

  for (int i = 0; i < m; i++) {
    const double *x = points[i].x;
    double g1 = 0, g2 = 0;
    for (int k = 0; k < first->n; k++)
      g1 += first->weight[k] * sqrt(branin(15 * x[0] - 5, 15 * first->node[k]));
    for (int k = 0; k < second->n; k++)
      g2 += second->weight[k] * sqrt(branin(15 * second->node[k] - 5, 15 * x[1]));
    F[i] = -g1 * g2;
  }
  return 0;
}

static PetscErrorCode prepare(RgProblem *problem, RgContextProblem *data)
{
  Own *own = data->own;

  for (int j = 0; j < 2; j++)
    PetscCall(rg_distribution_quadrature(&data->law[j], PANELS, 0, NULL, &own->rule[j]));
  return 0;
}

static PetscErrorCode clear(void *closure)
{
  Own *own = closure;

  for (int j = 0; j < 2; j++) PetscCall(rg_quadrature_destroy(&own->rule[j]));
  return 0;
}

static const RgContextFunction function = {
  .dim = 2,
  .dim_c = 2,
  .grows = {{1, 1}, {2, 2}},
  .formula = formula,
  .exact = exact,
  .own_size = sizeof(Own),
  .prepare = prepare,
  .clear = clear,
};

const RgProblemClass rg_problem_modified_branin = {
  RG_ABOUT("modified_branin", "Modified Branin", 1,
           "-sqrt(h(15 x1 - 5, 15 c1) h(15 c2 - 5, 15 x2)), h Branin's function, on [0, 1]^2;\n"
           "F(x) = E f(x, c)",
           "arXiv:2312.10423, section 5; arXiv:2503.20341, appendix"),
  RG_OPTIONS(RgContextOptions, params),
  RG_CONTEXT_FORMULA(function),
};
