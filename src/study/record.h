/* The record of one finished (or failed) trial, as data: what is committed to a shard and packed
   into the results file. */
#ifndef RG_STUDY_RECORD_H
#define RG_STUDY_RECORD_H

#include "study/columns.h"
#include "study/plan.h"

typedef enum { RG_STATUS_MISSING, RG_STATUS_COMPLETE, RG_STATUS_FAILED } RgStatus;

#define RG_EXTRA_MAX 16
#define RG_NAME_MAX 64

/* Where and when a trial ran: provenance, never part of a checksum. */
typedef struct {
  char     host[RG_NAME_MAX];
  int      rank, ranks;
  double   started;         /* Unix time, seconds */
  double   wall, cpu;       /* seconds of the whole trial */
  double   peak_memory;     /* bytes, resident set of the process at the end */
  uint64_t fingerprint;     /* numeric fingerprint (conventions, 5) */
} RgProvenance;

typedef struct {
  char     id[RG_ID_LENGTH + 1];
  char    *key;             /* owned */
  RgStatus status;
  char     message[256];    /* why it failed; "" otherwise */
  int      n_rows;          /* evaluations recorded (fewer than planned when failed) */
  int      n_initial;
  int      dim_x, dim_c, dim_z;
  double   optimum;         /* F(x*) of the instance */
  double  *column[RG_COLUMN_COUNT]; /* n_rows x width, owned; NULL: all NaN */
  int      n_extra;
  char     extra_name[RG_EXTRA_MAX][RG_NAME_MAX];
  char     extra_doc[RG_EXTRA_MAX][128];
  double  *extra[RG_EXTRA_MAX];     /* n_rows each, owned */
  RgProvenance provenance;
} RgRecord;

/* Allocate every column, all NaN, for `rows` rows. */
PetscErrorCode rg_record_create(const RgTrial *trial, int rows, int dim_z,
                                const RgRecordColumn *extra, RgRecord *record);
PetscErrorCode rg_record_destroy(RgRecord *record);
/* Doubles per row of standard column `column` in this record. */
int rg_record_width(const RgRecord *record, int column);
/* XXH3-128 over id, key, status, message and all result columns (-0 as 0, every NaN the same);
   provenance and timing are left out. */
PetscErrorCode rg_record_checksum(const RgRecord *record, uint64_t checksum[2]);
/* Bytes the record takes in memory: for group commit. */
size_t rg_record_bytes(const RgRecord *record);

#endif
