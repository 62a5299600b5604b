/* portfolio: tuning of a trading strategy; a surrogate of a simulator with 3000 public runs.

   f(x, c) = -m(x, c), m the posterior mean of a Gaussian process fitted to the runs (outputs are
   negated returns), x = (risk aversion, trade aversion, holding-cost multiplier), c = (bid-ask
   spread, borrowing cost), all scaled to [0, 1]; F(x) = E f(x, c).
   variant: sbo_kde is Matern-5/2 with the hyperparameters published with arXiv:2312.10423; wdrbo
   is Gaussian, those published with arXiv:2503.20341. Evaluated in double precision by a Cholesky
   factorisation (the published programs use conjugate gradients in single precision, off by up to
   0.06).
   F: E k((x, c), z_i) over the contexts is a smooth function g_i of the distance of x and z_i.
   Gaussian: g_i = exp(-d^2/2) E exp(..), exact. Matern: g_i is tabulated, piecewise polynomials
   of d from a tensor Gauss-Legendre rule.
   The tables cost about 5 CPU seconds, once per process.
   Data: 3000 runs of S. Cakmak et al. 2020, Bayesian optimization of risk measures, as distributed
   with arXiv:2312.10423; table with the columns x1, x2, x3, c1, c2, y. */
#include "problem/context_problem.h"

#include <math.h>

#include "gp/posterior/posterior.h"
#include "problem/pool.h"

enum { DIM = 3, CONTEXT = 2, INPUTS = DIM + CONTEXT, N_PANELS = 12, N_COEFFICIENTS = 10 };

typedef struct {
  RgContextOptions context;
  int variant;
  char *path;
} Options;

static const char *const variants[] = {"sbo_kde", "wdrbo", NULL};

static const RgParam params[] = {
  RG_CHOICE("variant", Options, variant, "sbo_kde", variants, "",
            "whose hyperparameters: arXiv:2312.10423 (Matern-5/2) or arXiv:2503.20341 (Gaussian)"),
  RG_PATH("path", Options, path, "portfolio/portfolio_samples.csv", "",
          "table of the runs; looked for in the working directory and below REGATTA_DATA"),
  RG_CONTEXT_PARAMS("normal(0.5, 0.1)", "true", "clipped"),
  {0},
};

/* Hyperparameters as published, in single precision; outputs standardised by shift and scale. */
typedef struct {
  RgKernelFamily family;
  double length_scale[INPUTS], variance, noise, mean;
} Surrogate;

#define SHIFT (-2.885737895965576)
#define SCALE 3.829587936401367

static const Surrogate published[] = {
  {RG_KERNEL_MATERN52,
   {0.22256403179589296, 7.779735112513876, 0.2632666177637054, 0.5240390690579588,
    2.521927378191825},
   4.6199055900995285,
   0.013679594732820988,
   -0.5664739012718201},
  {RG_KERNEL_GAUSSIAN,
   {0.10437466949224472, 2.836796760559082, 0.12894414365291595, 0.2533535957336426,
    0.7843870520591736},
   1,
   0.019011838361620903,
   -0.5037032961845398},
};

typedef struct {
  const Surrogate *surrogate;
  RgPosterior posterior;
  RgPrediction work;
  int n;
  /* n: weights of the data in the posterior mean; for wdrbo times E over contexts */
  double *weight;
  double *table; /* n x N_PANELS x N_COEFFICIENTS: Chebyshev coefficients of g_i */
  double reach;  /* largest distance in the table */
} Own;

/* ---- the table of runs ---------------------------------------------------------------------- */

static RgPoolSource source(const void *options)
{
  static const char *const names[INPUTS] = {"x1", "x2", "x3", "c1", "c2"};

  return (RgPoolSource){
    .path = ((const Options *)options)->path,
    .origin = "https://github.com/lamda-bbo/sbokde, 30 files in float32: save them as one table "
              "x1,x2,x3,c1,c2,y and set REGATTA_DATA to its folder",
    .inputs = {INPUTS, (char **)names},
    .objective = (char *)"y"};
}

static PetscErrorCode check(const RgProblemClass *class, const void *options, RgPlace place,
                            RgDiagnostics *diagnostics)
{
  const RgTexts *law = &((const Options *)options)->context.law;
  RgPoolSource from = source(options);

  PetscCall(rg_context_check(class, options, place, diagnostics));
  if (rg_law_drifts(law->n, law->values))
    rg_diagnostics_add(diagnostics, place,
                       "%s: its 'law' stays the same in time; accepted are laws such as "
                       "uniform(0, 1)",
                       class->name);
  return rg_pool_source_check(class->name, &from, place, diagnostics);
}

/* The options without the path, and the data. */
static PetscErrorCode identity(const RgProblemClass *class, const void *options, RgText *text)
{
  char nothing[] = "";
  Options o = *(const Options *)options;
  RgPoolSource from = source(options);

  o.path = nothing;
  PetscCall(rg_params_canonical(params, &o, text));
  PetscCall(rg_text_add(text, ","));
  return rg_pool_source_identity(&from, text);
}

/* ---- F -------------------------------------------------------------------------------------- */

static double matern(double square)
{
  const double s = sqrt(5 * square);

  return (1 + s + s * s / 3) * exp(-s);
}

/* Chebyshev coefficients of E matern(d^2 + square) on panels of equal width in sqrt(d), narrower
   towards 0, where g_i is least smooth. */
static void tabulate_one(const Own *own, int nodes, const double *square, const double *weight,
                         double *coefficient)
{
  double value[N_COEFFICIENTS];

  for (int p = 0; p < N_PANELS; p++, coefficient += N_COEFFICIENTS) {
    for (int k = 0; k < N_COEFFICIENTS; k++) {
      const double s = (p + 0.5 * (1 + cos(M_PI * (k + 0.5) / N_COEFFICIENTS))) / N_PANELS;
      const double d = own->reach * s * s;
      value[k] = 0;
      for (int q = 0; q < nodes; q++) value[k] += weight[q] * matern(d * d + square[q]);
    }
    for (int j = 0; j < N_COEFFICIENTS; j++) {
      coefficient[j] = 0;
      for (int k = 0; k < N_COEFFICIENTS; k++)
        coefficient[j] +=
          2.0 / N_COEFFICIENTS * value[k] * cos(M_PI * j * (k + 0.5) / N_COEFFICIENTS);
    }
    coefficient[0] /= 2;
  }
}

static PetscErrorCode tabulate(Own *own, const RgQuadrature *rule)
{
  const double *scale = own->surrogate->length_scale;
  double *square, *weight, reach = 0;
  int nodes = 0;

  for (int j = 0; j < DIM; j++) reach += 1 / (scale[j] * scale[j]);
  own->reach = sqrt(reach) * (1 + 1e-12);
  const size_t all = (size_t)rule[0].n * rule[1].n;
  PetscCall(PetscMalloc2(all, &square, all, &weight));
  PetscCall(PetscMalloc1((size_t)own->n * N_PANELS * N_COEFFICIENTS, &own->table));
  for (int i = 0; i < own->n; i++) {
    /* Squared scaled distances of its context to the nodes of the tensor rule that count. */
    const double *z = own->posterior.X + (size_t)i * INPUTS + DIM;
    nodes = 0;
    for (size_t q = 0; q < all; q++) {
      const size_t a = q / rule[1].n, b = q % rule[1].n;
      const double w = rule[0].weight[a] * rule[1].weight[b];
      const double u = (rule[0].node[a] - z[0]) / scale[DIM];
      const double v = (rule[1].node[b] - z[1]) / scale[DIM + 1];
      if (w < 1e-14) continue;
      weight[nodes] = w;
      square[nodes++] = u * u + v * v;
    }
    tabulate_one(own, nodes, square, weight, own->table + (size_t)i * N_PANELS * N_COEFFICIENTS);
  }
  return PetscFree2(square, weight);
}

/* E k over the contexts becomes part of the weights. */
static void fold(Own *own, const RgQuadrature *rule)
{
  for (int i = 0; i < own->n; i++)
    for (int j = 0; j < CONTEXT; j++) {
      const double z = own->posterior.X[(size_t)i * INPUTS + DIM + j];
      double mean = 0;
      for (int a = 0; a < rule[j].n; a++) {
        const double u = (rule[j].node[a] - z) / own->surrogate->length_scale[DIM + j];
        mean += rule[j].weight[a] * exp(-0.5 * u * u);
      }
      own->weight[i] *= mean;
    }
}

static double table_value(const Own *own, int i, double d)
{
  const double position = fmin(sqrt(d / own->reach) * N_PANELS, N_PANELS * (1 - 1e-15));
  const int p = (int)position;
  const double t = 2 * (2 * (position - p) - 1);
  const double *c = own->table + ((size_t)i * N_PANELS + p) * N_COEFFICIENTS;
  double b1 = 0, b2 = 0;

  for (int j = N_COEFFICIENTS - 1; j > 0; j--) {
    const double b = c[j] + t * b1 - b2;
    b2 = b1;
    b1 = b;
  }
  return c[0] + 0.5 * t * b1 - b2;
}

static PetscErrorCode exact(RgProblem *problem, const RgContextProblem *data, const double *x,
                            double *F)
{
  const Own *own = data->own;
  const Surrogate *s = own->surrogate;
  double sum = 0;

  for (int i = 0; i < own->n; i++) {
    double square = 0;
    for (int j = 0; j < DIM; j++) {
      const double u = (x[j] - own->posterior.X[(size_t)i * INPUTS + j]) / s->length_scale[j];
      square += u * u;
    }
    sum += own->weight[i] * (own->table ? table_value(own, i, sqrt(square)) : exp(-0.5 * square));
  }
  *F = -(SHIFT + SCALE * (s->mean + s->variance * sum));
  return 0;
}

/* ---- f, create ------------------------------------------------------------------------------ */

static PetscErrorCode evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure)
{
  const Options *o = problem->options;
  RgContextProblem *data = problem->data;
  Own *own = data->own;
  double *Z;

  PetscCall(PetscMalloc1((size_t)m * INPUTS, &Z));
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < DIM; j++) Z[i * INPUTS + j] = points[i].x[j];
    for (int j = 0; j < CONTEXT; j++) {
      const double c = points[i].c[j];
      Z[i * INPUTS + DIM + j] = o->context.clip ? fmin(fmax(c, 0), 1) : c;
    }
  }
  PetscCall(rg_posterior_predict(&own->posterior, m, Z, f, NULL, &own->work));
  for (int i = 0; i < m; i++) f[i] = -(SHIFT + SCALE * f[i]);
  return PetscFree(Z);
}

/* The posterior of the runs, and the weights of its mean. */
static PetscErrorCode condition(Own *own, const RgPool *pool, RgFailure *failure)
{
  const Surrogate *s = own->surrogate;
  RgKernel kernel;
  double *y, mean;

  own->n = pool->size;
  PetscCall(PetscMalloc1(own->n, &own->weight));
  PetscCall(PetscMalloc1(own->n, &y));
  for (int i = 0; i < own->n; i++) y[i] = (pool->value[i] - SHIFT) / SCALE;
  PetscCall(rg_kernel_create(s->family, INPUTS, true, s->length_scale, s->variance, &kernel));
  PetscCall(rg_posterior_create(&kernel, s->noise, s->mean, own->n, &own->posterior));
  PetscCall(
    rg_posterior_set(&own->posterior, NULL, s->noise, s->mean, own->n, pool->points, y, failure));
  PetscCall(PetscFree(y));
  PetscCall(rg_kernel_destroy(&kernel));
  own->work.values_only = true;
  if (!failure->failed) {
    PetscCall(rg_posterior_predict(&own->posterior, 1, pool->points, &mean, NULL, &own->work));
    PetscCall(PetscArraycpy(own->weight, own->posterior.alpha, own->n));
  }
  return 0;
}

static PetscErrorCode clear(void *closure)
{
  Own *own = closure;

  if (own->weight) {
    PetscCall(PetscFree(own->weight));
    PetscCall(rg_posterior_destroy(&own->posterior));
  }
  PetscCall(rg_prediction_destroy(&own->work));
  return PetscFree(own->table);
}

static const RgContextFunction function = {
  .dim = DIM, .dim_c = CONTEXT, .exact = exact, .own_size = sizeof(Own), .clear = clear};

static PetscErrorCode create(RgProblem *problem, RgFailure *failure)
{
  const Options *o = problem->options;
  const RgContextProblem *data;
  RgQuadrature rule[CONTEXT];
  RgPool pool;
  RgText mistake = {0};
  RgPoolSource from = source(o);
  Own *own;

  PetscCall(rg_context_create(problem, failure));
  data = problem->data;
  own = data->own;
  own->surrogate = &published[o->variant];
  PetscCall(rg_pool_read(&from, &pool, &mistake));
  if (mistake.length) rg_failure_set(failure, "%s", mistake.data);
  PetscCall(rg_text_clear(&mistake));
  if (failure->failed) return 0;
  PetscCall(condition(own, &pool, failure));
  PetscCall(rg_pool_destroy(&pool));
  if (failure->failed) return 0;
  for (int j = 0; j < CONTEXT; j++)
    PetscCall(rg_distribution_quadrature(&data->law[j], 3, 0, NULL, &rule[j]));
  if (own->surrogate->family == RG_KERNEL_GAUSSIAN) fold(own, rule);
  else PetscCall(tabulate(own, rule));
  for (int j = 0; j < CONTEXT; j++) PetscCall(rg_quadrature_destroy(&rule[j]));
  return 0;
}

const RgProblemClass rg_problem_portfolio = {
  RG_ABOUT("portfolio", "Portfolio", 1,
           "posterior mean of a Gaussian process fitted to 3000 runs of a trading simulator, on\n"
           "[0, 1]^3 with two contexts; F(x) = E f(x, c)",
           "Cakmak et al. 2020, Bayesian optimization of risk measures; arXiv:2312.10423; "
           "arXiv:2503.20341"),
  RG_OPTIONS(Options, params),
  .source = &(const RgProblemSource){.identity = identity},
  .traits = RG_PROBLEM_SHARED,
  .family = &function,
  RG_DOMAIN(rg_context_domain, check),
  .create = create,
  .evaluate = evaluate,
  RG_CONTEXT_DRAWS,
};
