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
    "acquisition", "acquisition value at the query, model units (EI: log EI)"                      \
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
} RgKeeper;

/* What a method knows before the first ask. Borrowed for the life of the algorithm. */
typedef struct {
  const RgDomain *domain;
  const RgSurrogateOptions *surrogate;
  const RgMaximiserOptions *maximiser;
  double noise_variance; /* native units; NaN: not known to the learner */
  int n_initial;         /* size of the initial design, chosen by the study */
  int n_iterations;      /* number of queries after the initial design */
  RgStream stream;       /* the algorithm's own stream */
  RgClock *clock;
  RgTeam *team;           /* ranks that share large linear algebra; may be NULL */
  const RgKeeper *keeper; /* storage for answers of programs; NULL: no storage, and no program
                             may be asked */
} RgSetup;

/* Needs of a method, checked before anything runs. */
typedef enum {
  RG_NEEDS_FINITE = 1,       /* a finite design */
  RG_NEEDS_BOX = 2,          /* a box */
  RG_NEEDS_CONTEXT = 4,      /* a context part */
  RG_NEEDS_CONTEXT_PROB = 8, /* finite contexts with known probabilities */
  RG_NEEDS_NO_CONTEXT = 16,  /* no context that the learner has to choose (a context that nature
                                draws acts as noise on a method that uses the design alone) */
  RG_NEEDS_NATURE = 32,      /* a context in a box, drawn by nature and observed */
  RG_NEEDS_INITIAL = 64      /* an initial design: at least one evaluation that the method did
                                not choose */
} RgNeeds;

/* Blocks of a study file that a method reads. Other blocks don't change the identity of its
   trials. */
typedef enum { RG_READS_SURROGATE = 1, RG_READS_MAXIMISER = 2 } RgReads;

typedef struct {
  const char *name;      /* as typed in a study file */
  const char *title;     /* for figures: GP-UCB */
  const char *summary;   /* the rule in one or two lines */
  const char *reference; /* paper, equation */
  int revision;          /* raised when results change on purpose; part of the trial key */
  unsigned needs;        /* RgNeeds or-ed */
  unsigned reads;        /* RgReads or-ed */
  bool blind;            /* the method never reads setup.noise_variance, so `noise_known` changes
                            nothing */
  /* For a method that needs an initial design: what can replace it, in words, and whether these
     options provide the replacement. NULL: nothing can. */
  const char *instead;
  bool (*has_instead)(const void *options);
  bool matrix_free;   /* supports a posterior without a matrix (surrogate: {solver: iterative}) */
  const char *stream; /* method whose stream of random numbers it shares; NULL: its own */
  const RgParam *params;
  size_t options_size;
  /* For the cost estimate: number of posterior paths drawn per iteration. *features: random
     features per path, 0 if paths are exact; *weights: whether the features' weights are drawn
     from their posterior. NULL: no paths. */
  int (*paths)(const void *options, bool finite, int *features, bool *weights);
  /* For the cost estimate, with contexts in a box: number of contexts per acquisition value
     after n evaluations. *screening: number of contexts that a search begins with. NULL: none. */
  int (*contexts)(const void *options, int n, int *screening);
  /* For the cost estimate: number of terms that the criterion at a design has after n
     evaluations, beside a few per context. NULL: none. */
  double (*terms)(const void *options, int n);
  /* Bytes of the discretisation of a context box in `dim` coordinates after n evaluations. NULL:
     tables with `contexts` entries. */
  double (*context_bytes)(const void *options, int dim, int n);
  /* For the cost estimate: number of nodes that replace the contexts in predictions at every
     design. n_contexts: number of finite contexts, 0 in a box; dim_c: their dimension. NULL:
     none. */
  double (*nodes)(const void *options, int n_contexts, int dim_c);
  const RgRecordColumn *columns; /* ends with a NULL name; NULL: none */
  size_t state_size;
  /* Validate what the table can't express, for this domain. NULL: nothing to check. */
  PetscErrorCode (*check)(const void *options, const RgDomain *domain, RgPlace place,
                          RgDiagnostics *diagnostics);
  /* Append the text that replaces the options in the identity of a trial. NULL: the canonical
     text of the options. */
  PetscErrorCode (*identity)(const void *options, RgText *text);
  /* Append `; program NAME HASH` for a program that the method runs. Every trial stores it; a
     changed program is reported as a changed build is. NULL: no program. */
  PetscErrorCode (*outside)(const void *options, RgText *text);
  /* Set up the state, which is zeroed. NULL: nothing to do. */
  PetscErrorCode (*create)(RgAlgorithm *algorithm);
  /* Before a study begins, test the programs that the method needs; append any mistake to
     `mistake`. NULL: the method needs none. */
  PetscErrorCode (*probe)(RgAlgorithm *algorithm, RgText *mistake);
  /* Choose query t = 1, 2, ... (after the initial design) from the history. `model` already
     contains the whole history. */
  PetscErrorCode (*ask)(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                        RgFailure *failure);
  /* Learn from the newest evaluation (last of the history). NULL: nothing to do. */
  PetscErrorCode (*tell)(RgAlgorithm *algorithm, int t, const RgHistory *history,
                         RgFailure *failure);
  /* The solution that the method would recommend now. NULL: regret is measured at the query
     itself. */
  PetscErrorCode (*recommend)(RgAlgorithm *algorithm, int t, const RgHistory *history,
                              RgQuery *recommendation, RgFailure *failure);
  /* For the fill distance: the design of n points (n x dim, unit cube) that the method would
     derive from n queries. NULL: the first n queries. */
  PetscErrorCode (*design)(RgAlgorithm *algorithm, int n, double *points);
  /* `recommend` by score number `score` of the domain. NULL: `recommend` serves every score. */
  PetscErrorCode (*recommend_by)(RgAlgorithm *algorithm, int t, const RgHistory *history, int score,
                                 RgQuery *recommendation, RgFailure *failure);
  /* Whether the queries depend on the domain's measure. If so, a problem with several scores
     runs once per score, else once for all. NULL: they don't. */
  bool (*aims)(const void *options);
  /* The law of the squared width of query t, for the regret bounds and for figures. NULL: the
     method has no such law. */
  void (*confidence)(const void *options, const RgDomain *domain, int t, RgConfidenceLaw *law);
  /* The model, updated before every `ask`. Its report, posterior deviation and hyperparameters
     are recorded. NULL: no model. */
  RgModel *(*model)(RgAlgorithm *algorithm);
  /* Expected CPU seconds of a trial of n evaluations (with the initial design) in `dim`
     coordinates of design and context. NULL: estimated from the blocks that the method reads. */
  double (*seconds)(const void *options, int dim, int n);
  bool own_history; /* the method updates its model itself, with evaluations that it selects */
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
  void *state;          /* state_size bytes, owned */
  double cpu;           /* CPU seconds of the programs that the method ran */
  double memory;        /* peak memory of such a program, bytes; 0: no program */
  const char *versions; /* versions that the programs report; owned by the method; NULL: nothing
                           reported */
  const RgRecordColumn
    *columns; /* the columns of the class, unless `create` sets others; NULL: none */
};

RG_API const RgAlgorithmClass *const *rg_algorithm_classes(int *n);

/* Start a method: zero its state, copy setup, call class->create. The caller keeps `options`
   (filled from the table) and whatever `setup` points to; both must outlive the algorithm. */
RG_API PetscErrorCode rg_algorithm_create(const RgAlgorithmClass *class, const void *options,
                                          const RgSetup *setup, RgAlgorithm *algorithm);
/* Choose query t = 1, 2, ... The caller provides storage for query->x (dim), query->c (context
   dim, or NULL) and query->extra (one double per record column, or NULL without columns). All
   are preset to NaN and the indices to -1. Time outside the model update counts as
   RG_STAGE_ACQUIRE. Check `failure` before using the query. Errors: PETSC_ERR_PLIB when the
   query is outside the domain. */
RG_API PetscErrorCode rg_algorithm_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                       RgQuery *query, RgFailure *failure);
RG_API PetscErrorCode rg_algorithm_tell(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                        RgFailure *failure);
RG_API PetscErrorCode rg_algorithm_destroy(RgAlgorithm *algorithm);

/* For methods: random numbers of query t from the sub-stream `name` of the algorithm's own
   stream. Use one name per purpose, so that draws for different purposes can't interfere. */
RG_API RgRandom rg_algorithm_stream_at(const RgAlgorithm *algorithm, const char *name, int t);

/* For methods: an RgSearch * with the study's maximiser, to pass to a search. */
#define RG_SEARCH(algorithm_, history_, random_)                                                   \
  (&(RgSearch){                                                                                    \
    .options = (algorithm_)->setup.maximiser, .history = (history_), .random = (random_)})

/* For methods: the squared width of query t, drawn from the law of the class's `confidence` with
   random numbers of the sub-stream "confidence". */
RG_API double rg_algorithm_width(const RgAlgorithm *algorithm, int t);

/* Check `needs` against a domain, then call class->check. A mistake names the method, what it
   needs, and what the domain is. */
RG_API PetscErrorCode rg_algorithm_check(const RgAlgorithmClass *class, const void *options,
                                         const RgDomain *domain, RgPlace place,
                                         RgDiagnostics *diagnostics);

#endif
