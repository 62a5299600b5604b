/* hartmann_context: Hartmann's function in six inputs, the last one an uncontrollable context.

   f(x, c) = sum_i alpha_i exp(-sum_j A_ij (z_j - P_ij)^2), z = (x, c), x in [0, 1]^5, the context
   clipped to [0, 1], alpha = (1, alpha_2, 3, 3.2); F(x) = sum_i alpha_i w_i exp(-sum over j <= 5)
   with w_i = E exp(-A_i6 (c - P_i6)^2).
   alpha_2: 1.2 in the standard function and in both papers' programs; 2.0 as arXiv:2312.10423
   prints it. Contexts: N(0.5, 0.1^2) (sbo_kde), N(0.5, 0.2^2) (wdrbo), a mixture of six normals and
   two Cauchys ("complicated", sbo_kde; given by `law`).
   Sources: arXiv:2312.10423, section 5; arXiv:2503.20341, appendix. */
#include "problem/context_problem.h"
#include "problem/hartmann.h"

#include <math.h>

enum { TERMS = 4, DIM = 5, PANELS = 200 };

typedef struct {
  RgContextOptions context;
  double alpha_2;
} Options;

static const RgParam params[] = {
  RG_REAL("alpha_2", Options, alpha_2, "1.2", 0, 1e6, "alpha_2",
          "second weight: 1.2, or 2.0 as printed in arXiv:2312.10423"),
  RG_CONTEXT_PARAMS("normal(0.5, 0.1)", "true", "raw"),
  {0},
};

static double weight(const Options *o, int i)
{
  return i == 1 ? o->alpha_2 : rg_hartmann_weights[i];
}

/* exp(-A_ij (z - P_ij)^2) in the exponent, j < n. */
static double distance(int i, int n, const double *x)
{
  double sum = 0;

  for (int j = 0; j < n; j++) {
    const double difference = x[j] - rg_hartmann6_p[i * (DIM + 1) + j];
    sum += rg_hartmann6_a[i * (DIM + 1) + j] * difference * difference;
  }
  return sum;
}

static double context_factor(const void *row, double c)
{
  const int i = *(const int *)row;
  const double difference = c - rg_hartmann6_p[i * (DIM + 1) + DIM];

  return exp(-rg_hartmann6_a[i * (DIM + 1) + DIM] * difference * difference);
}

static double formula(const void *options, const double *x, const double *c)
{
  const Options *o = options;
  double sum = 0;

  for (int i = 0; i < TERMS; i++)
    sum += weight(o, i) * exp(-distance(i, DIM, x)) * context_factor(&i, c[0]);
  return sum;
}

static PetscErrorCode exact(RgProblem *problem, int m, const RgPoint *points, double *F)
{
  const Options *o = problem->options;
  const RgContextProblem *data = problem->data;
  const double *w = data->own;

  PetscFunctionBeginUser;
  for (int k = 0; k < m; k++) {
    F[k] = 0;
    for (int i = 0; i < TERMS; i++)
      F[k] += weight(o, i) * w[i] * exp(-distance(i, DIM, points[k].x));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode prepare(RgProblem *problem, RgContextProblem *data)
{
  double *w = data->own;

  PetscFunctionBeginUser;
  (void)problem;
  for (int i = 0; i < TERMS; i++)
    PetscCall(rg_context_mean(&data->law[0], PANELS, 0, NULL, context_factor, &i, &w[i]));
  PetscFunctionReturn(0);
}

static const RgContextFunction function = {
  .dim = DIM,
  .dim_c = 1,
  .formula = formula,
  .exact = exact,
  .own_size = TERMS * sizeof(double),
  .prepare = prepare,
};

const RgProblemClass rg_problem_hartmann_context = {
  RG_ABOUT("hartmann_context", "Hartmann 5+1", 1,
           "sum_i alpha_i exp(-sum_j A_ij (z_j - P_ij)^2), z = (x, c), on [0, 1]^5;\n"
           "F(x) = E f(x, c)",
           "arXiv:2312.10423, section 5; arXiv:2503.20341, appendix"),
  RG_OPTIONS(Options, params),
  RG_CONTEXT_FORMULA(function),
};
