/* The parts that problems on finite designs with finite contexts of known probabilities share: f
   as a table, F = a robustness measure of f(x, .), and contexts drawn by their probabilities.

   A family declares an Options struct that begins with RgFiniteContextOptions and lists
   RG_FINITE_CONTEXT_PARAMS in its table. Its `domain` builds the two grids and ends with
   rg_finite_context_domain. */
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
  double *f;          /* designs x contexts; owned */
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
/* Functions of the class. Its `family` is or begins with an RgFiniteFill, which fills the table of
   f (designs x contexts); `create` computes F, the optimum and all optimisers from it. */
typedef PetscErrorCode (*RgFiniteFill)(RgProblem *problem, double *f, RgFailure *failure);
PetscErrorCode rg_finite_context_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_finite_context_evaluate(RgProblem *problem, int m, const RgPoint *points,
                                          double *f, RgFailure *failure);
PetscErrorCode rg_finite_context_objective(RgProblem *problem, int m, const RgPoint *points,
                                           double *F, RgFailure *failure);
extern const RgProblemScores rg_finite_context_scores;
PetscErrorCode rg_finite_context_draw(RgProblem *problem, RgRandom *random, double *c,
                                      int *context_index);
PetscErrorCode rg_finite_context_destroy(RgProblem *problem);

#define RG_FINITE_CONTEXT_METHODS                                                                  \
  .create = rg_finite_context_create, .evaluate = rg_finite_context_evaluate,                      \
  .objective = rg_finite_context_objective, .scores = &rg_finite_context_scores,                   \
  .draw_context = rg_finite_context_draw, .destroy = rg_finite_context_destroy

/* Grid of `dim` coordinates with the same `levels` equally spaced levels from lower to upper. */
PetscErrorCode rg_finite_context_grid(RgSpace *space, int dim, int levels, double lower,
                                      double upper);

#endif
