/* A validated study: the contents of the YAML file, with defaults filled in. */
#ifndef RG_STUDY_FILE_STUDY_H
#define RG_STUDY_FILE_STUDY_H

#include "gp/model/options.h"
#include "regatta/algorithm.h"
#include "regatta/problem.h"
#include "regatta/results.h"
#include "regatta/study.h"
#include "study/file/crew_options.h"

#define RG_SCHEMA_VERSION 3 /* schema version of results files */
#define RG_SCHEMA_OLDEST 2  /* the oldest one that is read */
#define RG_KEY_VERSION 1    /* version of keys: a new version changes all trials */

/* ---- given designs: those from a file at the start of an initial design ---- */

/* Part of the identity of trials with known values on a clock, or of problems that Regatta
   computes. 2: known values take no time and are never lost, and `f` has no noise. */
#define RG_KNOWN_REVISION 2

typedef struct {
  int n;
  double *x; /* n x dim, unit coordinates; owned */
  /* n x dim, as in the file; evaluations use these. In a finite design, the coordinates of the
     point */
  double *native;
  int *index; /* n: index in a finite design; -1 in a box; owned */
  double *y; /* n: known values of the maximised function; NULL: the designs are evaluated; owned */
  bool exact; /* `native` equals the conversion of `x`, to the last bit */
} RgGiven;

/* Read a file of comma-separated values. The header names the coordinates of `space` (x1, x2,
   ... without names), in any order. Every row is a design in native units, with words for
   choices and empty cells for inputs that don't count. The first mistake is appended to
   `mistake`, and `given` stays empty. once: the designs must be distinct. A further column y has
   known values; sign: 1, or -1 if they are the negative of what is maximised, or 0 if the problem
   takes no known values. */
PetscErrorCode rg_given_read(const char *path, const RgSpace *space, bool once, int sign,
                             RgGiven *given, RgText *mistake);
PetscErrorCode rg_given_clear(RgGiven *given);
/* Append the identity of the designs: a hash of x, or of `native` if that is not exact, and a hash
   of their known values. */
PetscErrorCode rg_given_identity(const RgGiven *given, int dim, RgText *text);

/* ---- noise: the block `noise` ---- */

/* An observation at a design x is y = f + sqrt(v(x)) e, where e has the law of the block and v is
   its formula, or the constant `noise_variance` of the run. */
typedef struct {
  char *variance;   /* formula of the inputs; NULL: `noise_variance` of the run; owned */
  char *law;        /* law of e; NULL: normal(0, 1); owned */
  double told;      /* factor of the variance that methods are told */
  double mean;      /* set by the check: mean of the formula over the designs; NaN without one */
  RgPlace place[3]; /* of the settings in the study file, in the order of the table */
} RgNoiseSettings;

extern const RgParam rg_noise_params[];

/* Whether the noise is other than normal noise of one variance that methods are told as it is. */
bool rg_noise_counts(const RgNoiseSettings *noise);
/* The variance that methods are told, where the run has the constant variance `constant`. */
double rg_noise_told(const RgNoiseSettings *noise, double constant);
/* Check the settings for the design of the problem `label`, and set noise->mean. known: methods are
   told the variance. */
PetscErrorCode rg_noise_check(const RgSpace *design, const char *label, double constant, bool known,
                              RgNoiseSettings *noise, RgDiagnostics *found);

/* The noise of a trial. */
typedef struct {
  const RgSpace *design; /* borrowed */
  double constant;       /* the variance without a formula */
  RgArithmetic variance; /* empty: no formula */
  RgDistribution law;    /* empty: normal(0, 1) */
  double *seen;          /* room for a design as the problem sees it; owned */
} RgNoise;

/* Create the noise from settings that passed the check. The caller destroys it. */
PetscErrorCode rg_noise_create(const RgNoiseSettings *settings, double constant,
                               const RgSpace *design, RgNoise *noise);
PetscErrorCode rg_noise_destroy(RgNoise *noise);
/* v(x) at a native design. Where it is no variance (negative or not finite), `mistake` says so. */
PetscErrorCode rg_noise_variance(const RgNoise *noise, const double *x, double *variance,
                                 RgText *mistake);
/* One draw of sqrt(v) e. The numbers that it takes from the stream do not depend on v > 0. */
double rg_noise_draw(const RgNoise *noise, double variance, RgRandom *random);

/* ---- studies ---- */

/* The kinds of initial designs. On a finite design: the free points nearest to a box design. */
typedef enum { RG_INITIAL_UNIFORM, RG_INITIAL_SOBOL, RG_INITIAL_LATIN_HYPERCUBE } RgInitialDesign;

/* The rules for an evaluation that fails. */
typedef enum {
  RG_FAILURE_FAILS,     /* the trial fails too */
  RG_FAILURE_PENALTY,   /* the method learns this value instead */
  RG_FAILURE_WORST,     /* the method learns the smallest value so far */
  RG_FAILURE_INFEASIBLE /* like WORST, but methods with constraints learn of infeasibility */
} RgFailureRule;

typedef struct {
  RgFailureRule rule;
  double penalty;
} RgOnFailure;

/* Settings of a trial outside problem and algorithm. They may be in the `common` block and be
   overridden in any problem entry; rg_run_params describes them. */
typedef struct {
  int iterations;        /* queries after the initial design */
  int initial_points;    /* in a cell, `auto` is replaced: min(2^dim, 4 dim, number of points) */
  int initial_design;    /* RgInitialDesign */
  char *given;           /* file of given designs at its start; NULL: no file; owned */
  char *on_failure;      /* as typed; NULL: fail; owned */
  double noise_variance; /* variance of the noise in an observation, native units of f */
  bool noise_known;      /* the method knows noise_variance */
  bool count_initial;    /* the initial design counts in cumulative regret */
  double stop_regret;    /* a trial ends once its simple regret is at most this; NaN: it doesn't */
  double stop_seconds; /* a trial ends once its evaluations have taken this time; NaN: it doesn't */
  bool stop_rule;      /* a trial ends before the first query at which its method stops */
  int ranks_per_trial; /* team size, -1: auto; not part of a trial's identity */
} RgTrialSettings;

extern const RgParam rg_run_params[];

/* How two parts of a study are joined at a key. */
typedef enum {
  RG_JOIN_EQUAL, /* both parts have the same value */
  RG_JOIN_FIRST, /* a text for people; that of the first part stays */
  RG_JOIN_SEEDS, /* the union of seeds */
  RG_JOIN_LIST,  /* the union of a list, whose items have labels */
  RG_JOIN_AXES   /* the union of a list of axes */
} RgJoin;

typedef struct RgDraft RgDraft;       /* study/file/draft.h */
typedef struct RgYamlNode RgYamlNode; /* study/file/yaml_tree.h */

/* Keys of a study file outside the parameters tables; the lists end with a NULL name. */
typedef struct RgStudyKey {
  const char *name, *doc;
  RgJoin join;
  /* Read its value (NULL: set the default). NULL: it is read with the entries, or after them. */
  PetscErrorCode (*read)(const RgDraft *draft, const struct RgStudyKey *key, const RgYamlNode *node,
                         RgStudy *study);
  size_t offset; /* of its text in RgStudy */
} RgStudyKey;

extern const RgStudyKey rg_study_keys[]; /* keys of the file itself */
/* Read `seeds`: their number, `{first: a, count: n}` or a list. */
PetscErrorCode rg_study_read_seeds(const RgDraft *draft, const RgStudyKey *key,
                                   const RgYamlNode *node, RgStudy *study);
extern const RgStudyKey rg_entry_keys[]; /* keys of an entry of `problems` or `algorithms` */

/* A cell: one problem, one algorithm, one setting of their parameters. All pointers are owned. */
typedef struct {
  const RgProblemClass *problem;
  void *problem_options;
  char *problem_label; /* label of the entry, shared by its swept cells; group of the results */
  const RgAlgorithmClass *algorithm;
  void *algorithm_options;
  char *algorithm_label; /* legend entry, with swept settings of the algorithm */
  char *method;          /* label of the entry of the algorithm */
  /* Numbers of the entries in the lists of the study file, from 1. */
  int problem_number, algorithm_number;
  RgSurrogateOptions surrogate;
  RgMaximiserOptions maximiser;
  RgTrialSettings run;
  RgCrewSettings crew;      /* workers and clock */
  RgPendingOptions pending; /* rule for points in flight */
  RgNoiseSettings noise;    /* noise other than normal noise of one known variance */
  RgOnFailure on_failure;   /* parsed from run.on_failure */
  RgTexts constraints;      /* names of the outcome constraints; owned */
  RgGiven given;            /* designs of the file run.given; owned */
  int dim_x, dim_c;         /* dimensions of design and context (0: no context) */
  /* Number of points of a finite design or context; 0: a box, or no context. */
  int size_x, size_c;
  bool grid; /* design and context are product grids */
  /* Number of correlations that a model stores between levels of the axes. */
  double tables;
  RgContextControl control; /* who chooses the context */
  int n_scores;             /* number of measures that score the trials; 0: F alone */
  int score;                /* the measure that is F; it alone scores the cell; -1: all */
  char *scores;             /* "NAME=measure; ..."; NULL without; owned */
  char *inputs, *contexts;  /* descriptions of named coordinates; NULL without; owned */
  char *law, *measure;      /* of the contexts, and of F; NULL without; owned */
  bool dynamic;             /* the objective differs between evaluations */
  char *text;               /* canonical text of the above except labels: identity of the cell */
  size_t problem_length;    /* of the identity of the problem, with which the text begins */
  char *outside;            /* external programs, `; program NAME HASH`; NULL: no programs */
  /* "name=value, ..." of the sweep axes that affect the cell; "" without such axes */
  char *swept;
  int n_swept; /* swept settings as data, and the measure that queries aim at (`aimed_score`) */
  RgSwept *settings;
  /* Places in the study file; `file` is borrowed from the study. */
  RgPlace problem_place, algorithm_place;
  int n_seeds, n_instances; /* the study's numbers, or more by `replicate` */
  RgCellData *data;         /* made by rg_cell_data; owned */
} RgCell;

/* The variance of the noise that methods are told; NaN: they are told none. */
static inline double rg_cell_told_noise(const RgCell *cell)
{
  return cell->run.noise_known ? rg_noise_told(&cell->noise, cell->run.noise_variance) : NAN;
}

/* Citation data: texts for people that don't affect results. */
enum { RG_CREDIT_AUTHORS, RG_CREDIT_LICENCE, RG_CREDIT_DOI, RG_CREDIT_KEYWORDS, RG_CREDITS };
extern const char *const rg_credit_keys[RG_CREDITS + 1]; /* keys in a study file; NULL at the end */

#define RG_WITHOUT_TIMING "timing" /* in `record: {without: ...}`: columns that are no results */

typedef struct RgStudy {
  char *path;                                   /* study file; owned */
  char *text;                                   /* its full text; owned */
  char *name, *title, *reference, *description; /* owned; may be empty */
  /* Owned, may be empty; list entries are joined by ", ". */
  char *credit[RG_CREDITS];
  /* Registry used for reading; borrowed, may be NULL. */
  const RgRegistry *registry;
  uint64_t seed;   /* study seed */
  int n_instances; /* draws of each random problem, crossed with the seeds */
  bool paired;     /* every seed has its own instance with the same number */
  RgTexts without; /* columns that are not recorded, in alphabetical order */
  RgTexts against; /* paths of results of others, as typed */
  int n_seeds;
  uint64_t *seeds; /* trial seeds, for the cell with the most seeds; owned */
  int n_cells;
  RgCell *cells; /* owned */
  char *shared;  /* notes on cells that cover several values of a sweep; NULL: no notes; owned */
  bool stored;   /* the text is that of a results file: see rg_study_parse_stored */
  bool programs; /* the programs that it names may be read */
  bool unopened; /* it names data that was not opened */
  RgDiagnostics *absent; /* of rg_study_load_partly; borrowed; NULL: missing data are mistakes */
} RgStudy;

/* Read and validate a study file: syntax, keys, types, ranges, combinations (every cell is
   checked against its domain). Mistakes are collected; after a mistake the study must not be
   used. Not collective; on many ranks one rank reads for all (command_run.c). registry: adds
   plug-ins to the built-in problems and algorithms, must outlive the study; NULL: no plug-ins. */
PetscErrorCode rg_study_load(const RgRegistry *registry, const char *path, RgStudy *study,
                             RgDiagnostics *diagnostics);
/* The same without the problems whose data files are missing: `absent` names each of these files
   with its problems. The study may be without cells. */
PetscErrorCode rg_study_load_partly(const RgRegistry *registry, const char *path, RgStudy *study,
                                    RgDiagnostics *absent, RgDiagnostics *diagnostics);
/* Parse and validate a study text. `path`: its file, for messages (borrowed by the diagnostics)
   and for relative paths. After both functions the caller destroys the study, even after
   mistakes. */
PetscErrorCode rg_study_parse(const RgRegistry *registry, const char *path, const char *text,
                              size_t length, RgStudy *study, RgDiagnostics *diagnostics);
/* The same for a study text in the results file or study directory `path`, which may be a
   stranger's. Of the data that it names, only those are opened that stand beside `path` or in
   REGATTA_DATA (rg_data_find_beside). One diagnostic names the others, and study->unopened is set.
   programs: its programs may be read, for a hash of them. */
PetscErrorCode rg_study_parse_stored(const RgRegistry *registry, const char *path, const char *text,
                                     bool programs, RgStudy *study, RgDiagnostics *diagnostics);
/* Read a study file: *text is NUL-terminated, *length excludes the NUL; owned by the caller
   (PetscFree). If the file can't be read, is larger than 4 MiB or is not a regular file, *text
   is NULL and there is a diagnostic. */
PetscErrorCode rg_study_read_file(const char *path, char **text, size_t *length,
                                  RgDiagnostics *diagnostics);
/* Number of instances of the cell's problem that are crossed with each seed. */
static inline int rg_study_instances(const RgStudy *study, const RgCell *cell)
{
  const bool random = rg_problem_is_random(cell->problem, cell->problem_options);
  return random && !study->paired ? cell->n_instances : 1;
}
/* The names of further numbers that an evaluation gives; borrowed. */
static inline RgTexts rg_cell_numbers(const RgCell *cell)
{
  return rg_problem_numbers(cell->problem, cell->problem_options);
}
/* The number of a trial's first evaluations that are known before its clock starts, of an initial
   design of n_initial points: they take no time and no worker. */
static inline int rg_cell_free(const RgCell *cell, int n_initial)
{
  if (!cell->crew.clock && !cell->crew.initial_time) return n_initial;
  return cell->given.y ? cell->given.n : 0;
}
static inline bool rg_same_place(RgPlace a, RgPlace b)
{
  return a.line == b.line && a.column == b.column;
}
/* Whether the problems of two cells have the same options, as far as results depend on them. */
bool rg_cell_same_problem(const RgCell *a, const RgCell *b);
PetscErrorCode rg_study_destroy(RgStudy *study);

/* The reason why two studies are not parts of one: a key, and its value in each. */
typedef struct {
  char key[192];
  char first[64], second[64];
} RgStudyDifference;

/* Join the texts of two study files. *joined: a text with all seeds, problems, algorithms and
   sweep axes of both (owned by the caller), or NULL if the first text has them all, or one is
   not a YAML map. *same: they are parts of one study; else `difference` names a key that
   differs, other than the lists above and texts for people. O(length^2) at most. */
PetscErrorCode rg_study_join(const char *first, const char *second, char **joined, bool *same,
                             RgStudyDifference *difference);

#endif
