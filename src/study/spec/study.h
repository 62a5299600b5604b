/* A study as validated: everything the YAML file says, with defaults filled in. */
#ifndef RG_STUDY_SPEC_STUDY_H
#define RG_STUDY_SPEC_STUDY_H

#include "gp/model/model.h"
#include "regatta/algorithm.h"
#include "regatta/problem.h"
#include "regatta/study.h"
#include "study/spec/given.h"

#define RG_SCHEMA_VERSION 2 /* of results files */
#define RG_KEY_VERSION 1    /* of keys: another one makes all trials others */

/* How the initial design is drawn; on a finite design the nearest free points of a box design. */
typedef enum { RG_INITIAL_UNIFORM, RG_INITIAL_SOBOL, RG_INITIAL_LATIN_HYPERCUBE } RgInitialDesign;

/* What becomes of an evaluation that fails. */
typedef enum {
  RG_FAILURE_FAILS,     /* so does its trial */
  RG_FAILURE_PENALTY,   /* it is told as this value */
  RG_FAILURE_WORST,     /* as the smallest value so far */
  RG_FAILURE_INFEASIBLE /* the same, to methods that know of infeasible designs as one */
} RgFailureRule;

typedef struct {
  RgFailureRule rule;
  double penalty;
} RgOnFailure;

/* Settings of a trial that belong neither to the problem nor to the algorithm. They may stand in
   the `common` block and be overridden in any problem entry; described by rg_run_params. */
typedef struct {
  int iterations;        /* queries after the initial design */
  int initial_points;    /* in a cell resolved if `auto`: min(2^dim, 4 dim, points there are) */
  int initial_design;    /* RgInitialDesign */
  char *given;           /* file of designs that it begins with; NULL: none; owned */
  char *on_failure;      /* as typed; NULL: fail; owned */
  double noise_variance; /* of the observations, native units of f; 0: noise-free */
  bool noise_known;      /* whether the learner is told */
  bool count_initial;    /* whether the initial design enters cumulative regret */
  int ranks_per_trial;   /* team size, -1: auto; not part of a trial's identity */
} RgTrialSettings;

extern const RgParam rg_run_params[];

/* Keys of a study file that belong to no parameters table; tables end with a NULL name. */
typedef struct {
  const char *name, *doc;
} RgStudyKey;

extern const RgStudyKey rg_study_keys[]; /* of the file itself */
extern const RgStudyKey rg_entry_keys[]; /* of an entry of `problems` or `algorithms` */

/* One problem x one algorithm x one setting of their parameters. All pointers owned. */
typedef struct {
  const RgProblemClass *problem;
  void *problem_options;
  char *problem_label; /* of the entry, the same for all its swept cells; group of the results */
  const RgAlgorithmClass *algorithm;
  void *algorithm_options;
  char *algorithm_label; /* legend entry; swept settings of the algorithm are appended */
  RgSurrogateOptions surrogate;
  RgMaximiserOptions maximiser;
  RgTrialSettings run;
  RgOnFailure on_failure;   /* of the run settings, read */
  RgTexts constraints;      /* names of the outcome constraints; owned */
  RgGiven given;            /* what stands in its file; owned */
  int dim_x, dim_c;         /* of the domain: dimensions of design and context (0: no context) */
  int size_x, size_c;       /* points of the finite design and contexts; 0: a box, or no context */
  bool grid;                /* design and context are product grids */
  double tables;            /* correlations that a model keeps between the levels of its axes */
  RgContextControl control; /* who chooses the context */
  int n_scores;             /* measures its trials are scored by; 0: F alone */
  int score;                /* the one that F is, of which alone it is scored; -1: all */
  char *scores;             /* "NAME=measure; ..."; NULL without; owned */
  char *inputs, *contexts;  /* descriptions of named coordinates; NULL without; owned */
  char *text;               /* canonical text of the above but labels: identity of the cell */
  char *outside; /* what it runs outside this process, `; program NAME HASH`; NULL: nothing */
  char *swept;   /* "name=value, ..." of the sweep axes it is touched by; "" for none */
  int n_swept;   /* the same as data, and the measure aimed at (`aimed_score`) */
  RgSwept *settings;
  RgPlace problem_place, algorithm_place; /* in the study file; `file` borrowed from the study */
  int n_seeds, n_instances;               /* the study's, or more where `replicate` says so */
} RgCell;

/* Who and what results are to be cited by: texts for people that take no part in any result. */
enum { RG_CREDIT_AUTHORS, RG_CREDIT_LICENCE, RG_CREDIT_DOI, RG_CREDIT_KEYWORDS, RG_CREDITS };
extern const char *const rg_credit_keys[RG_CREDITS + 1]; /* of a study file; NULL at the end */

typedef struct RgStudy {
  char *path;                                   /* study file; owned */
  char *text;                                   /* its full text; owned */
  char *name, *title, *reference, *description; /* owned; may be empty */
  char *credit[RG_CREDITS];                     /* the same; entries of a list with ", " between */
  const RgRegistry *registry;                   /* what it was read with; borrowed, may be NULL */
  uint64_t seed;                                /* study seed */
  int n_instances; /* draws of each random problem; crossed with the seeds */
  bool paired;     /* every seed has its own instance, of the same number */
  int n_seeds;
  uint64_t *seeds; /* trial seeds, as many as a cell has at most; owned */
  int n_cells;
  RgCell *cells; /* owned */
  char *shared;  /* lines about cells that stand for several values of a sweep; NULL: none; owned */
} RgStudy;

/* Read and validate a study file: syntax, keys, types, ranges, combinations (every cell is checked
   against its domain). Mistakes are collected; with any, the study must not be used. Not
   collective; on many ranks one reads for all (rg_study_share). registry: what plugins add to the
   known problems and algorithms, to outlive the study; NULL: nothing. */
PetscErrorCode rg_study_load(const RgRegistry *registry, const char *path, RgStudy *study,
                             RgDiagnostics *diagnostics);
/* The same from text; `path`: where it stands, for messages (borrowed by the diagnostics) and for
   the files that it names. Either way the study is to be destroyed, also after mistakes. */
PetscErrorCode rg_study_parse(const RgRegistry *registry, const char *path, const char *text,
                              size_t length, RgStudy *study, RgDiagnostics *diagnostics);
/* The bytes of a study file, NUL-terminated, *length without the NUL; owned by the caller
   (PetscFree). A file that can't be read, is larger than 4 MiB or is no regular file: *text NULL
   and a diagnostic. */
PetscErrorCode rg_study_read_file(const char *path, char **text, size_t *length,
                                  RgDiagnostics *diagnostics);
/* Instances of the cell's problem that are crossed with each seed. */
static inline int rg_study_instances(const RgStudy *study, const RgCell *cell)
{
  return cell->problem->random && !study->paired ? cell->n_instances : 1;
}
PetscErrorCode rg_study_destroy(RgStudy *study);

#endif
