/* The costs of evaluations, for methods that weigh them: a formula of the inputs, or exp of the
   posterior mean of a Gaussian process of the logarithms of the durations so far. */
#ifndef RG_ALGORITHM_COSTS_H
#define RG_ALGORITHM_COSTS_H

#include "maths/expression.h"
#include "algorithm/surrogate.h"

/* The first member of the options of these methods, and the line of its formula. */
typedef struct {
  int incumbent;
  char *cost; /* NULL: durations are learned */
} RgCostOptions;

#define RG_COST_PARAM(without)                                                                     \
  RG_TEXT(                                                                                         \
    "cost", RgCostOptions, cost, "auto", "c",                                                      \
    "the cost, a positive formula of the inputs; auto: it is learned from the durations" without)

typedef struct {
  RgModel model;              /* of the logarithms of the durations */
  RgSurrogateOptions options; /* its options; borrows the study's texts */
  RgHistory timed;            /* evaluations with a duration, its logarithm as y */
  int taken;                  /* rows of the history that were looked at */
  RgArithmetic formula;       /* empty: the model counts */
} RgCosts;

/* The state, or its first member. */
typedef struct {
  RgModel model; /* first */
  RgCosts costs;
} RgCostState;

/* Functions of the class; the check reports a formula that can't be parsed. */
PetscErrorCode rg_costs_check(const void *options, const RgDomain *domain, RgPlace place,
                              RgDiagnostics *diagnostics);
PetscErrorCode rg_costs_create(RgAlgorithm *algorithm);
PetscErrorCode rg_costs_destroy(RgAlgorithm *algorithm);

/* Learn from new evaluations. An evaluation that took no time, or whose time is not known, says
   nothing. */
PetscErrorCode rg_costs_update(RgCosts *costs, const RgHistory *history, RgFailure *failure);
bool rg_costs_are_known(const RgCosts *costs);

/* factor * log c as a summand of an acquisition function. The first design at which a formula is
   not positive, and its value there, go to `refused`. */
enum { RG_COST_BLOCK = 512 }; /* most points of a block of a sum */
typedef struct {
  const RgCosts *costs;
  const RgSpace *design;
  double factor;
  RgText *refused;
  /* By point of a block (RG_COST_BLOCK), NULL: not used. logarithms: receives log c, and the
     summand is 0. factors: the summand is 0, and its gradient factors[j] times that of log c. */
  double *logarithms;
  const double *factors;
} RgCostTerm;
RgSummand rg_cost_summand(RgCostTerm *term);
/* Set the failure to what `refused` holds, if it holds something, and clear it. */
PetscErrorCode rg_cost_refuse(RgText *refused, RgFailure *failure);

#endif
