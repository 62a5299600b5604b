/* The surrogate of a method that has one: a Gaussian process with the kernel, standardisation and
   hyperparameter policy of the study's `surrogate:` block. */
#ifndef RG_REGATTA_MODEL_H
#define RG_REGATTA_MODEL_H

#include "regatta/domain.h"

typedef struct RgAlgorithm RgAlgorithm;
typedef struct RgModel RgModel;
typedef struct RgSurrogateOptions RgSurrogateOptions;

/* For `create` of a method: the model of the study's `surrogate` block over the whole trial, to be
   closed in `destroy`. use_context: its inputs are (x, c), else x, and contexts act as noise. A
   method with a model has RG_READS_SURROGATE among its `reads`. */
RG_API PetscErrorCode rg_model_open(const RgAlgorithm *algorithm, bool use_context,
                                    RgModel **model);
/* *model becomes NULL; NULL is fine. */
RG_API PetscErrorCode rg_model_close(RgModel **model);

/* Take in the whole history (only what is new costs anything) and refit when due: before
   t = 1, k+1, 2k+1, ..., where t counts the queries after the initial design and k = refit_every
   (irgp_ucb 5.4). Accounts its time to RG_STAGE_FIT. Call at the start of every ask.

   At a refit, in this order: (1) `standardise`: shift and scale become mean and deviation of all
   outputs (scale 1 when the deviation is < 1e-12 or n < 2), also under the fixed policy; (2) known
   noise: max(noise / scale^2, noise_floor); (3) hyperparameters are fitted, unless the policy is
   fixed, n < 2 or all outputs are equal; (4) the constant mean. Between refits data are appended;
   shift, scale and hyperparameters stay. A fit that finds nothing finite keeps them too.

   Starts of a fit: the last optimum (fit_warm: true) or the configured values (false; auto: for up
   to 100 data, then when n has grown by a tenth since they were it last). `fit_starts` log-uniform
   ones join in every fit (always), or (adaptive) in the first fit, whenever n has grown by half
   since they last joined, and when the warm start looks bad: not finite, or the log density of the
   data in native units fell by more than 6 + log scale per new datum since the last optimum.

   Failure: an output that is not finite, or a factorisation that jitter can't save. */
RG_API PetscErrorCode rg_model_update(RgModel *model, const RgHistory *history, RgFailure *failure);

/* Posterior mean and deviation of f in model units at m points (unit coordinates, x and c joined).
   PETSC_ERR_SUP on finite sets. */
RG_API PetscErrorCode rg_model_predict(RgModel *model, int m, const double *Z, double *mean,
                                       double *sd);
/* The same, one point after another, at the inputs of evaluations first .. first + m - 1 of the
   history, on any domain. */
RG_API PetscErrorCode rg_model_predict_history(RgModel *model, const RgHistory *history, int first,
                                               int m, double *mean, double *sd);

#endif
