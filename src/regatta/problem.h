/* Problems: black boxes f(x, c) to be maximised, their domain, law of contexts, objective F and
   optimum. One file per family; the registry is problem/list.h. */
#ifndef RG_REGATTA_PROBLEM_H
#define RG_REGATTA_PROBLEM_H

#include "regatta/domain.h"
#include "regatta/params.h"
#include "regatta/stream.h"

typedef struct RgKernel RgKernel; /* a covariance function: regatta/kernel.h */

typedef struct RgChild RgChild; /* a child process */
typedef struct RgTeam RgTeam;   /* ranks that share large linear algebra */

/* An input in native units. */
typedef struct {
  int index; /* finite design: index; else -1 */
  const double *x;
  int context_index; /* finite contexts: index; else -1 */
  const double *c;   /* NULL without context */
} RgPoint;

typedef struct RgProblem RgProblem;
typedef struct RgProblemClass RgProblemClass;

/* The question of an evaluation and its answer, where several programs answer at the same time. */
typedef struct {
  int64_t id; /* the caller sets these three; the attempt is that of the worker */
  int worker, attempt;
  RgText line;              /* the question; `evaluate` sets these, the caller clears `line` */
  const char *const *words; /* the program and its arguments, NULL at the end; borrowed */
  double limit, grace;      /* seconds for the answer; after a stop */
  int retries;              /* largest number of repetitions */
  bool answered;            /* the caller sets these six once the question is over */
  const char *answer;       /* `length` bytes, borrowed; NULL: no answer came */
  size_t length;
  const char *mistake; /* why no answer came; borrowed */
  const char *errors;  /* what the program wrote on standard error meanwhile, `n_errors` bytes */
  size_t n_errors;
  bool unreachable; /* the program can't be started */
  bool final;       /* `evaluate` sets it: a repetition would end in the same way */
} RgExchange;

/* The trial that evaluations belong to; zeroed outside a trial. All pointers are borrowed. */
typedef struct {
  const char *trial;       /* id; NULL: no trial */
  uint64_t instance, seed; /* instance and seed of the trial */
  int evaluation;          /* number of the current evaluation from 1; 0: outside the trial */
  /* Whether a stop was requested. Waiting evaluations call it about ten times a second, searches
     between batches. The call also answers other ranks. NULL: no stop can be requested. */
  bool (*stop)(void *closure);
  void *stop_closure;
  /* output: the program could not be reached, so a failure is not a property of the point */
  bool lost;
  /* output: how long the evaluation took, in any unit; NaN: the problem does not say */
  double duration;
  /* output: numbers by rg_problem_numbers, NaN where missing; NULL: they are not wanted */
  double *numbers;
  double cpu; /* evaluations add the CPU seconds that they used in other processes */
  /* `evaluate` only asks, and then only reads the answer (m = 1); NULL: it does both */
  RgExchange *exchange;
  /* The rank's program, which outlives the trial; NULL: the problem starts its own. */
  RgChild **child;
  const char *log; /* file that gets the standard error of programs; NULL: it is passed on */
  RgText *account; /* gets the full text of a failed evaluation; NULL: it is not wanted */
} RgTask;

/* Properties of a family. */
typedef enum {
  RG_PROBLEM_RANDOM = 1, /* `create` draws from the instance's stream, so instances differ */
  /* f is too expensive to evaluate twice or thousands of times: an optimum that the problem doesn't
     know stays unknown, F is f as observed, and a resumed trial evaluates no point twice */
  RG_PROBLEM_COSTLY = 2,
  /* Expensive to create, and evaluations don't change it: one instance serves many trials. */
  RG_PROBLEM_SHARED = 4,
  RG_PROBLEM_FILLS_SPACE = 8, /* trials record the fill distance of the queries */
  RG_PROBLEM_REPORTS = 16,    /* an evaluation may say how long it took (task.duration) */
  RG_PROBLEM_UNKNOWN = 32 /* the optimum is unknown, and a search of the box would not find it */
} RgProblemTraits;

/* For families whose options name something outside the study file, such as a file. */
typedef struct {
  /* Append the text that identifies the function, instead of the options' canonical text. Called
     after `check`. */
  PetscErrorCode (*identity)(const RgProblemClass *class, const void *options, RgText *text);
  /* Append what `identity` would append for the data in the instance, which may have changed
     since the study was checked. NULL: the instance has no data from outside. */
  PetscErrorCode (*identify)(const RgProblem *problem, RgText *text);
  /* Fill in problem->domain and problem->data from outside; called instead of `domain`, before
     `create`. failure: the source is no longer available. NULL: `domain` is called. */
  PetscErrorCode (*load)(RgProblem *problem, RgFailure *failure);
  /* Read another column of a table: one number per design of a finite domain, for the caller to
     free. A mistake is appended to `mistake`; then *values is NULL. NULL: the source is no
     table. */
  PetscErrorCode (*column)(const RgProblemClass *class, const void *options, const char *name,
                           double **values, RgText *mistake);
  /* The names of further numbers that an evaluation gives (task.numbers); borrowed from
     `options`. NULL: there are no such numbers. */
  const RgTexts *(*numbers)(const void *options);
} RgProblemSource;

/* For families with several objectives. */
typedef struct {
  /* Further measures that trials are scored by, `NAME=expression` each. */
  const RgTexts *(*list)(const void *options);
  /* Make score number `score` the objective F. */
  PetscErrorCode (*aim)(void *options, int score);
  /* The objective by score number `score` at m designs, and its maximum over all designs. */
  PetscErrorCode (*value)(RgProblem *problem, int score, int m, const RgPoint *points, double *F,
                          double *optimum);
} RgProblemScores;

/* The cost of a problem, beside the algorithm's. The caller zeroes it. */
typedef struct {
  double evaluation; /* declared seconds of one evaluation */
  bool undeclared;   /* the study does not declare the time: `evaluation` is a guess */
  bool may_be_long;  /* evaluations may take hours, so undeclared times are not measured */
  double setup;      /* operations of creating the instance and finding the optimum */
  /* Order of the largest dense matrix that `create` factors, by a team if possible; 0: no matrix.
     An instance with a large matrix is kept for other trials. */
  double order;
  double bytes; /* memory of an instance beside that matrix */
} RgProblemCost;

/* The descriptor of a family, the only external symbol of its file. */
struct RgProblemClass {
  const char *name;      /* as typed in a study file */
  const char *title;     /* name in figures */
  const char *summary;   /* formula and domain, one or two lines */
  const char *reference; /* source of the problem */
  int revision;          /* raised when values change on purpose; part of the trial key */
  const RgParam *params; /* may be an empty table */
  size_t options_size;
  const void *family; /* data that distinguishes families with shared functions; NULL: none */
  unsigned traits;    /* RgProblemTraits or-ed */
  const RgProblemSource *source; /* NULL: options name nothing outside the study file */
  const RgProblemScores *scores; /* NULL: a single objective */
  /* Validate combinations of options that the table can't express. NULL: nothing to check. */
  PetscErrorCode (*check)(const RgProblemClass *class, const void *options, RgPlace place,
                          RgDiagnostics *diagnostics);
  /* Fill in *cost. NULL: negligible. */
  void (*cost)(const void *options, RgProblemCost *cost);
  /* The domain alone; cheap, without random draws, for validation and planning. */
  PetscErrorCode (*domain)(const RgProblemClass *class, const void *options, RgDomain *domain);
  /* For the regret bounds, when f is a path of a zero-mean Gaussian process: its kernel over
     unit coordinates of design and context; owned by the caller. NULL: f is not such a path. */
  PetscErrorCode (*prior)(const void *options, RgKernel *kernel);
  /* Fill in problem->data. Class, options, domain and stream are already set. */
  PetscErrorCode (*create)(RgProblem *problem, RgFailure *failure);
  /* Noise-free f at m points. A value that can't be obtained is NaN and sets `failure`. */
  PetscErrorCode (*evaluate)(RgProblem *problem, int m, const RgPoint *points, double *f,
                             RgFailure *failure);
  /* The outcome constraints of the domain at m points (m x n_constraints). A costly family
     ignores `points` and gives the constraints of its last evaluation. NULL: no constraints. */
  PetscErrorCode (*constrain)(RgProblem *problem, int m, const RgPoint *points, double *constraints,
                              RgFailure *failure);
  /* Gradient of f by native x (dim). NULL: not available. */
  PetscErrorCode (*gradient)(RgProblem *problem, const RgPoint *point, double *gradient);
  /* Objective F at m designs; NULL: F = f (no context). */
  PetscErrorCode (*objective)(RgProblem *problem, int m, const RgPoint *points, double *F,
                              RgFailure *failure);
  /* Draw the context of one evaluation in native units. NULL: nature draws no context. */
  PetscErrorCode (*draw_context)(RgProblem *problem, RgRandom *random, double *c,
                                 int *context_index);
  /* Make the law of the contexts that of evaluation t, and set `epoch`. NULL: it never changes. */
  PetscErrorCode (*at)(RgProblem *problem, int t);
  /* Free what `data` points to; only called when there is data. NULL: nothing to free. */
  PetscErrorCode (*destroy)(RgProblem *problem);
};

/* A box problem in more inputs than its own, which the options of a family may ask for: the first
   coordinates act, or a random subspace does. Everything else is in problem/embedding.c. The
   macro's entries stand in the parameters table; `field` is the RgEmbedding of the options. */
typedef struct {
  int dim;    /* number of inputs; -1: those of the problem itself */
  int random; /* whether the subspace is drawn for each instance, or the first coordinates act */
} RgEmbedding;
#define RG_EMBED "embed" /* also written as a map: `embed: {dim: D, rotation: random}` */
#define RG_EMBED_PARAMS(Options, field)                                                            \
  RG_ENTRY(RG_EMBED, INT, Options, field.dim, int, "auto", 1, 1e6, rg_param_later, "D",            \
           "number of inputs in all, of which the problem's own act; auto: there are no others"),  \
    RG_ENTRY(RG_EMBED "_rotation", CHOICE, Options, field.random, int, "none", RG_LATER, 0,        \
             rg_problem_rotations, "",                                                             \
             "none: the first inputs act; random: a random subspace does, another per instance")
RG_API extern const char *const rg_problem_rotations[];

/* Groups of descriptor fields. */
#define RG_DOMAIN(domain_, check_) .domain = (domain_), .check = (check_)

struct RgProblem {
  const RgProblemClass *class;
  const void *options; /* borrowed, filled from the table */
  RgStream stream;     /* "problem": same for all trial seeds of one (study seed, instance) */
  /* Ranks that share large linear algebra in `create`; borrowed, may be NULL. */
  RgTeam *team;
  bool by_team;           /* the team was used: the bits of values depend on its size */
  RgDomain domain;        /* owned */
  double optimum;         /* max F; NaN when unknown */
  double objective_error; /* largest estimated error of an F given so far; 0: rounding */
  bool has_draft;         /* `create` sets it: F is costly, and a rough F is available */
  bool draft;             /* a caller sets it, and clears it again: rough values of F suffice */
  int n_optimisers;
  /* n_optimisers x dim, native units; owned by the problem (free in generic destroy) */
  double *optimisers;
  /* An evaluation whose law of contexts is the present one; 0: the law never changes. F, `optimum`
     and `optimisers` are those of the present law. */
  int epoch;
  /* The announced context, at which F is f; borrowed. NULL: F is over the law. */
  const RgPoint *announced;
  RgTask task; /* set by the caller after `create` */
  /* The problem that this one embeds in more inputs: exact optimum, same stream; NULL: none. It is
     part of `data`. */
  RgProblem *core;
  void *data;        /* owned by the family: one block of PetscMalloc, freed after its destroy */
  uint64_t instance; /* number of the draw, from 0; random families differ between instances */
};

/* The words of the parameter `goal`, for families whose values come from a program or a table. */
typedef enum { RG_GOAL_MAXIMISE, RG_GOAL_MINIMISE } RgGoal;
extern RG_API const char *const rg_problem_goals[];
/* Whether f is minus the value that the program or the table has, as `goal: minimise` says. */
RG_API bool rg_problem_is_minimised(const RgProblemClass *class, const void *options);

static inline RgProblemCost rg_problem_cost(const RgProblemClass *class, const void *options)
{
  RgProblemCost cost = {0};

  if (class->cost) class->cost(options, &cost);
  return cost;
}

/* The names of further numbers that an evaluation gives, borrowed from `options`. */
static inline RgTexts rg_problem_numbers(const RgProblemClass *class, const void *options)
{
  const bool some = class->source && class->source->numbers;

  return some ? *class->source->numbers(options) : (RgTexts){0};
}

/* All *n families, in registry order. */
RG_API const RgProblemClass *const *rg_problem_classes(int *n);

/* Check the options of a family, and find its domain and traits. An embedding in the options
   counts. */
RG_API PetscErrorCode rg_problem_check(const RgProblemClass *class, const void *options,
                                       RgPlace place, RgDiagnostics *diagnostics);
RG_API PetscErrorCode rg_problem_domain(const RgProblemClass *class, const void *options,
                                        RgDomain *domain);
RG_API bool rg_problem_is_random(const RgProblemClass *class, const void *options);

/* Build an instance of a problem. The caller keeps `options`, which must outlive the problem. */
RG_API PetscErrorCode rg_problem_create(const RgProblemClass *class, const void *options,
                                        uint64_t study_seed, uint64_t instance, RgProblem *problem,
                                        RgFailure *failure);
/* Like rg_problem_create, on the leader of a team (may be NULL) whose other ranks serve. */
RG_API PetscErrorCode rg_problem_create_on(RgTeam *team, const RgProblemClass *class,
                                           const void *options, uint64_t study_seed,
                                           uint64_t instance, RgProblem *problem,
                                           RgFailure *failure);
RG_API PetscErrorCode rg_problem_destroy(RgProblem *problem);

/* Make the law of the contexts that of evaluation t = 1, 2, .. (1 after `create`). */
RG_API PetscErrorCode rg_problem_at(RgProblem *problem, int t);

/* For families on a finite design: set the optimum and the optimisers from F at every design
   (design.size). Keeps at most `most` optimisers, in order. */
PetscErrorCode rg_problem_scan(RgProblem *problem, const double *F, int most);

/* f and F at m points. F = f where the class has no objective (an error with contexts). Values
   that are not finite or beyond 1e100 set failure, which names problem and input. Errors: a
   point of a finite design or context without its index. */
RG_API PetscErrorCode rg_problem_evaluate(RgProblem *problem, int m, const RgPoint *points,
                                          double *f, RgFailure *failure);
RG_API PetscErrorCode rg_problem_objective(RgProblem *problem, int m, const RgPoint *points,
                                           double *F, RgFailure *failure);

/* The outcome constraints at a point (n_constraints of the domain, possibly 0). Values that are
   not finite or beyond 1e100 set failure, which names problem and constraint. */
RG_API PetscErrorCode rg_problem_constrain(RgProblem *problem, const RgPoint *point,
                                           double *constraints, RgFailure *failure);

/* Whether a stop was requested; long computations then give up. */
static inline bool rg_problem_stopped(const RgProblem *problem)
{
  return problem->task.stop && problem->task.stop(problem->task.stop_closure);
}

#endif
