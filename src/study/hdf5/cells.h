/* The table of cells of a shard or results file. */
#ifndef RG_STUDY_HDF5_CELLS_H
#define RG_STUDY_HDF5_CELLS_H

#include "study/hdf5/field.h"

/* The rows to write. Zero-initialise. */
typedef struct {
  int n;
  RgCellData **cells;  /* shared; owned list */
  int n_slots, *slots; /* rows by identity, a hash table: a power of two, -1: empty; owned */
} RgCellTable;

/* Add a cell unless the table has it with the same labels. *number: its row. O(1). */
PetscErrorCode rg_cell_table_add(RgCellTable *table, RgCellData *cell, int *number);
/* The row of the first cell with that identity; -1: none. */
int rg_cell_table_find(const RgCellTable *table, const char *id);
PetscErrorCode rg_cell_table_clear(RgCellTable *table);
/* Write the table, which has a row at least, into a new file. */
PetscErrorCode rg_cell_table_write(hid_t file, const RgCellTable *table, RgFault *fault);
/* An upper bound on its bytes in a file. */
uint64_t rg_cell_table_bytes(const RgCellTable *table);

/* The table of an open file. Rows are read on demand, up to 2048 at once. Zero-initialise. */
typedef struct {
  bool open;
  hid_t group, swept, settings;
  int n; /* rows in the file */
  int first, n_window;
  bool all;            /* the window has every setting */
  RgCellData **window; /* shared; owned list */
} RgCellReader;

/* The cell of a row, a new share. all: with every setting. Damage sets `fault`. */
PetscErrorCode rg_cell_reader_read(RgCellReader *reader, hid_t file, int number, bool all,
                                   RgCellData **cell, RgFault *fault);
PetscErrorCode rg_cell_reader_close(RgCellReader *reader);

#endif
