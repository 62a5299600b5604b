/* The store: it commits finished trials crash-safely as shards beside the results file, reads
   them back on resume, and packs them into one results file at the end. */
#ifndef RG_STUDY_STORE_STORE_H
#define RG_STUDY_STORE_STORE_H

#include "base/fault.h"
#include "study/record/fields.h"

/* The result of a commit or a scan is an RgFault. FULL and ERROR: nothing is lost, retry later.
   FOREIGN: the user must act, nothing was written; the file at the output path is not a results
   file, is damaged, or belongs to another study or a newer schema; or its directory does not
   exist or is not writable. INCOMPLETE (rg_store_pack): trials are missing, nothing was written.
   Every function here clears the fault first. */
typedef struct RgStore RgStore;

/* Folder of the study directory for optima found by search; rg_store_pack removes it. */
#define RG_FOLDER_OPTIMA "optima"

/* Open the study directory `<output>.d/` of results file `output` for a study (borrowed, must
   outlive the store). Each rank opens its own store; there are no locks and no communication.
   Rank 0 checks the output path (RG_FAULT_FOREIGN: nothing was changed), then creates the
   directory. Other ranks change nothing before their first commit. After a fault there is no
   store. */
PetscErrorCode rg_store_open(const char *output, const RgStudy *study, int rank, RgStore **store,
                             RgFault *fault);
/* Free the store without flushing. */
PetscErrorCode rg_store_close(RgStore **store);

/* When the store acts; tests change the limits of a store. */
typedef struct {
  size_t group_bytes;      /* commit when this many bytes are pending: 8 MiB */
  double group_seconds;    /* commit when the oldest record has waited this long: 30 */
  double long_seconds;     /* commit a trial with this much wall or CPU time at once: 10 */
  double spacing;          /* minimum time between commits, which has priority: rg_store_space; 0 */
  int compaction;          /* merge this many shards of one level into one: 4 */
  size_t compaction_bytes; /* merge only shards of up to compaction_bytes / compaction: 4 MiB */
  size_t image_bytes;      /* write larger results files to disk instead of memory: 256 MiB */
} RgStoreLimits;
extern const RgStoreLimits rg_store_default_limits;

/* Seconds between two commits of a rank: ranks / 400, so that all ranks together commit at most
   400 times a second. */
double rg_store_spacing(int ranks);
/* Use this spacing from now on. Each rank of a job starts at a different moment. */
void rg_store_space(RgStore *store, int ranks);

/* Whether a commit may run while another thread calls HDF5 for its own purposes. */
bool rg_store_is_threadsafe(void);

/* Pending records, their bytes, and for how many seconds commits have failed (0: the last one
   succeeded); for the decision to stop with exit code 3. */
PetscErrorCode rg_store_pending(const RgStore *store, int *n, size_t *bytes, double *troubled);

/* Find the finished trials of the plan in the shards and an existing results file: done[i]
   (plan->n) is their RgStatus. Damaged shards are moved to `bad/`, shards with foreign trials
   only to `foreign/`; temporary files of dead processes are removed. A failed trial may still
   run again: a complete record replaces a failed one anywhere. Rank 0 only. Without a fault
   code, the message is a warning worth printing, or empty. */
typedef struct {
  int n_done;   /* trials of the plan that are complete or failed */
  int n_failed; /* failed ones among these */
  int n_shards;
  int n_bad;      /* shards that this scan moved to bad/ */
  int n_foreign;  /* finished trials that left the plan, which are kept */
  int generation; /* the largest one of all records */
} RgStoreScan;
PetscErrorCode rg_store_scan(RgStore *store, const RgPlan *plan, unsigned char *done,
                             RgStoreScan *scan, RgFault *fault);

/* Hand over a finished record: the store owns it (the struct is zeroed). A record that is large
   or took long is committed at once, unless the spacing forbids it; others are committed in
   groups. A fault means that a commit failed: nothing is lost, all records stay pending. */
PetscErrorCode rg_store_add(RgStore *store, RgRecord *record, RgFault *fault);
/* Commit pending records if due. After a failure the next attempt waits (1 s, doubled up to 60
   s); until then the call does nothing and sets no fault. `now`: commit everything at once in
   spite of the spacing. The call also merges small shards of this process when there are enough.
   Call it between iterations. */
PetscErrorCode rg_store_flush(RgStore *store, bool now, RgFault *fault);
/* Call before an operation that will probably take `likely` seconds and at most `possible`:
   commits what becomes due within `possible`, if the spacing allows a commit within `likely`.
   After a failure the next attempt waits as above. */
PetscErrorCode rg_store_flush_ahead(RgStore *store, double likely, double possible, RgFault *fault);

/* Whether another run works on the same output now, or has written it since this store was opened
   (rank 0). Where the file system has no locks, only the latter is known. */
bool rg_store_is_shared(const RgStore *store);

/* Pack all trials into the results file (rank 0, after all ranks have flushed): verify, rename,
   then remove the packed shards. Nothing is written if trials are missing (RG_FAULT_INCOMPLETE)
   or the results file is up to date (no fault). Trials of an existing results file outside the
   plan move to its group `earlier`. */
PetscErrorCode rg_store_pack(RgStore *store, const RgPlan *plan, RgFault *fault);

/* Read every record of a results file or study directory, for info, verify and checksum. `visit`
   gets each trial once (of duplicates the record that packing would take), in no particular
   order. If `path` does not exist but `<path>.d` does, that is read. One record or one shard is
   in memory at a time. Damaged shards and records with a wrong checksum are skipped and counted
   in `damaged` (may be NULL). Nothing on disk changes. */
typedef PetscErrorCode (*RgRecordVisitor)(void *closure, const RgRecord *record);
PetscErrorCode rg_store_visit(const char *path, RgRecordVisitor visit, void *closure, int *damaged,
                              RgFault *fault);

/* Whether a run works on a study directory now. A run holds a shared lock on the directory, which
   ends with the process and leaves nothing behind. Nothing waits for it and no result depends on
   it: where a file system has no locks, or another host holds them, there is no answer. */
bool rg_presence_any(const char *directory);

/* Whether a results file or its study directory exists. */
bool rg_store_exists(const char *output);

/* The description in a results file or study directory; the caller clears it in any case. */
PetscErrorCode rg_store_info(const char *path, RgStoreInfo *info, RgFault *fault);

/* rg_store_info and a visit at once: the description (the caller clears it in any case), and for
   every record id, cell, status, times and program versions; nothing else is read or checked. A
   results file is combined with the shards beside it, as a run would continue from them. */
PetscErrorCode rg_store_visit_heads(const char *path, RgRecordVisitor visit, void *closure,
                                    RgStoreInfo *info, RgFault *fault);

/* Join results files or study directories into one results file, trial by trial. Two complete
   records of one trial must have the same checksum (otherwise RG_FAULT_FOREIGN names the trial);
   a complete record replaces a failed one. The inputs must be parts of one study:
   RG_FAULT_FOREIGN names a key that differs (name, seed, settings; seeds, problems, algorithms
   and sweep axes may differ). The study attribute is the union of the inputs' studies, and the
   output is complete if it has every trial of that union. If completeness can't be determined,
   or shards beside a results file were left out, the message says so. RG_FAULT_FOREIGN also if
   the output exists, an input is an archive or there is no trial. The inputs don't change.
   archive: write archived records (rg_record_archive). */
PetscErrorCode rg_store_merge(int n, const char *const *inputs, const char *output, bool archive,
                              RgFault *fault);

/* Append the description of shards and results files, as Markdown. */
PetscErrorCode rg_format_document(RgText *text);

#endif
