/* The index: which trials stand in which files. Entries of one file are in the order of
   a cursor. */
#ifndef RG_STUDY_STORE_INDEX_H
#define RG_STUDY_STORE_INDEX_H

#include "base/hash.h"
#include "study/hdf5/shard.h"
#include "study/store/store.h"

typedef struct {
  uint64_t id[2], checksum[2];
  int source;
  RgStatus status;
  double started; /* Unix time */
  bool earlier;   /* stands in the group `earlier` of a results file */
} RgIndexEntry;

typedef struct {
  char *path;   /* owned */
  bool results; /* a results file, else a shard */
  bool foreign; /* a shard in the folder `foreign` */
  int first, n; /* its entries */
} RgIndexSource;

typedef struct {
  int n_sources;
  RgIndexSource *sources; /* owned */
  int n;
  RgIndexEntry *entries; /* owned */
  int *order;            /* entries by id, the one to be taken first; owned; after rg_index_sort */
  int *taken;            /* of each entry, the one to take of its trial; owned; likewise */
} RgIndex;

/* Read the identities of one open container. fault: it is damaged, nothing was added. */
PetscErrorCode rg_index_add(RgIndex *index, const char *path, bool results,
                            const RgContainer *container, RgFault *fault);
/* Whether all trials are there that an open container says it has; else it is damaged. */
PetscErrorCode rg_index_check(const RgContainer *container, RgFault *fault);
/* Of several records of one trial a complete one is taken before a failed one, then the one that
   began last (it was run again); then of complete ones that of a results file, of failed ones that
   of a shard, and the smallest checksum: nothing depends on the order of arrival. */
PetscErrorCode rg_index_sort(RgIndex *index);
/* Position in `order` of the entry to take, -1: none. O(log n). */
int rg_index_find(const RgIndex *index, const uint64_t id[2]);
/* The entry to take of the trial at `ordinal` in a source. */
int rg_index_taken(const RgIndex *index, int source, int ordinal);
PetscErrorCode rg_index_clear(RgIndex *index);

static inline bool rg_same_hash(const uint64_t a[2], const uint64_t b[2])
{
  return a[0] == b[0] && a[1] == b[1];
}

/* Folders of a study directory for shards that are damaged, and for shards without any trial of the
   plan. The latter are looked into by the scan and by the layout, for the study may change back. */
#define RG_FOLDER_BAD "bad"
#define RG_FOLDER_FOREIGN "foreign"

/* Gather what stands in a study directory (NULL: none) and a results file (NULL: none). `repair`:
   damaged shards are moved to `bad/` and those in `foreign/` are gathered too; else damaged shards
   are only counted (a warning: the last of them). Shards that vanish meanwhile (another process
   merged them) are looked for again. Faults: RG_FAULT_FOREIGN for a damaged or foreign results file
   or a newer schema, RG_FAULT_ERROR. */
PetscErrorCode rg_index_gather(const char *directory, const char *results, bool repair,
                               RgIndex *index, int *n_bad, RgFault *fault);
/* Remove the temporary files of a directory that belong to dead processes, or to another host or an
   earlier start of this one and are a day old. */
PetscErrorCode rg_remove_stale_in(const char *directory);
/* What a fault of opening a file means for a study: files that are damaged, newer or not to be read
   by this user are FOREIGN, the rest is an ERROR. */
void rg_store_judge(RgFault *fault);
/* Move a shard into a folder of the study directory; failing is no harm. */
PetscErrorCode rg_shard_move(const char *path, const char *directory, const char *folder);
/* Open a source again to read its records. */
PetscErrorCode rg_index_open(const RgIndex *index, int source, RgContainer *container,
                             RgFault *fault);

#endif
