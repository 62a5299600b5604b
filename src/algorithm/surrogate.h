/* Steps shared by the methods that keep a surrogate of f. */
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
#define RG_SURROGATE_METHODS                                                                       \
  .needs = RG_NEEDS_NO_CONTEXT, .reads = RG_READS_SURROGATE | RG_READS_MAXIMISER,                  \
  .state_size = sizeof(RgModel), .create = rg_surrogate_create, .model = rg_surrogate_model,       \
  .destroy = rg_surrogate_destroy

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

#endif
