/* The record of one finished (or failed) trial: the data of a shard or results file. */
#ifndef RG_STUDY_RECORD_RECORD_H
#define RG_STUDY_RECORD_RECORD_H

#include "regatta/results.h"
#include "study/plan/plan.h"

/* Create a record with the identity of `trial` and its cell of `study`, which it shares. Every
   column has room for `rows` rows, all NaN (column c of row r starts at column[c] + r * width);
   status missing, optimum NaN. dim_z: model inputs, 0 without a model. extra: columns of the
   algorithm, ends with a NULL name; NULL: no extra columns. A trial that ends early only reduces
   n_rows. Errors: PETSC_ERR_PLIB when an extra column has a standard name, or there are too
   many. */
PetscErrorCode rg_record_create(const RgStudy *study, const RgTrial *trial, int rows, int dim_z,
                                const RgRecordColumn *extra, RgRecord *record);
/* Give the columns of the terms of an additive kernel their room; 0: the kernel has one term. */
PetscErrorCode rg_record_set_terms(RgRecord *record, int n_terms);
/* Free the columns of a finished trial that its study does not record. */
PetscErrorCode rg_record_leave_out(const RgTexts *without, RgRecord *record);
/* XXH3-128 over id, key, status, message, shape, optimum and all result columns, without labels,
   provenance and timing. -0 counts as 0, and all NaN are alike. A column without any value
   counts as absent, so that new columns don't change checksums. */
PetscErrorCode rg_record_checksum(const RgRecord *record, uint64_t checksum[2]);
/* Free the data columns and their descriptions; identity, cell, status and provenance stay. */
PetscErrorCode rg_record_drop_data(RgRecord *record);
/* Store eight bytes, least significant first, on every machine: checksums and files have them so.
   */
static inline void rg_put_word(uint64_t word, unsigned char to[8])
{
  for (int i = 0; i < 8; i++) to[i] = (unsigned char)(word >> (8 * i) & 255u);
}
/* Whether any of n values is not NaN (false for NULL). */
bool rg_values_any(const double *values, size_t n);
/* Bytes of the texts in its fields of a type, RG_FIELD_TEXT or RG_FIELD_CHARS. */
size_t rg_record_text(const RgRecord *record, int type);
/* Memory of the record in bytes, for group commit. */
size_t rg_record_bytes(const RgRecord *record);

/* The checksum of a set of records, independent of their order. Zero-initialise. */
typedef struct {
  uint64_t n, sum[2];
} RgChecksum;
void rg_checksum_add(RgChecksum *checksum, const uint64_t record[2]);
void rg_checksum_hex(const RgChecksum *checksum, char hex[33]);

/* Describe the first difference in results between `then` and `now` for people: "simple_regret
   of evaluation 7 is 0.25, was 0.125". If every bit is equal (-0 as 0, all NaN alike, as in the
   checksum), nothing is appended. O(values). */
PetscErrorCode rg_record_compare(const RgRecord *then, const RgRecord *now, RgText *difference);

/* Compare designs, contexts and values of the initial design only, with a tolerance of
   `tolerance` times the largest absolute value of a column. This is all that machines with
   different arithmetic can satisfy: later evaluations depend on the last bits of earlier ones. */
PetscErrorCode rg_record_compare_initial(const RgRecord *then, const RgRecord *now,
                                         double tolerance, RgText *difference);

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
