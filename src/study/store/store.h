/* The store: finished trials committed crash-safely as shards beside the results file, read back on
   resume, packed into one results file at the end (conventions, 4 and 6). */
#ifndef RG_STUDY_STORE_STORE_H
#define RG_STUDY_STORE_STORE_H

#include "base/fault.h"
#include "study/record/record.h"

/* What a commit or a look at files came to is an RgFault: FULL and ERROR (nothing lost, retry
   later), FOREIGN (the user's to mend, nothing was written: the file at the output path is no
   results file, damaged, of another study or of a newer schema; its directory does not exist or may
   not be written to), INCOMPLETE (rg_store_pack: trials are missing, nothing was written). Every
   function here begins with clearing it. */
typedef struct RgStore RgStore;

/* Folder of the study directory for optima that took a search; rg_store_pack removes it. */
#define RG_FOLDER_OPTIMA "optima"

/* Open the study directory `<output>.d/` of results file `output` for a study (borrowed, must
   outlive the store). Each rank opens its own store; no locks, no communication. Rank 0 first looks
   at what stands at the output path (RG_FAULT_FOREIGN: nothing was touched), then creates the
   directory; the other ranks touch nothing before their first commit. The store exists
   only without a fault. */
PetscErrorCode rg_store_open(const char *output, const RgStudy *study, int rank, RgStore **store,
                             RgFault *fault);
/* Frees; does not flush. */
PetscErrorCode rg_store_close(RgStore **store);

/* When things happen; the defaults are those of conventions, 4. For tests. */
typedef struct {
  size_t group_bytes;      /* commit when this much is pending: 8 MiB */
  double group_seconds;    /* or when the oldest record has waited this long: 30 */
  double long_seconds;     /* a trial of this much wall or CPU time is committed at once: 10 */
  double spacing;          /* but not within this time after the last commit: rg_store_space; 0 */
  int compaction;          /* shards of one level that are merged into one: 4 */
  size_t compaction_bytes; /* but only shards of up to compaction_bytes / compaction: 4 MiB */
  size_t image_bytes;      /* larger results files are written to disk instead of memory: 256 MiB */
} RgStoreLimits;
extern const RgStoreLimits rg_store_default_limits;
RgStoreLimits *rg_store_limits(RgStore *store); /* to be changed in place */

/* Seconds that a rank of a job leaves between two commits: ranks / 400, so that all ranks together
   commit 400 times a second at most. */
double rg_store_spacing(int ranks);
/* Use this spacing from now on. The ranks of a job begin at different moments. */
void rg_store_space(RgStore *store, int ranks);

/* What waits in memory: records, their bytes, and for how many seconds the disk has been saying no
   (0: it has not). For the decision to stop with exit code 3. */
PetscErrorCode rg_store_pending(const RgStore *store, int *n, size_t *bytes, double *troubled);

/* Which trials of the plan are finished, from the shards and a results file that is already there:
   done[i] (plan->n) is the RgStatus found. Damaged shards are moved to `bad/`; foreign trials are
   counted, and shards that hold nothing else are moved to `foreign/`; temporary files of dead
   processes are removed. A trial that failed may be run again all the same: a complete record takes
   the place of a failed one, wherever that stands. Rank 0 only. Without a
   fault its message is a warning worth printing, or empty. */
typedef struct {
  int n_done;   /* trials of the plan that need not run: complete or failed */
  int n_failed; /* of these */
  int n_shards;
  int n_bad;     /* shards moved to bad/ by this scan */
  int n_foreign; /* finished trials that are not in the plan; they are kept */
} RgStoreScan;
PetscErrorCode rg_store_scan(RgStore *store, const RgPlan *plan, unsigned char *done,
                             RgStoreScan *scan, RgFault *fault);

/* Hand over a finished record: the store owns it from now on (the struct is zeroed). It is
   committed at once when it is large or took long, unless the spacing forbids it, else with others.
   A fault means that a commit was tried and failed: nothing is lost, everything stays pending. */
PetscErrorCode rg_store_add(RgStore *store, RgRecord *record, RgFault *fault);
/* Commit what is pending if it is due; after a failure the next try waits (1 s, doubled up to 60 s)
   and until then nothing happens and there is no fault. `now`: commit all of it at once, whatever
   the spacing is. Merges small shards of this process when many have gathered. Call it between
   iterations. */
PetscErrorCode rg_store_flush(RgStore *store, bool now, RgFault *fault);
/* Before something that is likely to take `likely` seconds and may take `possible`: commit what
   would become due within the latter, if the spacing allows a commit within the former. After a
   failure the next try waits as above. */
PetscErrorCode rg_store_flush_ahead(RgStore *store, double likely, double possible, RgFault *fault);

/* Pack everything into the results file (rank 0, after all ranks have flushed): verify, rename,
   then remove the shards that went into it. Nothing is written when trials are missing
   (RG_FAULT_INCOMPLETE) or the results file is up to date already (no fault). Trials of an
   existing results file that are not in the plan are kept in its group `earlier`. */
PetscErrorCode rg_store_pack(RgStore *store, const RgPlan *plan, RgFault *fault);

/* Read every record of a results file or study directory: for info, verify, checksum. `visit` gets
   each record once (of duplicates the one that packing would take), in no particular order; where
   `path` does not exist but `<path>.d` does, that is read. One record or one shard is in memory at
   a time. A record whose checksum is wrong, or a damaged shard, is not visited: it is counted in
   `damaged` (may be NULL). Nothing on disk is changed. */
typedef PetscErrorCode (*RgRecordVisitor)(void *closure, const RgRecord *record);
PetscErrorCode rg_store_visit(const char *path, RgRecordVisitor visit, void *closure, int *damaged,
                              RgFault *fault);

/* Whether there is a results file, or the study directory of one. */
bool rg_store_exists(const char *output);

/* What a results file or study directory says about itself. Texts owned; zero-initialised by the
 * call. */
typedef struct {
  bool directory; /* a study directory: finished trials so far */
  bool complete;  /* root attribute of a results file; false for a directory */
  int schema_version;
  char *name, *title, *history, *references, *study; /* study: full text of the study file */
  char *credit[RG_CREDITS];
  uint64_t seed;     /* of the study */
  char checksum[33]; /* as stored; "" for a directory */
  int n_shards;      /* shards beside it that are not packed yet (any age) */
} RgStoreInfo;
PetscErrorCode rg_store_info(const char *path, RgStoreInfo *info, RgFault *fault);
PetscErrorCode rg_store_info_clear(RgStoreInfo *info);

/* Both: what it says about itself (to be cleared in any case), and of every record id, cell, status
   and who made it when in what time; all else is neither read nor checked. Of a results file and
   the shards beside it together: what a run would go on from. */
PetscErrorCode rg_store_visit_heads(const char *path, RgRecordVisitor visit, void *closure,
                                    RgStoreInfo *info, RgFault *fault);

/* Join results files or study directories into one results file: trials by id; two complete records
   of one trial must have the same checksum (RG_FAULT_FOREIGN names the trial otherwise), a failed
   one gives way to a complete one. The inputs must be parts of one study: RG_FAULT_FOREIGN names
   the key that differs (name, seed, settings; not seeds, problems, algorithms and sweep axes). The
   study attribute names all that the inputs name, and the output is complete when every trial of
   that study is there; where that can't be counted, the message says so, and where shards beside a
   results file were left out. RG_FAULT_FOREIGN too when something stands at the output path or
   there is no trial. The inputs are left as they are. */
PetscErrorCode rg_store_merge(int n, const char *const *inputs, const char *output, RgFault *fault);

#endif
