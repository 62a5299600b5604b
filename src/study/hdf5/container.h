/* A shard or results file as HDF5: root attributes and groups. */
#ifndef RG_STUDY_CONTAINER_H
#define RG_STUDY_CONTAINER_H

#include "study/hdf5/medium.h"
#include "study/hdf5/group.h"

/* Root attributes to write. Texts borrowed. */
typedef struct {
  const char *title, *references, *study_name, *study, *history;
  uint64_t study_seed;
  bool complete;
  int n_trials, n_failed;
  char checksum[RG_ID_LENGTH + 1];
} RgContainerInfo;

/* Those that come from the study; complete, counts, checksum and history are left to the caller. */
RgContainerInfo rg_container_info(const RgStudy *study);
void rg_container_write_info(hid_t file, const RgContainerInfo *info, RgFailure *failure);

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
  int n, capacity;
  RgGroupPlace *groups; /* by name, those of `earlier` last */
} RgContainer;

/* Read from the medium (copied). A file that is no container, or damaged: failure. A newer schema
   is not looked into (n = 0). The container must be closed in any case. */
PetscErrorCode rg_container_open(const RgMedium *medium, RgContainer *container,
                                 RgFailure *failure);
/* HDF5 takes what it could not read for what does not exist. To be asked after every kind of
   reading: sets `failure` when a read of the medium failed. */
void rg_container_check(const RgContainer *container, RgFailure *failure);
/* Open group `i`; to be closed with rg_group_close in any case. */
PetscErrorCode rg_container_open_group(const RgContainer *container, int i, RgGroup *group,
                                       RgFailure *failure);
PetscErrorCode rg_container_close(RgContainer *container);

/* Visit every trial, group by group, in order of position: fields are read, columns are not (the
   visitor may, by rg_group_read_columns). `ordinal` counts from 0 over the whole container. The
   visitor may keep the record by zeroing the struct. Stops at a failure. Memory: 256 trials'
   fields. */
typedef PetscErrorCode (*RgTrialVisitor)(void *closure, RgGroup *group, int ordinal, int position,
                                         RgRecord *record, RgFailure *failure);
PetscErrorCode rg_container_walk(const RgContainer *container, RgTrialVisitor visit, void *closure,
                                 RgFailure *failure);
/* Read the columns of a record and compare its checksum with the one stored beside it. */
PetscErrorCode rg_group_read_verified(RgGroup *group, int position, RgRecord *record,
                                      RgFailure *failure);

#endif
