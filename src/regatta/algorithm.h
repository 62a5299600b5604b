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

/* A value the method records at every iteration (NaN where it has none). */
typedef struct {
  const char *name; /* HDF5 dataset name; the same quantity has the same name in every method */
  const char *doc;  /* meaning and unit */
} RgRecordColumn;

/* Those that many methods record. */
#define RG_COLUMN_CONFIDENCE                                                                       \
  {                                                                                                \
    "confidence", "squared confidence width beta_t or zeta_t of the query"                         \
  }
#define RG_COLUMN_ACQUISITION                                                                      \
  {                                                                                                \
    "acquisition", "acquisition value at the query, model units (EI: log EI)"                      \
  }

/* Where a method keeps what it can't compute again: the answers of programs. They outlive a kill of
   the process, and are on the disk before they are used. */
typedef struct {
  void *closure; /* borrowed */
  /* The n numbers kept under `number`, by this run of the trial or an earlier one; false: none. */
  PetscErrorCode (*find)(void *closure, int number, int n, double *numbers, bool *found);
  /* Keep n numbers (n is the same in all calls); *kept false: the disk refused, or a stop came. */
  PetscErrorCode (*keep)(void *closure, int number, int n, const double *numbers, bool *kept);
  bool (*stop)(void *closure); /* whether waiting for an answer should be cut short */
} RgKeeper;

/* What a method is told before the first ask. Borrowed for the life of the algorithm. */
typedef struct {
  const RgDomain *domain;
  const RgSurrogateOptions *surrogate;
  const RgMaximiserOptions *maximiser;
  double noise_variance; /* native units; NaN: not known to the learner */
  int n_initial;         /* size of the initial design, chosen by the study */
  int n_iterations;      /* queries after it */
  RgStream stream;       /* the algorithm's own */
  RgClock *clock;
  RgTeam *team;           /* takes large linear algebra; may be NULL */
  const RgKeeper *keeper; /* of answers from outside; NULL: none, and nothing is asked */
} RgSetup;

/* Needs of a method, checked before anything runs. */
typedef enum {
  RG_NEEDS_FINITE = 1,       /* a finite design */
  RG_NEEDS_BOX = 2,          /* a box */
  RG_NEEDS_CONTEXT = 4,      /* a context part */
  RG_NEEDS_CONTEXT_PROB = 8, /* finite contexts with known probabilities */
  RG_NEEDS_NO_CONTEXT = 16,  /* no context that the learner has to choose; one that nature draws is
                                noise to a method that looks at the design alone */
  RG_NEEDS_NATURE = 32,      /* a context in a box, drawn by nature and observed */
  RG_NEEDS_INITIAL = 64      /* an evaluation that it was not asked for: an initial design */
} RgNeeds;

/* Blocks of a study file that a method reads; the others are no part of its trials' identity. */
typedef enum { RG_READS_SURROGATE = 1, RG_READS_MAXIMISER = 2 } RgReads;

typedef struct {
  const char *name;      /* as typed in a study file */
  const char *title;     /* for figures: GP-UCB */
  const char *summary;   /* the rule in one or two lines */
  const char *reference; /* paper, equation */
  int revision;          /* raised when results change on purpose; part of the trial key */
  unsigned needs;        /* RgNeeds or-ed */
  unsigned reads;        /* RgReads or-ed */
  bool blind;            /* never looks at setup.noise_variance: `noise_known` changes nothing */
  /* What does in place of an initial design, in words, for a method that needs one, and whether it
     is there with these options; NULL: nothing does. */
  const char *instead;
  bool (*has_instead)(const void *options);
  bool matrix_free;   /* works on a posterior without a matrix (surrogate: {solver: iterative}) */
  const char *stream; /* method whose stream of random numbers it shares; NULL: its own */
  const RgParam *params;
  size_t options_size;
  /* Paths drawn from the posterior per iteration, *features the random features of each, 0 where
     they are exact, *weights whether the features' weights are drawn from their posterior; for the
     estimate of cost. NULL: none. */
  int (*paths)(const void *options, bool finite, int *features, bool *weights);
  /* Contexts that an acquisition value looks at with n evaluations in hand (boxes of contexts), and
     how many of them a search begins with; for the estimate of cost. NULL: none. */
  int (*contexts)(const void *options, int n, int *screening);
  /* Terms that the criterion at a design has by itself, beside a few per context, with n
     evaluations in hand; for the estimate of cost. NULL: none. */
  double (*terms)(const void *options, int n);
  /* Bytes of the discretisation of a context box in `dim` coordinates, with n evaluations in hand;
     NULL: tables of so many `contexts`. */
  double (*context_bytes)(const void *options, int dim, int n);
  /* Nodes that stand for the contexts (finite ones: how many, 0 in a box; their dimension) in
     predictions at every design tried; for the estimate of cost. NULL: none. */
  double (*nodes)(const void *options, int n_contexts, int dim_c);
  const RgRecordColumn *columns; /* ends with a NULL name; NULL: none */
  size_t state_size;
  /* Validate what the table can't express, for this domain; NULL: nothing to check. */
  PetscErrorCode (*check)(const void *options, const RgDomain *domain, RgPlace place,
                          RgDiagnostics *diagnostics);
  /* Append what stands for the options where a trial is identified; NULL: the options do. */
  PetscErrorCode (*identity)(const void *options, RgText *text);
  /* Append `; program NAME HASH` of what the method runs outside this process: stored with every
     trial, and another one is told of as another build is. NULL: nothing. */
  PetscErrorCode (*outside)(const void *options, RgText *text);
  /* State is zeroed; NULL: nothing to do. */
  PetscErrorCode (*create)(RgAlgorithm *algorithm);
  /* Try, before a study is begun, what the method needs outside this process; what is wrong is
     appended to `mistake`. NULL: it needs nothing. */
  PetscErrorCode (*probe)(RgAlgorithm *algorithm, RgText *mistake);
  /* Choose query t = 1, 2, ... (after the initial design) from the history, which `model` has taken
     in. */
  PetscErrorCode (*ask)(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                        RgFailure *failure);
  /* Learn of the newest evaluation (last of the history); NULL: nothing to do. */
  PetscErrorCode (*tell)(RgAlgorithm *algorithm, int t, const RgHistory *history,
                         RgFailure *failure);
  /* The solution the method would recommend now; NULL: the query itself is what regret is about. */
  PetscErrorCode (*recommend)(RgAlgorithm *algorithm, int t, const RgHistory *history,
                              RgQuery *recommendation, RgFailure *failure);
  /* The design of n points (n x dim, unit cube) that a method would make of n queries, for the fill
     distance; NULL: the first n queries themselves. */
  PetscErrorCode (*design)(RgAlgorithm *algorithm, int n, double *points);
  /* The same by score number `score` of the domain. NULL: `recommend` by whatever score. */
  PetscErrorCode (*recommend_by)(RgAlgorithm *algorithm, int t, const RgHistory *history, int score,
                                 RgQuery *recommendation, RgFailure *failure);
  /* Whether the queries depend on the domain's measure: then a problem with several scores is run
     once for each, else once for all. NULL: they don't. */
  bool (*aims)(const void *options);
  /* The law of the squared width of query t, for the regret bounds and for figures; NULL: the
     method has none. */
  void (*confidence)(const void *options, const RgDomain *domain, int t, RgConfidenceLaw *law);
  /* The model, updated before every `ask`; its report, posterior deviation and hyperparameters are
     recorded; NULL: none. */
  RgModel *(*model)(RgAlgorithm *algorithm);
  /* Expected CPU seconds that the method takes for a trial of n evaluations (the initial design
     among them) in `dim` coordinates of design and context; NULL: estimated from what it reads. */
  double (*seconds)(const void *options, int dim, int n);
  bool own_history; /* the method updates its model itself, with evaluations of its choice */
  PetscErrorCode (*destroy)(RgAlgorithm *algorithm);
} RgAlgorithmClass;

/* Fields of a descriptor that go together. */
#define RG_ASK(ask_, columns_) .ask = (ask_), .columns = (columns_)
#define RG_STATE(State, create_, destroy_)                                                         \
  .state_size = sizeof(State), .create = (create_), .destroy = (destroy_)

struct RgAlgorithm {
  const RgAlgorithmClass *class;
  const void *options; /* borrowed */
  RgSetup setup;
  void *state;          /* state_size bytes, owned */
  double cpu;           /* seconds that programs of the method have used */
  double memory;        /* bytes, the most that one of them has held; 0: none */
  const char *versions; /* what they report of their own; the method's, NULL: nothing */
  const RgRecordColumn
    *columns; /* those of the class, unless `create` says otherwise; NULL: none */
};

RG_API const RgAlgorithmClass *const *rg_algorithm_classes(int *n);

/* Start a method: state zeroed, setup copied, class->create called. `options` (filled from the
   table) and what `setup` points to stay with the caller and must outlive the algorithm. */
RG_API PetscErrorCode rg_algorithm_create(const RgAlgorithmClass *class, const void *options,
                                          const RgSetup *setup, RgAlgorithm *algorithm);
/* Query t = 1, 2, ... The caller gives storage for query->x (dim), query->c (context dim, or NULL)
   and query->extra (one double per record column, or NULL without columns); all are preset to NaN
   and the indices to -1. Time outside the model update goes to RG_STAGE_ACQUIRE. Check `failure`
   before using the query. Errors: PETSC_ERR_PLIB when the method leaves the domain. */
RG_API PetscErrorCode rg_algorithm_ask(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                       RgQuery *query, RgFailure *failure);
RG_API PetscErrorCode rg_algorithm_tell(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                        RgFailure *failure);
RG_API PetscErrorCode rg_algorithm_destroy(RgAlgorithm *algorithm);

/* For methods: random numbers of query t from the sub-stream `name` of the algorithm's own stream.
   One name per purpose, so that draws for different purposes can't interfere. */
RG_API RgRandom rg_algorithm_stream_at(const RgAlgorithm *algorithm, const char *name, int t);

/* For methods: a search by the maximiser of the study, for what begins with an RgSearch *. */
#define RG_SEARCH(algorithm_, history_, random_)                                                   \
  (&(RgSearch){                                                                                    \
    .options = (algorithm_)->setup.maximiser, .history = (history_), .random = (random_)})

/* For methods: the squared width of query t, drawn from the law that `confidence` of the class
   gives with random numbers of the sub-stream "confidence". */
RG_API double rg_algorithm_width(const RgAlgorithm *algorithm, int t);

/* Standard checks of `needs` against a domain; a mistake names the method, what it needs, and what
   the domain is. Then class->check. */
RG_API PetscErrorCode rg_algorithm_check(const RgAlgorithmClass *class, const void *options,
                                         const RgDomain *domain, RgPlace place,
                                         RgDiagnostics *diagnostics);

#endif
