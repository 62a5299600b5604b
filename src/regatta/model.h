/* The surrogate of a method: a Gaussian process with the kernel, standardisation and
   hyperparameter policy of the study's `surrogate:` block. */
#ifndef RG_REGATTA_MODEL_H
#define RG_REGATTA_MODEL_H

#include "regatta/domain.h"
#include "regatta/params.h"

typedef struct RgAlgorithm RgAlgorithm;
typedef struct RgModel RgModel;
typedef struct RgSurrogateOptions RgSurrogateOptions;

/* The `pending:` block of a study file: how the points in flight act on a decision. */
typedef enum {
  RG_PENDING_IGNORE,
  RG_PENDING_BELIEVER,        /* the posterior mean */
  RG_PENDING_RANDOM_BELIEVER, /* a draw of the observation from the posterior */
  RG_PENDING_LIAR_MIN,        /* the least observation */
  RG_PENDING_LIAR_MEAN,
  RG_PENDING_LIAR_MAX,
  RG_PENDING_PENALISE /* no value; the acquisition function is multiplied by a penalty */
} RgPendingRule;
typedef enum { RG_INCUMBENT_LIES, RG_INCUMBENT_TOLD } RgPendingIncumbent;
typedef enum { RG_PENALISER_NONE, RG_PENALISER_SOFT, RG_PENALISER_HARD } RgPenaliser;
typedef enum { RG_LIPSCHITZ_GLOBAL, RG_LIPSCHITZ_LOCAL } RgLipschitzRange;
typedef enum { RG_CLIP_EACH, RG_CLIP_PRODUCT } RgPenaltyClip;
typedef struct {
  int rule;      /* RgPendingRule */
  int incumbent; /* RgPendingIncumbent: what improvement counts from */
  int penaliser; /* RgPenaliser */
  int lipschitz; /* RgLipschitzRange */
  int clip;      /* RgPenaltyClip */
  double box;    /* local constant: half the width of the box, in length scales */
} RgPendingOptions;
RG_API extern const RgParam rg_pending_params[];
/* Once the block is read: a penaliser implies the rule `penalise` and reversely. Reports parameters
   that contradict the rule. */
RG_API PetscErrorCode rg_pending_check(RgPendingOptions *options, RgPlace place,
                                       RgDiagnostics *diagnostics);

/* For `create` of a method: open the model of the study's `surrogate` block over the whole
   trial; close it in `destroy`. use_context: the inputs are (x, c); otherwise x, and contexts
   act as noise. A method with a model has RG_READS_SURROGATE among its `reads`. */
RG_API PetscErrorCode rg_model_open(const RgAlgorithm *algorithm, bool use_context,
                                    RgModel **model);
/* *model becomes NULL; NULL is fine. */
RG_API PetscErrorCode rg_model_close(RgModel **model);

/* Add the new part of the history and refit when due: before t = 1, k+1, 2k+1, ..., where t
   counts the queries after the initial design and k = refit_every (irgp_ucb 5.4). The time
   counts as RG_STAGE_FIT. Call at the start of every ask.
   A refit does, in this order: (1) `standardise`: shift and scale become mean and deviation of
   all outputs (scale 1 when the deviation is < 1e-12 or n < 2), also under the fixed policy; (2)
   known noise: max(noise / scale^2, noise_floor); (3) a fit of the hyperparameters, unless the
   policy is fixed, n < 2 or all outputs are equal; (4) the constant mean. Between refits data
   are appended; shift, scale and hyperparameters stay. They also stay if a fit finds no finite
   value.
   Starts of a fit: the last optimum (fit_warm: true) or the configured values (false). With
   fit_warm: auto, a fit starts from the configured values for up to 100 data, then whenever n
   has grown by a tenth since the last such start, else from the last optimum. `fit_starts`
   log-uniform starts join every fit (always), or (adaptive) the first fit, later fits when n has
   grown by half since they last joined, and fits whose warm start looks bad: its log density is
   not finite, or, in native units, fell by more than 6 + log scale per new datum since the last
   optimum.
   With fit_warm: auto and more than 400 data, a fit takes at most 8 evaluations. While starts are
   due, the configured values first, every second fit climbs from one of them and the others from
   the last optimum. A climb that is not over goes on at a later fit. The better end is kept.
   The points in flight of the last update are removed first. Those of `history` are appended last,
   with the values of the study's pending rule; they take no part in the refit.
   Failure: an output that is not finite, or a factorisation that jitter can't save. */
RG_API PetscErrorCode rg_model_update(RgModel *model, const RgHistory *history, RgFailure *failure);

/* Posterior mean and deviation of f in model units at m points (unit coordinates, x and c joined).
   PETSC_ERR_SUP on finite sets. */
RG_API PetscErrorCode rg_model_predict(RgModel *model, int m, const double *Z, double *mean,
                                       double *sd);
/* Posterior mean and deviation as above, point by point, at the inputs of the m evaluations of the
   history that begin with number `first`, on any domain. */
RG_API PetscErrorCode rg_model_predict_history(RgModel *model, const RgHistory *history, int first,
                                               int m, double *mean, double *sd);

#endif
