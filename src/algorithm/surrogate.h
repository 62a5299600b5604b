/* Steps shared by the methods that keep a surrogate of f, and by the UCB family. */
#ifndef RG_ALGORITHM_SURROGATE_H
#define RG_ALGORITHM_SURROGATE_H

#include "gp/model/model.h"
#include "regatta/algorithm.h"

/* Inputs of a model: x; (x, c); (x, c) with predictions anywhere in the unit cube. */
typedef enum { RG_INPUTS_DESIGN, RG_INPUTS_BOTH, RG_INPUTS_CUBE } RgSurrogateInputs;
/* The model of the study's `surrogate` block over the whole trial. It has capacity for every
   evaluation; starts of a fit come from the sub-stream "fit". */
PetscErrorCode rg_surrogate_create_model(const RgAlgorithm *algorithm, RgSurrogateInputs inputs,
                                         RgModel *model);

/* `model` of a class whose state begins with its RgModel. */
RgModel *rg_surrogate_model(RgAlgorithm *algorithm);
/* The create and destroy functions of a class whose whole state is one RgModel over the design. */
PetscErrorCode rg_surrogate_create(RgAlgorithm *algorithm);
PetscErrorCode rg_surrogate_destroy(RgAlgorithm *algorithm);
/* For a class whose state begins with its model, and which searches as the study's blocks say. */
#define RG_MODEL_AND_SEARCH                                                                        \
  .reads = RG_READS_SURROGATE | RG_READS_MAXIMISER, .model = rg_surrogate_model
#define RG_SURROGATE_METHODS                                                                       \
  .needs = RG_NEEDS_NO_CONTEXT, RG_STATE(RgModel, rg_surrogate_create, rg_surrogate_destroy),      \
  RG_MODEL_AND_SEARCH

/* Maximises a marginal acquisition function with randomness from the sub-stream "maximiser" at
   t, so that it can't interfere with the method's own draws. See rg_acquire. */
PetscErrorCode rg_surrogate_acquire(const RgAlgorithm *algorithm, RgModel *model, int t,
                                    const RgHistory *history, const RgAcquisition *acquisition,
                                    RgQuery *query, double *value, RgFailure *failure);

/* Set *value to the acquisition function without the penalty at the query, if points in flight are
   penalised; else leave it. value: model units. */
PetscErrorCode rg_surrogate_without_penalty(RgModel *model, const RgHistory *history,
                                            const RgAcquisition *acquisition, const RgQuery *query,
                                            double *value);

/* x_t = argmax sd(x), with the points in flight if the model holds them. deviation: sd there. The
   logarithm is maximised, which has the same maximiser and no small slopes. */
PetscErrorCode rg_surrogate_most_uncertain(const RgAlgorithm *algorithm, RgModel *model, int t,
                                           const RgHistory *history, RgQuery *query,
                                           double *deviation, RgFailure *failure);
/* The parameter `initialise` of a method that begins with such queries; auto (-1): none. It was
   added when results existed. */
#define RG_INITIALISE_PARAM(Options)                                                               \
  RG_ENTRY("initialise", INT, Options, initialise, int, "auto", 0, 1e6, rg_param_later, "",        \
           "queries at the start that go where the posterior deviation is largest, points in "     \
           "flight included; auto: none")

/* max_i y_i in model units, the values of points in flight included unless the study's `pending`
   says otherwise; -infinity without data. */
double rg_surrogate_best_y(const RgModel *model, const RgHistory *history);
/* max_i mean(x_i) over the queried inputs, those in flight likewise, model units; -infinity without
   data. */
PetscErrorCode rg_surrogate_best_mean(RgModel *model, const RgHistory *history, double *best);

/* The value from which improvement is counted, by the parameter `incumbent`: the best
   observation, or the best posterior mean at queried inputs; without data the prior mean, 0. In
   model units. */
extern const char *const rg_surrogate_incumbents[];
PetscErrorCode rg_surrogate_incumbent(int incumbent, RgModel *model, const RgHistory *history,
                                      double *tau);
#define RG_INCUMBENT_PARAM(Options)                                                                \
  RG_CHOICE(                                                                                       \
    "incumbent", Options, incumbent, "best_y", rg_surrogate_incumbents, "tau",                     \
    "improvement counts from the best observation, or the best posterior mean at queried inputs")
#define RG_COLUMN_INCUMBENT                                                                        \
  {                                                                                                \
    "incumbent", "value improvement is counted from, model units"                                  \
  }

/* Record columns of the UCB family, and its step: x_t = argmax mean + sqrt(squared width) sd.
   The width is drawn from the law that `confidence` of the class gives, one width for all x. It
   is 0 where it is random and the design is a single point. rg_ucb_ask draws with the sub-stream
   "confidence" at t. */
enum { RG_UCB_CONFIDENCE, RG_UCB_ACQUISITION };
extern const RgRecordColumn rg_ucb_columns[];
PetscErrorCode rg_ucb_step(RgAlgorithm *algorithm, int t, const RgHistory *history,
                           RgRandom *random, RgQuery *query, RgFailure *failure);
PetscErrorCode rg_ucb_ask(RgAlgorithm *algorithm, int t, const RgHistory *history, RgQuery *query,
                          RgFailure *failure);

/* ---- rules of the squared width of a confidence bound ---------------------------------------- */

/* Constants of the rules; the first member of the options of a method whose squared width
   follows a rule. */
typedef struct {
  int rule; /* 0: auto */
  double delta, a, b, value;
} RgRuleOptions;

/* The rules behind the choices of an entry of a parameters table. */
typedef struct {
  const RgParam *entry;
  int on_set, on_box;   /* the rule of `auto` on a finite design, and on a box */
  unsigned finite_only; /* bit 1 << rule: rules that count the points of a finite design */
  int continuous;       /* the rule that needs a d >= 1 (irgp_ucb 2.1); 0: no rule */
  int fixed;            /* the rule that uses `value` */
} RgRules;

#define RG_RULE_CONSTANTS(probable, continuous)                                                    \
  RG_REAL("delta", RgRuleOptions, delta, "0.1", RG_POSITIVE, 0.999999, "delta",                    \
          "probability that the bound may fail (" probable ")"),                                   \
    RG_REAL("a", RgRuleOptions, a, "1", RG_POSITIVE, 1e12, "a",                                    \
            "constant of Pr(sup |df/dx_j| > L) <= a exp(-(L/b)^2) on the unit cube (" continuous   \
            ")"),                                                                                  \
    RG_REAL("b", RgRuleOptions, b, "1", RG_POSITIVE, 1e12, "b",                                    \
            "the other constant of it (" continuous ")")

#define RG_RULE_VALUE(least, symbol, what)                                                         \
  RG_REAL("value", RgRuleOptions, value, "auto", least, 1e6, symbol,                               \
          what " of the fixed rule; auto: not used")

/* The rule in force on a domain. */
int rg_rule_of(const RgRules *rules, const RgRuleOptions *options, const RgDomain *domain);

/* Reports a rule for finite designs on a box, constants that a rule does not allow, and a
   `value` that is missing or unused. The message names the rule, the domain and the accepted
   values. */
PetscErrorCode rg_rule_check(const RgRules *rules, const RgRuleOptions *options,
                             const RgDomain *domain, RgPlace place, RgDiagnostics *diagnostics);

/* Defines the check of a class whose options begin with RgRuleOptions. */
#define RG_RULE_CHECK(rules)                                                                       \
  static PetscErrorCode check(const void *options, const RgDomain *domain, RgPlace place,          \
                              RgDiagnostics *diagnostics)                                          \
  {                                                                                                \
    return rg_rule_check(&(rules), options, domain, place, diagnostics);                           \
  }

/* For a class of the UCB family with this check and its law in `confidence`. */
#define RG_RULE_METHODS                                                                            \
  .traits = RG_MATRIX_FREE | RG_PENALISABLE, .check = check, .confidence = confidence,             \
  .columns = rg_ucb_columns, RG_SURROGATE_METHODS

/* Reports a `value` without the choice `fixed` of `entry`, and this choice without a `value`. */
void rg_rule_check_value(const RgParam *entry, int rule, int fixed, double value, RgPlace place,
                         RgDiagnostics *diagnostics);

#endif
