/* Points in flight in the model of a method: evaluations whose outcome is not known yet. */
#ifndef RG_GP_MODEL_PENDING_H
#define RG_GP_MODEL_PENDING_H

#include "gp/model/model.h"

/* Whether the options replace unknown outputs by values. NULL: no. */
bool rg_pending_lies(const RgPendingOptions *options);

/* Append the points in flight of `history` with the values of `rule` (one that has values), in
   place of those that are there. The model must be up to date. O(n^2) per point. */
PetscErrorCode rg_model_append_pending(RgModel *model, const RgHistory *history, RgPendingRule rule,
                                       RgFailure *failure);
/* Remove them: the bits of the model are as if they had never been there. */
PetscErrorCode rg_model_remove_pending(RgModel *model);
/* The points that the model holds now, with their values in model units. Borrowed until the next
   change. */
RgObservations rg_model_pending(const RgModel *model);
/* Random numbers of the ask with these told points and points in flight, from the sub-stream `name`
   of the model's stream. */
RgRandom rg_model_pending_random(const RgModel *model, const RgHistory *history, const char *name);
/* The rule of the study; NULL: points in flight are ignored. */
const RgPendingOptions *rg_model_pending_options(const RgModel *model);

#endif
