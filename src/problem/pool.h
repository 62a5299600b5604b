/* Pools: finite designs whose values are a table of measurements. Candidates are the distinct input
   rows of a CSV file, sorted lexicographically (that order is their index, from 0); F is the mean
   over rows of equal inputs, negated where the objective is to be minimised. */
#ifndef RG_PROBLEM_POOL_H
#define RG_PROBLEM_POOL_H

#include "problem/csv.h"
#include "regatta/problem.h"

typedef enum { RG_DUPLICATES_MEAN, RG_DUPLICATES_FIRST, RG_DUPLICATES_ERROR } RgDuplicates;

/* Where the values of a pool come from. All pointers borrowed. */
typedef struct {
  const char *path;             /* CSV file (base/file.h says where it is looked for) */
  const char *origin;           /* where public data can be had, for the message that they are
                                  missing; NULL: nothing to say */
  const RgTexts *inputs;        /* columns by header or number; n = 0: all but the objective */
  const char *objective;        /* column by header or number; NULL: the last one */
  bool minimised;               /* F = -objective */
  RgDuplicates duplicates;      /* rows of equal inputs */
  const RgReals *lower, *upper; /* native value of unit coordinates 0 and 1, one for all inputs or
                                  one per input; n = 0: smallest and largest value of the column */
  bool repeats;                 /* a candidate may be queried more than once */
} RgPoolSource;

typedef struct {
  int dim, size;
  double *points;        /* size x dim, native units */
  double *value;         /* size: F */
  double *lower, *upper; /* dim */
} RgPool;

/* Lines of the parameters table for the columns of options with these fields. */
extern const char *const rg_pool_goals[]; /* the second one is minimised */
#define RG_POOL_COLUMNS(Options)                                                                   \
  RG_TEXTS("inputs", Options, inputs, "auto", "x",                                                 \
           "input columns, by header or number from 1; auto: all but the objective"),              \
    RG_TEXT("objective", Options, objective, "auto", "f",                                          \
            "objective column, by header or number from 1; auto: the last one"),                   \
    RG_CHOICE("goal", Options, goal, "maximise", rg_pool_goals, "",                                \
              "what is good; minimise: f is the negative of the column")

/* Read a pool. What is wrong with file or settings is appended to `mistake`, with file and line;
   then *pool is empty. A constant column is no mistake. O(rows log rows dim). */
PetscErrorCode rg_pool_read(const RgPoolSource *source, RgPool *pool, RgText *mistake);
PetscErrorCode rg_pool_destroy(RgPool *pool);

/* The methods of RgProblemClass, for the problem called `name`. */
PetscErrorCode rg_pool_check(const char *name, const RgPoolSource *source, RgPlace place,
                             RgDiagnostics *diagnostics);
PetscErrorCode rg_pool_domain(const RgPoolSource *source, RgDomain *domain);
PetscErrorCode rg_pool_identity(const RgPoolSource *source, RgText *text);
PetscErrorCode rg_pool_load(const RgPoolSource *source, RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_pool_identify(const RgPoolSource *source, const RgProblem *problem, RgText *text);
PetscErrorCode rg_pool_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_pool_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                RgFailure *failure);
PetscErrorCode rg_pool_problem_destroy(RgProblem *problem);

/* Define the methods family_check, family_domain, family_identity, family_identify and family_load
   of the problem called `name`, given `static RgPoolSource source(const void *options)`. */
#define RG_POOL_FAMILY(family, name, source)                                                       \
  static PetscErrorCode family##_check(const void *options, RgPlace place,                         \
                                       RgDiagnostics *diagnostics)                                 \
  {                                                                                                \
    const RgPoolSource from = source(options);                                                     \
    return rg_pool_check(name, &from, place, diagnostics);                                         \
  }                                                                                                \
  static PetscErrorCode family##_domain(const void *options, RgDomain *domain)                     \
  {                                                                                                \
    const RgPoolSource from = source(options);                                                     \
    return rg_pool_domain(&from, domain);                                                          \
  }                                                                                                \
  static PetscErrorCode family##_identity(const void *options, RgText *text)                       \
  {                                                                                                \
    const RgPoolSource from = source(options);                                                     \
    return rg_pool_identity(&from, text);                                                          \
  }                                                                                                \
  static PetscErrorCode family##_identify(const RgProblem *problem, RgText *text)                  \
  {                                                                                                \
    const RgPoolSource from = source(problem->options);                                            \
    return rg_pool_identify(&from, problem, text);                                                 \
  }                                                                                                \
  static PetscErrorCode family##_load(RgProblem *problem, RgFailure *failure)                      \
  {                                                                                                \
    const RgPoolSource from = source(problem->options);                                            \
    return rg_pool_load(&from, problem, failure);                                                  \
  }

#define RG_POOL_METHODS(family)                                                                    \
  .shared = true, .check = family##_check, .domain = family##_domain,                              \
  .identity = family##_identity, .identify = family##_identify, .load = family##_load,             \
  .create = rg_pool_create, .evaluate = rg_pool_evaluate, .destroy = rg_pool_problem_destroy

#endif
