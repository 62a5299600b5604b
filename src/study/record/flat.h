/* Records as bytes, for a process of the same program on the same host. */
#ifndef RG_STUDY_RECORD_FLAT_H
#define RG_STUDY_RECORD_FLAT_H

#include "study/record/record.h"

/* Append all that is in a record to `bytes`, a hash first; columns that are all NaN are left out.
   O(its size), like the other one. */
PetscErrorCode rg_flat_write(const RgRecord *record, RgText *bytes);
/* The record of such bytes, to be destroyed. *intact: they are as they were written; else *record
   is zeroed. */
PetscErrorCode rg_flat_read(const char *bytes, size_t length, RgRecord *record, bool *intact);

#endif
