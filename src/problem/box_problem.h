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
  bool minimised;        /* whether its source minimises it: f = -formula */
  int dim;               /* 0: that of the options, like the bounds */
  double lower, upper;   /* bounds of every coordinate, native units */
  const double *bounds;  /* dim lower bounds, then dim upper ones; NULL: the same for all */
  double best;           /* extremum over the box, sign as in its source: best + dim best_each */
  double best_each;      /* part of the extremum per coordinate */
  int n_best;            /* number of points of the box at which it is attained; 0: one */
  const double *best_at; /* n_best x dim: these points; NULL: one, whose coordinates are `each` */
  double each;
} RgBoxFunction;

/* Options of a family begin with these; its table lists those that it has. */
typedef struct {
  int variant; /* index into the functions of the family */
  /* f(x) = g(x_1) + .. + g(x_k), where x_1, .., x_k are the consecutive blocks of coordinates; 0,
     -1: one. */
  int copies;
  int dim;
  double lower, upper; /* bounds of every coordinate; NaN: those of the function */
  RgEmbedding embedding;
} RgBoxOptions;
#define RG_BOX_EMBED RG_EMBED_PARAMS(RgBoxOptions, embedding)
extern const RgParam rg_box_copies[];

/* Makes `problem`, whose domain is set, the problem of copies of `function`. Optimisers outside the
   domain are dropped; if none remains, the optimum is unknown. `best` must be the extremum over any
   box that contains one of the points best_at. */
PetscErrorCode rg_box_function_create(const RgBoxFunction *function, int copies,
                                      RgProblem *problem);

/* Methods of a class whose `family` is a table of RgBoxFunction, among which the options choose.
   rg_box_check reports bounds in the wrong order, and a dimension or bounds that a variant does not
   have. */
PetscErrorCode rg_box_check(const RgProblemClass *class, const void *options, RgPlace place,
                            RgDiagnostics *diagnostics);
PetscErrorCode rg_box_domain(const RgProblemClass *class, const void *options, RgDomain *domain);
PetscErrorCode rg_box_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_box_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                               RgFailure *failure);
PetscErrorCode rg_box_gradient(RgProblem *problem, const RgPoint *point, double *gradient);

#define RG_BOX_VALUES .evaluate = rg_box_evaluate, .gradient = rg_box_gradient
#define RG_BOX_METHODS .domain = rg_box_domain, .create = rg_box_create, RG_BOX_VALUES

/* A class of one function, given by the members of its RgBoxFunction. Its only parameter is the
   number of copies. */
#define RG_BOX(...)                                                                                \
  RG_OPTIONS(RgBoxOptions, rg_box_copies), .family = &(const RgBoxFunction){__VA_ARGS__},          \
                                           RG_BOX_METHODS

/* A class of several functions on boxes of their own. The first parameter chooses. */
#define RG_BOXES(functions, table)                                                                 \
  RG_OPTIONS(RgBoxOptions, table), .family = (functions), RG_BOX_METHODS
#define RG_BOX_VARIANT(variant_, first, choices, doc)                                              \
  RG_CHOICE(variant_, RgBoxOptions, variant, first, choices, "", doc)

/* A class of functions in any dimension, with parameters for it and for the bounds. The end of the
   descriptions of the bounds states the defaults. RG_CUBE: one function, minimised in its source,
   given by its other members, of up to `most` coordinates. */
#define RG_CUBES(functions, table) RG_BOXES(functions, table), .check = rg_box_check
#define RG_CUBE(most, lower_, upper_, ...)                                                         \
  RG_CUBES(                                                                                        \
    (&(const RgBoxFunction){.minimised = true, __VA_ARGS__}),                                      \
    ((const RgParam[]){                                                                            \
      RG_CUBE_DIM("4", 1, most, ""), RG_CUBE_BOUNDS(lower_, "", upper_, ""), RG_BOX_EMBED, {0}}))
#define RG_CUBE_DIM(dim_, least, most, doc)                                                        \
  RG_INT("dim", RgBoxOptions, dim, dim_, least, most, "d", "number of coordinates" doc)
#define RG_CUBE_BOUNDS(lower_, lower_doc, upper_, upper_doc)                                       \
  RG_REAL("lower", RgBoxOptions, lower, lower_, -1e6, 1e6, "",                                     \
          "lower bound of every coordinate" lower_doc),                                            \
    RG_REAL("upper", RgBoxOptions, upper, upper_, -1e6, 1e6, "",                                   \
            "upper bound of every coordinate" upper_doc)

#endif
