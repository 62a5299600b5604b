/* Declarations shared by the files of the store. */
#ifndef RG_STUDY_STORE_STORE_INTERNAL_H
#define RG_STUDY_STORE_STORE_INTERNAL_H

#include "base/fault.h"
#include "study/hdf5/shard.h"
#include "study/record/software.h"
#include "study/store/index.h"
#include "study/store/store.h"

#include <sys/stat.h>

/* The identity of a file that is known without reading it. */
typedef struct {
  bool exists;
  struct stat status;
} RgFileState;

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
  const char *name;     /* file name in `parent`; points into output */
  const RgStudy *study; /* borrowed */
  int rank;
  int presence;   /* lock that shows this run to others (presence.h); -1: no lock */
  bool raced;     /* another run wrote the results file meanwhile */
  char *software; /* versions of this process */
  RgStoreLimits limits;

  bool looked;       /* rg_store_scan has examined the output */
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

/* Split the path of a results file: *directory is `<output>.d`, *parent the directory that
   contains it (both owned by the caller). Returns the file name, which points into `output`. */
PetscErrorCode rg_store_paths(const char *output, char **directory, char **parent,
                              const char **name);
/* Resolve `path` to a results file, or a directory of shards (owned by the caller; the other is
   NULL). A path that does not exist means the study directory of that name. */
PetscErrorCode rg_store_resolve(const char *path, char **results, char **directory, RgFault *fault);

#endif
