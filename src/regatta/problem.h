/* Problems: black boxes f(x, c) to be maximised, their domain, law of contexts, objective F and
   optimum. One file per family; the registry is problem/list.h. */
#ifndef RG_REGATTA_PROBLEM_H
#define RG_REGATTA_PROBLEM_H

#include "regatta/domain.h"
#include "regatta/kernel.h"
#include "regatta/params.h"
#include "regatta/stream.h"

typedef struct RgChild RgChild; /* a program beside this process */
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

/* The run that evaluations are made for; zeroed outside a trial. All pointers borrowed. */
typedef struct {
  const char *trial;       /* id; NULL: no trial */
  uint64_t instance, seed; /* of the trial */
  int evaluation;          /* number of the evaluation at hand, from 1; 0: none of the trial's */
  bool (*stop)(void *closure); /* true: a stop has been asked for. Evaluations that wait call
                                       it some ten times a second, searches between batches: it
                                       keeps the rank alive for the others. NULL: nobody to ask */
  void *stop_closure;
  bool lost;       /* out: nobody could be asked, so that a failure says nothing of the point */
  double cpu;      /* seconds of CPU that evaluations took in other processes, to be added to */
  RgChild **child; /* the rank's program, which outlives the trial; NULL: the problem's own */
} RgTask;

/* The table of a family, the only external symbol of its file. */
struct RgProblemClass {
  const char *name;      /* as typed in a study file */
  const char *title;     /* for figures */
  const char *summary;   /* formula and domain, one or two lines */
  const char *reference; /* where it comes from */
  int revision;          /* raised when values change on purpose; part of the trial key */
  const RgParam *params; /* may be an empty table */
  size_t options_size;
  const void *family; /* what families that share their functions differ in; NULL: nothing */
  bool random;        /* draws from the instance's stream: instances differ */
  bool costly;        /* f is too dear to be evaluated twice or thousands of times: an
                               optimum that the problem doesn't know stays unknown, F is f as it was
                               observed, and a trial that is resumed asks for nothing again */
  bool shared;        /* dear to create, and nothing that is asked of it leaves a trace: one
                               instance serves many trials */
  bool fills_space;   /* the fill distance of the queries is what counts: it is recorded */
  /* Validate combinations of options that the table can't express; NULL: nothing to check. */
  PetscErrorCode (*check)(const RgProblemClass *class, const void *options, RgPlace place,
                          RgDiagnostics *diagnostics);
  /* Append what identifies the function, in place of the options' canonical text: for families
     whose options name something outside, such as a file. Called after `check`. NULL: those. */
  PetscErrorCode (*identity)(const RgProblemClass *class, const void *options, RgText *text);
  /* Expected seconds of one evaluation, for the schedule; NULL: nothing beside the algorithm's. */
  double (*seconds)(const void *options);
  /* Expected seconds until a trial knows its instance and the optimum; NULL: next to nothing. */
  double (*setup_seconds)(const void *options);
  /* What `identity` would append for the data that the instance holds: they may have changed since
     the study was checked. NULL: nothing outside is read. */
  PetscErrorCode (*identify)(const RgProblem *problem, RgText *text);
  /* The domain alone, cheap, without drawing anything: for validation and planning. */
  PetscErrorCode (*domain)(const RgProblemClass *class, const void *options, RgDomain *domain);
  /* The kernel, over unit coordinates of design and context, of the zero-mean Gaussian process that
     f is a path of; owned by the caller. NULL: f is none. For the regret bounds. */
  PetscErrorCode (*prior)(const void *options, RgKernel *kernel);
  /* Fill in problem->domain and problem->data from something outside, called in place of `domain`
     and before `create`. failure: it can't be had any more. NULL: `domain` is called. */
  PetscErrorCode (*load)(RgProblem *problem, RgFailure *failure);
  /* Order of the largest dense matrix that `create` factors, on the team if it takes it; with a
     large one the instance is kept for other trials as a `shared` one. NULL: none. */
  double (*dense_order)(const void *options);
  /* Fill in problem->data; class, options, domain and stream are set. */
  PetscErrorCode (*create)(RgProblem *problem, RgFailure *failure);
  /* Noise-free f at m points. A value that can't be had: NaN and `failure`. */
  PetscErrorCode (*evaluate)(RgProblem *problem, int m, const RgPoint *points, double *f,
                             RgFailure *failure);
  /* The outcome constraints of the domain at m points, m x n_constraints; of a costly family those
     of the single point that was evaluated last, whatever is passed. NULL: the domain has none. */
  PetscErrorCode (*constrain)(RgProblem *problem, int m, const RgPoint *points, double *constraints,
                              RgFailure *failure);
  /* Gradient of f in native x (dim), NULL: none. */
  PetscErrorCode (*gradient)(RgProblem *problem, const RgPoint *point, double *gradient);
  /* Objective F at m designs; NULL: F = f (no context). */
  PetscErrorCode (*objective)(RgProblem *problem, int m, const RgPoint *points, double *F,
                              RgFailure *failure);
  /* The further measures that trials are scored by, `NAME=expression` each; NULL: none. */
  const RgTexts *(*scores)(const void *options);
  /* Make score number `score` the objective F. With `scores`. */
  PetscErrorCode (*aim)(void *options, int score);
  /* The objective by score number `score` at m designs, and its maximum over all. With `scores`. */
  PetscErrorCode (*score)(RgProblem *problem, int score, int m, const RgPoint *points, double *F,
                          double *optimum);
  /* Draw the context of one evaluation in native units; NULL: no context from nature. */
  PetscErrorCode (*draw_context)(RgProblem *problem, RgRandom *random, double *c,
                                 int *context_index);
  /* Free what `data` points to; not called without data. NULL: nothing to free. */
  PetscErrorCode (*destroy)(RgProblem *problem);
};

/* Fields of a descriptor that go together: what its options mean. */
#define RG_DOMAIN(domain_, check_) .domain = (domain_), .check = (check_)

struct RgProblem {
  const RgProblemClass *class;
  const void *options;    /* borrowed, filled from the table */
  RgStream stream;        /* "problem": same for all trial seeds of one (study seed, instance) */
  RgTeam *team;           /* takes large linear algebra in create; borrowed, may be NULL */
  bool by_team;           /* and it did: values have the bits of that team size */
  RgDomain domain;        /* owned */
  double optimum;         /* max F; NaN when unknown */
  double objective_error; /* largest estimated error of an F given so far; 0: rounding */
  bool has_draft;         /* F is costly, and a rough one can be had: set by create */
  bool draft;             /* rough values of F will do now: set and cleared by who asks */
  int n_optimisers;
  double *optimisers; /* n_optimisers x dim, native units; owned by the problem (free in generic
                             destroy) */
  RgTask task;        /* set by who evaluates, after create */
  void *data;         /* the family's own, one block of PetscMalloc; freed after its destroy */
  uint64_t instance;  /* number of the draw, from 0; those of random families differ */
};

/* All families, in registry order; *n of them. */
RG_API const RgProblemClass *const *rg_problem_classes(int *n);

/* Build an instance of a problem. `options` stays with the caller and must outlive the problem. */
RG_API PetscErrorCode rg_problem_create(const RgProblemClass *class, const void *options,
                                        uint64_t study_seed, uint64_t instance, RgProblem *problem,
                                        RgFailure *failure);
/* The same on the leader of a team (may be NULL) whose other ranks serve. */
RG_API PetscErrorCode rg_problem_create_on(RgTeam *team, const RgProblemClass *class,
                                           const void *options, uint64_t study_seed,
                                           uint64_t instance, RgProblem *problem,
                                           RgFailure *failure);
RG_API PetscErrorCode rg_problem_destroy(RgProblem *problem);

/* For families on a finite design: optimum and optimisers from F at every design (design.size), the
   first `most` of those where it is largest. */
PetscErrorCode rg_problem_scan(RgProblem *problem, const double *F, int most);

/* f and F at m points through the class, with F = f where no objective is given (an error with
   contexts). Values that are not finite or beyond 1e100 set failure, which names problem and input.
   Errors: a finite design or context without its index. */
RG_API PetscErrorCode rg_problem_evaluate(RgProblem *problem, int m, const RgPoint *points,
                                          double *f, RgFailure *failure);
RG_API PetscErrorCode rg_problem_objective(RgProblem *problem, int m, const RgPoint *points,
                                           double *F, RgFailure *failure);

/* The outcome constraints at a point (n_constraints of the domain; nothing without). Values that
   are not finite or beyond 1e100 set failure, which names problem and constraint. */
RG_API PetscErrorCode rg_problem_constrain(RgProblem *problem, const RgPoint *point,
                                           double *constraints, RgFailure *failure);

/* Whether a stop has been asked for: what takes long gives up. */
static inline bool rg_problem_stopped(const RgProblem *problem)
{
  return problem->task.stop && problem->task.stop(problem->task.stop_closure);
}

#endif
