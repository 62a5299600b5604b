/* A table for the terminal: columns as wide as their widest entry, numbers to the right. */
#ifndef RG_BASE_TABLE_H
#define RG_BASE_TABLE_H

#include "base/text.h"

#define RG_TABLE_COLUMNS 16

/* Zero-initialise, with `n_columns` and headings; a heading that begins with '>' aligns its column
   to the right. A column whose entries are all empty is not printed. */
typedef struct {
  int n_columns, n_rows;
  const char *headings[RG_TABLE_COLUMNS]; /* borrowed */
  char **entries;                         /* n_rows x n_columns, owned */
} RgTable;

/* Append a row of n_columns texts (copied). */
PetscErrorCode rg_table_add(RgTable *table, const char *const *entries);
/* Append the table to `text`, one line per row, and forget the rows. */
PetscErrorCode rg_table_print(RgTable *table, RgText *text);

#endif
