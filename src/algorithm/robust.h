/* Steps shared by the methods that maximise a robustness measure F(x) = rho(f(x, .)) over a finite
   design, with finite contexts of known probabilities and a surrogate of f(x, c): rrgp_ucb 2, 3. */
#ifndef RG_ALGORITHM_ROBUST_H
#define RG_ALGORITHM_ROBUST_H

#include "algorithm/surrogate.h"
#include "regatta/measure.h"

/* Options that every such method has first in its struct. */
typedef struct {
  char *measure; /* NULL: the measure of the domain, or else the expectation */
  int ties;      /* RG_TIES_LOWEST, RG_TIES_RANDOM */
} RgRobustOptions;

enum { RG_TIES_LOWEST, RG_TIES_RANDOM };
extern const char *const rg_robust_ties[];

#define RG_ROBUST_MEASURE(Options)                                                                 \
  RG_TEXT("measure", Options, measure, "auto", "rho",                                              \
          "measure to maximise, an expression; auto: the problem's (expectation where it has "     \
          "none)")
#define RG_ROBUST_PARAMS                                                                           \
  RG_ROBUST_MEASURE(RgRobustOptions),                                                              \
    RG_CHOICE("ties", RgRobustOptions, ties, "lowest", rg_robust_ties, "",                         \
              "of equal maxima (within 1e-12): the lowest index, or one at random")

/* Lines of the table that some of the methods have. */
#define RG_ROBUST_FIXED_WIDTH(Options)                                                             \
  RG_REAL("value", Options, value, "9", 0, 1e6, "beta", "squared width of the fixed rule")
#define RG_INDEX_PATHS_PARAM(Options)                                                              \
  RG_INT("index_paths", Options, index_paths, "0", 0, 1e5, "M",                                    \
         "sample paths to estimate the best of the recommendations so far; 0: it is not recorded")
#define RG_COLUMN_BEST_INDEX                                                                       \
  {                                                                                                \
    "best_index", "query i <= t before which the recommendation was best, estimated"               \
  }
#define RG_COLUMN_BOUND_WIDTH                                                                      \
  {                                                                                                \
    "bound_width", "upper minus lower bound of the measure at the query"                           \
  }

/* Record columns, and their lines of a table. */
enum {
  RG_ROBUST_CONFIDENCE,
  RG_ROBUST_ACQUISITION,
  RG_ROBUST_WIDTH,
  RG_ROBUST_TOP,
  RG_ROBUST_LARGEST_SD
};
// clang-format off
#define RG_ROBUST_COLUMNS                                                                          \
  [RG_ROBUST_CONFIDENCE] = RG_COLUMN_CONFIDENCE,                                                   \
  [RG_ROBUST_ACQUISITION] = {"acquisition",                                                        \
                             "upper bound of the measure at the query, y (bq: log EI; bpt_ucb, "   \
                             "uncertainty_sampling: their value, model units)"},                   \
  [RG_ROBUST_WIDTH] = RG_COLUMN_BOUND_WIDTH,                                                       \
  [RG_ROBUST_TOP] = {"top_design",                                                                 \
                     "number of the design with the largest upper bound, from 0"},                 \
  [RG_ROBUST_LARGEST_SD] = {                                                                       \
    "largest_sd", "largest posterior deviation at the queried design over all contexts, y"}
// clang-format on
extern const RgRecordColumn rg_robust_columns[];

/* The state; a method with more state puts this first. */
typedef struct {
  RgModel model;
  RgMeasure measure;
  RgMeasure *scores; /* the scores of the domain; owned */
  int n_designs, n_contexts;
  const double *p;       /* n_contexts; probabilities of the domain */
  double *lower, *upper; /* n_designs: bounds of rho at the last step; owned */
  double *value;         /* n_designs: scratch, a measure at all designs; owned */
  /* 2 x designs x contexts: see rg_robust_measure; NULL: not needed */
  double *native;
  int recommended, recommended_n; /* x-hat, and the number of data behind it */
} RgRobust;

/* Functions of the class. check: tests the measure against the domain. */
PetscErrorCode rg_robust_check(const void *options, const RgDomain *domain, RgPlace place,
                               RgDiagnostics *diagnostics);
PetscErrorCode rg_robust_create(RgAlgorithm *algorithm);
PetscErrorCode rg_robust_destroy(RgAlgorithm *algorithm);
/* x-hat = argmax rho(posterior mean) from all data of the history (Eq. 3.3). */
PetscErrorCode rg_robust_recommend(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                   RgQuery *recommendation, RgFailure *failure);

/* x-hat by a score of the domain. rg_robust_aimed_scores: the queries aim at the domain's
   measure too, unless the options name one. */
extern const RgScoring rg_robust_scores, rg_robust_aimed_scores;

#define RG_ROBUST_STEPS                                                                            \
  .needs = RG_NEEDS_FINITE | RG_NEEDS_CONTEXT_PROB, .reads = RG_READS_SURROGATE,                   \
  .recommend = rg_robust_recommend, .model = rg_surrogate_model
/* For a class without further state or columns. */
#define RG_ROBUST_METHODS                                                                          \
  RG_ROBUST_STEPS, .columns = rg_robust_columns, .state_size = sizeof(RgRobust),                   \
                   .create = rg_robust_create, .destroy = rg_robust_destroy

/* Text of the measure to maximise: from the options (NULL: not given), or else from the domain. */
const char *rg_robust_measure_text(const char *measure, const RgDomain *domain);
/* Whether the options ask for no other measure than the domain's, as it is written. */
bool rg_robust_is_measured(const char *measure, const RgDomain *domain);

/* value (n_designs): rho of f (designs x contexts, model units), in native units. Outputs may be
   standardised, but measures such as ptr need the original values. */
PetscErrorCode rg_robust_measure(RgRobust *state, const RgMeasure *measure, const double *f,
                                 double *value);

/* Return the index of the maximum of `value` by the rule for ties. `purpose` names the choice. */
int rg_robust_argmax(const RgAlgorithm *algorithm, int t, const char *purpose, int n,
                     const double *value);
/* x-hat as above; the model must be up to date. */
PetscErrorCode rg_robust_best(RgAlgorithm *algorithm, int t, const RgHistory *history, int *index);
/* Set the design of the query to the maximum of state->upper, record that as the acquisition value,
   and return the index. */
int rg_robust_set_top(const RgAlgorithm *algorithm, int t, RgQuery *query);
/* Sets the design of the query. */
void rg_robust_set_design(const RgAlgorithm *algorithm, int index, RgQuery *query);
/* Sets the context of the query; does nothing if nature chooses it. */
void rg_robust_set_context(const RgAlgorithm *algorithm, int index, RgQuery *query);
/* w_t = argmax_w variance(x_t, w) (Eq. 3.5); does nothing if nature chooses. */
void rg_robust_most_uncertain_context(const RgAlgorithm *algorithm, int t, RgQuery *query);
/* The step of rg_robust_ucb_step, from bounds of rho in state->lower and state->upper. */
PetscErrorCode rg_robust_bounds_step(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                     double beta, bool compare, RgQuery *query);
/* The step of RRGP-UCB and BBBMOBO from squared width beta: x_t is the argmax of the upper
   bound. With `compare`, x_t is that point or x-hat, whichever has the wider bounds (Definition
   3.1). w_t by Eq. 3.5. The model must be up to date. */
PetscErrorCode rg_robust_ucb_step(RgAlgorithm *algorithm, int t, const RgHistory *history,
                                  double beta, bool compare, RgQuery *query);

/* Options, parameters and confidence of methods with the width of BBBMOBO, which is fixed or
   beta_t = 2 log(|X x Omega| pi^2 t^2 / (6 delta)). */
typedef struct {
  RgRobustOptions common;
  int confidence;
  double delta, value;
} RgRobustUcbOptions;

extern const RgParam rg_robust_ucb_params[];
void rg_robust_ucb_confidence(const void *options, const RgDomain *domain, int t,
                              RgConfidenceLaw *law);

/* First member of the options of methods for one kind of measure that may run with others, and the
   line of the table. */
typedef struct {
  RgRobustOptions common;
  bool any_measure;
} RgRobustKindOptions;

#define RG_ROBUST_ANY(doc) RG_BOOL("any_measure", RgRobustKindOptions, any_measure, "false", doc)

/* rg_robust_check, which also reports a measure of another kind. name: the name of the method.
   may_differ: the options begin with RgRobustKindOptions, which may allow the other kind. */
PetscErrorCode rg_robust_check_kind(const void *options, const RgDomain *domain, const char *name,
                                    RgMeasureKind kind, bool may_differ, RgPlace place,
                                    RgDiagnostics *diagnostics);

#endif
