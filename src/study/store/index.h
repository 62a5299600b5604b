/* The index: which files hold which trials. Entries of one file have the order of a cursor. */
#ifndef RG_STUDY_STORE_INDEX_H
#define RG_STUDY_STORE_INDEX_H

#include "base/files.h"
#include "base/hash.h"
#include "study/hdf5/container.h"
#include "study/store/store.h"

typedef struct {
  uint64_t id[2], checksum[2];
  int source, label; /* label: of the problem, in the list of the index */
  RgStatus status;
  int generation; /* as in RgProvenance */
  double started; /* Unix time by its host's clock */
  bool earlier;   /* in the group `earlier` of a results file */
} RgIndexEntry;

typedef struct {
  char *path; /* owned */
  /* RG_ANYWHERE: a results file; RG_TOP: a shard; RG_FOLDER: a shard in the folder `foreign`. */
  RgInside inside;
  int first, n; /* range of its entries */
  bool gone;    /* a reader did not find it: another process has merged or packed it */
} RgIndexSource;

typedef struct {
  int n_sources;
  RgIndexSource *sources; /* owned */
  int n_labels;
  char **labels; /* owned, each once */
  int n;
  RgIndexEntry *entries; /* owned */
  /* Entries sorted by id, the preferred entry of a trial first; owned; set by rg_index_sort. */
  int *order;
  /* For each entry, the preferred entry of its trial; owned; set by rg_index_sort. */
  int *preferred;
} RgIndex;

/* Add the identities in one container, which a cursor has open and has not read: it stands before
   the first trial again afterwards. fault: the container is damaged, and nothing was added. */
PetscErrorCode rg_index_add(RgIndex *index, const char *path, RgInside inside, RgCursor *cursor,
                            RgFault *fault);
/* Check that an open container has all trials that it claims; otherwise it is damaged. */
PetscErrorCode rg_index_check(const RgContainer *container, RgFault *fault);
/* Sort the entries. Among records of one trial the preference is: a complete record before a
   failed one, then the largest generation (it was run again), then the latest start (files of
   older versions have no generations), then, for complete records, a results file, for failed
   records, a shard, then the smallest checksum. So the choice does not depend on the order of
   arrival. */
PetscErrorCode rg_index_sort(RgIndex *index);
/* Find the source that is a results file. Returns its number, or -1. */
int rg_index_results(const RgIndex *index);
/* Position in `order` of the preferred entry; -1: no such trial. O(log n). */
int rg_index_find(const RgIndex *index, const uint64_t id[2]);
/* Whether a source has the preferred record of an entry's trial, or an equal one. earlier: -1, or
   in which kind of group it must be. */
bool rg_index_stands_in(const RgIndex *index, int entry, int source, int earlier);
PetscErrorCode rg_index_clear(RgIndex *index);

/* Order hashes as numbers. */
static inline int rg_hash_compare(const uint64_t a[2], const uint64_t b[2])
{
  if (a[1] != b[1]) return a[1] < b[1] ? -1 : 1;
  return (a[0] > b[0]) - (a[0] < b[0]);
}

/* Compare the ages of two records of a trial: negative if `a` is the later one, 0 if they are
   equally old. */
static inline int rg_index_compare_ages(const RgIndexEntry *a, const RgIndexEntry *b)
{
  if (a->generation != b->generation) return a->generation > b->generation ? -1 : 1;
  return (a->started < b->started) - (a->started > b->started);
}

static inline bool rg_is_results(const RgIndexSource *source)
{
  return source->inside == RG_ANYWHERE;
}

static inline bool rg_same_hash(const uint64_t a[2], const uint64_t b[2])
{
  return a[0] == b[0] && a[1] == b[1];
}

/* Folders of a study directory for damaged shards, and for shards without a trial of the plan.
   Scan and layout also read the latter, because the study may change back. */
#define RG_FOLDER_BAD "bad"
#define RG_FOLDER_FOREIGN "foreign"

/* Add the entries of a study directory (NULL: none) and a results file (NULL: none). `repair`:
   damaged shards are moved to `bad/`, and shards in `foreign/` are included; otherwise damaged
   shards are only counted (the warning names the last). If shards vanish meanwhile (another
   process merged them), the scan repeats. Faults: RG_FAULT_FOREIGN for a damaged or foreign
   results file or a newer schema, RG_FAULT_ERROR. */
PetscErrorCode rg_index_add_files(const char *directory, const char *results, bool repair,
                                  RgIndex *index, int *n_bad, RgFault *fault);
/* Do the same, then sort. */
PetscErrorCode rg_index_gather(const char *directory, const char *results, bool repair,
                               RgIndex *index, int *n_bad, RgFault *fault);
/* Remove the temporary files of dead processes from the directory of a results file (RG_ANYWHERE)
   or from a folder of shards, and those of other hosts or earlier starts of this host that are a
   day old. */
PetscErrorCode rg_remove_stale(const char *directory, RgInside inside);
/* Adapt the fault of opening a file to a study: files that are damaged, newer or unreadable for
   this user become FOREIGN, the rest ERROR. */
void rg_fault_adapt(RgFault *fault);
/* Move a shard of the study directory into a folder of it; failure is harmless. */
PetscErrorCode rg_shard_move(const char *path, RgInside inside, const char *directory,
                             const char *folder);
/* Open a source again to read its records. */
PetscErrorCode rg_index_open(const RgIndex *index, int source, RgContainer *container,
                             RgFault *fault);

#endif
