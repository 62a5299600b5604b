/* The choice of a confidence rule, and checks of it that a parameters table can't express. */
#ifndef RG_ALGORITHM_RULE_H
#define RG_ALGORITHM_RULE_H

#include "algorithm/surrogate.h"

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
