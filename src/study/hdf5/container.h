/* A shard or results file as HDF5: root attributes and groups. */
#ifndef RG_STUDY_HDF5_CONTAINER_H
#define RG_STUDY_HDF5_CONTAINER_H

#include "study/hdf5/medium.h"
#include "study/hdf5/group.h"

/* Root attributes to write. Texts borrowed. */
typedef struct {
  const char *title, *references, *study_name, *study, *history;
  const char *credit[RG_CREDITS]; /* NULL or "": not written */
  uint64_t study_seed;
  bool complete;
  int n_trials, n_failed;
  char checksum[RG_ID_LENGTH + 1];
} RgContainerInfo;

/* Those that come from the study; complete, counts, checksum and history are left to the caller. */
RgContainerInfo rg_container_info(const RgStudy *study);
void rg_container_write_info(hid_t file, const RgContainerInfo *info, RgFault *fault);

typedef struct {
  char *name;   /* of the group; owned */
  bool earlier; /* below the group `earlier` */
} RgGroupPlace;

/* A container open for reading. */
typedef struct {
  RgMedium medium;
  int fd;                /* -1: none; owned */
  unsigned char *loaded; /* owned, may be NULL */
  hid_t file, earlier;   /* earlier: group, negative when there is none */
  int64_t schema_version;
  int n;
  RgGroupPlace *groups; /* by name, those of `earlier` last */
} RgContainer;

/* Read from the medium (copied). A file that is no container, or damaged: fault. A newer schema
   is not looked into (n = 0). The container must be closed in any case. */
PetscErrorCode rg_container_open(const RgMedium *medium, RgContainer *container, RgFault *fault);
/* HDF5 takes what it could not read for what does not exist. To be asked after every kind of
   reading: when a read of the medium failed, that is the fault, whatever was made of it. */
void rg_container_check(const RgContainer *container, RgFault *fault);
/* Open group `i`; to be closed with rg_group_close in any case. */
PetscErrorCode rg_container_open_group(const RgContainer *container, int i, RgGroup *group,
                                       RgFault *fault);
PetscErrorCode rg_container_close(RgContainer *container);

/* A walk over all trials of a container, group by group, in order of position:

     RgCursor cursor = {0};
     PetscCall(rg_container_open(&medium, &cursor.container, &fault));   or another function to open
     while (rg_cursor_next(&cursor, &fault)) ... cursor.record ...
     PetscCall(rg_cursor_close(&cursor));                                in any case

   Of a record the fields are read, columns are not. It may be kept by zeroing the struct. Memory:
   2048 trials' fields. */
typedef struct {
  RgContainer container;
  bool heads;            /* set before the first: of the fields read the heads only, */
  bool bare;             /* or none of them */
  RgGroup group;         /* the open one */
  RgRecord *record;      /* the current one; owned by the cursor */
  int position;          /* of it in its group */
  int ordinal;           /* of it in the container, from 0 */
  int n, n_groups;       /* trials of the group; groups opened so far */
  RgRecord *block;       /* read ahead; owned */
  int n_block;           /* room there */
  PetscErrorCode broken; /* reported by rg_cursor_close */
} RgCursor;
/* The next trial; false at the end and after a fault, also one that was there before. */
bool rg_cursor_next(RgCursor *cursor, RgFault *fault);
/* Read the columns of the record and compare its checksum with the one stored beside it. */
PetscErrorCode rg_cursor_read(RgCursor *cursor, RgFault *fault);
PetscErrorCode rg_cursor_close(RgCursor *cursor);

#endif
