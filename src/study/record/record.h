/* The record of one finished (or failed) trial, as data: what is committed to a shard and packed
   into the results file. */
#ifndef RG_STUDY_RECORD_RECORD_H
#define RG_STUDY_RECORD_RECORD_H

#include "regatta/results.h"
#include "study/plan/plan.h"

/* Identity and labels from `trial` and its cell of `study`; every column allocated, all NaN, for
   `rows` rows (column c of row r starts at column[c] + r * width); status missing, optimum NaN.
   dim_z: model inputs, 0 without a model. extra: columns of the algorithm, ends with a NULL name;
   NULL: none. A trial that ends early lowers n_rows, nothing else. Errors: PETSC_ERR_PLIB when an
   extra column has the name of a standard one or there are too many. */
PetscErrorCode rg_record_create(const RgStudy *study, const RgTrial *trial, int rows, int dim_z,
                                const RgRecordColumn *extra, RgRecord *record);
/* The record's swept settings become those of a cell, under the names of their variables. */
PetscErrorCode rg_record_set_swept(const RgCell *cell, RgRecord *record);
/* XXH3-128 over id, key, status, message, shape, optimum and all result columns (-0 as 0, every NaN
   the same; a column without any value counts as absent, so that new columns change nothing);
   labels, provenance and timing are left out. */
PetscErrorCode rg_record_checksum(const RgRecord *record, uint64_t checksum[2]);
/* Free the data columns, and what is said about columns and settings; identity, settings, status
   and provenance stay. */
PetscErrorCode rg_record_drop_data(RgRecord *record);
/* Whether any of n values is not NaN (false for NULL). */
bool rg_values_any(const double *values, size_t n);
/* Bytes the record takes in memory: for group commit. */
size_t rg_record_bytes(const RgRecord *record);

/* The checksum of many records, whatever their order. Zero-initialise. */
typedef struct {
  uint64_t n, sum[2];
} RgChecksum;
void rg_checksum_add(RgChecksum *checksum, const uint64_t record[2]);
void rg_checksum_hex(const RgChecksum *checksum, char hex[33]);

#endif
