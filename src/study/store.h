/* The store: finished trials committed crash-safely as shards beside the results file, read back on
   resume, packed into one results file at the end (conventions, 4 and 6). */
#ifndef RG_STUDY_STORE_H
#define RG_STUDY_STORE_H

#include "study/record.h"

#define RG_SCHEMA_VERSION 1

/* What a commit came to. Not PETSc errors: the caller decides what to do. */
typedef enum {
  RG_STORE_OK,
  RG_STORE_FULL,   /* ENOSPC, EDQUOT: nothing lost, retry later */
  RG_STORE_ERROR,  /* EIO and the rest: nothing lost, retry later */
  RG_STORE_FOREIGN /* the file at the output path is no results file, or of another study */
} RgStoreStatus;

typedef struct RgStore RgStore;

/* Open (create if needed) the study directory `<output>.d/` of results file `output`. Each rank opens
   its own store; no locks, no communication. `message` (512 bytes) says in one line what went wrong. */
PetscErrorCode rg_store_open(const char *output, int rank, RgStore **store, RgStoreStatus *status,
                             char message[512]);
PetscErrorCode rg_store_close(RgStore **store);

/* Which trials of the plan are finished, from the shards and a results file that is already there:
   done[i] (plan->n) is the RgStatus found. Damaged shards are moved to `bad/`; foreign trials are
   counted. Rank 0 only. */
typedef struct {
  int n_done, n_failed, n_shards, n_bad, n_foreign;
} RgStoreScan;
PetscErrorCode rg_store_scan(RgStore *store, const RgPlan *plan, unsigned char *done,
                             RgStoreScan *scan, RgStoreStatus *status, char message[512]);

/* Hand over a finished record: the store owns it from now on (the struct is zeroed). It is committed
   at once when it is large or took long, else with others (8 MiB or 30 s). */
PetscErrorCode rg_store_add(RgStore *store, RgRecord *record, RgStoreStatus *status,
                            char message[512]);
/* Commit what is pending if it is due (or `now`). Keeps it pending when the disk says no. */
PetscErrorCode rg_store_flush(RgStore *store, bool now, RgStoreStatus *status, char message[512]);

/* Pack everything into the results file (rank 0, after all ranks have flushed): verify, rename,
   then remove the shards that went into it. Incomplete studies are not packed. Attributes of the run
   (`history`, versions) go to a provenance group. */
PetscErrorCode rg_store_pack(RgStore *store, const RgPlan *plan, RgStoreStatus *status,
                             char message[512]);

/* Read every record of the plan found in a results file or study directory: for info, verify,
   checksum, merge. `visit` gets each record once, in plan-free order. */
typedef PetscErrorCode (*RgRecordVisitor)(void *context, const RgRecord *record);
PetscErrorCode rg_store_visit(const char *path, RgRecordVisitor visit, void *context,
                              RgStoreStatus *status, char message[512]);

/* The one function that writes results: `bytes` as file `<directory>/<name>` by temporary file, fsync,
   close, rename, fsync of the directory (conventions, 4). *error: errno of the step that failed, 0. */
PetscErrorCode rg_store_commit(const char *directory, const char *name, const void *bytes,
                               size_t length, int *error, char message[512]);

#endif
