/* What the files of the store share. */
#ifndef RG_STUDY_STORE_STORE_INTERNAL_H
#define RG_STUDY_STORE_STORE_INTERNAL_H

#include "study/store/index.h"
#include "study/store/install.h"
#include "study/hdf5/shard.h"
#include "study/record/software.h"
#include "study/store/store.h"

/* A finished record that is not on the disk. */
typedef struct {
  double since; /* when it came, rg_wall_seconds */
  RgRecord record;
} RgPending;

/* A small shard that this process has committed and not merged yet. */
typedef struct {
  int level;
  char name[RG_SHARD_NAME_MAX];
} RgSmallShard;

struct RgStore {
  char *output;         /* path of the results file */
  char *directory;      /* <output>.d */
  char *parent;         /* directory of the results file */
  const char *name;     /* its name there; points into output */
  const RgStudy *study; /* borrowed */
  int rank;
  char *software; /* versions of this process */
  RgStoreLimits limits;

  bool looked;       /* rg_store_scan has looked at the output: */
  RgFileState found; /* as it was then, or after this store packed */

  int n; /* pending records, oldest first */
  RgPending *pending;
  size_t bytes; /* of them */
  bool urgent;  /* one of them is not to wait */

  double retry_at, pause; /* back-off after a failure */
  double troubled_since;  /* 0: the last commit went well */

  double committed; /* when this process last committed, rg_wall_seconds */
  int n_small;
  RgSmallShard *small; /* in the order of their commits; owned */
  double merge_at;     /* no compaction before: back-off */
};

/* Split the path of a results file: *directory `<output>.d`, *parent where it stands (both owned by
   the caller); returns its name, which points into `output`. */
PetscErrorCode rg_store_paths(const char *output, char **directory, char **parent,
                              const char **name);
/* What `path` means: a results file, or a directory of shards (owned by the caller, else NULL). A
   path that does not exist stands for the study directory of that name. */
PetscErrorCode rg_store_resolve(const char *path, char **results, char **directory, RgFault *fault);

#endif
