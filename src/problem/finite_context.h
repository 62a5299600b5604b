/* The parts that problems on finite designs with finite contexts of known probabilities share: f
   as a table, F = a robustness measure of f(x, .), and contexts drawn by their probabilities.
   Internal to problem/.

   A family declares an Options struct that begins with RgFiniteContextOptions and lists
   RG_FINITE_CONTEXT_PARAMS in its table. Its `domain` builds the two grids and ends with
   rg_finite_context_domain. Its `create` fills the table of f. */
#ifndef RG_PROBLEM_FINITE_CONTEXT_H
#define RG_PROBLEM_FINITE_CONTEXT_H

#include "regatta/measure.h"
#include "regatta/problem.h"

typedef struct {
  char *measure; /* regatta/measure.h */
  RgTexts score; /* NAME=measure */
  int setting;   /* index into rg_finite_context_settings */
} RgFiniteContextOptions;

extern const char *const rg_finite_context_settings[];
/* The role of the contexts by an index into rg_finite_context_settings. */
RgContextControl rg_finite_context_control(int setting);

#define RG_FINITE_CONTEXT_PARAMS                                                                   \
  RG_MEASURE_PARAM(RgFiniteContextOptions),                                                        \
    RG_NAMED("score", RgFiniteContextOptions, score, "", "",                                       \
             "measures by which the trials are scored, NAME: expression; methods that follow the " \
             "measure run once for each, the others once for all; none: `measure` alone"),         \
    RG_CHOICE(                                                                                     \
      "setting", RgFiniteContextOptions, setting, "simulator", rg_finite_context_settings, "",     \
      "who chooses the context of a query: the learner, or nature by its probabilities, "          \
      "after the decision or announced before it (then regret is counted against the best "        \
      "x for the context)")

/* The family's data in problem->data. */
typedef struct {
  double *f;          /* designs x contexts, filled by the family; owned */
  double *F;          /* designs; owned */
  double *scores;     /* domain.n_scores x designs: F by each score; owned */
  double *cumulative; /* contexts: sums of the probabilities; owned */
} RgFiniteContext;

/* For `check`: tests the measure. contexts: their number, 0 if not known. */
PetscErrorCode rg_finite_context_check(const RgFiniteContextOptions *options, int contexts,
                                       RgPlace place, RgDiagnostics *diagnostics);
/* The last step of `domain`: control, measure, and probabilities p. These are context.size
   numbers, copied and divided by their sum; NULL: equal probabilities. design and context are
   set. */
PetscErrorCode rg_finite_context_domain(const RgFiniteContextOptions *options, const double *p,
                                        RgDomain *domain);
/* The data, before f is filled in. */
PetscErrorCode rg_finite_context_create(RgProblem *problem, RgFiniteContext **data);
/* Computes F, the optimum and all optimisers from f. */
PetscErrorCode rg_finite_context_finish(RgProblem *problem);

/* Functions of the class. */
PetscErrorCode rg_finite_context_evaluate(RgProblem *problem, int m, const RgPoint *points,
                                          double *f, RgFailure *failure);
PetscErrorCode rg_finite_context_objective(RgProblem *problem, int m, const RgPoint *points,
                                           double *F, RgFailure *failure);
extern const RgProblemScores rg_finite_context_scores;
PetscErrorCode rg_finite_context_draw(RgProblem *problem, RgRandom *random, double *c,
                                      int *context_index);
PetscErrorCode rg_finite_context_destroy(RgProblem *problem);

#define RG_FINITE_CONTEXT_METHODS                                                                  \
  .evaluate = rg_finite_context_evaluate, .objective = rg_finite_context_objective,                \
  .scores = &rg_finite_context_scores, .draw_context = rg_finite_context_draw,                     \
  .destroy = rg_finite_context_destroy

/* Grid of `dim` coordinates with the same `levels` equally spaced levels from lower to upper. */
PetscErrorCode rg_finite_context_grid(RgSpace *space, int dim, int levels, double lower,
                                      double upper);

/* ---- designs and contexts on equal grids  ------------------------- */

typedef struct {
  RgFiniteContextOptions common;
  int levels; /* bounds of every coordinate */
} RgFiniteGridOptions;

#define RG_FINITE_GRID_PARAMS(levels_, most, doc)                                                  \
  RG_FINITE_CONTEXT_PARAMS, RG_INT("levels", RgFiniteGridOptions, levels, levels_, 2, most, "", doc)

/* The `family` of such a class: design and context on the grid of `levels` values of [lower, upper]
   in dim coordinates each; the probability of a context is proportional to the product of
   weight(k, w_k) over its coordinates k (NULL: equal). */
typedef struct {
  int dim;
  double lower, upper;
  double (*weight)(int k, double w);
} RgFiniteGrid;

PetscErrorCode rg_finite_grid_check(const RgProblemClass *class, const void *options, RgPlace place,
                                    RgDiagnostics *diagnostics);
PetscErrorCode rg_finite_grid_domain(const RgProblemClass *class, const void *options,
                                     RgDomain *domain);

#define RG_FINITE_GRID(grid)                                                                       \
  .options_size = sizeof(RgFiniteGridOptions), .family = &(grid), .check = rg_finite_grid_check,   \
  .domain = rg_finite_grid_domain, RG_FINITE_CONTEXT_METHODS

#endif
