/* Pools: finite designs whose values are a table of measurements. Candidates are the distinct input
   rows of a CSV file, sorted lexicographically (that order is their index, from 0); F is the mean
   over rows of equal inputs, negated where the objective is to be minimised. */
#ifndef RG_PROBLEM_POOL_H
#define RG_PROBLEM_POOL_H

#include "problem/csv.h"
#include "regatta/problem.h"

typedef enum { RG_DUPLICATES_MEAN, RG_DUPLICATES_FIRST, RG_DUPLICATES_ERROR } RgDuplicates;

/* The source of the values of a pool. The options of a family begin with it; their table lists what
   the user can set. What else it points to is borrowed. */
typedef struct {
  char *path;      /* CSV file (base/files.h says where it is looked for) */
  char *objective; /* column by header or number; NULL: the last one */
  RgTexts inputs;  /* columns by header or number; n = 0: all but the objective */
  int header;      /* RgCsvHeader */
  int goal;        /* RG_GOAL_MINIMISE: F = -objective */
  int duplicates;  /* RgDuplicates: how rows of equal inputs are combined */
  /* Native value of unit coordinates 0 and 1, one for all inputs or one per input; n = 0: smallest
     and largest value of the column. */
  RgReals lower, upper;
  bool repeats; /* whether a candidate may be queried more than once */
  /* Where public data are available, for the message that they are missing; NULL: no such place. */
  const char *origin;
} RgPoolSource;

typedef struct {
  int dim, size;
  double *points;        /* size x dim, native units */
  double *value;         /* size: F */
  double *lower, *upper; /* dim */
} RgPool;

/* Lines of the parameters table. */
#define RG_POOL_COLUMNS                                                                            \
  RG_ENTRY("header", CHOICE, RgPoolSource, header, int, "auto", RG_LATER, 0, rg_csv_headers, "",   \
           "whether the first row of the file names its columns; auto: yes, unless it has only "   \
           "numbers, which is refused"),                                                           \
    RG_TEXTS("inputs", RgPoolSource, inputs, "auto", "x",                                          \
             "input columns, by header or number from 1; auto: all but the objective"),            \
    RG_TEXT("objective", RgPoolSource, objective, "auto", "f",                                     \
            "objective column, by header or number from 1; auto: the last one"),                   \
    RG_CHOICE("goal", RgPoolSource, goal, "maximise", rg_problem_goals, "",                        \
              "what is good; minimise: f is the negative of the column")
#define RG_POOL_REPEATS                                                                            \
  RG_BOOL("repeats", RgPoolSource, repeats, "false",                                               \
          "whether a candidate may be queried more than once")

/* Reads a pool. A mistake in the file or the settings is appended to `mistake`, with file and
   line; then *pool is empty. A constant column is no mistake. O(rows log rows dim). */
PetscErrorCode rg_pool_read(const RgPoolSource *source, RgPool *pool, RgText *mistake);
PetscErrorCode rg_pool_destroy(RgPool *pool);

/* The text of a problem on data of a pool about its source, under its name. */
PetscErrorCode rg_pool_source_check(const char *name, const RgPoolSource *source, RgPlace place,
                                    RgDiagnostics *diagnostics);
PetscErrorCode rg_pool_source_identity(const RgPoolSource *source, RgText *text);

/* The `family` of problems that are a pool: what the user can't set; NULL: nothing. */
typedef struct {
  const char *origin;
  RgGoal goal;
} RgPoolFamily;

PetscErrorCode rg_pool_check(const RgProblemClass *class, const void *options, RgPlace place,
                             RgDiagnostics *diagnostics);
PetscErrorCode rg_pool_domain(const RgProblemClass *class, const void *options, RgDomain *domain);
extern const RgProblemSource rg_pool_files;
PetscErrorCode rg_pool_create(RgProblem *problem, RgFailure *failure);
PetscErrorCode rg_pool_evaluate(RgProblem *problem, int m, const RgPoint *points, double *f,
                                RgFailure *failure);
PetscErrorCode rg_pool_problem_destroy(RgProblem *problem);

#define RG_POOL(params_)                                                                           \
  RG_OPTIONS(RgPoolSource, params_),                                                               \
    .traits = RG_PROBLEM_SHARED, RG_DOMAIN(rg_pool_domain, rg_pool_check),                         \
    .source = &rg_pool_files, .create = rg_pool_create, .evaluate = rg_pool_evaluate,              \
    .destroy = rg_pool_problem_destroy

#endif
