/* The parts that problems with continuous contexts share: independent context coordinates that
   nature draws from a law, which algorithms don't see; clipping; what the learner observes; and
   F = E f(x, c) or another robustness measure of f(x, .).

   The `family` of such a class is its RgContextFunction. Its options are, or begin with,
   RgContextOptions, or RgContextSizes if the user chooses the dimensions; its table lists
   RG_CONTEXT_PARAMS. The rest of the class is RG_CONTEXT. */
#ifndef RG_PROBLEM_CONTEXT_PROBLEM_H
#define RG_PROBLEM_CONTEXT_PROBLEM_H

#include "maths/law.h"
#include "regatta/problem.h"
#include "regatta/measure.h"

typedef struct {
  /* The law of each context coordinate before clipping, which may change in time (maths/law.h); one
     for all, or one each. */
  RgTexts law;
  /* Correlations of a Gaussian copula: one for all pairs of coordinates, or one per pair; empty:
     independent coordinates. */
  RgReals correlation;
  int order;          /* RG_ORDER_AFTER | RG_ORDER_BEFORE */
  bool clip;          /* f takes contexts clipped to [0, 1] */
  int observed;       /* RG_OBSERVED_RAW | RG_OBSERVED_CLIPPED */
  int expectation;    /* RG_EXPECTATION_EXACT | RG_EXPECTATION_QMC */
  int points;         /* number of points of the quasi-Monte Carlo rule */
  char *measure;      /* regatta/measure.h */
  int measure_points; /* number of contexts for a measure other than the expectation */
} RgContextOptions;

typedef struct {
  RgContextOptions context;
  int dim, context_dim;
} RgContextSizes;

enum { RG_ORDER_AFTER, RG_ORDER_BEFORE };
enum { RG_OBSERVED_RAW, RG_OBSERVED_CLIPPED };
enum { RG_EXPECTATION_EXACT, RG_EXPECTATION_QMC };

enum { RG_CONTEXT_MEANS = 4 };

extern const char *const rg_context_orders[];
extern const char *const rg_context_observations[];
extern const char *const rg_context_expectations[];

#define RG_CONTEXT_PARAMS(law_, clip_, observed_)                                                  \
  RG_TEXTS(                                                                                        \
    "law", RgContextOptions, law, law_, "p",                                                       \
    "law of the contexts before clipping, one for all coordinates or one each: normal(m, s), "     \
    "uniform(a, b), cauchy(m, s), burr(alpha, beta), linear(LAW, t, LAW), jump(LAW, t, LAW), "     \
    "... (regatta describe laws)"),                                                                \
    RG_ENTRY("correlation", REALS, RgContextOptions, correlation, RgReals, "auto", -1, 1,          \
             rg_param_later, "R",                                                                  \
             "correlations of a Gaussian copula that joins the laws of the coordinates: one for "  \
             "all pairs, or one for each, (1, 2), (1, 3), .., (2, 3), ..; F is then quasi-Monte "  \
             "Carlo; auto: independent"),                                                          \
    RG_ENTRY("context", CHOICE, RgContextOptions, order, int, "after", RG_LATER, 0,                \
             rg_context_orders, "",                                                                \
             "when nature draws the context: after the decision, or before it, so that the "       \
             "learner knows it and regret is counted against the best x for it"),                  \
    RG_BOOL("clip", RgContextOptions, clip, clip_, "f takes the contexts clipped to [0, 1]"),      \
    RG_CHOICE("observed", RgContextOptions, observed, observed_, rg_context_observations, "",      \
              "what the learner sees: the draw as it is, or clipped"),                             \
    RG_CHOICE("expectation", RgContextOptions, expectation, "exact", rg_context_expectations, "",  \
              "how F = E f(x, c) is computed: formula and quadrature, or quasi-Monte Carlo"),      \
    RG_INT("expectation_points", RgContextOptions, points, "2097152", 64, 268435456, "",           \
           "points of expectation: qmc, in eight scrambled Sobol sets"),                           \
    RG_MEASURE_PARAM(RgContextOptions),                                                            \
    RG_INT("measure_points", RgContextOptions, measure_points, "1024", 2, 1e6, "",                 \
           "equally likely contexts that stand for the law in measures other than the "            \
           "expectation: quantiles in one dimension, a Sobol set in more")

/* f at x (design dim) and c (context dim, clipped already). */
typedef double (*RgContextFormula)(const void *options, const double *x, const double *c);

/* The entries of a family. */
typedef struct RgContextFunction RgContextFunction;

/* The family's data in problem->data. */
typedef struct {
  const RgContextFunction *function; /* borrowed */
  int dim;
  /* dim x dim: lower Cholesky factor of the copula's correlations; owned, NULL: independent
     coordinates */
  double *root;
  RgLaw *over_time; /* dim: laws of the draws as they change; owned */
  /* dim: laws of the draws; these and all below are those of one evaluation, problem->epoch;
     owned */
  RgDistribution *raw;
  RgDistribution *law; /* dim: laws of the contexts that f takes; owned */
  RgMeasure measure;   /* measure of an F that is no expectation; owned */
  int n_nodes;         /* number of contexts for it; 0: F is the expectation */
  double *nodes;       /* n_nodes x dim; owned */
  int n_qmc;           /* 0: not used */
  double *qmc;         /* n_qmc x dim contexts; owned */
  double mean[RG_CONTEXT_MEANS];
  void *own; /* data of the family, own_size bytes; owned */
} RgContextProblem;

struct RgContextFunction {
  int dim, dim_c;      /* dimensions of design and context; 0: those of RgContextSizes */
  double lower, upper; /* bounds of every design coordinate; equal: [0, 1] */
  /* The power of |c_j| at which f grows below and above, for j = 0, 1; 0: bounded, as in other
     coordinates. */
  double grows[2][2];
  RgContextFormula formula; /* NULL: the family has an `evaluate` of its own */
  /* F = E f at a design, by a formula or quadrature */
  PetscErrorCode (*exact)(RgProblem *problem, const RgContextProblem *data, const double *x,
                          double *F);
  /* What `exact` may need of the law of the first coordinate: data->mean[k] = E mean_of(k, c_1) for
     k < n_means, with `panels` and a kink (NULL: none). */
  int n_means, panels;
  const double *kink;
  double (*mean_of)(int k, double c);
  size_t own_size; /* size of data->own, which is zeroed */
  /* Fills data->own and states a known optimum, for each law anew; NULL: not needed */
  PetscErrorCode (*prepare)(RgProblem *problem, RgContextProblem *data);
  PetscErrorCode (*clear)(void *own); /* frees what `own` points to; NULL: not needed */
};

/* States the optimum, at the design whose coordinates are all `each`. Does nothing if `exact`
   does not compute F. */
PetscErrorCode rg_context_optimum(RgProblem *problem, double each);
/* E g(c_j) of one coordinate under the law that f sees, with `panels`. */
PetscErrorCode rg_context_mean(const RgDistribution *law, int panels,
                               double (*g)(const void *closure, double c), const void *closure,
                               double *mean);

/* Functions of the class. */
PetscErrorCode rg_context_check(const RgProblemClass *class, const void *options, RgPlace place,
                                RgDiagnostics *diagnostics);
PetscErrorCode rg_context_domain(const RgProblemClass *class, const void *options,
                                 RgDomain *domain);
PetscErrorCode rg_context_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_context_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                   RgFailure *failure);
PetscErrorCode rg_context_objective(RgProblem *problem, int m, const RgPoint *points, double *F,
                                    RgFailure *failure);
PetscErrorCode rg_context_draw(RgProblem *problem, RgRandom *random, double *c, int *context_index);
PetscErrorCode rg_context_at(RgProblem *problem, int t);
PetscErrorCode rg_context_destroy(RgProblem *problem);

#define RG_CONTEXT_DRAWS                                                                           \
  .objective = rg_context_objective, .draw_context = rg_context_draw, .at = rg_context_at,         \
  .destroy = rg_context_destroy

/* A class, given by the members of its RgContextFunction. RG_CONTEXT: with a formula. */
#define RG_CONTEXT_METHODS(...)                                                                    \
  .family = &(const RgContextFunction){__VA_ARGS__},                                               \
  RG_DOMAIN(rg_context_domain, rg_context_check), .create = rg_context_create, RG_CONTEXT_DRAWS
#define RG_CONTEXT(...)                                                                            \
  RG_CONTEXT_METHODS(__VA_ARGS__), .traits = RG_PROBLEM_SHARED, .evaluate = rg_context_evaluate

#endif
