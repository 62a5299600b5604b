/* A shard or results file as HDF5: root attributes and groups. */
#ifndef RG_STUDY_HDF5_CONTAINER_H
#define RG_STUDY_HDF5_CONTAINER_H

#include "study/hdf5/medium.h"
#include "study/hdf5/cells.h"
#include "study/hdf5/group.h"

/* Root attributes to write. Texts are borrowed. */
typedef struct {
  const char *title, *references, *study_name, *study, *history;
  const char *credit[RG_CREDITS]; /* NULL or "": not written */
  uint64_t study_seed;
  bool complete;
  int n_trials, n_failed, n_planned;
  char checksum[RG_ID_LENGTH + 1];
  char archive_of[RG_ID_LENGTH + 1]; /* checksum of the full results; "": no archive */
} RgContainerInfo;

/* The attributes that come from the study. The caller sets complete, counts, checksum and
   history. */
RgContainerInfo rg_container_info(const RgStudy *study);
void rg_container_write_info(hid_t file, const RgContainerInfo *info, RgFault *fault);

typedef struct {
  char *name;   /* name of the HDF5 group; owned */
  bool earlier; /* inside the group `earlier` */
} RgGroupPlace;

/* A container open for reading. */
typedef struct {
  RgMedium medium;
  int fd;                /* -1: not open; owned */
  unsigned char *loaded; /* owned, may be NULL */
  hid_t file, earlier;   /* earlier: the HDF5 group, negative if it does not exist */
  int64_t schema_version;
  int n;
  RgGroupPlace *groups; /* by name; groups inside `earlier` come last */
  RgCellReader cells;
} RgContainer;

/* Open a container on the medium (copied). fault: the file is not a container, or is damaged.
   The groups of a newer schema are not read (n = 0). The caller closes the container in any
   case. */
PetscErrorCode rg_container_open(const RgMedium *medium, RgContainer *container, RgFault *fault);
/* Set a fault if a read of the medium failed. HDF5 treats what it could not read as
   non-existent, so call this after every kind of read; this fault replaces conclusions from
   missing data. */
void rg_container_check(const RgContainer *container, RgFault *fault);
/* Open group `i`. The caller closes it with rg_group_close in any case. */
PetscErrorCode rg_container_open_group(const RgContainer *container, int i, RgGroup *group,
                                       RgFault *fault);
PetscErrorCode rg_container_close(RgContainer *container);

/* A walk over all trials of a container, group by group, in order of position:

     RgCursor cursor = {0};
     PetscCall(rg_container_open(&medium, &cursor.container, &fault));   or another function to open
     while (rg_cursor_next(&cursor, &fault)) ... cursor.record ...
     PetscCall(rg_cursor_close(&cursor));                                in any case

   The cursor reads the fields of a record, not its columns. To keep a record, copy the struct and
   zero it. Memory: the fields of 2048 trials. */
typedef struct {
  RgContainer container;
  bool heads;            /* set before the first call: read only the head fields of each record */
  bool bare;             /* set before the first call: read no fields */
  bool no_cells;         /* set before the first call: records have no cells */
  RgGroup group;         /* the open group */
  RgRecord *record;      /* the current record; owned by the cursor */
  int position;          /* position of the record in its group */
  int ordinal;           /* number of the record in the container, from 0 */
  int n, n_groups;       /* trials in the group; groups opened so far */
  RgRecord *block;       /* records read ahead; owned */
  int n_block;           /* room in the block */
  PetscErrorCode broken; /* reported by rg_cursor_close */
} RgCursor;
/* Go to the next trial. False at the end and after a fault, also if fault was set before. */
bool rg_cursor_next(RgCursor *cursor, RgFault *fault);
/* Read the columns of the record and compare its checksum with the stored one. */
PetscErrorCode rg_cursor_read(RgCursor *cursor, RgFault *fault);
PetscErrorCode rg_cursor_close(RgCursor *cursor);

#endif
