/* Declarations shared by the files of the store. */
#ifndef RG_STUDY_STORE_STORE_INTERNAL_H
#define RG_STUDY_STORE_STORE_INTERNAL_H

#include "base/fault.h"
#include "study/hdf5/container.h"
#include "study/record/software.h"
#include "study/store/index.h"
#include "study/store/store.h"

#include <sys/stat.h>

/* The identity, size and times of a file. All are zero if the file does not exist. */
typedef struct stat RgFileState;

/* The current state of a path. */
RgFileState rg_install_state(const char *path);
/* Rename `temporary` (finished, durable, in the same directory) to `path` if the file there is
   still `expected`, and sync the directory. RG_FAULT_INCOMPLETE: there is another file by now,
   which stays; other faults come from the disk. `temporary` no longer exists afterwards. */
void rg_install(const char *temporary, const char *path, const char *directory,
                const RgFileState *expected, RgFault *fault);
/* Set RG_FAULT_INCOMPLETE unless `path` has the state `expected`. */
void rg_install_check(const char *path, const RgFileState *expected, RgFault *fault);

/* A finished record that is not on the disk yet. */
typedef struct {
  double since; /* time of arrival, rg_wall_seconds */
  RgRecord record;
} RgUnsaved;

/* A small shard that this process has committed and not yet merged. */
typedef struct {
  int level;
  char name[RG_SHARD_NAME_MAX];
} RgSmallShard;

struct RgStore {
  char *output;         /* path of the results file */
  char *directory;      /* <output>.d */
  char *parent;         /* directory of the results file */
  const RgStudy *study; /* borrowed */
  int rank;
  int presence;   /* lock that shows this run to others; -1: no lock */
  bool raced;     /* another run wrote the results file meanwhile */
  char *software; /* versions of this process */
  RgStoreLimits limits;

  bool scanned;      /* rg_store_scan has examined the output */
  RgFileState found; /* state of the output at that time, or after packing by this store */

  int n; /* pending records, oldest first */
  RgUnsaved *pending;
  size_t bytes; /* bytes of the pending records */
  bool urgent;  /* a pending record must not wait */

  double retry_at, pause; /* back-off after a failure */
  double troubled_since;  /* 0: the last commit succeeded */

  double committed; /* time of this process's last commit, rg_wall_seconds */
  int n_small;
  RgSmallShard *small; /* in the order of commits; owned */
  double merge_at;     /* no merge before this time: back-off */
};

/* The study directory `<output>.d` of a results file, and the directory that contains the file; the
   caller frees both. */
PetscErrorCode rg_store_directory(const char *output, char **directory);
PetscErrorCode rg_store_parent(const char *output, char **parent);
/* Resolve `path` to a results file, or a directory of shards (owned by the caller; the other is
   NULL). A path that does not exist means the study directory of that name. */
PetscErrorCode rg_store_resolve(const char *path, char **results, char **directory, RgFault *fault);

/* A trial of the results file. */
typedef struct {
  int entry; /* entry of the index */
  int group;
  /* Set by rg_layout_read; owned. Only the fields, up to the end of the message: there may be
     millions, and the rest of a record would take twice as much. */
  RgRecord *fields;
} RgSlot;

typedef struct {
  const RgIndex *index;  /* borrowed */
  const char *directory; /* study directory or NULL; borrowed */
  int n;
  RgSlot *slots; /* in the order of the file, group by group; owned */
  int n_groups;
  RgGroupShape *groups; /* owned */
  int *first;           /* n_groups: first slot of each group; owned */
  int *slot_of;         /* slot of each index entry, or -1; owned */
  /* The rows of the table of cells. Those of the study come first; the cells of its trials are
     replaced by them, since labels may have changed since a trial ran. */
  RgCellTable table;
  RgTexts texts; /* descriptions of machines and software that the fields share */
  bool planned;  /* the study is known */
  bool archive;  /* set before rg_layout_read: write archived records */
} RgLayout;

/* study: NULL if it can't be read here. directory: the study directory, where damaged shards are
   moved away; NULL: they stay (borrowed). */
PetscErrorCode rg_layout_create(const RgIndex *index, const RgStudy *study, const char *directory,
                                RgLayout *layout);
PetscErrorCode rg_layout_destroy(RgLayout *layout);
/* Begin the next group; then add its trials. */
PetscErrorCode rg_layout_add_group(RgLayout *layout, const char *label, bool earlier);
PetscErrorCode rg_layout_add(RgLayout *layout, int entry);

/* Read every record once: verify its checksum, keep its fields, extend the groups. A missing or
   damaged shard gives RG_FAULT_INCOMPLETE (gather its trials again); a damaged results file
   gives RG_FAULT_FOREIGN. */
PetscErrorCode rg_layout_read(RgLayout *layout, RgFault *fault);
/* Write the results file: to a temporary file or memory, verify every record, commit, and read
   the result back. `expected`: state of the output when the records were gathered; if another
   run has changed it since, its file stays and fault is RG_FAULT_INCOMPLETE. */
PetscErrorCode rg_layout_write(RgLayout *layout, RgStoreInfo *info, const char *output,
                               size_t image_bytes, const RgFileState *expected, RgFault *fault);

/* The attribute `history` of a file written now; `earlier` is the previous history (may be NULL
   or ""). The time is SOURCE_DATE_EPOCH if the environment has it. */
PetscErrorCode rg_history_line(const char *earlier, const char *what, char **history);

#endif
