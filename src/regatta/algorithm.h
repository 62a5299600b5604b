/* Algorithms: sequential decision rules. One file per method, its descriptor the only external
   symbol; the registry is algorithm/list.h. An algorithm sees the domain, the noise level where the
   study declares it known, and the history; never the problem. */
#ifndef RG_REGATTA_ALGORITHM_H
#define RG_REGATTA_ALGORITHM_H

#include "regatta/theory.h"
#include "regatta/acquire.h"
#include "regatta/params.h"
#include "regatta/domain.h"
#include "regatta/model.h"

typedef struct RgClock RgClock;
typedef struct RgTeam RgTeam; /* ranks that share large linear algebra */
typedef struct RgRestart RgRestart;

/* A value that the method records at every iteration (NaN where it has none). */
typedef struct {
  const char *name; /* HDF5 dataset name; every method uses the same name for the same quantity */
  const char *doc;  /* meaning and unit */
} RgRecordColumn;

/* Columns that many methods record. */
#define RG_COLUMN_CONFIDENCE                                                                       \
  {                                                                                                \
    "confidence", "squared confidence width beta_t or zeta_t of the query"                         \
  }
#define RG_COLUMN_ACQUISITION                                                                      \
  {                                                                                                \
    "acquisition", "acquisition value at the query, model units (EI: log EI; where "               \
                   "points are in flight, with penalise: log of the penalised value)"              \
  }

/* Storage for what a method can't compute again: the answers of programs. Answers survive a kill
   of the process: they are on the disk before the method uses them. */
typedef struct {
  void *closure; /* borrowed */
  /* Read the n numbers that this run of the trial, or an earlier one, kept under `number`;
     false: nothing was kept. */
  PetscErrorCode (*find)(void *closure, int number, int n, double *numbers, bool *found);
  /* Keep n numbers (n is the same in all calls). *kept is false if the disk refused or a stop
     came. */
  PetscErrorCode (*keep)(void *closure, int number, int n, const double *numbers, bool *kept);
  bool (*stop)(void *closure); /* true: stop waiting for an answer */
  const char *log; /* file that gets the standard error of programs; NULL: it is passed on */
  RgText *account; /* gets the full text of a failed exchange; NULL: it is not wanted */
} RgKeeper;

/* Column with 1 where a resumed method chose otherwise than in the log, which counts. */
#define RG_OTHERWISE_COLUMN "asked_otherwise"

/* The knowledge of a method before the first ask. Borrowed for the life of the algorithm. */
typedef struct {
  const RgDomain *domain;
  const RgSurrogateOptions *surrogate;
  const RgMaximiserOptions *maximiser;
  double noise_variance;           /* native units; NaN: not known to the learner */
  int n_initial;                   /* size of the initial design, chosen by the study */
  int n_iterations;                /* number of queries after the initial design */
  int n_workers;                   /* number of evaluations that run at the same time; 0: one */
  double time;                     /* end of the simulated clock; NaN, 0: no limit, or no clock */
  bool batches;                    /* queries come in batches of n_workers */
  const RgPendingOptions *pending; /* rule for points in flight; NULL: they are ignored */
  RgStream stream;                 /* the algorithm's own stream */
  RgClock *clock;
  RgTeam *team; /* ranks that share large linear algebra; may be NULL */
  /* Storage for answers of programs; NULL: no storage, and no program may be asked. */
  const RgKeeper *keeper;
} RgSetup;

/* Needs of a method, checked before anything runs. */
typedef enum {
  RG_NEEDS_FINITE = 1,       /* a finite design */
  RG_NEEDS_BOX = 2,          /* a box */
  RG_NEEDS_CONTEXT = 4,      /* a context part */
  RG_NEEDS_CONTEXT_PROB = 8, /* finite contexts with known probabilities */
  /* No context that the learner chooses (a context drawn by nature acts as noise on the method). */
  RG_NEEDS_NO_CONTEXT = 16,
  RG_NEEDS_NATURE = 32, /* a context that nature draws, observed */
  /* An initial design: at least one evaluation that the method did not choose. */
  RG_NEEDS_INITIAL = 64,
  /* Answers to every query, or every `generation` of queries, before the next one. */
  RG_NEEDS_ALTERNATION = 128,
  /* A context that is announced before the decision. Methods for other contexts don't run. */
  RG_NEEDS_ANNOUNCED = 256,
  RG_NEEDS_CLOCK = 512 /* durations of evaluations: the study has a simulated clock */
} RgNeeds;

/* Blocks of a study file that a method reads. Other blocks don't change the identity of its
   trials. */
typedef enum { RG_READS_SURROGATE = 1, RG_READS_MAXIMISER = 2 } RgReads;

/* Properties of a method. */
typedef enum {
  RG_BLIND = 1,       /* never reads setup.noise_variance, so `noise_known` changes nothing */
  RG_MATRIX_FREE = 2, /* supports a posterior without a matrix (surrogate: {solver: iterative}) */
  RG_OWN_HISTORY = 4, /* updates its model itself, with evaluations that it selects */
  /* The first n queries have the fill distance of a fresh Latin hypercube of n points. */
  RG_HYPERCUBE = 8,
  /* Chooses its query by rg_acquire alone, so that penalties on points in flight act on it. */
  RG_PENALISABLE = 16,
  RG_OWN_PENDING = 32, /* has a rule of its own for points in flight, and reads no other one */
  RG_CONSTRAINED = 64, /* learns which designs are infeasible; other methods get a value instead */
  RG_NO_WIDTH = 128,   /* `confidence` says the rule of its regret bound alone: no width is drawn */
  RG_STOPS = 256       /* has a rule to stop, which sets RgAlgorithm.stops */
} RgTraits;

/* Terms of two needs. */
typedef struct {
  const char *instead; /* RG_NEEDS_INITIAL: what can replace the design; NULL: nothing */
  bool (*has_instead)(const void *options); /* whether these options provide it */
  /* RG_NEEDS_ALTERNATION: the number of queries in `dim` inputs that the method chooses at once
     and whose answers it learns from together; it may double later. Synchronous workers whose
     number divides it are accepted. NULL: 1. */
  int (*generation)(const void *options, int dim);
} RgTerms;

/* For a method that runs a program. */
typedef struct {
  /* Append the text that replaces the options in the identity of a trial. */
  PetscErrorCode (*identity)(const void *options, RgText *text);
  /* Append `; program NAME HASH`. Every trial stores it; a changed program is reported as a changed
     build is. */
  PetscErrorCode (*version)(const void *options, RgText *text);
} RgOutside;

/* For a method that can follow the scores of a domain (RgDomain.scores). */
typedef struct {
  /* `recommend` of the class by score number `score`. */
  PetscErrorCode (*recommend)(RgAlgorithm *algorithm, int t, const RgHistory *history, int score,
                              RgQuery *recommendation, RgFailure *failure);
  /* Whether the queries depend on the domain's measure. If so, a problem with several scores runs
     once per score, else once for all. NULL: they don't. */
  bool (*aims)(const void *options);
} RgScoring;

/* The size of a trial, and the part of its cost that the model alone does not explain. Both serve
   the estimate of memory and the rough count of operations that orders the trials. The caller
   zeroes RgMethodCost. */
typedef struct {
  int n;             /* evaluations */
  int dim_x;         /* inputs */
  int dim_c, size_c; /* context: coordinates; points, 0 in a box */
  bool finite;       /* a finite design and context */
} RgTrialSize;
typedef struct {
  double contexts; /* contexts per acquisition value; 0: none */
  double bytes;    /* memory of the discretised context box, or of a method without a model */
  double paths;    /* posterior paths per query */
  double features; /* random features per path; 0: exact paths */
} RgMethodCost;

typedef struct {
  const char *name;         /* as typed in a study file */
  const char *title;        /* for figures: GP-UCB */
  const char *summary;      /* the rule in one or two lines */
  const char *reference;    /* paper, equation */
  int revision;             /* raised when results change on purpose; part of the trial key */
  unsigned needs;           /* RgNeeds or-ed */
  unsigned reads;           /* RgReads or-ed */
  unsigned traits;          /* RgTraits or-ed */
  const RgTerms *terms;     /* terms of its needs; NULL: no terms */
  const RgOutside *outside; /* NULL: the method runs no program */
  const char *stream;       /* method whose stream of random numbers it shares; NULL: its own */
  const RgParam *params;
  size_t options_size;
  const RgRecordColumn *columns; /* ends with a NULL name; NULL: none */
  size_t state_size;
  /* Fill in *cost for a trial of this size. NULL: no cost beside the model's. */
  void (*cost)(const void *options, const RgTrialSize *size, RgMethodCost *cost);
  /* Validate what the table can't express, for this domain. NULL: nothing to check. */
  PetscErrorCode (*check)(const void *options, const RgDomain *domain, RgPlace place,
                          RgDiagnostics *diagnostics);
  /* Set up the state, which is zeroed. NULL: nothing to do. */
  PetscErrorCode (*create)(RgAlgorithm *algorithm);
  /* Choose query t = 1, 2, ... (after the initial design) from the history. `model` already
     contains the whole history. An announced context stands in the query. */
  PetscErrorCode (*ask)(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                        RgFailure *failure);
  /* The solution that the method would recommend after query t, whose evaluation is the last of the
     history; t = 0: after the initial design. NULL: regret is measured at the query itself. */
  PetscErrorCode (*recommend)(RgAlgorithm *algorithm, int t, const RgHistory *history,
                              RgQuery *recommendation, RgFailure *failure);
  const RgScoring *scores; /* NULL: `recommend` serves every score */
  /* The law of the squared width of query t, for the regret bounds and for figures. NULL: the
     method has no such law. */
  void (*confidence)(const void *options, const RgDomain *domain, int t, RgConfidenceLaw *law);
  /* The model, updated before every `ask`. Its report, posterior deviation and hyperparameters
     are recorded. NULL: no model. */
  RgModel *(*model)(RgAlgorithm *algorithm);
  PetscErrorCode (*destroy)(RgAlgorithm *algorithm);
} RgAlgorithmClass;

/* Groups of descriptor fields. */
#define RG_ASK(ask_, columns_) .ask = (ask_), .columns = (columns_)
#define RG_STATE(State, create_, destroy_)                                                         \
  .state_size = sizeof(State), .create = (create_), .destroy = (destroy_)

struct RgAlgorithm {
  const RgAlgorithmClass *class;
  const void *options; /* borrowed */
  RgSetup setup;
  void *state;        /* state_size bytes, owned */
  RgRestart *restart; /* private; NULL: the method never starts again */
  int first;          /* submission of the first query since the last restart; 1: none yet */
  double cpu;         /* CPU seconds of the programs that the method ran */
  double memory;      /* peak memory of such a program, bytes; 0: no program */
  /* Versions that the programs report; owned by the method; NULL: nothing reported. */
  const char *versions;
  const RgRecordColumn
    *columns; /* the columns of the class, unless `create` sets others; NULL: none */
  /* Set by `ask`: the rule of the method is to stop, rather than make the query that it chose. */
  bool stops;
};

RG_API const RgAlgorithmClass *const *rg_algorithm_classes(int *n);

/* Start a method: zero its state, copy setup, call class->create. The caller keeps `options`
   (filled from the table) and whatever `setup` points to; both must outlive the algorithm. */
RG_API PetscErrorCode rg_algorithm_create(const RgAlgorithmClass *class, const void *options,
                                          const RgSetup *setup, RgAlgorithm *algorithm);
/* Choose query t = 1, 2, ... The caller provides storage for query->x (dim), query->c (context
   dim, or NULL) and query->extra (one double per record column, or NULL without columns). All
   are preset to NaN and the indices to -1, but for a context that was announced. Time outside the
   model update counts as RG_STAGE_ACQUIRE. The points in flight are those of history->pending;
   afterwards the model knows the history alone. Check `failure` before using the query. Errors:
   PETSC_ERR_PLIB when the query is outside the domain. */
RG_API PetscErrorCode rg_algorithm_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                       RgQuery *query, RgFailure *failure);
RG_API PetscErrorCode rg_algorithm_destroy(RgAlgorithm *algorithm);

/* For methods: random numbers of query t from the sub-stream `name` of the algorithm's own
   stream. Use one name per purpose, so that draws for different purposes can't interfere. */
RG_API RgRandom rg_algorithm_stream_at(const RgAlgorithm *algorithm, const char *name, int t);

/* Whether the method knows that evaluations of a design are equal: no noise and no context. */
static inline bool rg_algorithm_asks_once(const RgAlgorithm *algorithm)
{
  return !(algorithm->class->traits & RG_BLIND) && algorithm->setup.noise_variance == 0 &&
         !algorithm->setup.domain->context.dim;
}

/* For methods: an RgSearch * with the study's maximiser, to pass to a search. */
#define RG_SEARCH(algorithm_, history_, random_)                                                   \
  (&(RgSearch){.options = (algorithm_)->setup.maximiser,                                           \
               .history = (history_),                                                              \
               .random = (random_),                                                                \
               .once = rg_algorithm_asks_once(algorithm_)})
/* The same for the search of query t, with random numbers of the sub-stream "maximiser". */
#define RG_SEARCH_AT(algorithm_, t_, history_)                                                     \
  RG_SEARCH(algorithm_, history_,                                                                  \
            ((RgRandom[]){rg_algorithm_stream_at(algorithm_, "maximiser", t_)}))
/* The table of a method without parameters. */
#define RG_NO_PARAMS ((const RgParam[]){{0}})

/* For methods: the squared width of query t, drawn from the law of the class's `confidence` with
   random numbers of the sub-stream "confidence". */
RG_API double rg_algorithm_width(const RgAlgorithm *algorithm, int t);

/* Check `needs` against a domain, then call class->check. A mistake names the method, what it
   needs, and what the domain is. */
RG_API PetscErrorCode rg_algorithm_check(const RgAlgorithmClass *class, const void *options,
                                         const RgDomain *domain, RgPlace place,
                                         RgDiagnostics *diagnostics);

#endif
