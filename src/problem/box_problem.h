/* Families given by a formula on a box: such a file states formula, bounds and optimum; the rest is
   here. Benchmarks that are minimised in the literature keep their formula and are negated once, in
   rg_box_evaluate and rg_box_gradient. */
#ifndef RG_PROBLEM_BOX_PROBLEM_H
#define RG_PROBLEM_BOX_PROBLEM_H

#include "regatta/problem.h"

/* The formula as its source prints it, at x (dim, native units). Fills gradient (dim; NULL: not
   wanted), with 0 for a coordinate in which the formula has a kink at x. */
typedef double (*RgFormula)(const void *options, int dim, const double *x, double *gradient);

/* One function on one box. All pointers borrowed. */
typedef struct {
  RgFormula formula;
  bool minimised; /* in its source: f = -formula */
  int dim;
  const double *lower, *upper; /* dim, native units; read by rg_box_function_domain only */
  double best;                 /* extremum of the formula over the box, sign as in its source */
  int n_best;
  const double *best_at; /* n_best x dim: every point of the box where it is attained */
} RgBoxFunction;

/* The table of a family without parameters. */
extern const RgParam rg_box_no_params[];

/* The domain of `function`: box [lower, upper], no context. */
PetscErrorCode rg_box_function_domain(const RgBoxFunction *function, RgDomain *domain);

/* The domain [lower, upper]^dim, no context. */
PetscErrorCode rg_box_cube_domain(int dim, double lower, double upper, RgDomain *domain);

/* Make `problem`, whose domain is set, the problem of `function`. Optimisers outside the domain are
   dropped; with none left the optimum is unknown. `best` must be the extremum over any box that
   contains one of the points best_at. */
PetscErrorCode rg_box_function_create(const RgBoxFunction *function, RgProblem *problem);

/* Mistakes that tables of parameters can't catch: bounds in the wrong order; a variant of fixed
   dimension and bounds (`usual_bounds`: none were given) with other ones. */
PetscErrorCode rg_box_check_bounds(const char *problem, double lower, double upper, RgPlace place,
                                   RgDiagnostics *diagnostics);
PetscErrorCode rg_box_check_variant(const char *problem, const char *variant, int dim,
                                    int variant_dim, bool usual_bounds, RgPlace place,
                                    RgDiagnostics *diagnostics);

/* Methods of RgProblemClass that go with it. */
PetscErrorCode rg_box_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure);
PetscErrorCode rg_box_gradient(RgProblem *problem, const RgPoint *point, double *gradient);
PetscErrorCode rg_box_destroy(RgProblem *problem);

/* Define fixed_domain and fixed_create for a family that is the one RgBoxFunction `function`. */
#define RG_BOX_FIXED(function)                                                                     \
  static PetscErrorCode fixed_domain(const void *options, RgDomain *domain)                        \
  {                                                                                                \
    (void)options;                                                                                 \
    return rg_box_function_domain(&function, domain);                                              \
  }                                                                                                \
  static PetscErrorCode fixed_create(RgProblem *problem, RgFailure *failure)                       \
  {                                                                                                \
    (void)failure;                                                                                 \
    return rg_box_function_create(&function, problem);                                             \
  }

/* Define variant_domain and variant_create for a family whose option `variant`, an int of the
   struct `Options`, chooses from the table `functions` of RgBoxFunction. */
#define RG_BOX_VARIANTS(functions, Options)                                                        \
  static PetscErrorCode variant_domain(const void *options, RgDomain *domain)                      \
  {                                                                                                \
    return rg_box_function_domain(&(functions)[((const Options *)options)->variant], domain);      \
  }                                                                                                \
  static PetscErrorCode variant_create(RgProblem *problem, RgFailure *failure)                     \
  {                                                                                                \
    (void)failure;                                                                                 \
    return rg_box_function_create(&(functions)[((const Options *)problem->options)->variant],      \
                                  problem);                                                        \
  }

#define RG_BOX_METHODS                                                                             \
  .evaluate = rg_box_evaluate, .gradient = rg_box_gradient, .destroy = rg_box_destroy

#endif
