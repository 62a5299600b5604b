/* Comparison of two records of one trial: the one in a file and the one of a second run. */
#ifndef RG_STUDY_STORE_COMPARE_H
#define RG_STUDY_STORE_COMPARE_H

#include "base/text.h"
#include "study/record/record.h"

/* The first difference in results between `then` and `now`, for people: "simple_regret of
   evaluation 7 is 0.25, was 0.125". Nothing is appended when every bit is equal (-0 as 0, every NaN
   the same, as in the checksum). O(values). */
PetscErrorCode rg_record_compare(const RgRecord *then, const RgRecord *now, RgText *difference);

/* The same for designs, contexts and values of the initial design only, where a number may be off
   by `tolerance` times the largest absolute value of its column: what can be asked of two machines
   whose arithmetic differs. Later evaluations depend on the last bits of earlier ones. */
PetscErrorCode rg_record_compare_initial(const RgRecord *then, const RgRecord *now,
                                         double tolerance, RgText *difference);

#endif
