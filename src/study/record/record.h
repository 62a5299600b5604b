/* The record of one finished (or failed) trial, as data: what is committed to a shard and packed
   into the results file. */
#ifndef RG_STUDY_RECORD_H
#define RG_STUDY_RECORD_H

#include "study/record/columns.h"
#include "study/plan/plan.h"

typedef enum { RG_STATUS_MISSING, RG_STATUS_COMPLETE, RG_STATUS_FAILED } RgStatus;

#define RG_EXTRA_MAX 16
#define RG_NAME_MAX 64
#define RG_DOC_MAX 128

/* Where and when a trial ran: provenance, never part of a checksum. */
typedef struct {
  char host[RG_NAME_MAX];
  int rank, ranks;
  int team;             /* ranks on whose number the bits depend, 1: none; not stored */
  double started;       /* Unix time, seconds */
  double wall, cpu;     /* seconds of the whole trial */
  double peak_memory;   /* bytes, resident set of the process at the end */
  uint64_t fingerprint; /* numeric fingerprint (conventions, 5) */
  char *machine;        /* BLAS core, threads, CPU model; owned, NULL: unknown */
  char *software;       /* versions; owned, NULL: the store fills in those of this process */
} RgProvenance;

typedef struct {
  char id[RG_ID_LENGTH + 1];
  char *key;                   /* owned, like every char * below */
  char cell[RG_ID_LENGTH + 1]; /* XXH3-128 of the cell's canonical text: same for all its seeds */
  char *problem_label, *algorithm_label; /* as in figures; unlike the key they may change */
  char *problem, *algorithm;             /* registry names */
  char *swept;                           /* "name=value, ..." of the sweep axes; "" without sweep */
  uint64_t instance, seed;
  RgStatus status;
  char message[256];               /* why it failed; "" otherwise */
  char checksum[RG_ID_LENGTH + 1]; /* as stored beside the record; "" before it is stored */
  bool earlier;                    /* read from a results file whose study no longer plans it */
  int n_rows;                      /* evaluations recorded (fewer than planned when failed) */
  int n_initial;
  int dim_x, dim_c, dim_z;
  int n_scores;                    /* measures the trial is scored by; 0: the objective alone */
  char *scores;                    /* "NAME=measure; ..."; "" without */
  double optimum;                  /* F(x*) of the instance; NaN: unknown */
  double *column[RG_COLUMN_COUNT]; /* n_rows x width, owned; NULL: all NaN */
  int n_extra;
  char (*extra_name)[RG_NAME_MAX]; /* n_extra dataset names, owned */
  char (*extra_doc)[RG_DOC_MAX];   /* n_extra meanings with unit, owned */
  double *extra[RG_EXTRA_MAX];     /* n_rows each, owned; NULL: all NaN */
  bool logged; /* its evaluations stand in a log beside the shards until it is committed */
  RgProvenance provenance;
} RgRecord;

/* Identity and labels from `trial` and its cell of `study`; every column allocated, all NaN, for
   `rows` rows (column c of row r starts at column[c] + r * width); status missing, optimum NaN.
   dim_z: model inputs, 0 without a model. extra: columns of the algorithm, ends with a NULL name;
   NULL: none. A trial that ends early lowers n_rows, nothing else. Errors: PETSC_ERR_PLIB when an
   extra column has the name of a standard one or there are too many. */
PetscErrorCode rg_record_create(const RgStudy *study, const RgTrial *trial, int rows, int dim_z,
                                const RgRecordColumn *extra, RgRecord *record);
/* Frees and zeroes. A zeroed record may be destroyed. */
PetscErrorCode rg_record_destroy(RgRecord *record);
/* Doubles per row of standard column `column` in this record. */
int rg_record_width(const RgRecord *record, int column);
/* XXH3-128 over id, key, status, message, shape, optimum and all result columns (-0 as 0, every NaN
   the same; a column without any value counts as absent, so that new columns change nothing);
   labels, provenance and timing are left out. */
PetscErrorCode rg_record_checksum(const RgRecord *record, uint64_t checksum[2]);
/* Free the data columns; identity, status and provenance stay. */
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
