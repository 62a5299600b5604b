/* A shard or results file as HDF5: root attributes and groups. */
#ifndef RG_STUDY_HDF5_CONTAINER_H
#define RG_STUDY_HDF5_CONTAINER_H

#include "base/files.h"
#include "study/hdf5/group.h"

/* ---- the table of cells ---------------------------------------------------------------------- */

/* The rows to write. Zero-initialise. */
typedef struct {
  int n;
  RgCellData **cells;  /* shared; owned list */
  int n_slots, *slots; /* rows by identity, a hash table: a power of two, -1: empty; owned */
} RgCellTable;

/* Add a cell unless the table has it with the same labels. *number: its row. O(1). */
PetscErrorCode rg_cell_table_add(RgCellTable *table, RgCellData *cell, int *number);
/* The row of a cell, or, if it is NULL, of the first cell with that identity; -1: none. */
int rg_cell_table_find(const RgCellTable *table, const char *id, const RgCellData *cell);
PetscErrorCode rg_cell_table_clear(RgCellTable *table);
/* Write the table, which has a row at least, into a new file. */
PetscErrorCode rg_cell_table_write(hid_t file, const RgCellTable *table, RgFault *fault);
/* An upper bound on its bytes in a file. */
uint64_t rg_cell_table_bytes(const RgCellTable *table);

/* The table of an open file. Rows are read on demand, up to 2048 at once. Zero-initialise. */
typedef struct {
  hid_t group, swept, settings; /* 0: not opened yet */
  int n;                        /* rows in the file */
  int first, n_window;
  bool all;            /* the window has every setting */
  RgCellData **window; /* shared; owned list */
} RgCellReader;

/* The cell of a row, a new share. all: with every setting. Damage sets `fault`. */
PetscErrorCode rg_cell_reader_read(RgCellReader *reader, hid_t file, int number, bool all,
                                   RgCellData **cell, RgFault *fault);
PetscErrorCode rg_cell_reader_close(RgCellReader *reader);

/* ---- containers ------------------------------------------------------------------------------ */

/* Copy into *info what files of a study say of it. The caller sets complete, counts, checksum and
   history, and clears it with rg_store_info_clear. */
PetscErrorCode rg_store_info_create(const RgStudy *study, RgStoreInfo *info);
void rg_container_write_info(hid_t file, const RgStoreInfo *info, RgFault *fault);

typedef struct {
  char *name;   /* name of the HDF5 group; owned */
  bool earlier; /* inside the group `earlier` */
} RgGroupPlace;

/* A container open for reading. */
typedef struct {
  RgMedium medium;
  bool owned;          /* the descriptor or the bytes of the medium */
  hid_t file, earlier; /* earlier: the HDF5 group; not positive: closed, or does not exist */
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
/* Read the root attributes; those of a shard that say nothing of its directory are left empty. */
PetscErrorCode rg_container_read_info(const RgContainer *container, RgStoreInfo *info);
/* Open group `i`. The caller closes it with rg_group_close in any case. */
PetscErrorCode rg_container_open_group(const RgContainer *container, int i, RgGroup *group,
                                       RgFault *fault);
PetscErrorCode rg_container_close(RgContainer *container);

/* A walk over all trials of a container, group by group, in order of position:

     RgCursor cursor = {0};
     PetscCall(rg_container_open(&medium, &cursor.container, &fault));   or another function to open
     while (rg_cursor_next(&cursor, &fault)) ... cursor.record ...
     PetscCall(rg_cursor_close(&cursor));                                in any case

   The cursor reads fields of a record, not its columns. To keep a record, copy the struct and
   zero it. Memory: the fields of 2048 trials. */
typedef struct {
  RgContainer container;
  RgReader reader;       /* set before the first call: what to read of each record */
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
/* Go back before the first trial. */
PetscErrorCode rg_cursor_rewind(RgCursor *cursor, RgReader reader);
PetscErrorCode rg_cursor_close(RgCursor *cursor);

/* ---- shards ---------------------------------------------------------------------------------- */

/* Trailer: 8 bytes magic; length of the preceding bytes, low and high half of their XXH3-128 as
   64-bit numbers, least significant byte first. */
#define RG_TRAILER_MAGIC "RGTRAIL\n"
enum { RG_TRAILER_LENGTH = 32 };
void rg_trailer_write(uint64_t length, const uint64_t hash[2], unsigned char *trailer);
/* False if the bytes are not a trailer. */
bool rg_trailer_read(const unsigned char *trailer, uint64_t *length, uint64_t hash[2]);
/* Append the trailer to a file, whose errors the medium keeps. hex: its hash. */
PetscErrorCode rg_medium_seal(RgMedium *medium, char hex[33]);

/* Build a container of n records in memory, without trailer; the caller frees it with
   rg_medium_clear. The function opens the image again and compares the checksum of every record.
   The records receive the numbers of their cells. */
PetscErrorCode rg_container_image(int n, RgRecord *const *records, const RgStoreInfo *info,
                                  RgMedium *medium, RgFault *fault);

/* Build a shard of n records: image and trailer in `bytes` (PetscFree), its name
   `<level>-<XXH3-128>.h5`. The records receive their checksums. */
#define RG_SHARD_NAME_MAX 64
PetscErrorCode rg_shard_build(const RgStudy *study, int level, int n, RgRecord *const *records,
                              unsigned char **bytes, size_t *length, char name[RG_SHARD_NAME_MAX],
                              RgFault *fault);
/* Level in a shard's name; -1 if the name is not a shard's. */
int rg_shard_level(const char *name);

/* Open a shard of a study directory, in which no link is followed: it is read into memory, and HDF5
   reads it only if the trailer is correct. fault: VANISHED, DAMAGED, NEWER, or ERROR if the system
   does not let us read the file now. */
PetscErrorCode rg_shard_open(const char *path, RgInside inside, RgContainer *container,
                             RgFault *fault);
/* Open a results file in place. A trailer must have the correct length, and with `verify` the
   correct hash. *trailed: it has a trailer (other programs that wrote to the file may have
   dropped it). A partial trailer is damage, as is an HDF5 part that is too short. */
PetscErrorCode rg_shard_open_results(const char *path, bool verify, RgContainer *container,
                                     bool *trailed, RgFault *fault);
#endif
