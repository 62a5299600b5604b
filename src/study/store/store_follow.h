/* Following a study while it runs: every look reads the shards that came since the last one. Shards
   are immutable and their names unique, so none is read twice. Nothing on disk is changed. */
#ifndef RG_STUDY_STORE_STORE_FOLLOW_H
#define RG_STUDY_STORE_STORE_FOLLOW_H

#include "study/store/install.h"
#include "study/store/store.h"

typedef struct {
  char **names; /* sorted; owned, each of them too */
  int n;
} RgFollowNames;

/* To be read but for the parts at its end. */
typedef struct {
  char *study;         /* its full text, of the newest file; NULL: nothing is finished; owned */
  double newest;       /* when the newest file was written, Unix time; 0: there is none */
  bool complete;       /* a complete results file without shards beside it */
  int n_shards;        /* beside the results file */
  int n_damaged;       /* files and records that could not be read */
  char *results;       /* path of the results file; owned */
  char *directory;     /* of the shards; owned */
  RgFollowNames read;  /* shards that were read */
  RgFollowNames fresh; /* shards that were not */
  RgFileState packed;  /* the results file as it was read */
  bool packed_is_fresh, packed_is_complete; /* it is not read yet; it says that it is complete */
} RgFollow;

/* path: a results file or the directory of its shards, one of which exists (else a fault). To be
   closed in any case. */
PetscErrorCode rg_follow_open(const char *path, RgFollow *follow, RgFault *fault);
/* Learn what came since. *other: it is of another study than the last look found, or of the first:
   rg_follow_read will read all there is. */
PetscErrorCode rg_follow_look(RgFollow *follow, bool *other, RgFault *fault);

/* A trial may come more than once: from shards that were merged, from the results file, run again
   after it failed. `wanted` sees it without its columns and says whether to read them. */
typedef struct {
  void *closure;
  PetscErrorCode (*wanted)(void *closure, const RgRecord *record, bool *wanted);
  RgRecordVisitor visit;
} RgFollower;
/* Read what the last look found. */
PetscErrorCode rg_follow_read(RgFollow *follow, const RgFollower *follower);
PetscErrorCode rg_follow_close(RgFollow *follow);

#endif
