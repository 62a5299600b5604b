/* Archived records: what a comparison with another method needs, in a small part of the bytes. */
#ifndef RG_STUDY_RECORD_ARCHIVE_H
#define RG_STUDY_RECORD_ARCHIVE_H

#include "regatta/results.h"

/* Reduce a complete record to its archived form, in place. These columns stay, the others go:
   - simple regret, by every score too;
   - cumulative regret after 1, 2, 5, 10, 20, 50, ... queries and at the end, by every score too;
   - the best design, at its evaluation, and the last recommendation;
   - of a problem without an optimum, the objective where it improves;
   - with several workers or a clock, the order of the evaluations and their ends.
   The key, of which the id is a hash, texts of failures and the timeline of a real clock go too.
   The result has a checksum of its own; the caller computes it. */
PetscErrorCode rg_record_archive(RgRecord *record);

#endif
