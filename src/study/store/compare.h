/* Comparison of a stored record with the record of a second run. */
#ifndef RG_STUDY_STORE_COMPARE_H
#define RG_STUDY_STORE_COMPARE_H

#include "base/text.h"
#include "study/record/record.h"

/* Describe the first difference in results between `then` and `now` for people: "simple_regret
   of evaluation 7 is 0.25, was 0.125". If every bit is equal (-0 as 0, all NaN alike, as in the
   checksum), nothing is appended. O(values). */
PetscErrorCode rg_record_compare(const RgRecord *then, const RgRecord *now, RgText *difference);

/* Compare designs, contexts and values of the initial design only, with a tolerance of
   `tolerance` times the largest absolute value of a column. This is all that machines with
   different arithmetic can satisfy: later evaluations depend on the last bits of earlier ones. */
PetscErrorCode rg_record_compare_initial(const RgRecord *then, const RgRecord *now,
                                         double tolerance, RgText *difference);

#endif
