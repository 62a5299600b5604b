/* The two ways of rg_acquire (private to acquisition/). */
#ifndef RG_ACQUISITION_ACQUIRE_INTERNAL_H
#define RG_ACQUISITION_ACQUIRE_INTERNAL_H

#include "regatta/acquire.h"

/* Scan of the finite design: lowest index that ties with the best allowed point. O(N). */
PetscErrorCode rg_acquire_finite(RgModel *model, const RgHistory *history,
                                 const RgAcquisition *acquisition, RgQuery *query, double *value,
                                 RgFailure *failure);

/* Points added to the raw ones of a box: the best observed inputs, and perturbations of the very
   best, whose deviations fall geometrically, since the peak of EI beside an optimum closes in as
   data gather there. points: n x dim, freed by the caller (PetscFree). */
PetscErrorCode rg_observed_starts(const RgMaximiserOptions *options, const RgHistory *history,
                                  RgRandom *random, int *n, double **points);

/* Multi-start on the box: raw samples, best observed inputs, perturbations of the very best. */
PetscErrorCode rg_acquire_box(RgModel *model, const RgHistory *history,
                              const RgAcquisition *acquisition, const RgMaximiserOptions *options,
                              RgRandom *random, RgQuery *query, double *value, RgFailure *failure);

#endif
