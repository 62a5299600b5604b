/* Families given by a formula on a box. The file of such a family states formula, bounds and
   optimum; everything else is here. Benchmarks that the literature minimises keep their formula
   and are negated once, in rg_box_evaluate and rg_box_gradient. */
#ifndef RG_PROBLEM_BOX_PROBLEM_H
#define RG_PROBLEM_BOX_PROBLEM_H

#include "regatta/problem.h"

/* The formula as printed in its source, at x (dim, native units). Fills gradient (dim; NULL: not
   wanted), with 0 for a coordinate in which the formula has a kink at x. */
typedef double (*RgFormula)(const void *options, int dim, const double *x, double *gradient);

/* One function on one box. All pointers borrowed. */
typedef struct {
  RgFormula formula;
  bool minimised; /* whether its source minimises it: f = -formula */
  int dim;
  const double *lower, *upper; /* dim, native units; read by rg_box_function_domain only */
  double best;                 /* extremum of the formula over the box, sign as in its source */
  int n_best;
  const double *best_at; /* n_best x dim: all points of the box at which it is attained */
} RgBoxFunction;

/* Parameters of a family with one function g: f(x) = g(x_1) + .. + g(x_k), where x_1, .., x_k are
   the consecutive blocks of coordinates. */
typedef struct {
  int copies; /* -1: one */
} RgBoxCopies;
extern const RgParam rg_box_copies[];

/* The domain of `function`: box [lower, upper], no context. */
PetscErrorCode rg_box_function_domain(const RgBoxFunction *function, RgDomain *domain);

/* Makes `problem`, whose domain is set, the problem of `function`. Optimisers outside the domain
   are dropped; if none remains, the optimum is unknown. `best` must be the extremum over any box
   that contains one of the points best_at. */
PetscErrorCode rg_box_function_create(const RgBoxFunction *function, RgProblem *problem);

/* Methods of RgProblemClass. The first two are for a class whose `family` is its RgBoxFunction,
   which may be copied; the next two for a class whose `family` is a table of them among which the
   options choose. */
PetscErrorCode rg_box_copies_domain(const RgProblemClass *class, const void *options,
                                    RgDomain *domain);
PetscErrorCode rg_box_copies_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_box_domain(const RgProblemClass *class, const void *options, RgDomain *domain);
PetscErrorCode rg_box_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_box_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure);
PetscErrorCode rg_box_gradient(RgProblem *problem, const RgPoint *point, double *gradient);

#define RG_BOX_METHODS .evaluate = rg_box_evaluate, .gradient = rg_box_gradient

/* A class whose `family` is `function`; its only parameter is the number of copies. */
#define RG_BOX_FIXED(function)                                                                     \
  RG_OPTIONS(RgBoxCopies, rg_box_copies), .family = &(function), .domain = rg_box_copies_domain,   \
                                          .create = rg_box_copies_create, RG_BOX_METHODS

/* ---- variants: an option chooses among functions --------------------------------------------- */

typedef struct {
  int variant;
} RgBoxOptions;

/* The line of its parameters table; choices: a name for each of the functions. */
#define RG_BOX_VARIANT(name, first, choices, symbol, doc)                                          \
  RG_CHOICE(name, RgBoxOptions, variant, first, choices, symbol, doc)

/* A class whose `family` is the table `functions`. Their gradient, if any, is given as an
   argument. */
#define RG_BOX_VARIANTS(functions)                                                                 \
  .options_size = sizeof(RgBoxOptions), .family = (functions), .domain = rg_box_domain,            \
  .create = rg_box_create, .evaluate = rg_box_evaluate

/* ---- cubes: functions of any dimension, minimised in their source  -------------------------- */

typedef struct {
  int variant, dim;
  double lower, upper; /* bounds of every coordinate; NaN: those of the variant */
} RgCubeOptions;

/* Lines of the parameters table for the bounds; the end of their descriptions states the
   defaults. */
#define RG_CUBE_BOUNDS(lower_, lower_doc, upper_, upper_doc)                                       \
  RG_REAL("lower", RgCubeOptions, lower, lower_, -1e6, 1e6, "",                                    \
          "lower bound of every coordinate" lower_doc),                                            \
    RG_REAL("upper", RgCubeOptions, upper, upper_, -1e6, 1e6, "",                                  \
            "upper bound of every coordinate" upper_doc)

typedef struct {
  const char *name; /* name of the variant */
  RgFormula formula;
  int dim;               /* 0: any dimension and bounds; else this one, on [lower, upper]^dim */
  double lower, upper;   /* defaults of the options */
  double best;           /* least value of the formula is best + dim best_each */
  double best_each;      /* part of the least value per coordinate */
  double each;           /* every coordinate of the minimiser, if best_at is NULL */
  const double *best_at; /* dim: the minimiser */
} RgCubeFunction;

/* Methods of a class whose `family` is a table of RgCubeFunction among which the option
   `variant` chooses. `check` reports bounds in the wrong order, and a dimension or bounds that a
   fixed variant does not have. */
PetscErrorCode rg_cube_check(const RgProblemClass *class, const void *options, RgPlace place,
                             RgDiagnostics *diagnostics);
PetscErrorCode rg_cube_domain(const RgProblemClass *class, const void *options, RgDomain *domain);
PetscErrorCode rg_cube_create(RgProblem *problem, RgFailure *failure);

#define RG_CUBES(functions)                                                                        \
  .options_size = sizeof(RgCubeOptions), .family = (functions), .check = rg_cube_check,            \
  .domain = rg_cube_domain, .create = rg_cube_create, RG_BOX_METHODS

#endif
